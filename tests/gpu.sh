#!/usr/bin/env bash
# Runs every test and benchmark that needs a GPU, then prints tables. Exit code 0 only if nothing failed.
#
# usage: tests/gpu.sh [BUILD [GROUPS]]
#   BUILD   folder of a build with CUDA (build/cuda, which is built if it is not there), or where an archive of tests/pack_gpu.sh was unpacked
#   GROUPS  extended regular expression: only groups whose names match, e.g. 'kernels|golden', 'memcheck', '^bench'
# In the environment:
#   INLAY_BENCH        pairs SHAPE:RECIPE to measure (default below), "none" for no benchmark
#   INLAY_OUT          a file that the benchmarks' lines of JSON are appended to
#   INLAY_GROUP_LIMIT  seconds that a group may take (300)
#   INLAY_GPU_JOBS     groups that run side by side (half of the processors, 4 at most), of those that mind no company
# Each group's output is in BUILD/gpu-GROUP.log.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
build=${1:-build/cuda}
wanted=${2:-.}
limit=${INLAY_GROUP_LIMIT:-300}
most_jobs=$(($(nproc) / 2))
[ "$most_jobs" -le 4 ] || most_jobs=4
most_jobs=${INLAY_GPU_JOBS:-$most_jobs}
if [ ! -x "$build/bin/inlay" ]; then
  examples/setup.sh && cmake --preset cuda ${INLAY_FIXTURES:+-DINLAY_FIXTURES=$INLAY_FIXTURES} && cmake --build "$build" || exit 2
fi
build=$(realpath "$build")
export LD_LIBRARY_PATH=$build/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# Programs of an archive look for files where they lay when they were built: links stand there instead.
if [ -f "$build/compiled_paths" ]; then
  while read -r path place; do
    [ -e "$path" ] || { mkdir -p "$(dirname "$path")" && ln -sfn "$(realpath "${place/#BUILD/$build}")" "$path"; } || exit 2
  done <"$build/compiled_paths"
fi
fixtures=${INLAY_FIXTURES:-}
[ -n "$fixtures" ] || [ ! -d "$build/fixtures" ] || fixtures=$build/fixtures
if command -v nvidia-smi >/dev/null; then nvidia-smi --query-gpu=name,driver_version --format=csv,noheader; fi

failed=()
table=()

# count FILE PATTERN: how many lines match
count() { grep -cE "$2" "$1"; }

# Lines that say what happened to one test: of GoogleTest, of the kernels' programs, of Python's unittest and Rust's tests, of Go's.
ok='^\[       OK \]|^ok |\.\.\. ok$|^--- PASS'
bad='^\[  FAILED  \] .* \([0-9]+ ms\)$|^FAIL|\.\.\. (FAIL|FAILED|ERROR)$|^--- FAIL'
skip='^\[  SKIPPED \] .* \([0-9]+ ms\)$|^skipped:|\.\.\. (skipped|ignored)|^--- SKIP'

# group NAME COMMAND...: runs one group; 77 means that it skipped itself
group() {
  local name=$1 start=$SECONDS code=0 log n_ok n_bad n_skip result=passed
  shift
  [[ $name = device || $name =~ $wanted ]] || return 0
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
    failed+=("$name")
    grep -E 'FAIL|Failure|rror|xpected|ctual|Which|========= ' -A3 "$log" | head -n 60
    tail -n 5 "$log"
  fi
  table+=("$(printf '%-34s %6d %6d %6d %5d s  %s' "$name" "$n_ok" "$n_bad" "$n_skip" $((SECONDS - start)) "$result")")
  printf '%s\n' "${table[-1]}"
}

# beside NAME COMMAND...: a group that may run while others do: it expects nothing of the device's free memory
besides=()
beside() {
  [[ $1 =~ $wanted ]] || return 0
  besides+=("$(printf '%q ' "$@")")
}

# Runs what beside was told of. What became of group i is left in files.
run_besides() {
  local i
  rm -f "$build"/gpu-beside.*
  for i in "${!besides[@]}"; do
    while [ "$(jobs -rp | wc -l)" -ge "$most_jobs" ] && [ "$(jobs -rp | wc -l)" -gt 0 ]; do wait -n; done
    (
      table=() failed=()
      eval "group ${besides[i]}" >"$build/gpu-beside.$i.out"
      printf '%s\n' "${table[@]}" >"$build/gpu-beside.$i.row"
      printf '%s' "${failed[*]}" >"$build/gpu-beside.$i.failed"
      cat "$build/gpu-beside.$i.out"
    ) &
  done
  wait
  for i in "${!besides[@]}"; do
    table+=("$(cat "$build/gpu-beside.$i.row")")
    [ ! -s "$build/gpu-beside.$i.failed" ] || failed+=("$(cat "$build/gpu-beside.$i.failed")")
  done
  rm -f "$build"/gpu-beside.*
}

group device sh -c "'$build/bin/inlay' info examples/model/tales.gguf --device cuda && echo 'ok device'"

# ---- kernels: programs of their own, and tests of the backend

for program in "$build"/bin/cuda_*; do
  if grep -qa gtest_list_tests "$program"; then
    group "cuda.$(basename "$program" | cut -c6-)" "$program"
  else
    beside "kernels.$(basename "$program" | cut -c6-)" "$program"
  fi
done

# ---- every other test program that has tests on the GPU

for program in "$build"/bin/*; do
  name=$(basename "$program")
  case $name in cuda_*) continue ;; esac
  grep -qa gtest_list_tests "$program" || continue
  if "$program" --gtest_list_tests '--gtest_filter=*cuda*' 2>/dev/null | grep -q '^  '; then
    kind=group
    [[ $name != golden_* ]] || kind=beside
    "$kind" "${name/_/.}" "$program" '--gtest_filter=*cuda*'
  fi
done

# ---- the interface called from C, the tool and the examples

if [ -f "$fixtures/models/chat-bpe-qwen3-f32.gguf" ]; then
  group capi.abi_calls sh -c "'$build/bin/capi_abi_calls' '$build/lib/libinlay.so.1' '$fixtures/models/chat-bpe-qwen3-f32.gguf' cuda && echo 'ok abi_calls'"
else
  echo "capi.abi_calls: no fixtures"
fi
if command -v python3 >/dev/null; then
  for file in tests/cli/*.py; do
    grep -qE '^from tool_case import .*(Model|Device)Case' "$file" || continue
    group "cli.$(basename "$file" .py)" env PYTHONDONTWRITEBYTECODE=1 INLAY_BUILD="$build" INLAY_FIXTURES="$fixtures" INLAY_TEST_DEVICE=cuda \
      python3 "$file"
  done
else
  echo "cli: no python3"
fi

# ---- logits beside Hugging Face transformers, where Python has it

if command -v python3 >/dev/null; then
  beside transformers env PYTHONDONTWRITEBYTECODE=1 python3 tests/hf/compare_transformers.py "$build/lib/libinlay.so.1" --devices cpu,cuda
else
  echo "transformers: no python3"
fi

# ---- the other languages: their own tests, and the same tokens as C's. They find the library as they are told, by INLAY_LIBRARY alone.

export INLAY_LIBRARY=$build/lib/libinlay.so.1 INLAY_TEST_MODEL=$PWD/examples/model/tales.gguf
tokens() { "$1" "$INLAY_LIBRARY" "$INLAY_TEST_MODEL" cuda tests/bindings/cases.tsv; }
same_tokens() {
  tokens "$build/bin/example_tokens" >"$build/gpu-tokens.c" && tokens "$1" >"$build/gpu-tokens.other" &&
    diff "$build/gpu-tokens.c" "$build/gpu-tokens.other" && [ -s "$build/gpu-tokens.c" ] && echo "ok tokens"
}
export -f tokens same_tokens
export build
for program in "$build"/bin/binding_*; do
  [ -x "$program" ] || continue
  name=bindings.$(basename "$program" | cut -c9-)
  if [[ $program = *_tokens ]]; then
    group "$name" bash -c "same_tokens '$program'"
  elif grep -qa RUST_TEST_THREADS "$program"; then
    group "$name" env -u LD_LIBRARY_PATH INLAY_TEST_DEVICE=cuda "$program"
  elif grep -qa test.timeout "$program"; then
    group "$name" env -u LD_LIBRARY_PATH INLAY_TEST_DEVICE=cuda "$program" -test.v
  fi
done

# ---- under compute-sanitizer: prompts, decode steps and batches of small models

sanitizer=$(command -v compute-sanitizer || find /usr/local/cuda*/bin "${CUDA_HOME:-/usr/local/cuda}/bin" -name compute-sanitizer 2>/dev/null | head -n 1)
if [ -n "$sanitizer" ]; then
  # sanitize TOOL PROGRAM FILTER. Racecheck does not see that a bulk copy into shared memory ends at an mbarrier, and takes the token
  # kernel's and the mixed GEMM's rings for races. Its account grows by 1 GB of the host's memory a second, so it runs alone: beside others a test
  # of a model lasted 110 seconds and was killed for its memory.
  sanitize() {
    local except=() kind=beside
    [ "$1" != racecheck ] || { except=(--kernel-name-exclude kernel_substring=token_kernel,kernel_substring=mixed_gemm,kernel_substring=group_rows) kind=group; }
    "$kind" "$1.$2" "$sanitizer" --tool "$1" "${except[@]}" --error-exitcode 9 --print-limit 20 "$build/bin/$2" "--gtest_filter=$3"
  }
  sanitize memcheck golden_mixed_steps '*cuda*'
  sanitize memcheck cuda_without_cublas '*ByClusters*'
  sanitize memcheck golden_contexts 'cuda/ContextCuts.Agree/*_65'
  sanitize memcheck golden_batching '*PromptsOfOthers*cuda*'
  sanitize racecheck golden_mixed_steps '*/llama_q4_k_m_cuda'
  # 38 seconds a model on an H100, so one of each size of head that attention has a kernel for.
  contexts=cuda/ContextCuts.Agree
  sanitize racecheck golden_contexts "$contexts/2x64_by_1_65:$contexts/4x128_by_2_65:$contexts/2x256_by_1_65"
  sanitize racecheck golden_batching '*/FewSteps.*cuda'
else
  echo "compute-sanitizer: not found in PATH or /usr/local/cuda*/bin; memcheck and racecheck were not run"
fi

run_besides

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
    tail -n 5 "$build/gpu-bench.log"
  fi
  rm -f "$build/gpu-bench.gguf"
done

# ---- tables

printf '\n%-34s %6s %6s %6s\n' group passed failed skipped
if [ ${#table[@]} -gt 0 ]; then
  printf '%s\n' "${table[@]}"
  printf '%s\n' "${table[@]}" | awk '{ok += $2; bad += $3; skip += $4} END {printf "%-34s %6d %6d %6d\n", "together", ok, bad, skip}'
fi
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
[ ${#failed[@]} -eq 0 ]
