#!/bin/sh
# Makes a virtual environment with a Python that is new enough, and replaces one that does not work. Does nothing if
# there is one that works.
#   make_environment.sh <directory>            PYTHON, if set, names the Python
#   make_environment.sh --check <directory>    prints yes if it works
set -eu
cd "$(dirname "$0")/.."
minor=$(sed -n 's/^requires-python = ">=3\.\([0-9]*\)"$/\1/p' pyproject.toml)
new_enough() { "$1" -c "import $2, sys; sys.exit(sys.version_info < (3, $minor))" >/dev/null 2>&1; }
# The last file that this script writes. With it, "import alloy" rebuilds the extension with this environment's cmake
# even if the environment is not activated.
mark=own_programs_first.pth
works() { new_enough "$1/bin/python" pip && ls "$1"/lib/python3.*/site-packages/$mark >/dev/null 2>&1; }

if [ "$1" = --check ]; then
  ! works "$2" || echo yes
  exit 0
fi
! works "$1" || exit 0
# On Linux, python3 is the version whose headers have packages. On a Mac, python3 may be Xcode's 3.9, or newer than the
# libraries support, and Homebrew's programs may be outside the path or after Xcode's.
versions="python3.13 python3.12 python3.11 python3.10 python3.14"
names="python3 $versions" install="apt-get install python3"
if [ "$(uname)" = Darwin ]; then
  names="$versions ${HOMEBREW_PREFIX:-/opt/homebrew}/bin/python3 python3" install="brew install python"
  PATH=$PATH:${HOMEBREW_PREFIX:-/opt/homebrew}/bin
fi
if [ -n "${PYTHON:-}" ]; then names=$PYTHON; fi
python=
for name in $names; do
  if new_enough "$name" "venv, ensurepip"; then python=$name; break; fi
done
[ -n "$python" ] ||
  { echo "Python 3.$minor or newer is missing (looked for $names); install it with: $install" >&2; exit 1; }
rm -rf "$1"
"$python" -m venv "$1"
# Puts cmake's own program before pip's "cmake", which starts a second Python: import alloy takes 0.13 s less.
"$1/bin/python" - $mark <<'END'
import pathlib, sys, sysconfig
site = pathlib.Path(sysconfig.get_path("purelib"))
cmake = site.relative_to(sys.prefix) / "cmake/data/bin"
own = f'os.path.join(sys.prefix, "{cmake}"), os.path.join(sys.prefix, "bin"), os.environ.get("PATH", os.defpath)'
(site / sys.argv[1]).write_text(f'import os, sys; os.environ["PATH"] = os.pathsep.join(({own}))\n')
END
