"""Would the conformance tests notice a mistake? Makes mistakes behind Apple's selectors, one at a time, while the
programs of tests/facade run, and counts those after which a program fails.

    cmake --build build/editable --target tests
    python tests/facade/mutations.py [build/editable] [part of a selector]

The mistakes of a selector follow from its type in api.json: zeros in place of each result, and its elements the other
way round; for each argument zeros, another axis, a flag turned over, another number, type or mode, a list the other way
round, without its last or with another last, nothing in place of what may be nil, two tensors exchanged; for each
property of a descriptor another value. NO_MISTAKES lists those that change nothing, and why. A library made of that is
preloaded into the programs. It first notes which selectors each of them sends; then a mistake is tried on the programs
that send its selector, the fastest first, until one fails. Not a part of `make test`: it takes some minutes."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

FACADE = pathlib.Path(__file__).parent
ROOT = FACADE.parent.parent
NOT_OPS = ("run", "encode", "compile", "placeholder", "init")  # selectors of running, and what only is fed
TENSOR = "MPSGraphTensor *"
COMMUTES = re.compile(r"(addition|multiplication|minimum|maximum|equal|notEqual|logical|bitwise(AND|OR|XOR)|Hamming)")
NOT_TRIED = ("resnet50", "devices", "process_end", "pretence", "wrong_classes")  # these want more than the library

# What changes nothing: patterns of selectors and of the words of mutations(), and why.
# fmt: off
NO_MISTAKES = (
    ("(reduction(?!Arg)|mean|variance|squeeze|expandDims|reverse|fastFourier|normalization).*",
     "(axes|reductionAxes): backwards", "these axes are a set"),
    ("gradientForPrimaryTensor.*", "withTensors: backwards", "the result is a dictionary"),
    ("constantWith(Scalar|RealPart).*", "reversed", "all elements are the same"),
    ("clampWithTensor.*", "clampWithTensor and minValueTensor exchanged", "min(max(x, low), high) stays what it is"),
    ("varianceOfTensor:meanTensor.*", "varianceOfTensor and meanTensor exchanged", "(x - mean)^2 stays what it is"),
    (".*Pooling(?!.*[iI]ndices).*", ".* its returnIndicesMode", "there are no indices"),
    ("(max|L2Norm)Pooling.*", ".* its includeZeroPadToAverage", "only averages have a divisor"),
    ("maxPooling.*indicesTensor.*", ".* its (ceilMode|paddingBottom|paddingRight|last of paddingValues)",
     "the shapes are given, and what is behind a window does not move places in it"),
    (".*(RNN|LSTM|GRU)Gradients.*", ".* its (training|produceCell)", "they say what the forward selector returns"),
    (".*(RNN|LSTM|GRU)Gradients.*", "(bias|secondaryBias): zeros", "zState is what they were added to"),
    ("(?!.*inputWeight)(singleGateRNN|LSTM)Gradients.*", ".*WithSourceTensor: zeros", "gradients ignore a summand"),
    ("(avgPooling|pad|tile|resize).*Gradient.*|normalizationBetaGradient.*|shapeOf.*",
     "(sourceTensor|input|shapeOfTensor): zeros", "only its shape counts"),
    ("(fastFourierTransform|realToHermitean).*", ".* its roundToOddHermitean", "it is of real results"),
    ("stencil.*", ".* its (last of )?offsets", "they are of the style ExplicitOffset, which is refused"),
    ("randomTensor.*:descriptor:name:", ".* its samplingMethod", "both methods draw from one distribution"),
    ("(?!.*([sS]eed|[sS]tate))random.*", "reversed", "numbers without a seed are in no order"),
)
# fmt: on
NOT_MADE = 99  # the exit status of a program that passes because no list had the result that was to be changed

HEAD = """
#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <objc/runtime.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int chosen = -1;
static int sent_file = -1;      // its byte i is 1 once selector i was sent
static bool made;               // whether the mistake was made
static __thread bool mistaking;  // the selectors that a mistake is made of are right
static void leave(int status, void*) {
  if (status == 0 && chosen >= 0 && !made) _exit(99);
}
static int choice(int index) {
  if (sent_file >= 0) pwrite(sent_file, "\\1", 1, index);
  return mistaking ? -1 : chosen;
}
static MPSGraphTensor* zeros(MPSGraph* graph, MPSGraphTensor* x) {
  if (x == nil) return nil;
  made = mistaking = true;
  MPSGraphTensor* no = [graph constantWithScalar:0 dataType:MPSDataTypeBool];
  MPSGraphTensor* zero = [graph constantWithScalar:0 dataType:[x dataType]];
  MPSGraphTensor* y = [graph selectWithPredicateTensor:no truePredicateTensor:x falsePredicateTensor:zero name:nil];
  mistaking = false;
  return y;
}
static MPSGraphTensor* reversed(MPSGraph* graph, MPSGraphTensor* x) {
  bool is_one = true;
  for (NSNumber* extent in [x shape]) is_one &= [extent longValue] == 1;
  if (is_one) return x;
  made = mistaking = true;
  MPSGraphTensor* y = [graph reverseTensor:x name:nil];
  mistaking = false;
  return y;
}
typedef MPSGraphTensor* (*Change)(MPSGraph*, MPSGraphTensor*);
static NSArray* changed_at(MPSGraph* graph, NSArray* tensors, NSUInteger at, Change change) {
  NSMutableArray* out = [NSMutableArray arrayWithArray:tensors];
  if (at >= [out count]) return tensors;
  [out replaceObjectAtIndex:at withObject:change(graph, [out objectAtIndex:at])];
  return out;
}
static NSArray* without_last(NSArray* list) {
  return [list count] == 0 ? list : [list subarrayWithRange:NSMakeRange(0, [list count] - 1)];
}
static NSArray* backwards(NSArray* list) { return [[list reverseObjectEnumerator] allObjects]; }
static NSArray* last_one_more(NSArray* list) {
  if ([list count] == 0) return list;
  NSNumber* last = [NSNumber numberWithLongLong:[[list lastObject] longLongValue] + 1];
  return [without_last(list) arrayByAddingObject:last];
}
static id with_value(id descriptor, NSString* key, int kind) {
  id changed = [[descriptor copy] autorelease];
  id value = [changed valueForKey:key];
  if (kind == 0) value = backwards(value);
  else if (kind == 5) value = last_one_more(value);
  else if (kind == 1) value = [NSNumber numberWithBool:![value boolValue]];
  else if (kind == 2) value = [NSNumber numberWithDouble:[value doubleValue] * 0.5 + 0.3];
  else if (kind == 3) value = [NSNumber numberWithLongLong:[value longLongValue] == 0 ? 1 : 0];
  else value = [NSNumber numberWithLongLong:[value longLongValue] + 1];
  [changed setValue:value forKey:key];
  return changed;
}
// Sends no message: selectors of this library are not registered yet.
static void replace(const char* name, int index, IMP imp, IMP* original) {
  const char* wanted = getenv("ALLOY_MUTATION");
  if (sent_file < 0 && (wanted == NULL || atoi(wanted) != index)) return;
  if (sent_file < 0) chosen = atoi(strchr(wanted, ':') + 1), on_exit(leave, NULL);
  Method method = class_getInstanceMethod(objc_getClass("MPSGraph"), sel_registerName(name));
  *original = method_setImplementation(method, imp);
}
"""


def changes(name, row, classes):
    """Of an argument: what becomes of it, as (words, expression), with X for the argument."""
    nullable, row = row.endswith("_Nullable"), row.removesuffix(" _Nullable")
    key = name[:1].lower() + name[1:]
    out = [("nil", "nil")] if nullable and row != "NSString *" else []
    if row == TENSOR:
        out.append(("zeros", "zeros(self, X)"))
    elif row == "BOOL":
        out.append(("turned over", "!X"))
    elif row in ("NSInteger", "NSUInteger"):
        is_axis = re.search(r"(axis|dimension|gatherAlongAxis|scatterAlongAxis|coordinateAlongAxis)$", key, re.I)
        out.append(("another axis", "X ^ 1") if is_axis and "batch" not in key else ("one more", "X + 1"))
    elif row in ("double", "float"):
        out.append(("another number", "X * 0.5 + 0.3"))
    elif row == "MPSDataType":
        out.append(("another type", "X == MPSDataTypeFloat32 ? MPSDataTypeFloat16 : MPSDataTypeFloat32"))
    elif row == "uint32_t":
        out.append(("no mask", "0"))
    elif row in ("MPSShape *", "NSArray<NSNumber *> *", "NSArray<MPSGraphTensor *> *"):
        out += [("backwards", "backwards(X)"), ("without its last", "without_last(X)")]
        if "Tensor" not in row:
            out.append(("its last one more", "last_one_more(X)"))
    elif row.startswith("MPSGraph") and row.endswith("Descriptor *") and row[:-2] in classes:
        for prop, text in sorted(classes[row[:-2]]["properties"].items()):
            if "readonly" in text:
                continue
            kind = text.split()[-1] if "*" not in text else "list"
            code = {"list": 0, "BOOL": 1, "float": 2, "double": 2}.get(kind, 4 if kind.startswith("NS") else 3)
            out.append((f"its {prop}", f'with_value(X, @"{prop}", {code})'))
            if code == 0:
                out.append((f"its last of {prop}", f'with_value(X, @"{prop}", 5)'))
    elif row.startswith("MPSGraph") and not row.endswith("*") and not row.endswith("Block"):
        out.append(("another mode", f"({row})(X == 0 ? 1 : 0)"))
    return out


def mutations(selector, row, classes):
    """(words, statements) for each mistake."""
    names, types = selector.rstrip(":").split(":"), row[1:]
    plain = [f"a{i}" for i in range(len(types))]
    call = "original({})"
    returned = row[0].removesuffix(" _Nullable")
    found = []
    for change in ("zeros", "reversed"):
        result = call.format(", ".join(plain))
        if returned == TENSOR:
            found.append((change, f"made = true; return {change}(self, {result})"))
        elif returned == "NSArray<MPSGraphTensor *> *":
            found += [
                (f"{change} in result {at}", f"return changed_at(self, {result}, {at}, {change})") for at in range(8)
            ]
    for i, (name, kind) in enumerate(zip(names, types)):
        for words, expression in changes(name, kind, classes):
            given = plain[:i] + [expression.replace("X", plain[i])] + plain[i + 1 :]
            found.append((f"{name}: {words}", "made = true; return " + call.format(", ".join(given))))
    tensors = [i for i, kind in enumerate(types) if kind.startswith(TENSOR)]
    for i, j in zip(tensors, tensors[1:]) if not COMMUTES.match(selector) else ():
        given = list(plain)
        given[i], given[j] = given[j], given[i]
        found.append((f"{names[i]} and {names[j]} exchanged", "made = true; return " + call.format(", ".join(given))))
    return found


def source(rows, classes):
    text = [HEAD]
    for index, (selector, row) in enumerate(rows):
        types = [kind.replace(" _Nullable", "") for kind in row]
        arguments = "".join(f", {kind} a{i}" for i, kind in enumerate(types[1:]))
        text.append(f"typedef {types[0]} (*Type{index})(id, SEL{''.join(', ' + kind for kind in types[1:])});")
        text.append(
            f"static IMP original{index};\nstatic {types[0]} mutated{index}(id self, SEL command{arguments}) {{"
        )
        define = f"#define original(...) ((Type{index})original{index})(self, command, __VA_ARGS__)"
        cases = [f"    case {i}: {code};" for i, (_, code) in enumerate(mutations(selector, row, classes))]
        plain = ", ".join(f"a{i}" for i in range(len(types) - 1))
        last = f"  return original({plain});"
        text += [define, f"  switch (choice({index})) {{", *cases, "  }", last, "#undef original", "}"]
    text.append("__attribute__((constructor(65535))) static void install(void) {")
    text.append('  if (getenv("ALLOY_SENT")) sent_file = open(getenv("ALLOY_SENT"), O_WRONLY | O_CREAT, 0600);')
    for index, (selector, _) in enumerate(rows):
        text.append(f'  replace("{selector}", {index}, (IMP)mutated{index}, &original{index});')
    return "\n".join([*text, "}", ""])


def compiled(build, rows, classes):
    """The library to preload."""
    folder = build / "mutations"
    folder.mkdir(exist_ok=True)
    path = folder / "mutations.mm"
    path.write_text(source(rows, classes))
    commands = json.loads((build / "compile_commands.json").read_text())
    words = next(shlex.split(c["command"]) for c in commands if c["file"].endswith("facade/shapes.mm"))
    words = [w for w in words[words.index(next(w for w in words if "clang" in w)) :] if not w.startswith("-W")]
    words = words[: words.index("-o")] + ["-w", "-fPIC", "-shared", "-o", str(folder / "libmutations.so"), str(path)]
    subprocess.run(words, check=True, cwd=build)
    return folder / "libmutations.so"


def environment(library, **more):
    return os.environ | {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"} | more


def traced(build, library):
    """For each program of tests/facade the indices of the selectors that it sends, the fastest program first."""
    times, sent = {}, {}
    for path in FACADE.glob("*.mm"):
        program, file = build / "tests" / f"facade_{path.stem}", library.with_name(f"{path.stem}.sent")
        if path.stem in NOT_TRIED or not program.exists():
            continue
        file.unlink(missing_ok=True)
        start = time.monotonic()
        variables = environment(library, ALLOY_SENT=str(file))
        run = subprocess.run([program], env=variables, capture_output=True, text=True, cwd=build)
        assert run.returncode == 0, f"{program.name} fails without a mistake:\n{run.stderr}"
        times[program] = time.monotonic() - start
        sent[program] = {index for index, byte in enumerate(file.read_bytes()) if byte}
    return {program: sent[program] for program in sorted(sent, key=times.get)}


def is_caught(build, library, programs, index, which):
    """Whether a program fails; None if none of them makes the mistake."""
    variables, statuses = environment(library, ALLOY_MUTATION=f"{index}:{which}"), set()
    for program in programs:
        try:
            run = subprocess.run([program], env=variables, capture_output=True, timeout=120, cwd=build)
        except subprocess.TimeoutExpired:
            return True
        if run.returncode not in (0, NOT_MADE):
            return True
        statuses.add(run.returncode)
    return None if statuses == {NOT_MADE} else False


def is_none(selector, words):
    return any(re.fullmatch(s, selector) and re.fullmatch(w, words) for s, w, _ in NO_MISTAKES)


def main(build=ROOT / "build" / "editable", part=""):
    build = pathlib.Path(build).resolve()
    table = json.loads((FACADE / "api.json").read_text())
    rows = [
        (selector.removeprefix("- "), row if isinstance(row, list) else row["row"])
        for selector, row in table["classes"]["MPSGraph"]["methods"].items()
        if selector.startswith("- ") and ":" in selector and not selector[2:].startswith(NOT_OPS)
    ]
    library = compiled(build, rows, table["classes"])
    sent = traced(build, library)
    jobs, caught, possible = [], 0, 0
    for index, (selector, row) in enumerate(rows):
        programs = [program for program, indices in sent.items() if index in indices]
        for which, (words, _) in enumerate(mutations(selector, row, table["classes"])):
            if part in selector and not is_none(selector, words):
                jobs.append((selector, words, programs, index, which))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: is_caught(build, library, job[2], job[3], job[4]), jobs)
        for (selector, words, programs, *_), found in zip(jobs, results):
            caught += found is True
            possible += found is not None
            if found is False:
                print(selector, words, "" if programs else "(no program sends it)", flush=True)
    print(f"{caught} of {possible} mistakes behind {len({job[0] for job in jobs})} selectors were caught")


if __name__ == "__main__":
    main(*sys.argv[1:])
