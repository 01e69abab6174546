"""Adds to an unpacked wheel, under alloy/licenses, the license of every shared library that auditwheel copied into it.

python bundle_licenses.py <unpacked wheel>. Each library comes from a Debian package, whose copyright file is taken with
the common licenses that it refers to; fails when one comes from elsewhere. What the build itself installs (oneDNN)
brings its license along.
"""

import pathlib
import re
import shutil
import subprocess
import sys


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


wheel = pathlib.Path(sys.argv[1])
target = wheel / "alloy" / "licenses"


def debian_package(library):
    """The package of the file from which `library` was copied; auditwheel puts a hash before the first dot."""
    name = re.sub(r"-[0-9a-f]{8}(?=\.)", "", library, count=1)
    owner = run("dpkg-query", "--search", f"*/{name}")
    if owner.returncode != 0:
        sys.exit(f"{library}: no Debian package has {name}, so its license is unknown")
    return owner.stdout.split(":")[0]


common, table = set(), []
for library in sorted(path.name for path in (wheel / "alloy_mpsgraph.libs").iterdir()):
    package = debian_package(library)
    copyright_file = pathlib.Path("/usr/share/doc") / package / "copyright"
    (target / package).mkdir(parents=True, exist_ok=True)
    shutil.copy(copyright_file, target / package)
    common |= set(re.findall(r"common-licenses/([\w.+-]*\w)", copyright_file.read_text(errors="replace")))
    table.append(f"{library}  {package}\n")
(target / "common-licenses").mkdir()
for name in sorted(common):
    text = pathlib.Path("/usr/share/common-licenses") / name
    if text.exists():
        shutil.copy(text, target / "common-licenses")
(target / "LIBRARIES").write_text("".join(table))
print(f"licenses of {len(table)} libraries")
