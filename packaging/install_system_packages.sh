#!/bin/sh
# Installs missing system packages that the build needs (Debian, Ubuntu; Homebrew); on other systems, names them. Does
# nothing, and needs no rights, if all are installed.
#   install_system_packages.sh [tests] [benchmarks] [wheel] [asan] [arm64]     also the packages for these
# PYTHON: the interpreter of the virtual environment, default python3
set -eu
needed() { case " $purposes " in *" $1 "*) ;; *) return 1 ;; esac; }
purposes=$*

if [ "$(uname)" = Darwin ]; then
  xcode-select -p >/dev/null 2>&1 ||
    { echo "Xcode's tools are missing; install them with: xcode-select --install" >&2; exit 1; }
  formulas="$(! needed tests || echo googletest) $(! needed benchmarks || echo google-benchmark)"
  PATH=$PATH:${HOMEBREW_PREFIX:-/opt/homebrew}/bin
  for formula in $formulas; do
    command -v brew >/dev/null || { echo "Homebrew is missing (https://brew.sh); it installs $formula." >&2; exit 1; }
    brew list "$formula" >/dev/null 2>&1 || brew install "$formula"
  done
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "No apt-get here. Needed: make, g++, clang >= 16, GNUstep Base on GCC's Objective-C runtime, Highway," \
    "GoogleTest, Google Benchmark, Python >= 3.10 with headers; install them and repeat." >&2
  exit 0
fi

installed() { dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null | grep -qx installed; }
available() { apt-cache policy "$1" | grep -q 'Candidate: [0-9]'; }
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else echo "Root or sudo is needed for: $*" >&2; exit 1; fi
}

# g++ and its Objective-C runtime must have the same version.
gcc_version() {
  if command -v g++ >/dev/null; then g++ -dumpversion | cut -d. -f1
  else apt-cache depends g++ | sed -n 's/.*Depends: g++-\([0-9]*\)$/\1/p' | head -n 1; fi
}
# The version of the clang that CMake will find, or nothing.
clang_version() {
  for name in clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16; do
    command -v "$name" >/dev/null || continue
    version=$("$name" -dumpversion | cut -d. -f1)
    if [ "$version" -ge 16 ]; then echo "$version"; return; fi
  done
}
have_clang() { [ -n "$(clang_version)" ]; }
# The clang package to install if there is no clang.
available_clang() {
  for version in 16 17 18 19 20 21; do
    if available "clang-$version"; then echo "$version"; return; fi
  done
}

wanted() {
  echo make g++ "libobjc-$(gcc_version)-dev" libgnustep-base-dev libhwy-dev
  ! needed tests || echo libgtest-dev pkgconf iproute2 # tests make hosts with it
  [ "$(uname -m)" = x86_64 ] || echo libdnnl-dev
  ! needed arm64 || echo g++-aarch64-linux-gnu qemu-user
  ! needed wheel || echo icu-devtools binutils pkgconf
  ! needed benchmarks || echo libbenchmark-dev iproute2
  clang=$(clang_version)
  if [ -z "$clang" ]; then
    clang=$(available_clang)
    [ -z "$clang" ] || echo "clang-$clang"
  fi
  ! needed asan || [ -z "$clang" ] || echo "libclang-rt-$clang-dev"
  # A Python that the user installed has venv and headers.
  case $(command -v "${PYTHON:-python3}" || echo /usr/bin/python3) in
    /usr/bin/* | /bin/*) echo python3-venv python3-dev ;;
  esac
}

missing_packages() { for package in $(wanted); do installed "$package" || echo "$package"; done; }

if ! command -v g++ >/dev/null || ! have_clang || [ -n "$(missing_packages)" ]; then
  available g++ && available libgnustep-base-dev || as_root apt-get update
  missing=$(missing_packages)
  if ! have_clang && ! echo "$missing" | grep -q '^clang-'; then
    echo "This system's packages have no clang 16 or newer; install one and repeat." >&2
    exit 1
  fi
  # Old lists name files that no longer exist: fetch the lists once and try again.
  install() { as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $missing; }
  install || { as_root apt-get update && install; }
fi
