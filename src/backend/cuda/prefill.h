// The products of many rows, as prompts have them: norm and conversion of the rows, the product in F32, and what
// follows it. Packed, quantized W is multiplied as it is where the device has the mixed GEMM. All other W goes to
// cuBLASLt, as F16 or BF16 rows (quantized matrices are dequantized for each product). An op whose weights or number of
// rows make the kernels of few rows the better choice is not taken; all agree within rounding.
#pragma once

#include <optional>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cublas.h"
#include "src/backend/cuda/device.h"
#include "src/backend/cuda/device_weights.h"

namespace inlay {

class PrefillProducts {
 public:
  // By what there is to multiply on a device.
  struct Ways {
    int32_t device_index = 0;
    bool mixed_gemm = false, cublas = false;
  };
  // Whether the plan has products for cuBLASLt.
  static bool wants_cublas(const Plan& plan, bool mixed_gemm);

  // Device memory of the object; 0 if the plan has nothing for it.
  static uint64_t bytes(const Plan& plan, int32_t max_rows, Ways ways);

  // Plan and weights outlive the object; api is used if ways.cublas. Before products mean anything, the weights have to
  // be there and their factors settled.
  static Result<PrefillProducts> create(const Plan& plan, const DeviceWeights& weights, Ways ways,
                                        const cublas::Api& api, int32_t max_rows, cudaStream_t stream);

  // Of the mixed GEMM, which has one for every number of rows.
  Status load_kernels() const;

  // Looks through all weights once for the largest magnitudes.
  Status settle_factors();

  // Whether the products of an op with m rows are computed here.
  bool takes(const Op& op, int32_t m) const;

  // Before the first op of a step: nothing that an earlier step left is of use.
  void begin_step() { ready_ = {}; }

  // Each for an op that is taken. hidden (m, d_model). What an op leaves for the next one is kept for one range of
  // rows: a step with several ranges passes `keep`, or runs all ops for one before the other.
  Status attn_in(const Op& op, float* hidden, float* qkv, int32_t m);  // qkv (m, d_q + 2 d_kv): products and biases
  Status ffn_in(const Op& op, float* hidden, float* ffn, bool keep,
                int32_t m);                                          // ffn (m, d_ff), written if `keep` or needed
  Status project(const Op& op, float* x, float* hidden, int32_t m);  // attn_out, ffn_out; x (m, n_cols)
  Status head(const Op& op, float* rows, float* logits, int32_t m);  // rows (m, d_model), logits (m, n_vocab)

  // Of cuBLASLt.
  std::string version() const { return cublas_->version(); }

 private:
  // Parts of storage_, each at a multiple of 256 bytes.
  struct Parts {
    uint64_t prepared = 0;     // (rows, widest input) f16 or bf16: what the product at hand takes
    uint64_t row_scale = 0;    // (rows) f32
    uint64_t products = 0;     // (rows, widest result that is not kept as it is) f32
    uint64_t dequantized = 0;  // rows of W
    uint64_t scratch = 0;      // the mixed GEMM's
    uint64_t workspace = 0;    // cuBLASLt's
  };
  static Parts parts(const Plan& plan, int32_t max_rows, Ways ways);  // bytes of each

  // Whose rows lie in `prepared` already.
  struct Ready {
    const Op* op = nullptr;
    const float* rows = nullptr;
    int32_t m = 0;
    bool only = false;  // they are nowhere else
    bool operator==(const Ready&) const = default;
  };

  PrefillProducts(const Plan& plan, const DeviceWeights& weights, Ways ways, cudaStream_t stream)
      : plan_(&plan), weights_(&weights), ways_(ways), stream_(stream) {}
  cuda::ColumnOrder order_of(const Op& op) const;  // in which the rows of x are prepared
  QkvRuns runs_of(const Op& op) const;
  size_t index_of(const Op& op) const { return static_cast<size_t>(&op - plan_->ops.data()); }
  const Op* next_taken(const Op& op, int32_t m) const;  // the op after this one if it is taken

  // Whether the rows are ready for this op; afterwards nothing is. An error if other rows were, and would be lost.
  Result<bool> claim(const Op& op, const float* rows, int32_t m);
  // What becomes of a projection's products before they join the residual stream.
  cuda::NormRowsArgs addition(const Op& projection, float* hidden, int32_t m) const;
  // The rows of an addition (or hidden as it is) become what `op` takes: with its norm, if it has one.
  Status prepare(const Op& op, cuda::NormRowsArgs rows);
  // What the products of prepared rows have to be multiplied by, row by row; null: alpha does it for all.
  const float* row_scales(const Op& op) const;
  Status multiply(const Op& op, float alpha, float beta, float* out, int64_t ld_out, int32_t m);
  Status multiply_packed(const Op& op, float alpha, float* out, int64_t ld_out, int32_t m);
  Status multiply_rows(const Op& op, float alpha, float beta, float* out, int64_t ld_out, int32_t m);
  Status multiply_slabs(const Op& op, const PackedMatrix& w, CublasProduct product);
  Status dequantize(const Op& op, const PackedMatrix& w, int64_t to_row);

  const Plan* plan_;
  const DeviceWeights* weights_;
  Ways ways_;
  cudaStream_t stream_;
  DeviceBuffer storage_;
  Parts sizes_;
  std::byte* prepared_ = nullptr;
  float* row_scale_ = nullptr;
  float* products_ = nullptr;
  std::byte* dequantized_ = nullptr;
  std::byte* scratch_ = nullptr;
  std::optional<Cublas> cublas_;  // if it is one of the ways
  bool has_bf16_ = false;
  std::vector<float> matrix_factors_,
      norm_factors_;  // by op, powers of two: quantized weights as F16 and normed rows are times these
  Ready ready_;
};

}  // namespace inlay
