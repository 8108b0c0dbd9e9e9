#include "src/backend/cuda/prefill.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace inlay {
namespace {

using cuda::ActivationForm;

// From how many rows on cuBLASLt wins, measured on an H100 with prompts of 16 to 384 tokens (docs/design/gpu-measurements.md):
// quantized on an 8B Q4_K_M, equal at 48; F16 and BF16 on a 1B BF16, where 32 rows are 5 % faster and 16 are 17 %
// slower.
constexpr int32_t kFewestRowsQuantized = 49;
constexpr int32_t kFewestRows = 32;
// And the mixed GEMM: 32 tokens of an 8B are 8 % faster by it, of a 1.5B 17 % slower; 48 are 88 and 13 % faster.
constexpr int32_t kFewestRowsMixed = 33;

// W is dequantized in slabs of at most this size.
constexpr uint64_t kSlabBytes = uint64_t{128} << 20;
constexpr uint64_t kAlignment = 256;

uint64_t align(uint64_t n) { return (n + kAlignment - 1) / kAlignment * kAlignment; }
int64_t whole_tiles(int64_t n_rows) { return (n_rows + cuda::kTileRows - 1) / cuda::kTileRows * cuda::kTileRows; }
uint64_t f16_bytes(int64_t n_rows, int64_t n_cols) {
  return static_cast<uint64_t>(whole_tiles(n_rows) * cuda::padded_cols(n_cols)) * 2;
}

// Slots of an op's matrices.
std::span<const size_t> matrix_slots(OpKind kind) {
  static constexpr size_t kQkv[] = {slot::q, slot::k, slot::v}, kGateUp[] = {slot::gate, slot::up},
                          kProjection[] = {slot::projection}, kHead[] = {slot::head};
  switch (kind) {
    case OpKind::attn_in:
      return kQkv;
    case OpKind::ffn_in:
      return kGateUp;
    case OpKind::attn_out:
    case OpKind::ffn_out:
      return kProjection;
    case OpKind::head:
      return kHead;
    default:
      return {};
  }
}

// Of what an op reads, if it has one.
const Weight* norm_of(const Plan& plan, const Op& op) {
  const bool can = op.kind == OpKind::attn_in || op.kind == OpKind::ffn_in || op.kind == OpKind::head;
  return can ? plan.weight(op, slot::norm) : nullptr;
}

bool has_quantized(const Plan& plan, const Op& op) {
  return std::ranges::any_of(matrix_slots(op.kind),
                             [&](size_t at) { return is_quantized(plan.weight(op, at)->dtype); });
}

// Quantized weights are multiplied as FP16.
ActivationForm gemm_form(DType weights) {
  const ActivationForm form = cuda::activation_form(weights);
  return form == ActivationForm::planes ? ActivationForm::f16 : form;
}

// What the rows of x become for this op; none if its matrices want different forms or one that cuBLASLt does not get.
std::optional<ActivationForm> form_of(const Plan& plan, const Op& op) {
  const auto slots = matrix_slots(op.kind);
  if (slots.empty()) return {};
  const Weight& first = *plan.weight(op, slots[0]);
  const ActivationForm form = gemm_form(first.dtype);
  for (const size_t at : slots) {
    const Weight& w = *plan.weight(op, at);
    if (gemm_form(w.dtype) != form || w.n_cols > cuda::kMaxRowCols) return {};
    if (op.kind == OpKind::ffn_in && (w.dtype != first.dtype || w.n_rows > cuda::kMaxRowCols))
      return {};  // not one matrix
  }
  if (form == ActivationForm::f32) return {};
  return form;
}

// The order in which the mixed GEMM takes an op's x; none if it does not take all of the op's matrices.
std::optional<cuda::ColumnOrder> mixed_order(const Plan& plan, const Op& op) {
  std::optional<cuda::ColumnOrder> order;
  for (const size_t at : matrix_slots(op.kind)) {
    const DType type = plan.weight(op, at)->dtype;
    if (!is_quantized(type) || (order && *order != cuda::column_order(type))) return {};
    order = cuda::column_order(type);
  }
  return order;
}

// Whether an op can be taken, whatever its rows.
bool has_way(const Plan& plan, const Op& op, PrefillProducts::Ways ways) {
  return form_of(plan, op) && (ways.cublas || (ways.mixed_gemm && mixed_order(plan, op)));
}

// Rows of d_model to which nothing is added.
cuda::NormRowsArgs as_it_is(const Plan& plan, float* rows, int32_t m) {
  return {.x = rows, .n_rows = m, .n_cols = plan.spec.d_model, .epsilon = plan.spec.norm_epsilon, .factor = 1.0f};
}

// The power of two that brings values of up to `largest` into [2^14, 2^15).
float factor_for(float largest) { return std::ldexp(1.0f, 14 - std::max(std::ilogb(largest), -80)); }

}  // namespace

// ---- memory

bool PrefillProducts::wants_cublas(const Plan& plan, bool mixed_gemm) {
  return std::ranges::any_of(plan.ops,
                             [&](const Op& op) { return form_of(plan, op) && !(mixed_gemm && mixed_order(plan, op)); });
}

PrefillProducts::Parts PrefillProducts::parts(const Plan& plan, int32_t max_rows, Ways ways) {
  const auto rows = static_cast<uint64_t>(max_rows);
  Parts sizes;
  for (const Op& op : plan.ops) {
    if (!has_way(plan, op, ways)) continue;
    const bool packed = ways.mixed_gemm && mixed_order(plan, op);
    if (packed) sizes.scratch = cuda::mixed_gemm_scratch_bytes(ways.device_index);
    uint64_t quantized = 0;
    for (const size_t at : matrix_slots(op.kind)) {
      const Weight& w = *plan.weight(op, at);
      sizes.prepared = std::max(sizes.prepared, rows * static_cast<uint64_t>(cuda::padded_cols(w.n_cols)) * 2);
      if (is_quantized(w.dtype) && !packed) quantized += f16_bytes(w.n_rows, w.n_cols);
    }
    if (op.kind == OpKind::ffn_in) {
      const int64_t d_ff = plan.weight(op, slot::gate)->n_rows;
      sizes.prepared = std::max(sizes.prepared, rows * static_cast<uint64_t>(cuda::padded_cols(d_ff)) * 2);
      sizes.products = std::max(sizes.products, rows * static_cast<uint64_t>(whole_tiles(2 * d_ff)) * sizeof(float));
    } else if (op.kind != OpKind::head) {
      sizes.products = std::max(sizes.products, rows * static_cast<uint64_t>(plan.spec.d_model) * sizeof(float));
    }
    // The head comes slab by slab in what the layers need.
    const uint64_t largest = op.kind == OpKind::head ? kSlabBytes / 4 : kSlabBytes;
    sizes.dequantized = std::max(sizes.dequantized, std::min(quantized, largest));
  }
  if (sizes.prepared == 0) return {};
  sizes.row_scale = rows * sizeof(float);
  sizes.products = std::max(sizes.products, plan.ops.size() * sizeof(float));  // settle_factors
  if (ways.cublas) sizes.workspace = Cublas::kWorkspaceBytes;
  for (uint64_t* n : {&sizes.prepared, &sizes.row_scale, &sizes.products, &sizes.dequantized, &sizes.scratch})
    *n = align(*n);
  return sizes;
}

uint64_t PrefillProducts::bytes(const Plan& plan, int32_t max_rows, Ways ways) {
  const Parts n = parts(plan, max_rows, ways);
  return n.prepared + n.row_scale + n.products + n.dequantized + n.scratch + n.workspace;
}

Result<PrefillProducts> PrefillProducts::create(const Plan& plan, const DeviceWeights& weights, Ways ways,
                                                const cublas::Api& api, int32_t max_rows, cudaStream_t stream) {
  PrefillProducts self(plan, weights, ways, stream);
  self.sizes_ = parts(plan, max_rows, ways);
  INLAY_ASSIGN(self.storage_,
               DeviceBuffer::allocate(bytes(plan, max_rows, ways), "device memory for products of many rows"));
  std::byte* at = self.storage_.data();
  self.prepared_ = at, at += self.sizes_.prepared;
  self.row_scale_ = reinterpret_cast<float*>(at), at += self.sizes_.row_scale;
  self.products_ = reinterpret_cast<float*>(at), at += self.sizes_.products;
  self.dequantized_ = at, at += self.sizes_.dequantized;
  self.scratch_ = at, at += self.sizes_.scratch;
  INLAY_CUDA_TRY(cudaMemsetAsync(self.scratch_, 0, self.sizes_.scratch, stream), "clearing scratch");
  if (ways.cublas) {
    INLAY_ASSIGN(Cublas cublas, Cublas::create(api, at));
    self.cublas_.emplace(std::move(cublas));
  }
  int device = 0, major = 0;
  INLAY_CUDA_TRY(cudaGetDevice(&device), "describing the device");
  INLAY_CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "describing the device");
  self.has_bf16_ = major >= 8;
  self.matrix_factors_.assign(plan.ops.size(), 1.0f);
  self.norm_factors_.assign(plan.ops.size(), 1.0f);
  return self;
}

Status PrefillProducts::load_kernels() const {
  std::vector<bool> loaded(static_cast<size_t>(DType::count));
  for (const Op& op : plan_->ops) {
    if (order_of(op) == cuda::ColumnOrder::plain) continue;
    for (const size_t at : matrix_slots(op.kind)) {
      const DType type = plan_->weight(op, at)->dtype;
      if (loaded[static_cast<size_t>(type)]) continue;
      loaded[static_cast<size_t>(type)] = true;
      INLAY_CUDA_TRY(cuda::load_mixed_gemm(type), "loading products of packed weights");
    }
  }
  return {};
}

// F16 ends at 65504 and has few digits far below: quantized weights become F16 times what brings the largest magnitude
// of the op's matrices near its end. After a norm |y| <= sqrt(n_cols) * largest |weight|, so one factor for each norm
// serves all rows.
Status PrefillProducts::settle_factors() {
  const size_t n_ops = plan_->ops.size();
  std::vector<float> largest(n_ops);
  std::vector<std::vector<float>> norms(n_ops);
  INLAY_CUDA_TRY(cudaMemsetAsync(products_, 0, n_ops * sizeof(float), stream_), "looking for the largest weight");
  for (size_t i = 0; i < n_ops; ++i) {
    const Op& op = plan_->ops[i];
    if (form_of(*plan_, op) != ActivationForm::f16) continue;
    for (const QkvRun& run : runs_of(op)) {
      const PackedMatrix& w = run.matrix;
      if (!is_quantized(w.dtype)) continue;
      INLAY_CUDA_TRY(
          cuda::launch_largest(
              {.packed = w.data, .largest = products_ + i, .n_rows = w.n_rows, .n_cols = w.n_cols, .dtype = w.dtype},
              stream_),
          "looking for the largest weight");
    }
    if (!norm_of(*plan_, op)) continue;
    norms[i].resize(static_cast<size_t>(norm_of(*plan_, op)->n_cols));
    INLAY_CUDA_TRY(cudaMemcpyAsync(norms[i].data(), weights_->vector(op.weights[slot::norm]),
                                   norms[i].size() * sizeof(float), cudaMemcpyDeviceToHost, stream_),
                   "reading norm weights");
  }
  INLAY_CUDA_TRY(cudaMemcpyAsync(largest.data(), products_, n_ops * sizeof(float), cudaMemcpyDeviceToHost, stream_),
                 "looking for the largest weight");
  INLAY_TRY(wait_for(stream_, "looking for the largest weight"));
  for (size_t i = 0; i < n_ops; ++i) {
    if (std::isnormal(largest[i])) matrix_factors_[i] = factor_for(largest[i]);
    float weight = 0.0f;
    for (const float w : norms[i]) weight = std::max(weight, std::abs(w));
    const float bound = weight * std::sqrt(static_cast<float>(norms[i].size()));
    if (std::isnormal(bound)) norm_factors_[i] = factor_for(bound);
  }
  return {};
}

// ---- which ops

bool PrefillProducts::takes(const Op& op, int32_t m) const {
  if (!has_way(*plan_, op, ways_) || (form_of(*plan_, op) == ActivationForm::bf16 && !has_bf16_)) return false;
  if (op.kind == OpKind::ffn_in && !weights_->is_interleaved(op.weights[slot::gate])) return false;
  if (order_of(op) != cuda::ColumnOrder::plain) return m >= kFewestRowsMixed;
  return m >= (has_quantized(*plan_, op) ? kFewestRowsQuantized : kFewestRows);
}

cuda::ColumnOrder PrefillProducts::order_of(const Op& op) const {
  return ways_.mixed_gemm ? mixed_order(*plan_, op).value_or(cuda::ColumnOrder::plain) : cuda::ColumnOrder::plain;
}

const Op* PrefillProducts::next_taken(const Op& op, int32_t m) const {
  const size_t next = index_of(op) + 1;
  return next < plan_->ops.size() && takes(plan_->ops[next], m) ? &plan_->ops[next] : nullptr;
}

QkvRuns PrefillProducts::runs_of(const Op& op) const {
  if (op.kind == OpKind::attn_in) return weights_->qkv(*plan_, op);
  QkvRuns one;
  one.n = 1;
  one.runs[0] = {weights_->matrix(op.weights[matrix_slots(op.kind)[0]]), nullptr, 0};
  if (op.kind == OpKind::ffn_in) one.runs[0].matrix.n_rows = whole_tiles(one.runs[0].matrix.n_rows);
  return one;
}

// ---- products

Status PrefillProducts::dequantize(const Op& op, const PackedMatrix& w, int64_t to_row) {
  return cuda_status(cuda::launch_dequantize({.packed = w.data,
                                              .out = dequantized_ + to_row * cuda::padded_cols(w.n_cols) * 2,
                                              .n_rows = w.n_rows,
                                              .n_cols = w.n_cols,
                                              .dtype = w.dtype,
                                              .factor = matrix_factors_[index_of(op)]},
                                             stream_),
                     "dequantizing");
}

// A quantized matrix that does not fit at once, in slabs of equal size.
Status PrefillProducts::multiply_slabs(const Op& op, const PackedMatrix& w, CublasProduct product) {
  const auto row_bytes = static_cast<uint64_t>(product.n_cols) * 2;
  const int64_t fitting = static_cast<int64_t>(sizes_.dequantized / row_bytes) / cuda::kTileRows * cuda::kTileRows;
  const int64_t n_slabs = (w.n_rows + fitting - 1) / fitting;
  const int64_t step = std::min(fitting, whole_tiles((w.n_rows + n_slabs - 1) / n_slabs));
  const size_t tile = cuda::packed_bytes(w.dtype, cuda::kTileRows, w.n_cols);
  float* out = product.out;
  for (int64_t first = 0; first < w.n_rows; first += step) {
    PackedMatrix slab = w;
    slab.data = static_cast<const std::byte*>(w.data) + static_cast<size_t>(first / cuda::kTileRows) * tile;
    slab.n_rows = std::min(step, w.n_rows - first);
    INLAY_TRY(dequantize(op, slab, 0));
    product.n_rows = slab.n_rows;
    product.out = out + first;
    INLAY_TRY(cublas_->multiply(product, stream_));
  }
  return {};
}

// out (m, rows of all matrices) = alpha * prepared W^T + beta * out; beta is 0 for quantized W.
Status PrefillProducts::multiply(const Op& op, float alpha, float beta, float* out, int64_t ld_out, int32_t m) {
  if (order_of(op) == cuda::ColumnOrder::plain) return multiply_rows(op, alpha, beta, out, ld_out, m);
  return multiply_packed(op, alpha, out, ld_out, m);
}

Status PrefillProducts::multiply_packed(const Op& op, float alpha, float* out, int64_t ld_out, int32_t m) {
  const float factor = matrix_factors_[index_of(op)];
  for (const QkvRun& run : runs_of(op)) {
    const PackedMatrix& w = run.matrix;
    INLAY_CUDA_TRY(cuda::launch_mixed_gemm({.packed = w.data,
                                            .x = prepared_,
                                            .out = out + run.first_row,
                                            .n_rows = w.n_rows,
                                            .n_cols = w.n_cols,
                                            .ld_out = ld_out,
                                            .m = m,
                                            .dtype = w.dtype,
                                            .scratch = scratch_,
                                            .factor = factor,
                                            .alpha = alpha / factor},
                                           stream_),
                   "multiplying packed weights");
  }
  return {};
}

// Quantized matrices that follow one another become one.
Status PrefillProducts::multiply_rows(const Op& op, float alpha, float beta, float* out, int64_t ld_out, int32_t m) {
  const QkvRuns runs = runs_of(op);
  for (size_t i = 0; i < runs.n;) {
    const QkvRun& first = runs.runs[i++];
    CublasProduct product{.weights = first.matrix.data,
                          .x = prepared_,
                          .out = out + first.first_row,
                          .n_rows = first.matrix.n_rows,
                          .n_cols = cuda::padded_cols(first.matrix.n_cols),
                          .ld_out = ld_out,
                          .m = m,
                          .form = *form_of(*plan_, op),
                          .alpha = alpha,
                          .beta = beta};
    if (is_quantized(first.matrix.dtype)) {
      product.weights = dequantized_;
      product.alpha = alpha / matrix_factors_[index_of(op)];
      if (f16_bytes(first.matrix.n_rows, first.matrix.n_cols) > sizes_.dequantized) {
        INLAY_TRY(multiply_slabs(op, first.matrix, product));
        continue;
      }
      INLAY_TRY(dequantize(op, first.matrix, 0));
      for (; i < runs.n && is_quantized(runs.runs[i].matrix.dtype) && product.n_rows % cuda::kTileRows == 0; ++i) {
        const PackedMatrix& more = runs.runs[i].matrix;
        if (f16_bytes(product.n_rows + more.n_rows, more.n_cols) > sizes_.dequantized) break;
        INLAY_TRY(dequantize(op, more, product.n_rows));
        product.n_rows += more.n_rows;
      }
    }
    INLAY_TRY(cublas_->multiply(product, stream_));
  }
  return {};
}

cuda::NormRowsArgs PrefillProducts::addition(const Op& projection, float* hidden, int32_t m) const {
  const ModelSpec& s = plan_->spec;
  return {.x = hidden,
          .addend = products_,
          .addend_scale = form_of(*plan_, projection) == ActivationForm::f16 ? row_scale_ : nullptr,
          .n_rows = m,
          .n_cols = s.d_model,
          .epsilon = s.norm_epsilon,
          .factor = 1.0f,
          .form = ActivationForm::f16,
          .addend_bias = weights_->vector(projection.weights[slot::bias]),
          .addend_norm = weights_->vector(projection.weights[slot::post_norm]),
          .addend_factor = s.residual_scale};
}

Status PrefillProducts::prepare(const Op& op, cuda::NormRowsArgs rows) {
  rows.norm_weight = norm_of(*plan_, op) ? weights_->vector(op.weights[slot::norm]) : nullptr;
  rows.out = prepared_;
  rows.row_scale = row_scale_;
  rows.factor = norm_factors_[index_of(op)];
  rows.form = *form_of(*plan_, op);
  rows.order = order_of(op);
  return cuda_status(cuda::launch_norm_rows(rows, stream_), "preparing rows");
}

const float* PrefillProducts::row_scales(const Op& op) const {
  return norm_of(*plan_, op) || form_of(*plan_, op) != ActivationForm::f16 ? nullptr : row_scale_;
}

Result<bool> PrefillProducts::claim(const Op& op, const float* rows, int32_t m) {
  const Ready ready = std::exchange(ready_, {});
  if (ready == Ready{&op, rows, m, ready.only}) return true;
  if (ready.only) return error(Code::internal, "rows of the op before %s were not kept", op_name(op.kind));
  return false;
}

// ---- ops

Status PrefillProducts::attn_in(const Op& op, float* hidden, float* qkv, int32_t m) {
  const int64_t width = plan_->spec.d_q() + 2 * plan_->spec.d_kv();
  INLAY_ASSIGN(const bool ready, claim(op, hidden, m));
  if (!ready) INLAY_TRY(prepare(op, as_it_is(*plan_, hidden, m)));
  INLAY_TRY(multiply(op, 1.0f / norm_factors_[index_of(op)], 0.0f, qkv, width, m));
  for (const QkvRun& run : runs_of(op)) {
    if (!run.bias && !row_scales(op)) continue;
    INLAY_CUDA_TRY(cuda::launch_add_bias({.x = qkv + run.first_row,
                                          .bias = run.bias,
                                          .n_rows = m,
                                          .n_cols = run.matrix.n_rows,
                                          .ld = width,
                                          .scale = row_scales(op)},
                                         stream_),
                   "adding biases");
  }
  return {};
}

Status PrefillProducts::ffn_in(const Op& op, float* hidden, float* ffn, bool keep, int32_t m) {
  INLAY_ASSIGN(const bool ready, claim(op, hidden, m));
  if (!ready) INLAY_TRY(prepare(op, as_it_is(*plan_, hidden, m)));
  const int64_t width = whole_tiles(2 * plan_->spec.d_ff);
  INLAY_TRY(multiply(op, 1.0f / norm_factors_[index_of(op)], 0.0f, products_, width, m));
  const Op* next = next_taken(op, m);
  keep |= next == nullptr;
  ready_ = {next, ffn, m, !keep};
  return cuda_status(cuda::launch_gate_up_rows({.gate_up = products_,
                                                .out = prepared_,
                                                .row_scale = row_scale_,
                                                .values = keep ? ffn : nullptr,
                                                .n_rows = m,
                                                .n_cols = plan_->spec.d_ff,
                                                .form = next ? *form_of(*plan_, *next) : ActivationForm::f16,
                                                .activation = plan_->spec.activation,
                                                .scale = row_scales(op),
                                                .gate_bias = weights_->vector(op.weights[slot::gate_bias]),
                                                .up_bias = weights_->vector(op.weights[slot::up_bias]),
                                                .order = next ? order_of(*next) : cuda::ColumnOrder::plain},
                                               stream_),
                     "activation");
}

// F16 rows carry a scale each, so their products are added to hidden by the pass that also prepares the next op. BF16
// rows do not: cuBLASLt adds, where nothing comes between.
Status PrefillProducts::project(const Op& op, float* x, float* hidden, int32_t m) {
  const int64_t d_model = plan_->spec.d_model;
  INLAY_ASSIGN(const bool ready, claim(op, x, m));
  if (!ready) {
    cuda::NormRowsArgs rows = as_it_is(*plan_, x, m);
    rows.n_cols = plan_->weight(op, slot::projection)->n_cols;
    INLAY_TRY(prepare(op, rows));
  }
  const cuda::NormRowsArgs sum = addition(op, hidden, m);
  const bool plain = !sum.addend_bias && !sum.addend_norm && sum.addend_factor == 1.0f;
  if (form_of(*plan_, op) == ActivationForm::bf16 && plain) return multiply(op, 1.0f, 1.0f, hidden, d_model, m);
  INLAY_TRY(multiply(op, 1.0f, 0.0f, products_, d_model, m));
  const Op* next = next_taken(op, m);
  if (next && next->kind != OpKind::head) {
    ready_ = {next, hidden, m, false};
    return prepare(*next, sum);
  }
  return cuda_status(cuda::launch_norm_rows(sum, stream_), "adding rows");
}

Status PrefillProducts::head(const Op& op, float* rows, float* logits, int32_t m) {
  INLAY_ASSIGN(const bool ready, claim(op, rows, m));
  if (!ready) INLAY_TRY(prepare(op, as_it_is(*plan_, rows, m)));
  return multiply(op, plan_->spec.logit_scale / norm_factors_[index_of(op)], 0.0f, logits, plan_->spec.n_vocab, m);
}

}  // namespace inlay
