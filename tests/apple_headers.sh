#!/bin/sh
# Checks every source that a Mac compiles against Apple's headers and libc++, where there is no Mac: types,
# availability, warnings. Nothing is linked or run.
#   apple_headers.sh <SDK>     an iPhoneOS SDK of 16.4 or newer (the engine's headers are the same there) or a MacOSX
#                              SDK of 13.3 or newer
# Needs clang 16 or newer, GoogleTest, Google Benchmark and the environment that `make test` leaves in .venv.
set -u
if ! [ -d "${1:-}/System/Library/Frameworks/MetalPerformanceShadersGraph.framework" ]; then
  echo "Expected the directory of an SDK of Apple's with MPSGraph." >&2
  exit 2
fi
sdk=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
macos=$(sed -n 's/^cmake.define.CMAKE_OSX_DEPLOYMENT_TARGET = "\(.*\)"$/\1/p' pyproject.toml)
case $(basename "$sdk") in
  iPhoneOS*) target=arm64-apple-ios16.4 ;;  # appeared with macOS 13.3
  *) target=arm64-apple-macos$macos ;;
esac
for clang in clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16 clang++; do
  ! command -v "$clang" >/dev/null || break
done

# What the sources may see, each under its name: the layers, and of this machine the two libraries, not the system's
# headers beside them.
roots=$(mktemp -d)
trap 'rm -rf "$roots"' EXIT
# csrc/portable is not on a Mac.
for layer in csrc/ir csrc/reference csrc/engine tests/watch python/alloy/include/alloy; do
  ln -s "$PWD/$layer" "$roots"
done
mkdir "$roots/libraries"
for library in gtest benchmark; do
  for prefix in /opt/homebrew /usr/local /usr; do
    [ ! -d "$prefix/include/$library" ] || { ln -s "$prefix/include/$library" "$roots/libraries"; break; }
  done
done
# NumPy's headers are configured for the system that they were installed on; Apple's endian.h is elsewhere.
[ -f "$sdk/usr/include/endian.h" ] || echo '#include <machine/endian.h>' > "$roots/libraries/endian.h"
python=$(.venv/bin/python -c 'import numpy, pybind11, sysconfig
paths = sysconfig.get_path("include"), numpy.get_include(), pybind11.get_include()
for path in paths: print("-isystem", path)') || exit 2

check() {
  case $1 in
    tests/programs/by_hand/*.m) language="-x objective-c -fblocks -fno-objc-arc" ;;
    tests/programs/by_hand/*.mm) language="-x objective-c++ -fblocks -fno-objc-arc" ;;
    tests/programs/*.m) language="-x objective-c -fblocks -fobjc-arc" ;;
    tests/programs/*.mm | examples/*.mm) language="-x objective-c++ -fblocks -fobjc-arc" ;;
    *.m) language="-x objective-c -fblocks -fno-objc-arc" ;;
    *.mm) language="-x objective-c++ -fblocks -fno-objc-arc" ;;
    *) language="-x c++" ;;
  esac
  case $1 in
    *.m) library= ;;
    *) library="-std=gnu++20 -stdlib=libc++ -nostdinc++ -isystem $sdk/usr/include/c++/v1" ;;
  esac
  case $1 in
    *bindings*) seen="-I$roots $python -isystem $roots/libraries" ;;
    tests/facade/*) seen="-Itests/facade" ;;  # Apple's headers alone
    examples/*) seen= ;;
    tests/programs/*) seen="-Itests/programs" ;;
    tests/cpp/* | benchmarks/cpp/*) seen="-I$roots -Itests/cpp -isystem $roots/libraries" ;;
    *) seen="-I$roots -isystem $roots/libraries" ;;
  esac
  # shellcheck disable=SC2086
  "$clang" $language $library $seen -target "$target" -isysroot "$sdk" -fsyntax-only \
    -Wall -Wextra -Wpedantic -Wunguarded-availability-new -Werror "$1"
}

# examples/run_package.mm names selectors of macOS 14, which the SDK of iOS 16.5 lacks.
linux_only='^(examples/run_package|csrc/portable|benchmarks/cpp/bench_kernels'
linux_only=$linux_only'|tests/(mute|remote_device|bits|cpp/(compiler|cpu|device|package|runtime)))'
accepted=0 refused=0
for source in $(find csrc tests benchmarks examples -name '*.cpp' -o -name '*.mm' -o -name '*.m' |
                grep -vE "$linux_only" | sort); do
  if check "$source"; then accepted=$((accepted + 1)); else refused=$((refused + 1)); echo "refused: $source"; fi
done
echo "$(basename "$sdk"), $target: $accepted sources accepted, $refused refused"
[ "$refused" = 0 ]
