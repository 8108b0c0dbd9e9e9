#!/usr/bin/env bash
# Makes the NuGet packages and prints them with their sizes.
#
# Usage: bindings/csharp/pack.sh [--library PATH] [--cuda-library PATH] [--version V] [--offline] OUT
#   --library PATH       library of a build without CUDA; without this and the next one, build/cpu-only/lib/libinlay.so.1
#   --cuda-library PATH  library of a build with CUDA, for the package Inlay.Native.linux-x64.Cuda
#   --version V          of all packages (the one in pack/Packages.props)
#   --offline            only what the SDK builds without NuGet: Inlay for the SDK's own .NET, and the native packages
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The same numbers and the same words everywhere: tests read what this and the tools print.
export LC_ALL=C DOTNET_CLI_TELEMETRY_OPTOUT=1 DOTNET_NOLOGO=1 DOTNET_CLI_UI_LANGUAGE=en

fail() { echo "pack.sh: $*" >&2; exit 1; }
usage() { sed -n '4,8s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2; }

library='' cuda_library='' version='' offline='' out=''
while [ $# -gt 0 ]; do
  case $1 in
    --library | --cuda-library | --version)
      [ $# -gt 1 ] || usage
      case $1 in
        --library) library=$2 ;;
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
[ -n "$library$cuda_library" ] || library=$here/../../build/cpu-only/lib/libinlay.so.1

has_cuda() { readelf -SW "$1" | grep -q '\.nv_fatbin'; }  # GPU code lies in this section

check_library() {  # check_library PATH: a library for the platform that the packages' names tell
  [ -f "$1" ] || fail "no library $1: build it, or name one with --library"
  readelf -h "$1" 2>/dev/null | grep -q 'Machine: .*X86-64' || fail "$1 is no library for Linux on x64"
}
if [ -n "$library" ]; then
  check_library "$library"
  ! has_cuda "$library" || fail "$library has code for GPUs: --library takes one of a build without CUDA"
fi
if [ -n "$cuda_library" ]; then
  check_library "$cuda_library"
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
  local name=$1 path=$work/libraries/$1/libinlay.so
  mkdir -p "$(dirname "$path")"
  cp "$2" "$path"
  shift 2
  pack "$name" pack/Inlay.Native.linux-x64.csproj "-p:InlayLibrary=$path" \
    "-p:InlayLibrarySize=$(stat -c %s "$path" | awk '{ printf "%.1f MB", $1 / 1e6 }')" "$@"
}

if [ -n "$offline" ]; then
  pack Inlay Inlay.csproj "-p:InlayTargets=net$(dotnet --version | cut -d . -f 1,2)" -p:IsAotCompatible=false
else
  pack Inlay Inlay.csproj
fi
[ -z "$library" ] || pack_native Inlay.Native.linux-x64 "$library"
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
