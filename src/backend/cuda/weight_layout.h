// Where the weights of a Plan stand in one block of device memory, and in which pieces they get there.
//
// First all vectors as float, then all matrices packed (kernels/cuda/cuda_kernels.h), each in the order in which the
// ops use them. Every weight begins at a multiple of kAlignment, except these, which follow the one before them without
// a gap:
//   k after q, v after k        tiles of 16 rows, so that parts of one type and of whole tiles are one matrix
//   k_bias, v_bias likewise     padded with zeros to 16 values, as the rows that they belong to
// Gate and up of one type are one matrix of twice the rows (RowOrder::gate_up) at the place of gate; of two types they
// are two matrices. The matrices of experts stand one after the other as one: their rows are whole tiles.
#pragma once

#include <vector>

#include "src/plan/plan.h"

namespace inlay {

// Rows of one matrix, or the same rows of gate and up, that are copied and packed in one go: whole tiles.
struct WeightPiece {
  WeightIndex weight = kNoWeight;
  WeightIndex up = kNoWeight;  // interleaved with `weight`
  int64_t first_row = 0;
  int64_t n_rows = 0;      // of each of the two
  uint64_t n_bytes = 0;    // of each, before it is packed
  uint64_t packed_at = 0;  // in the device memory

  static constexpr uint64_t kPartAlignment = 256;
  // In staging memory up's rows stand here, behind those of gate.
  uint64_t up_at() const { return (n_bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment; }
  uint64_t staged_bytes() const { return up == kNoWeight ? n_bytes : up_at() + n_bytes; }
  uint64_t file_bytes() const { return up == kNoWeight ? n_bytes : 2 * n_bytes; }
};

// Of q, k and v of an attn_in: how many from `part` (slot::q, k or v) on are one matrix. They are of one type, and the
// rows of each but the last fill its tiles.
size_t joined_parts(const Plan& plan, const Op& attn_in, size_t part);

// The plan with its BF16 matrices as F16 (kernels/cuda/linear/bf16_as_f16.cu), but for a gate or up whose counterpart is of another type: they would
// be interleaved then.
Plan with_f16(const Plan& plan);

class WeightLayout {
 public:
  static constexpr uint64_t kAlignment = 256;

  WeightLayout() = default;
  explicit WeightLayout(const Plan& plan);

  uint64_t n_bytes() const { return n_bytes_; }
  uint64_t n_vector_bytes() const { return n_vector_bytes_; }  // at the beginning
  uint64_t offset(WeightIndex i) const { return offsets_[i]; }
  bool is_interleaved(WeightIndex gate) const { return ups_[gate] != kNoWeight; }

  // All matrices, cut into pieces of at most `staged_bytes` in staging memory, but one tile at least.
  std::vector<WeightPiece> pieces(const Plan& plan, uint64_t staged_bytes) const;

 private:
  void place(const Plan& plan, const Op& op, size_t slot, bool vectors);

  std::vector<uint64_t> offsets_;  // by weight; of up: gate's where the two are interleaved
  std::vector<WeightIndex> ups_;   // by weight: what is interleaved with this gate
  uint64_t n_bytes_ = 0, n_vector_bytes_ = 0;
};

}  // namespace inlay
