#!/usr/bin/env bash
# Runs every test and benchmark that needs a GPU, then prints a table. Exit code 0 only if all tests passed.
#
# usage: tests/gpu.sh [BUILD]     BUILD: folder of a build with CUDA (default build/cuda, which is built if it is not there)
# In the environment: INLAY_BENCH: pairs SHAPE:RECIPE to measure (default below), "none" for no benchmark; INLAY_OUT: a file that the
# JSON lines of the benchmarks are appended to.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
build=${1:-build/cuda}
if [ ! -x "$build/bin/inlay" ]; then
  examples/setup.sh && cmake --preset cuda ${INLAY_FIXTURES:+-DINLAY_FIXTURES=$INLAY_FIXTURES} && cmake --build "$build" || exit 2
fi
command -v nvidia-smi >/dev/null && nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
failed=()
check() {  # check NAME COMMAND...
  local name=$1 start=$SECONDS code=0
  shift
  timeout 300 "$@" >"$build/gpu-$name.log" 2>&1 || code=$?
  if [ $code -ne 0 ]; then
    failed+=("$name")
    grep -E 'FAIL|Failure|Error|error|expected|actual|skipp' -A3 "$build/gpu-$name.log" | head -n 40
  fi
  printf '%-24s %s (%d s)\n' "$name" "$([ $code -eq 0 ] && echo passed || echo "FAILED, status $code")" $((SECONDS - start))
}
for name in linear attention sample gemm; do check "$name" "$build/bin/cuda_$name"; done
for name in golden_fixture_models golden_generation golden_batching golden_tales cuda_engine cuda_loading cuda_faults unit_profile unit_compare; do
  check "$name" "$build/bin/$name" '--gtest_filter=*cuda*'
done
shapes=${INLAY_BENCH:-qwen2.5-1.5b:q4_k_m llama3.2-1b:bf16 llama3.1-8b:q4_k_m}
if [ "$shapes" != none ]; then
  for pair in $shapes; do
    "$build/bin/inlay" bench --shape "${pair%%:*}" --quant "${pair##*:}" --device cuda --pp 512 --depths 0,2048 --batch 2,8,32 --reps 3 2>"$build/gpu-bench.log" |
      tee -a "${INLAY_OUT:-/dev/null}" || { failed+=("bench $pair"); tail -n 5 "$build/gpu-bench.log"; }
  done
fi
printf '%d groups failed%s\n' "${#failed[@]}" "${failed[*]:+: ${failed[*]}}"
[ ${#failed[@]} -eq 0 ]
