"""Checks that g++'s objects come first in everything that is linked from objects of g++ and of clang. The one exception
is the layer on_load, which has to be last and defines nothing inline.

Of an inline function the linker keeps the first copy, and clang's copy cannot run a C++ handler under GCC's
Objective-C runtime. Reads the link steps of Ninja's build file: python link_order.py <build directory>.
"""

import pathlib
import re
import sys

text = (pathlib.Path(sys.argv[1]) / "build.ninja").read_text().replace("$\n", "")
archives, links = {}, {}
for output, rule, inputs, variables in re.findall(r"^build (.*?): (\w+_LINKER\w*)(.*)\n((?:  .*\n)*)", text, re.M):
    objects = [name for name in inputs.split(" | ")[0].split() if name.endswith(".o")]
    if "STATIC_LIBRARY" in rule:
        archives[output.split()[0]] = objects
    else:
        libraries = re.search(r"^  LINK_LIBRARIES = (.*)$", variables, re.M)
        links[output.split()[0]] = objects + (libraries[1].split() if libraries else [])

mixed = 0
for output, items in links.items():
    objects = [name for item in items for name in archives.get(item, [item]) if name.endswith(".o")]
    clang = [name.endswith((".m.o", ".mm.o")) for name in objects if "alloy_on_load" not in name]
    if clang != sorted(clang):
        sys.exit(f"{output}: an object of clang is linked before one of g++:\n  " + "\n  ".join(objects))
    mixed += any(clang) and not all(clang)
if not mixed:
    sys.exit(f"{sys.argv[1]}: nothing is linked from objects of both compilers")
print(f"{mixed} linked from both compilers, g++ first in each")
