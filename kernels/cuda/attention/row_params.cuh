// What the attention kernels of single rows are told, and where a CTA works.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention/split.cuh"
#include "kernels/cuda/attention/variant.cuh"
#include "kernels/cuda/cuda_kernels.h"

namespace inlay::cuda {

struct RowParams {
  const float* qkv;
  const float* q_norm;  // a fused launch alone: the two weights, rope, n_rot, epsilon
  const float* k_norm;
  const float2* rope;
  float* out;
  void* scratch;
  CacheView cache;
  HeadPasses passes;
  int32_t n_heads, n_rot, max_context;
  int32_t block_bytes;    // of a block of a pool
  int32_t first_row;      // of the launch
  int32_t record_splits;  // records of a (row, head) in scratch
  float epsilon;
  ScoreParams score;
};

// row: of the step; slot: row of this launch, whose scratch it uses; table: the row's line of block_tables.
struct CtaPlace {
  int32_t row, slot, kv_head, position;
  PassHeads heads;
  bool appends;  // this pass stores the new key and value
  const int32_t* table;
};

// Of a fused launch, as launch_decode_attention makes them; first_row is 0.
cudaError_t decode_row_params(const DecodeAttentionArgs& args, RowParams& params);

// The row's position, or -1 if there is nothing to do: padding, or beyond what the scratch has room for.
__device__ __forceinline__ int32_t row_position(const RowParams& p, int32_t slot) {
  const int32_t position = p.cache.positions[p.first_row + slot];
  return position < p.max_context ? position : -1;
}

// head_pass: counts the passes of all KV heads.
__device__ __forceinline__ CtaPlace cta_place(const RowParams& p, int32_t slot, int32_t head_pass, int32_t position) {
  CtaPlace at;
  at.slot = slot;
  at.row = p.first_row + at.slot;
  at.position = position;
  at.kv_head = head_pass / p.passes.passes;
  const int32_t pass = head_pass % p.passes.passes, in_group = pass * p.passes.heads;
  const int32_t left = p.passes.group - in_group;
  at.heads = {at.kv_head * p.passes.group + in_group, left < p.passes.heads ? left : p.passes.heads, p.cache.d_head};
  at.appends = pass == 0;
  at.table = p.cache.block_tables + static_cast<int64_t>(p.cache.row_sequence[at.row]) * p.cache.max_blocks;
  return at;
}

// The kernel for a head size, and threads of its CTA. kVariant: it knows windows, soft caps and sinks.
struct RowKernel {
  void (*kernel)(RowParams);
  int threads;
};
template <KvType kType, bool kVariant>
RowKernel row_kernel(int32_t d_head, bool fused);

}  // namespace inlay::cuda
