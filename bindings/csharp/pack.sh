#!/usr/bin/env bash
# Makes the NuGet packages and prints them with their sizes.
#
# Usage: bindings/csharp/pack.sh [--library PATH]... [--cuda-library PATH] [--version V] [--offline] OUT
#   --library PATH       library of a build without CUDA, for Linux on x64 or ARM64 or Windows on x64: each makes the package of its
#                        platform; without this and the next one, build/cpu-only/lib/libinlay.so.1
#   --cuda-library PATH  library of a build with CUDA for Linux on x64, for the package Inlay.Native.linux-x64.Cuda
#   --version V          of all packages (the one in pack/Packages.props)
#   --offline            only what the SDK builds without NuGet: Inlay for the SDK's own .NET, and the native packages
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The same numbers and the same words everywhere: tests read what this and the tools print.
export LC_ALL=C DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en

fail() { echo "pack.sh: $*" >&2; exit 1; }
usage() { sed -n '4,9s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }

libraries=() cuda_library='' version='' offline='' out=''
while [ $# -gt 0 ]; do
  case $1 in
    --library | --cuda-library | --version)
      [ $# -gt 1 ] || usage
      case $1 in
        --library) libraries+=("$2") ;;
        --cuda-library) cuda_library=$2 ;;
        *) version=$2 ;;
      esac
      shift 2
      ;;
    --offline) offline=1; shift ;;
    -*) usage ;;
    *) [ -z "$out" ] || usage; out=$1; shift ;;
  esac
done
[ -n "$out" ] || usage
[ -n "${libraries[*]}$cuda_library" ] || libraries=("$here/../../build/cpu-only/lib/libinlay.so.1")

has_cuda() { readelf -SW "$1" 2>/dev/null | grep -q '\.nv_fatbin'; }  # GPU code lies in this section

runtime_of() {  # runtime_of PATH: NuGet's name of the platform that a library is for
  [ -f "$1" ] || fail "no library $1: build it, or name one with --library"
  case $(readelf -h "$1" 2>/dev/null | grep 'Machine:') in
    *X86-64) echo linux-x64 ;;
    *AArch64) echo linux-arm64 ;;
    *) is_windows_x64 "$1" || fail "$1 is no library for Linux on x64 or ARM64, nor for Windows on x64"
      echo win-x64 ;;
  esac
}

is_windows_x64() {  # the header that a number at 0x3c names: PE, machine 0x8664
  [ "$(head -c 2 "$1" | tr -d '\0')" = MZ ] || return 1
  local at
  at=$(od -An -t u4 -j 60 -N 4 "$1")
  [ "$(od -An -t x1 -j $((at)) -N 6 "$1")" = ' 50 45 00 00 64 86' ]
}

runtimes=''
for library in "${libraries[@]}"; do
  runtime=$(runtime_of "$library")
  [[ " $runtimes " != *" $runtime "* ]] || fail "$library is a second library for $runtime"
  runtimes+=" $runtime"
  ! has_cuda "$library" || fail "$library has code for GPUs: --library takes one of a build without CUDA"
done
if [ -n "$cuda_library" ]; then
  [ "$(runtime_of "$cuda_library")" = linux-x64 ] || fail "$cuda_library is no library for Linux on x64"
  has_cuda "$cuda_library" || fail "$cuda_library has no code for GPUs: --cuda-library takes one of a build with CUDA"
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Symbols hold the sources. If the repository has a remote, packages name it, and SourceLink adds where it has these sources.
options=(-o "$work/out" -p:ContinuousIntegrationBuild=true -p:EmbedAllSources=true -p:TreatWarningsAsErrors=true -p:NuGetAudit=false)
options+=("-p:InlayPathMap=$work=/_made%2C$here=/_/bindings/csharp")  # no folder of this machine
[ -z "$version" ] || options+=("-p:Version=$version")
case $(git -C "$here" remote get-url origin 2>/dev/null || true) in
  http://* | https://* | ssh://* | git@*) options+=(-p:PublishRepositoryUrl=true) ;;
esac

pack() {  # pack NAME PROJECT [OPTION...]: each in a folder of its own
  local name=$1 project=$2
  shift 2
  dotnet pack "$here/$project" --artifacts-path "$work/$name" "${options[@]}" "$@" -v quiet -nodeReuse:false >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "$name: dotnet pack failed"; }
}

pack_native() {  # pack_native NAME LIBRARY [OPTION...]
  local name=$1 library=$2 runtime platform file=libinlay.so
  shift 2
  runtime=$(runtime_of "$library")
  case $runtime in
    linux-x64) platform='Linux on x64' ;;
    linux-arm64) platform='Linux on ARM64' ;;
    win-x64) platform='Windows on x64' file=libinlay.dll ;;
  esac
  local path=$work/libraries/$name/$file
  mkdir -p "$(dirname "$path")"
  cp "$library" "$path"
  pack "$name" pack/Inlay.Native.csproj "-p:InlayLibrary=$path" "-p:InlayRuntime=$runtime" "-p:InlayPlatform=$platform" \
    "-p:InlayLibrarySize=$(stat -c %s "$path" | awk '{ printf "%.1f MB", $1 / 1e6 }')" "$@"
}

if [ -n "$offline" ]; then
  pack Inlay Inlay.csproj "-p:InlayTargets=net$(dotnet --version | cut -d . -f 1,2)" -p:IsAotCompatible=false
else
  pack Inlay Inlay.csproj
fi
for library in "${libraries[@]}"; do
  pack_native "Inlay.Native.$(runtime_of "$library")" "$library"
done
[ -z "$cuda_library" ] || pack_native Inlay.Native.linux-x64.Cuda "$cuda_library" -p:InlayCuda=true
extension=Inlay.Extensions.AI/Inlay.Extensions.AI.csproj
if [ -f "$here/$extension" ]; then
  if [ -n "$offline" ]; then
    echo "left out: Inlay.Extensions.AI needs packages from NuGet"
  else
    pack Inlay.Extensions.AI "$extension"
  fi
fi

mkdir -p "$out"
for file in "$work"/out/*; do
  printf '%-48s %8.2f MB\n' "$(basename "$file")" "$(stat -c %s "$file" | awk '{ print $1 / 1e6 }')"
  mv "$file" "$out/"
done
