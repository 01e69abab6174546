"""Would the conformance tests notice a mistake? Makes mistakes behind Apple's selectors, one at a time, while
tests/python/ops/test_ops.py and the programs of tests/facade run, and counts those after which one of them fails.

    cmake --build build/editable --target tests
    python tests/facade/mutations.py [build/editable] [part of a selector]

The mistakes of a selector follow from its type in api.json: zeros in place of each result, and its elements the other
way round; for each argument zeros, another axis, a flag turned over, another number, type or mode, a list the other way
round, without its last or with another last, nothing in place of what may be nil, two tensors exchanged; for each
property of a descriptor another value. NO_MISTAKES lists those that change nothing, and why. A library made of that is
preloaded. It first notes which selectors each test and each program sends. Then a mistake behind a selector that the
engine sends is tried on the tests in Python that make it send it, all in one process (mutated_ops.py); the mistakes
that pass there, and those behind the other selectors, on the programs that send the selector. Both try the fastest
first, until one fails. Not a part of `make test`: it takes some minutes."""

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
# Programs that want more than the library.
NOT_TRIED = ("resnet50", "devices", "process_end", "pretence", "wrong_classes", "descriptors")

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
    ("nonMaximumSuppression.*", ".*", "it is refused"),
    ("(?!.*([sS]eed|[sS]tate))random.*", "reversed", "numbers without a seed are in no order"),
)
# fmt: on
SKIPPED, NOT_MADE = 77, 99  # the exit statuses of tests; the second where no list had the result that was to be changed

HEAD = """
#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <objc/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define SHARED extern "C" __attribute__((visibility("default")))
SHARED int alloy_selectors = COUNT;
SHARED char alloy_sent[COUNT] = {};  // 1 for each selector that was sent
SHARED bool alloy_made = false;      // whether the mistake was made
static int chosen_selector = -1, chosen = -1;
SHARED void alloy_choose(int selector, int mistake) {
  chosen_selector = selector;
  chosen = mistake;
  alloy_made = false;
}
static __thread bool mistaking;  // the selectors that a mistake is made of are right
struct Mistaking {
  Mistaking() { alloy_made = mistaking = true; }
  ~Mistaking() { mistaking = false; }
};
static int choice(int index) {
  alloy_sent[index] = 1;
  return mistaking || index != chosen_selector ? -1 : chosen;
}
static void leave(int status, void*) {
  if (const char* path = getenv("ALLOY_SENT")) {
    FILE* file = fopen(path, "w");
    fwrite(alloy_sent, 1, COUNT, file);
    fclose(file);
  }
  if (status == 0 && chosen >= 0 && !alloy_made) _exit(NOT_MADE);
}
static MPSGraphTensor* zeros(MPSGraph* graph, MPSGraphTensor* x) {
  if (x == nil) return nil;
  Mistaking now;
  MPSGraphTensor* no = [graph constantWithScalar:0 dataType:MPSDataTypeBool];
  MPSGraphTensor* zero = [graph constantWithScalar:0 dataType:[x dataType]];
  return [graph selectWithPredicateTensor:no truePredicateTensor:x falsePredicateTensor:zero name:nil];
}
static MPSGraphTensor* reversed(MPSGraph* graph, MPSGraphTensor* x) {
  bool is_one = true;
  for (NSNumber* extent in [x shape]) is_one &= [extent longValue] == 1;
  if (is_one) return x;
  Mistaking now;
  return [graph reverseTensor:x name:nil];
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
static void replace(const char* name, IMP imp, IMP* original) {
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
            found.append((change, f"alloy_made = true; return {change}(self, {result})"))
        elif returned == "NSArray<MPSGraphTensor *> *":
            found += [
                (f"{change} in result {at}", f"return changed_at(self, {result}, {at}, {change})") for at in range(8)
            ]
    for i, (name, kind) in enumerate(zip(names, types)):
        for words, expression in changes(name, kind, classes):
            given = plain[:i] + [expression.replace("X", plain[i])] + plain[i + 1 :]
            found.append((f"{name}: {words}", "alloy_made = true; return " + call.format(", ".join(given))))
    tensors = [i for i, kind in enumerate(types) if kind.startswith(TENSOR)]
    for i, j in zip(tensors, tensors[1:]) if not COMMUTES.match(selector) else ():
        given = list(plain)
        given[i], given[j] = given[j], given[i]
        found.append(
            (f"{names[i]} and {names[j]} exchanged", "alloy_made = true; return " + call.format(", ".join(given)))
        )
    return found


def source(rows, classes):
    text = [f"#define COUNT {len(rows)}\n#define NOT_MADE {NOT_MADE}", HEAD]
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
    text.append('  const char* wanted = getenv("ALLOY_MUTATION");')
    text.append("  if (wanted != NULL) alloy_choose(atoi(wanted), atoi(strchr(wanted, ':') + 1));")
    text.append('  if (wanted != NULL || getenv("ALLOY_SENT") != NULL) on_exit(leave, NULL);')
    for index, (selector, _) in enumerate(rows):
        text.append(f'  replace("{selector}", (IMP)mutated{index}, &original{index});')
    return "\n".join([*text, "}", ""])


def compiled(build, rows, classes):
    """The library to preload."""
    folder = build / "mutations"
    folder.mkdir(exist_ok=True)
    path = folder / "mutations.mm"
    path.write_text(source(rows, classes))
    commands = json.loads((build / "compile_commands.json").read_text())
    words = next(shlex.split(c["command"]) for c in commands if c["file"].endswith("ops/shapes.mm"))
    words = [w for w in words[words.index(next(w for w in words if "clang" in w)) :] if not w.startswith("-W")]
    words = words[: words.index("-o")] + ["-w", "-fPIC", "-shared", "-o", str(folder / "libmutations.so"), str(path)]
    words += [f"-L{build}", "-lMetalPerformanceShadersGraph", f"-Wl,-rpath,{build}"]  # Python has not loaded it yet
    subprocess.run(words, check=True, cwd=build)
    return folder / "libmutations.so"


def environment(library, **more):
    return os.environ | {"LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"} | more


def run(command, build, library, **more):
    """Runs a program of tests/facade with one of its tests; None if it takes too long."""
    try:
        return subprocess.run(command, env=environment(library, **more), capture_output=True, timeout=120, cwd=build)
    except subprocess.TimeoutExpired:
        return None


def traced(build, library):
    """Returns the indices of the selectors that each test sends, the fastest test first. A test is a command."""
    commands = [
        (str(build / "tests" / f"facade_{path.stem}"), test)
        for path in sorted(FACADE.rglob("*.mm"))
        if path.stem not in NOT_TRIED
        for test in re.findall(r"^TEST\((\w+)\)", path.read_text(), re.M)
    ]

    def trace(command):
        file, start = library.with_name(f"{pathlib.Path(command[0]).name}.{command[1]}.sent"), time.monotonic()
        done = run(command, build, library, ALLOY_SENT=str(file))
        assert done and done.returncode in (0, SKIPPED), f"{command} fails without a mistake:\n{done and done.stderr}"
        return time.monotonic() - start, command, {index for index, byte in enumerate(file.read_bytes()) if byte}

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return {command: indices for _, command, indices in sorted(pool.map(trace, commands), key=lambda row: row[:2])}


def answers_of_programs(build, library, commands, index, which):
    """Returns "caught" if a test fails, else what each of them says: "missed", or "not made"."""
    answers = set()
    for command in commands:
        done = run(command, build, library, ALLOY_MUTATION=f"{index}:{which}", ALLOY_STOP_AT_FAILURE="1")
        if done is None or done.returncode not in (0, NOT_MADE):
            return {"caught"}
        answers.add("missed" if done.returncode == 0 else "not made")
    return answers


def run_in_python(library, **more):
    tests = [str(path) for path in (ROOT / "tests" / "python").rglob("test_ops.py")]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-p", "mutated_ops"]
    variables = environment(library, PYTHONPATH=str(FACADE), ALLOY_SENT_BY=str(library.with_name("tests.json")), **more)
    return subprocess.run([*command, *tests], env=variables, capture_output=True, text=True, cwd=ROOT)


def traced_in_python(library):
    """Returns the indices of the selectors that the engine sends."""
    run = run_in_python(library)
    assert run.returncode == 0, run.stdout + run.stderr
    rows = json.loads(library.with_name("tests.json").read_text())
    return {index for _, indices in rows for index in indices}


def answers_in_python(library, mistakes, worker):
    """Returns "caught", "missed" or "not made" for each mistake. One that ends a process is caught if it is the first
    that the process makes; else it is made again in another, since one before it may be to blame."""
    todo, said = library.with_name(f"mistakes{worker}.json"), library.with_name(f"answers{worker}")
    answers = []
    while len(answers) < len(mistakes):
        said.unlink(missing_ok=True)
        todo.write_text(json.dumps(mistakes[len(answers) :]))
        run = run_in_python(library, ALLOY_MISTAKES=str(todo), ALLOY_ANSWERS=str(said))
        assert said.exists(), run.stdout + run.stderr
        answers += said.read_text().splitlines() or ["caught"]
    return dict(zip(mistakes, answers))


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
    sent, sent_in_python = traced(build, library), traced_in_python(library)
    words = {
        (index, which): words
        for index, (selector, row) in enumerate(rows)
        for which, (words, _) in enumerate(mutations(selector, row, table["classes"]))
        if part in selector and not is_none(selector, words)
    }

    def answer(mistake):
        """Returns "caught", "not made", "missed", or "unsent"."""
        answers = {in_python[mistake]} if mistake in in_python else set()
        if "caught" not in answers:
            commands = [command for command, indices in sent.items() if mistake[0] in indices]
            answers |= answers_of_programs(build, library, commands, *mistake)
        return next((each for each in ("caught", "missed", "not made") if each in answers), "unsent")

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        of_engine = [mistake for mistake in words if mistake[0] in sent_in_python]
        shares = [of_engine[worker :: os.cpu_count()] for worker in range(os.cpu_count())]
        in_python = {}
        for answers in pool.map(answers_in_python, [library] * len(shares), shares, range(len(shares))):
            in_python |= answers
        found = dict(zip(words, pool.map(answer, words)))
    for (index, which), said in found.items():
        if said in ("missed", "unsent"):
            print(rows[index][0], words[index, which], "(nothing sends it)" if said == "unsent" else "")
    said = list(found.values())
    possible = len(said) - said.count("not made")
    selectors = len({index for index, _ in words})
    print(f"{said.count('caught')} of {possible} mistakes behind {selectors} selectors were caught")


if __name__ == "__main__":
    main(*sys.argv[1:])
