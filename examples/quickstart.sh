#!/usr/bin/env bash
# Sets up, builds for this machine into build/native, and lets the model of the repository write a tale.
#
# Usage: examples/quickstart.sh [PROMPT [OPTIONS OF inlay run...]]
# Environment:
#   INLAY_MIMALLOC_ROOT  prefix of a static mimalloc or its unpacked source, in place of the distribution's source package
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
model=$root/examples/model/tales.gguf
prompt=${1:-Once upon a time}
shift || true

"$root/examples/setup.sh"
# shellcheck source=examples/toolchain.sh
. "$root/examples/toolchain.sh"
cd "$root"
cmake --preset native ${INLAY_MIMALLOC_ROOT:+-DINLAY_MIMALLOC_ROOT="$INLAY_MIMALLOC_ROOT"}
cmake --build build/native --target inlay_cli
[ -f "$model" ] || { echo "quickstart: the model is missing: $model" >&2; exit 1; }
find_library_without_proc "$root/build/native"
build/native/bin/inlay run "$model" --raw --prompt "$prompt" "$@"
[ ! -f build/native/without_mimalloc.txt ] || cat build/native/without_mimalloc.txt >&2
