#!/usr/bin/env bash
# Sets up, builds and runs all tests. The last line it prints is `N passed, N failed, N skipped`.
#
# Usage: tests/run.sh [CTEST_OPTIONS...]          e.g. tests/run.sh -R sampler
# Environment:
#   INLAY_PRESET         configure preset to build and test (release)
#   INLAY_TARGET         target to build (all)
#   INLAY_FIXTURES       folder of other projects' vocabularies and templates, an additional set: tests/data/README.md
#   INLAY_REAL_MODELS    folder of real models, which tests/real/fetch.py fills (inlay/real in the user's cache)
#   INLAY_CUDA_ARCHITECTURES   as the CMake option
#   INLAY_MIMALLOC_ROOT  prefix of a static mimalloc or its unpacked source, in place of the distribution's source package
#   CI                   set: warnings are errors
#   INLAY_STRICT_SKIPS   1: a skip for another reason than what this machine lacks (tests/lint/needs.py) is an error
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
preset=${INLAY_PRESET:-release}
fixtures=${INLAY_FIXTURES:-}
if [ -n "$fixtures" ]; then
  [ -d "$fixtures" ] || { echo "tests/run.sh: INLAY_FIXTURES is not a folder: $fixtures" >&2; exit 2; }
  fixtures=$(cd "$fixtures" && pwd -P)
fi

"$root/examples/setup.sh" --tests
# shellcheck source=examples/toolchain.sh
. "$root/examples/toolchain.sh"
cd "$root"
python3 tests/lint/needs.py
build=build/$preset
cmake --preset "$preset" -DINLAY_FIXTURES="$fixtures" ${CI:+-DINLAY_WERROR=ON} \
  ${INLAY_CUDA_ARCHITECTURES:+-DINLAY_CUDA_ARCHITECTURES="$INLAY_CUDA_ARCHITECTURES"} \
  ${INLAY_MIMALLOC_ROOT:+-DINLAY_MIMALLOC_ROOT="$INLAY_MIMALLOC_ROOT"}
cmake --build "$build" --target "${INLAY_TARGET:-all}"

find_library_without_proc "$root/$build"
junit=$root/$build/junit.xml
rm -f "$junit"
ctest_status=0
(cd "$build" && ctest --output-on-failure -j "$(nproc)" --output-junit "$junit" "$@" </dev/null) || ctest_status=$?
[ -f "$junit" ] || { echo "tests/run.sh: ctest wrote no results (status $ctest_status)" >&2; exit 1; }

summary=(--note "$build/without_mimalloc.txt")
[ "${INLAY_STRICT_SKIPS:-0}" = 0 ] || summary+=(--strict)
exec python3 tests/lint/summarize_ctest.py "$junit" "${summary[@]}"
