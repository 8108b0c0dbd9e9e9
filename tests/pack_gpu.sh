#!/usr/bin/env bash
# Packs what tests/gpu.sh needs of a build, for a machine with a GPU and this repository but without a compiler:
# unpack it with `mkdir DIR && tar xf ARCHIVE -C DIR`, then run `tests/gpu.sh DIR`.
#
# usage: tests/pack_gpu.sh BUILD ARCHIVE.tar.xz     small for a build with INLAY_CUDA_ARCHITECTURES of that machine alone
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if [ $# -ne 2 ] || [ ! -x "$1/bin/inlay" ]; then
  echo "usage: tests/pack_gpu.sh BUILD ARCHIVE.tar.xz; BUILD is the folder of a build with tests" >&2
  exit 2
fi
build=$1 archive=$2
pack=$(mktemp -d)
trap 'rm -rf "$pack"' EXIT
mkdir "$pack/bin" "$pack/lib"

# Rust's and Go's programs are built by tests.
ctest --test-dir "$build" -R '^bindings\.(rust|go)_build$' -Q || { echo "the programs of Rust or Go could not be built" >&2; exit 1; }
for program in "$build"/bin/binding_*; do [ ! -e "$program" ] || cp "$program" "$pack/bin/"; done
for program in "$build"/bin/{inlay,example_*,capi_abi_calls,cuda_*}; do cp "$program" "$pack/bin/"; done
for program in "$build"/bin/*; do
  grep -qa gtest_list_tests "$program" || continue
  if "$program" --gtest_list_tests '--gtest_filter=*cuda*' | grep -q '^  '; then cp "$program" "$pack/bin/"; fi
done
cp -P "$build"/lib/libinlay.so* "$pack/lib/"
for cublas in empty_cublas refusing_cublas; do [ ! -d "$build/$cublas" ] || cp -r "$build/$cublas" "$pack/"; done
find "$pack" -type f -exec strip {} +

fixtures=$(sed -n 's/^INLAY_FIXTURES:PATH=//p' "$build/CMakeCache.txt")
{
  echo "$PWD ."
  echo "$(realpath "$build") BUILD"
} >"$pack/compiled_paths"
if [ -n "$fixtures" ]; then
  mkdir -p "$pack/fixtures/models"
  cp "$fixtures"/models/*.{gguf,exact} "$fixtures/models/index.json" "$pack/fixtures/models/"
  cp -r "$fixtures/quant" "$pack/fixtures/"
  echo "$fixtures BUILD/fixtures" >>"$pack/compiled_paths"
fi

# Programs hold the same libraries: a dictionary wider than two of them stores these once.
tar -C "$pack" --sort=name -c . | xz -T1 -6 --lzma2=preset=6,dict=128MiB >"$archive"
printf '%s: %d MB\n' "$archive" $(($(stat -c %s "$archive") / 1000000))
