#!/usr/bin/env bash
# Builds the library for GPUs that are older than this machine's, code and PTX alone, and runs it: every kernel has to be one
# that was compiled for them.
#
# usage: tests/cuda/other_code.sh ARCHITECTURES BUILD_FOLDER       e.g. 80 build/code-80, or 80-virtual build/code-80-virtual
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake -S . -B "$2" -G Ninja -DCMAKE_BUILD_TYPE=Release -DINLAY_CUDA=ON "-DINLAY_CUDA_ARCHITECTURES=$1"
cmake --build "$2" --target inlay inlay_cli cuda_linear cuda_prefill_attention cuda golden
for program in cuda_linear cuda_prefill_attention "cuda --gtest_filter=*SelfCheck*:*CudaEngine*" \
  "golden --gtest_filter=*Batching*cuda*:*FewSteps*cuda*:*MixedSteps*cuda*"; do
  # shellcheck disable=SC2086
  "$2"/bin/$program
done
# A model whose weights exceed every cache: a speed beyond the memory's is an error.
"$2"/bin/inlay bench --shape qwen2.5-1.5b --quant q4_k_m --device cuda --pp 512 --depths 0 --batch 8 --reps 2
