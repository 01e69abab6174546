#!/bin/sh
# Runs libAlloyObjC on arm64, emulated by qemu: compiles it, and those programs of tests/programs that use Foundation
# alone, for that processor. The packages of arm64, an emulator and a linker are unpacked in build/arm64; nothing is
# installed. Where they cannot be had, says so and ends with status 0.
#   arm64.sh       needs Debian or Ubuntu, clang 16 or newer and the .venv of `make test`
set -eu
cd "$(dirname "$0")/.."
place=$PWD/build/arm64
root=$place/root tools=$place/tools
not_run() { echo "arm64: not run: $1"; exit 0; }

command -v apt-get >/dev/null || not_run "packages of arm64 come from apt-get, which is not here."
clang=
for version in 21 20 19 18 17 16; do
  if command -v "clang++-$version" >/dev/null; then clang=clang++-$version; break; fi
done
[ -n "$clang" ] || not_run "there is no clang++-16 or newer."
gcc=$(g++ -dumpversion | cut -d. -f1)

# A package manager of its own, for packages of the other processor.
if ! [ -e "$place/.unpacked" ]; then
  rm -rf "$place"
  mkdir -p "$place/apt/lists/partial" "$place/apt/archives/partial" "$root" "$tools"
  : > "$place/apt/status"
  cat > "$place/apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$place/apt";
Dir::State::status "$place/apt/status";
Dir::Cache "$place/apt";
END
  {
    APT_CONFIG=$place/apt/conf apt-get update
    APT_CONFIG=$place/apt/conf apt-get install -y --no-install-recommends --download-only \
      libgnustep-base-dev "libobjc-$gcc-dev" "libstdc++-$gcc-dev" libc6-dev
    cd "$tools"
    apt-get download qemu-user libcapstone4 liburing2 \
      binutils-aarch64-linux-gnu binutils-common libbinutils libctf0 libjansson4
    cd - >/dev/null
  } > "$place/log" 2>&1 || not_run "packages are missing; the end of $place/log says which."
  for package in "$place"/apt/archives/*.deb; do dpkg -x "$package" "$root"; done
  for package in "$tools"/*.deb; do dpkg -x "$package" "$tools"; done
  rm -r "$place/apt"
  touch "$place/.unpacked"
fi
libraries=$tools/usr/lib/$(uname -m)-linux-gnu
cat > "$tools/ld" <<END
#!/bin/sh
LD_LIBRARY_PATH=$libraries exec $tools/usr/bin/aarch64-linux-gnu-ld "\$@"
END
chmod +x "$tools/ld"

compile() {
  "$clang" --target=aarch64-linux-gnu "--sysroot=$root" "--gcc-install-dir=$root/usr/lib/gcc/aarch64-linux-gnu/$gcc" \
    "-B$tools" -idirafter "$root/usr/lib/gcc/aarch64-linux-gnu/$gcc/include" "$@"
}
run() {
  LD_LIBRARY_PATH=$libraries "$tools/usr/bin/qemu-aarch64" -L "$root" \
    -E "LD_LIBRARY_PATH=$place:$root/usr/lib/aarch64-linux-gnu:$root/lib/aarch64-linux-gnu" "$@"
}

flags=$(sed -n 's/^Cflags: \(.*\) -isystem ${root}.*/\1/p' cmake/package/alloy.pc | sed 's/ -isystem.*//')
headers="-isystem csrc/portable/include -isystem $root/usr/include/GNUstep"
compile -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -Icsrc/portable csrc/portable/objc/*.cpp \
  -o "$place/libAlloyObjC.so" -lobjc
# The blocks runtime, of the framework's files the one that such programs need.
# shellcheck disable=SC2086
compile $(echo "$flags" | sed 's/gnustep-1.9 -fobjc-legacy-dispatch/gcc/') $headers -std=c++20 -O2 -fPIC -shared \
  csrc/portable/facade/foundation/Blocks.mm -o "$place/libMetalPerformanceShadersGraph.so" -lgnustep-base -lobjc

programs=0 wrong=0
for source in $(grep -LE 'import <Metal|tensor_data.h|dispatch_|cblas_|main\.' tests/programs/*/*.mm); do
  case $source in */by_hand/*) counting=-fno-objc-arc ;; *) counting=-fobjc-arc ;; esac
  programs=$((programs + 1))
  # shellcheck disable=SC2086
  if ! { compile $flags $headers $counting -std=c++17 -Itests/programs "$source" -o "$place/program" "-L$place" \
           -lMetalPerformanceShadersGraph -lAlloyObjC -lgnustep-base -lobjc && run "$place/program"; }; then
    echo "arm64: $source failed"
    wrong=$((wrong + 1))
  fi
done
echo "arm64: $programs programs ran, $wrong failed"
[ "$programs" != 0 ] && [ "$wrong" = 0 ]
