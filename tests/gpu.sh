#!/usr/bin/env bash
# Runs README's second command on a machine with a GPU, then what takes longer than that: compute-sanitizer, logits beside
# transformers, and benchmarks. Prints tables; the last line is `N passed, N failed, N skipped` over everything, where a group that fails
# without a failed test and a benchmark count as one. Exit code 0 only if nothing failed.
#
# usage: tests/gpu.sh [GROUPS]
#   GROUPS  extended regular expression: only groups whose names match, e.g. '^tests', 'memcheck', '^bench'
# In the environment, beside what tests/run.sh reads:
#   INLAY_BENCH              pairs SHAPE:RECIPE to measure (default below), "none" for no benchmark
#   INLAY_OUT                a file that the benchmarks' lines of JSON are appended to
#   INLAY_GROUP_LIMIT        seconds that a group may take after the tests (300)
#   INLAY_COMPUTE_SANITIZER  the program (default: that on PATH or in CUDA's folder); empty for none
# Each group's output is in build/PRESET/gpu-GROUP.log.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
wanted=${1:-.}
limit=${INLAY_GROUP_LIMIT:-300}
build=$PWD/build/${INLAY_PRESET:-release}
mkdir -p "$build"
export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if command -v nvidia-smi >/dev/null; then nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; fi

failed=()
table=()
n_passed=0 n_failed=0 n_skipped=0

# count FILE PATTERN: how many lines match
count() { grep -cE "$2" "$1"; }

# note NAME RESULT PASSED FAILED SKIPPED SECONDS: a line of the table
note() {
  [[ $2 != FAILED* ]] || failed+=("$1")
  n_passed=$((n_passed + $3)) n_failed=$((n_failed + $4)) n_skipped=$((n_skipped + $5))
  [[ $2 != FAILED* || $4 -gt 0 ]] || n_failed=$((n_failed + 1))
  table+=("$(printf '%-34s %6d %6d %6d %5d s  %s' "$1" "$3" "$4" "$5" "$6" "$2")")
  printf '%s\n' "${table[-1]}"
}

# ---- every test, as README has it

tests() {
  local start=$SECONDS code=0 log=$build/gpu-tests.log line numbers result=passed
  [[ tests =~ $wanted ]] || return 0
  tests/run.sh >"$log" 2>&1 </dev/null || code=$?
  line=$(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log" | tail -n 1)
  read -ra numbers <<<"${line//[^0-9 ]/}"
  if [ "$code" -ne 0 ] || [ -z "$line" ]; then
    result="FAILED, status $code"
    grep -E '^(failed|skipped)|rror:|FAILED' "$log" | head -n 60
    tail -n 5 "$log"
  elif grep -qE '^[0-9]+ tests? needs? a GPU|^skipped.*: needs a GPU' "$log"; then
    result="FAILED, no GPU was used"
  fi
  note tests "$result" "${numbers[0]:-0}" "${numbers[1]:-0}" "${numbers[2]:-0}" $((SECONDS - start))
}
tests

# ---- groups of their own

# Lines that say what happened to one test: of GoogleTest, of Python's unittest.
ok='^\[       OK \]|^ok |\.\.\. ok$'
bad='^\[  FAILED  \] .* \([0-9]+ ms\)$|^FAIL|\.\.\. (FAIL|FAILED|ERROR)$'
skip='^\[  SKIPPED \] .* \([0-9]+ ms\)$|^skipped:|\.\.\. skipped'

# group NAME COMMAND...: runs one group; 77 means that it skipped itself
group() {
  local name=$1 start=$SECONDS code=0 log n_ok n_bad n_skip result=passed
  shift
  [[ $name =~ $wanted ]] || return 0
  log=$build/gpu-$name.log
  timeout "$limit" "$@" >"$log" 2>&1 </dev/null || code=$?
  n_ok=$(count "$log" "$ok") n_bad=$(count "$log" "$bad") n_skip=$(count "$log" "$skip")
  if [ "$code" -eq 124 ]; then
    result="FAILED, over $limit s"
  elif [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    result="FAILED, status $code"
  elif [ "$n_ok" -eq 0 ] && [ "$n_skip" -eq 0 ] && [ "$n_bad" -eq 0 ]; then
    result="FAILED, ran nothing"
  elif [ "$n_ok" -eq 0 ]; then
    result=skipped
  fi
  if [[ $result = FAILED* ]]; then
    grep -E 'FAIL|Failure|rror|xpected|ctual|Which|========= ' -A3 "$log" | head -n 60
    tail -n 5 "$log"
  fi
  note "$name" "$result" "$n_ok" "$n_bad" "$n_skip" $((SECONDS - start))
}

# Logits beside Hugging Face transformers, where Python has it.
group transformers env PYTHONDONTWRITEBYTECODE=1 python3 tests/hf/compare_transformers.py "$build/lib/libinlay.so.1" --devices cpu,cuda

# Prompts, decode steps and batches of small models under compute-sanitizer.
sanitizer=${INLAY_COMPUTE_SANITIZER-$(command -v compute-sanitizer || find /usr/local/cuda*/bin "${CUDA_HOME:-/usr/local/cuda}/bin" -name compute-sanitizer 2>/dev/null | head -n 1)}
if [ -n "$sanitizer" ]; then
  # sanitize TOOL NAME PROGRAM FILTER. Racecheck does not see that a bulk copy into shared memory ends at an mbarrier, and takes the token
  # kernel's and the mixed GEMM's rings for races.
  sanitize() {
    local except=()
    [ "$1" != racecheck ] || except=(--kernel-name-exclude kernel_substring=token_kernel,kernel_substring=mixed_gemm,kernel_substring=group_rows)
    group "$1.$2" "$sanitizer" --tool "$1" "${except[@]}" --error-exitcode 9 --print-limit 20 "$build/bin/$3" "--gtest_filter=$4"
  }
  # Every function of the C interface in a host under compute-sanitizer.
  group memcheck.abi_calls "$sanitizer" --tool memcheck --error-exitcode 9 --print-limit 20 "$build/bin/cuda_host_captures" plain "$build/lib/libinlay.so.1" "$PWD/examples/model/tales.gguf"
  sanitize memcheck mixed_steps golden '*MixedSteps.*cuda*'
  sanitize memcheck without_cublas cuda '*WithoutCublas.*ByClusters*'
  sanitize memcheck contexts golden 'cuda/ContextCuts.Agree/*_65'
  sanitize memcheck both_ways golden 'Devices/BothWays*.*Folder*/cuda'
  sanitize memcheck batching golden '*Batching.*PromptsOfOthers*cuda*'
  sanitize racecheck mixed_steps golden '*MixedSteps.*/llama_q4_k_m_cuda'
  # 38 seconds a model on an H100, so one of each size of head that attention has a kernel for.
  contexts=cuda/ContextCuts.Agree
  sanitize racecheck contexts golden "$contexts/2x64_by_1_65:$contexts/4x128_by_2_65:$contexts/2x256_by_1_65"
  sanitize racecheck batching golden '*/FewSteps.*cuda'
else
  echo "compute-sanitizer: not on PATH and not in /usr/local/cuda*/bin; memcheck and racecheck were not run"
fi

# The library built for older GPUs than this one, which then runs their code.
for code in 80 80-virtual; do
  limit=$((3 * limit)) group "code-$code" tests/cuda/other_code.sh "$code" "build/code-$code"  # with a build
done

# ---- benchmarks

lines=$build/gpu-bench.jsonl
: >"$lines"
shapes=${INLAY_BENCH:-qwen2.5-1.5b:q4_k_m llama3.2-1b:bf16 llama3.1-8b:q4_k_m llama3.1-8b:q8_0 llama3.1-8b:bf16}
[ "$shapes" != none ] || shapes=
for pair in $shapes; do
  [[ bench.$pair =~ $wanted ]] || continue
  if ! timeout "$limit" "$build/bin/inlay" bench --shape "${pair%%:*}" --quant "${pair##*:}" --device cuda --save "$build/gpu-bench.gguf" --pp 512,2048 --depths 0,2048 \
    --batch 2,8,32 --latency 2000 --reps 3 2>"$build/gpu-bench.log" </dev/null | tee -a "$lines" "${INLAY_OUT:-/dev/null}"; then
    failed+=("bench.$pair")
    n_failed=$((n_failed + 1))
    tail -n 5 "$build/gpu-bench.log"
  else
    n_passed=$((n_passed + 1))
  fi
  rm -f "$build/gpu-bench.gguf"
done

# ---- tables

printf '\n%-34s %6s %6s %6s\n' group passed failed skipped
[ ${#table[@]} -eq 0 ] || printf '%s\n' "${table[@]}"
if [ -s "$lines" ]; then
  # Tokens per second by model; names come from the first line.
  awk '
    function value(key,   found) { return match($0, "\"" key "\":[^,}]*") ? substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) : "-" }
    BEGIN { n = split("pp512 pp2048 tg128@0 tg128@2048 batch2 batch8 batch32 load_s p50 p99", keys, " ")
            printf "\n%-28s", "tokens per second, s, us"; for (i = 1; i <= n; ++i) printf " %10s", keys[i]; printf " %10s\n", "load GB/s" }
    { model = value("model"); gsub(/"/, "", model); printf "%-28s", model; for (i = 1; i <= n; ++i) printf " %10s", value(keys[i])
      printf " %10.2f\n", value("model_bytes") / (value("load_s") + 1e-9) / 1e9 }
  ' "$lines"
fi
printf '\n%d groups failed%s\n' "${#failed[@]}" "${failed[*]:+: ${failed[*]}}"
printf '%d passed, %d failed, %d skipped\n' "$n_passed" "$n_failed" "$n_skipped"
[ ${#failed[@]} -eq 0 ]
