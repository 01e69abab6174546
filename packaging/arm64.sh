#!/bin/sh
# Runs a command as on a machine with an arm64 processor and Debian 13: g++ and clang++ compile for that processor,
# python is one of it, and the kernel hands its programs to an emulator, qemu. The packages are unpacked in build/arm64.
#   arm64.sh <command> [argument...]
# Needs root, Debian and the .venv of `make setup`, for CMake and Ninja. Where the packages or the emulator cannot be
# had, says so and ends with status 77.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
place=$top/build/arm64
root=$place/root bin=$place/bin
refuse() { echo "arm64: not run: $1"; exit 77; }

[ "$(id -u)" = 0 ] || refuse "root is needed."
command -v apt-get >/dev/null || refuse "packages of arm64 come from apt-get, which is not here."
"$top/packaging/install_system_packages.sh" arm64
gcc=$(aarch64-linux-gnu-g++ -dumpversion | cut -d. -f1)
clang=
for version in 16 17 18 19 20 21; do
  ! command -v "clang++-$version" >/dev/null || clang=clang++-$version
done
[ -n "$clang" ] || refuse "there is no clang++-16 or newer."

# A package manager of its own, for packages of the other processor and of the first Debian with oneDNN 3.
unpack() {
  apt=$place/apt
  mkdir -p "$apt/lists/partial" "$apt/archives/partial" "$apt/dpkg/info" "$root/usr/lib"
  ln -s usr/lib "$root/lib"
  : > "$apt/none"
  site=$(apt-get indextargets --format '$(SITE)' "Origin: Debian" "Created-By: Packages" | grep -v security | head -n 1)
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $site trixie main" > "$apt/sources"
  cat > "$apt/conf" <<END
APT::Architecture "arm64";
APT::Architectures { "arm64"; };
APT::Sandbox::User "root";
Dir::State "$apt";
Dir::State::status "$apt/none";
Dir::Cache "$apt";
Dir::Etc::sourcelist "$apt/sources";
Dir::Etc::sourceparts "$apt/none";
END
  APT_CONFIG=$apt/conf apt-get update &&
    APT_CONFIG=$apt/conf apt-get install -y --no-install-recommends --download-only libgnustep-base-dev \
      "libobjc-$gcc-dev" "libstdc++-$gcc-dev" libdnnl-dev libhwy-dev python3 libpython3-dev || return 1
  for package in "$apt"/archives/*.deb; do
    dpkg -x "$package" "$root"
    # What dpkg-query needs to know whose a file is.
    { dpkg-deb --field "$package"; printf 'Status: install ok unpacked\n\n'; } >> "$apt/dpkg/status"
    dpkg-deb --fsys-tarfile "$package" | tar --list | sed 's|^\.||; s|/$||; /^$/d' \
      > "$apt/dpkg/info/$(dpkg-deb --field "$package" Package).list"
  done
  rm -r "$apt/archives" "$apt/lists"
}

write_compilers() {
  gcc_files=$root/usr/lib/gcc/aarch64-linux-gnu/$gcc
  mkdir -p "$bin"
  for compiler in gcc g++; do # -L: before the C library of the compiler's own package, which is older
    printf '#!/bin/sh\nexec aarch64-linux-gnu-%s "--sysroot=%s" "-B%s" "-L%s" "$@"\n' \
      $compiler "$root" "$gcc_files" "$root/usr/lib/aarch64-linux-gnu" > "$bin/$compiler"
  done
  printf '#!/bin/sh\nexec %s --target=aarch64-linux-gnu "--sysroot=%s" "--gcc-install-dir=%s" "$@"\n' \
    "$clang" "$root" "$gcc_files" > "$bin/clang++"
  chmod +x "$bin"/*
  for tool in ar ranlib nm objcopy strip; do ln -sf "$(command -v "aarch64-linux-gnu-$tool")" "$bin/$tool"; done
  cat > "$place/toolchain.cmake" <<END
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER "$bin/gcc")
set(CMAKE_CXX_COMPILER "$bin/g++")
set(CMAKE_OBJCXX_COMPILER "$bin/clang++")
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH "$root")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_CROSSCOMPILING_EMULATOR env)
END
}

# Programs of arm64 go to the emulator until this script ends, unless they do so already.
programs=/proc/sys/fs/binfmt_misc
emulate() {
  [ -e $programs/register ] || mount -t binfmt_misc binfmt_misc $programs || refuse "the kernel lets nobody emulate."
  if [ -e $programs/alloy-arm64 ] || [ -e $programs/qemu-aarch64 ]; then return; fi
  printf '%s:%s:%s:%s:P' ':alloy-arm64:M:' \
    '\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00' \
    '\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff' \
    "$(command -v qemu-aarch64)" > $programs/register
  trap 'echo -1 > $programs/alloy-arm64' EXIT
}

export QEMU_LD_PREFIX="$root"
export QEMU_CPU=neoverse-n1 # one without signed pointers, whose emulation makes Python twenty times as slow
emulate
if ! [ -e "$place/.made" ]; then
  rm -rf "$place"
  mkdir -p "$place"
  unpack > "$place.log" 2>&1 || refuse "packages are missing; the end of $place.log says which."
  write_compilers
  "$root/usr/bin/python3" -m venv --without-pip "$place/venv"
  # What builds wheels, but for CMake and Ninja, which need no emulation.
  "$top/.venv/bin/python" "$top/packaging/requirements_of.py" build | grep -Ev '^(cmake|ninja)' > "$place/build.txt"
  "$top/.venv/bin/python" -m pip --python "$place/venv/bin/python" install --quiet pip \
    -r "$place/build.txt" -r "$top/packaging/requirements.txt"
  touch "$place/.made"
fi
export PATH="$place/venv/bin:$bin:$top/.venv/bin:$PATH"
export PIP_NO_BUILD_ISOLATION=0 # that is: without isolation
export OBJCXX="$bin/clang++"
export CMAKE_TOOLCHAIN_FILE="$place/toolchain.cmake" DPKG_ADMINDIR="$place/apt/dpkg"
export LD_LIBRARY_PATH="$root/usr/lib/aarch64-linux-gnu" # where auditwheel looks; other programs skip its libraries
"$@"
