#!/bin/sh
# Installs the wheel in a clean virtual environment, trains with it, and compiles and runs Objective-C++ programs with
# it, while GNUstep and all other libraries that the wheel bundles are hidden. They are hidden in a mount namespace,
# which ends with this script and affects nothing else. If namespaces are forbidden, the only check is try_wheel.py's
# look at the loaded libraries.
#   try_wheel.sh <directory with the wheel>
set -eu

# Second half, inside the namespace: try_wheel.sh --hidden <clean python> <try_wheel.py>
if [ "$1" = --hidden ]; then
  unset LD_LIBRARY_PATH
  system=${QEMU_LD_PREFIX:-} # where emulated programs find theirs
  hide() { [ ! -e "$system$1" ] || mount --bind /dev/null "$system$1"; }
  for directory in /etc/GNUstep /usr/lib/GNUstep /usr/share/GNUstep /usr/include/GNUstep; do
    [ ! -d "$system$directory" ] || mount -t tmpfs tmpfs "$system$directory"
  done
  hidden=$("$2" "$3" --system-copies)
  # clang itself uses other libraries that the wheel bundles.
  for file in $hidden; do
    case $file in *gnustep* | *objc*) hide "$file" ;; esac
  done
  # The emulator lets a store pass a later load, where the processor would not, and threads that wait for each other
  # then wait for ever; on one core they see no such order. Emulated, a part of the programs has to do.
  alone=${system:+taskset --cpu-list 0}
  # shellcheck disable=SC2086
  $alone "$2" -I -m pytest -q --rootdir tests tests/python -k "${system:+arc/ or weak/ or not compiles_and_runs}"
  for file in $hidden; do hide "$file"; done
  # shellcheck disable=SC2086
  exec $alone "$2" -I "$3" $hidden
fi

here=$(cd "$(dirname "$0")" && pwd)
wheel=$(ls "$1"/alloy_mpsgraph-*-manylinux_*.whl)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python -m venv --without-pip "$work/venv"
python -m pip --python "$work/venv/bin/python" install --quiet "$wheel[digits]" 'pytest>=8,<10'
cp "$here/try_wheel.py" "$work"
mkdir -p "$work/tests/python/package"
cp "$here"/../tests/python/package/test_programs.py "$work/tests/python/package"
# Other builds than alloy-clang++'s find the system's compilers, which compile for the system's processor.
if [ -z "${QEMU_LD_PREFIX:-}" ]; then
  cp "$here"/../tests/python/package/test_clang.py "$work/tests/python/package"
  python -m pip --python "$work/venv/bin/python" install --quiet cmake ninja
fi
cp -r "$here/../tests/programs" "$work/tests"
cp -r "$here/../examples" "$here/../README.md" "$work"
cd "$work"

if [ "$(id -u)" = 0 ]; then namespace="unshare --mount"; else namespace="unshare --map-root-user --mount"; fi
if $namespace true 2>/dev/null; then
  $namespace "$here/try_wheel.sh" --hidden "$work/venv/bin/python" "$work/try_wheel.py"
else
  echo "Mount namespaces are forbidden here: the system's libraries stay visible."
  "$work/venv/bin/python" -I "$work/try_wheel.py"
  "$work/venv/bin/python" -I -m pytest -q --rootdir tests tests/python
fi
