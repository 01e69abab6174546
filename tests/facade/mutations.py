"""Would the conformance tests notice a mistake? Makes mistakes behind Apple's selectors, one at a time, while the
programs of tests/facade run, and counts those after which a program fails.

    cmake --build build/editable --target tests
    python tests/facade/mutations.py [build/editable] [part of a selector]

The mistakes of a selector follow from its type in api.json: zeros in place of each result; for each argument another
axis, a flag turned over, another number or mode, a list the other way round, nothing in place of what may be nil, two
tensors exchanged; for each property of a descriptor another value. A library made of that is preloaded into the
programs that send the selector. Not a part of `make test`: it takes some minutes."""

import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

FACADE = pathlib.Path(__file__).parent
ROOT = FACADE.parent.parent
NOT_OPS = ("run", "encode", "compile", "placeholder", "init")  # selectors of running, and what only is fed
TENSOR = "MPSGraphTensor *"

HEAD = """
#import <Foundation/Foundation.h>
#import <MetalPerformanceShadersGraph/MetalPerformanceShadersGraph.h>
#import <objc/runtime.h>
#include <stdlib.h>
#include <string.h>
static int chosen;
static MPSGraphTensor* zeros(MPSGraph* graph, MPSGraphTensor* x) {
  if (x == nil) return nil;
  MPSGraphTensor* no = [graph constantWithScalar:0 dataType:MPSDataTypeBool];
  MPSGraphTensor* zero = [graph constantWithScalar:0 dataType:[x dataType]];
  return [graph selectWithPredicateTensor:no truePredicateTensor:x falsePredicateTensor:zero name:nil];
}
static NSArray* zeros_at(MPSGraph* graph, NSArray* tensors, NSUInteger at) {
  NSMutableArray* out = [NSMutableArray arrayWithArray:tensors];
  if (at < [out count]) [out replaceObjectAtIndex:at withObject:zeros(graph, [out objectAtIndex:at])];
  return out;
}
static NSArray* backwards(NSArray* list) { return [[list reverseObjectEnumerator] allObjects]; }
static id with_value(id descriptor, NSString* key, int kind) {
  id changed = [[descriptor copy] autorelease];
  id value = [changed valueForKey:key];
  if (kind == 0) value = backwards(value);
  else if (kind == 1) value = [NSNumber numberWithBool:![value boolValue]];
  else if (kind == 2) value = [NSNumber numberWithDouble:[value doubleValue] * 0.5 + 0.25];
  else if (kind == 3) value = [NSNumber numberWithLongLong:[value longLongValue] == 0 ? 1 : 0];
  else value = [NSNumber numberWithLongLong:[value longLongValue] + 1];
  [changed setValue:value forKey:key];
  return changed;
}
static void replace(const char* name, int index, IMP imp, IMP* original) {
  const char* wanted = getenv("ALLOY_MUTATION");
  if (wanted == NULL || atoi(wanted) != index) return;
  chosen = atoi(strchr(wanted, ':') + 1);
  Method method = class_getInstanceMethod([MPSGraph class], sel_registerName(name));
  *original = method_setImplementation(method, imp);
}
"""


def changes(name, row, classes):
    """Of an argument: what becomes of it, as (words, expression), with X for the argument."""
    nullable, row = row.endswith("_Nullable"), row.removesuffix(" _Nullable")
    key = name[:1].lower() + name[1:]
    out = [("nil", "nil")] if nullable and row != "NSString *" else []
    if row == "BOOL":
        out.append(("turned over", "!X"))
    elif row in ("NSInteger", "NSUInteger"):
        is_axis = re.search(r"(axis|dimension|gatherAlongAxis|scatterAlongAxis|coordinateAlongAxis)$", key, re.I)
        out.append(("another axis", "X ^ 1") if is_axis and "batch" not in key else ("one more", "X + 1"))
    elif row in ("double", "float"):
        out.append(("another number", "X * 0.5 + 0.25"))
    elif row == "uint32_t":
        out.append(("no mask", "0"))
    elif row in ("MPSShape *", "NSArray<NSNumber *> *", "NSArray<MPSGraphTensor *> *"):
        out.append(("backwards", "backwards(X)"))
    elif row.startswith("MPSGraph") and row.endswith("Descriptor *") and row[:-2] in classes:
        for prop, text in sorted(classes[row[:-2]]["properties"].items()):
            if "readonly" in text:
                continue
            kind = text.split()[-1] if "*" not in text else "list"
            code = {"list": 0, "BOOL": 1, "float": 2, "double": 2}.get(kind, 4 if kind.startswith("NS") else 3)
            out.append((f"its {prop}", f'with_value(X, @"{prop}", {code})'))
    elif row.startswith("MPSGraph") and not row.endswith("*") and not row.endswith("Block"):
        out.append(("another mode", f"({row})(X == 0 ? 1 : 0)"))
    return out


def mutations(selector, row, classes):
    """(words, the arguments and the result as expressions) for each mistake."""
    names, types = selector.rstrip(":").split(":"), row[1:]
    plain = [f"a{i}" for i in range(len(types))]
    call = "original({})"
    returned = row[0].removesuffix(" _Nullable")
    found = []
    if returned == TENSOR:
        found.append(("zeros", f"zeros(self, {call.format(', '.join(plain))})"))
    elif returned == "NSArray<MPSGraphTensor *> *":
        for at in range(4):
            found.append((f"zeros in result {at}", f"zeros_at(self, {call.format(', '.join(plain))}, {at})"))
    for i, (name, kind) in enumerate(zip(names, types)):
        for words, expression in changes(name, kind, classes):
            given = plain[:i] + [expression.replace("X", plain[i])] + plain[i + 1 :]
            found.append((f"{name}: {words}", call.format(", ".join(given))))
    tensors = [i for i, kind in enumerate(types) if kind.startswith(TENSOR)]
    for i, j in zip(tensors, tensors[1:]):
        given = list(plain)
        given[i], given[j] = given[j], given[i]
        found.append((f"{names[i]} and {names[j]} exchanged", call.format(", ".join(given))))
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
        cases = [f"    case {i}: return {code};" for i, (_, code) in enumerate(mutations(selector, row, classes))]
        plain = ", ".join(f"a{i}" for i in range(len(types) - 1))
        text += [define, "  switch (chosen) {", *cases, "  }", f"  return original({plain});", "#undef original", "}"]
    text.append("__attribute__((constructor(65535))) static void install(void) {")
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


def senders(build):
    """For each program of tests/facade its text."""
    skipped = {"resnet50", "process_end", "threads_first_use", "exceptions", "lifetimes", "devices", "pretence"}
    return {
        path.stem: path.read_text()
        for path in FACADE.glob("*.mm")
        if path.stem not in skipped and (build / "tests" / f"facade_{path.stem}").exists()
    }


def programs_that_send(selector, texts):
    pieces = [re.escape(piece) + ":" for piece in selector.rstrip(":").split(":")]
    wanted = re.compile(r"\b" + r"[^;]*?\b".join(pieces))
    return [name for name, text in texts.items() if wanted.search(text)]


def is_caught(build, library, programs, index, which):
    environment = os.environ | {
        "LD_PRELOAD": str(library),
        "ALLOY_MUTATION": f"{index}:{which}",
        "OMP_NUM_THREADS": "1",
    }
    for program in programs:
        try:
            run = subprocess.run(
                [build / "tests" / f"facade_{program}"], env=environment, capture_output=True, timeout=120, cwd=build
            )
        except subprocess.TimeoutExpired:
            return True
        if run.returncode != 0:
            return True
    return False


def main(build=ROOT / "build" / "editable", part=""):
    build = pathlib.Path(build).resolve()
    table = json.loads((FACADE / "api.json").read_text())
    rows = [
        (selector.removeprefix("- "), row if isinstance(row, list) else row["row"])
        for selector, row in table["classes"]["MPSGraph"]["methods"].items()
        if selector.startswith("- ") and ":" in selector and not selector[2:].startswith(NOT_OPS)
    ]
    library, texts = compiled(build, rows, table["classes"]), senders(build)
    for program in texts:  # without a mistake each passes
        assert not is_caught(build, library, [program], -1, 0), program
    jobs, caught, silent = [], 0, []
    for index, (selector, row) in enumerate(rows):
        programs = programs_that_send(selector, texts)
        for which, (words, _) in enumerate(mutations(selector, row, table["classes"])):
            if part in selector:
                jobs.append((selector, words, programs, index, which))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda job: is_caught(build, library, job[2], job[3], job[4]), jobs)
        for (selector, words, programs, *_), found in zip(jobs, results):
            caught += found
            if not found:
                silent.append(f"{selector} {words}" + ("" if programs else " (no program sends it)"))
    print(*silent, sep="\n")
    print(f"{caught} of {len(jobs)} mistakes behind {len({job[0] for job in jobs})} selectors were caught")


if __name__ == "__main__":
    main(*sys.argv[1:])
