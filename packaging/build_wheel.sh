#!/bin/sh
# Builds the source distribution, and of it the self-contained Linux wheel. pip builds both in isolation, auditwheel
# copies in every library that the oldest supported system lacks, without its symbols for debuggers, and
# bundle_licenses.py adds the licenses. Users' Objective-C++ programs are linked with these copies too, because a
# process can have only one Objective-C runtime.
#   build_wheel.sh <directory>     writes both there and reports the wheel's size
# Needs packaging/requirements.txt in the first Python of the path.
set -eu
cd "$(dirname "$0")/.."
out=$1
[ "$(uname)" = Linux ] || { echo "build_wheel.sh builds Linux wheels." >&2; exit 1; }

work=build/wheel
rm -rf "$work"
mkdir -p "$work" "$out"
rm -f "$out"/alloy_mpsgraph-*.tar.gz
# arm64.sh brings what builds wheels, and tells pip so by this variable, which "build" does not know.
python -m build --sdist ${PIP_NO_BUILD_ISOLATION:+--no-isolation --skip-dependency-check} --outdir "$out" .
python -m pip wheel --no-deps --wheel-dir "$work/built" "$out"/alloy_mpsgraph-*.tar.gz
python -m auditwheel repair --strip --wheel-dir "$work/repaired" "$work"/built/*.whl
python -m wheel unpack --dest "$work/unpacked" "$work"/repaired/*.whl
python packaging/bundle_licenses.py "$work"/unpacked/*
libraries=alloy_mpsgraph.libs
for wheel in "$work"/unpacked/*; do
  packaging/reduce_icu_data.sh "$wheel/$libraries"
  # auditwheel has renamed the libraries; for the linker, each gets a file with its name in alloy.pc.
  for name in gnustep-base objc; do
    library=$(cd "$wheel/$libraries" && ls "lib$name"-*.so*)
    echo "INPUT(../$libraries/$library)" > "$wheel/alloy/lib$name.so"
  done
  sed -i "s|^Libs: .*|& -Wl,-rpath,\${root}/../$libraries|" "$wheel/alloy/pkgconfig/alloy.pc"
done
rm -f "$out"/alloy_mpsgraph-*.whl
python -m wheel pack --dest-dir "$out" "$work"/unpacked/*

for wheel in "$out"/alloy_mpsgraph-*.whl; do
  printf '%s: %s bytes, %s shared libraries\n' "$wheel" "$(wc -c <"$wheel")" \
    "$(python -m zipfile --list "$wheel" | grep -c '\.so')"
done
