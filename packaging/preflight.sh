#!/bin/sh
# Describes this machine, and says if Alloy can be built on it. Needs only programs that every system has, and changes
# nothing.
#   preflight.sh     prints one fact per line; if something is missing, what to install, and exits with status 1
# PYTHON, if set, names the only Python to look for.
set -u
cd "$(dirname "$0")/.."
minor=$(sed -n 's/^requires-python = ">=3\.\([0-9]*\)"$/\1/p' pyproject.toml)
macos=$(sed -n 's/^cmake.define.CMAKE_OSX_DEPLOYMENT_TARGET = "\(.*\)"$/\1/p' pyproject.toml)
missing=0

fact() { printf '%-20s %s\n' "$1" "$2"; }
lacks() { printf 'MISSING: %s\n' "$1"; missing=1; }
have() { command -v "$1" >/dev/null 2>&1; }
first_line() { "$@" 2>/dev/null | head -n 1; }
# True if version $1 is at least $2, both like 13.3.
at_least() {
  [ "${1%%.*}" -gt "${2%%.*}" ] 2>/dev/null && return 0
  [ "${1%%.*}" = "${2%%.*}" ] || return 1
  rest=${1#*.}
  [ "$rest" != "$1" ] || rest=0
  [ "${rest%%.*}" -ge "${2#*.}" ]
}

pythons() {
  found=
  for name in ${PYTHON:-python3.13 python3.12 python3.11 python3.10 python3.14 ${brewed:-} python3}; do
    have "$name" || continue
    version=$("$name" -c 'import sys; print("%d.%d.%d" % sys.version_info[:3])' 2>/dev/null) || continue
    note=
    if ! at_least "$version" "3.$minor"; then note=" (too old)"
    elif ! "$name" -c 'import venv, ensurepip' 2>/dev/null; then note=" (without venv)"
    else found=yes; fi
    fact "$name" "$version$note"
  done
  [ -n "$found" ] || lacks "Python 3.$minor or newer with venv; install it with: $1"
}

disk() {
  free=$(df -Pk . | awk 'NR == 2 { print int($4 / 1024) }')
  fact "free disk" "$free MB"
  [ "$free" -ge "$1" ] || lacks "$1 MB of free disk"
}

if [ "$(uname)" = Darwin ]; then
  PATH=$PATH:${HOMEBREW_PREFIX:-/opt/homebrew}/bin
  brewed=${HOMEBREW_PREFIX:-/opt/homebrew}/bin/python3
  [ "$(uname -m)" = arm64 ] || lacks "a chip of Apple's: Macs with Intel's are not supported"
  fact "chip" "$(first_line sysctl -n machdep.cpu.brand_string) ($(uname -m))"
  version=$(sw_vers -productVersion)
  fact "macOS" "$version ($(sw_vers -buildVersion))"
  at_least "$version" "$macos" || lacks "macOS $macos or newer"
  fact "memory" "$(($(sysctl -n hw.memsize) / 1073741824)) GB"
  if xcode-select -p >/dev/null 2>&1; then
    xcode=$(first_line xcodebuild -version) || xcode=
    fact "developer tools" "${xcode:-command line tools}"
    compiler=$(xcrun clang++ --version 2>/dev/null | head -n 1)
    fact "compiler" "$compiler"
    sdk=$(xcrun --show-sdk-version 2>/dev/null)
    fact "SDK" "${sdk:-none}"
    at_least "${sdk:-0}" "$macos" || lacks "a macOS SDK of $macos or newer; update Xcode, or: xcode-select --install"
  else
    fact "developer tools" "none"
    lacks "the compiler; install it with: xcode-select --install"
  fi
  pythons "brew install python"
  if have brew; then fact "Homebrew" "$(first_line brew --version | sed 's/^Homebrew //')"
  else
    fact "Homebrew" "none"
    echo "Only the tests need Homebrew (https://brew.sh), to install GoogleTest."
  fi
  # Some systems only show the GPU to programs of the graphical session.
  session="no"
  ! launchctl managername 2>/dev/null | grep -q Aqua || session="yes"
  [ -z "${SSH_CONNECTION:-}" ] || session="$session, over SSH"
  fact "graphical session" "$session"
  [ "$session" = yes ] ||
    echo "Without a graphical session some Macs have no Metal device: run this in a Terminal window."
  disk 2000
else
  fact "chip" "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1) ($(uname -m))"
  fact "system" "$(. /etc/os-release 2>/dev/null && echo "${PRETTY_NAME:-}") ($(uname -sr))"
  fact "memory" "$(awk '/^MemTotal/ { print int($2 / 1048576) " GB" }' /proc/meminfo 2>/dev/null)"
  clang=none
  for name in clang++ clang++-21 clang++-20 clang++-19 clang++-18 clang++-17 clang++-16; do
    ! have "$name" || { clang="$(first_line "$name" --version)"; break; }
  done
  fact "compilers" "$(first_line g++ --version || echo none); $clang"
  [ "$clang" != none ] && have g++ || have apt-get || lacks "g++ and clang 16 or newer"
  pythons "apt-get install python3 python3-venv"
  fact "graphical session" "not needed"
  disk 4000
fi
[ "$missing" = 0 ]
