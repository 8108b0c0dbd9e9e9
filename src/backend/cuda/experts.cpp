// Mixtures of experts: what the ops of such a layer launch. Nothing is read back; see kernels/cuda/moe_kernels.h.
#include <algorithm>
#include <numeric>

#include "src/backend/cuda/executor.h"

namespace inlay {
namespace {

uint64_t unsigned_of(int64_t v) { return static_cast<uint64_t>(v); }

// Of the step sizes up to `rows` that ask for most memory.
template <class Bytes>
uint64_t most_of_shapes(const MoeSpec& moe, uint64_t rows, const Bytes& bytes) {
  uint64_t most = 0;
  const auto n = static_cast<int32_t>(rows);
  for (int32_t m = 1; m <= std::min(n, cuda::kFewRowsOfExperts); ++m) {
    most = std::max<uint64_t>(most, bytes(cuda::moe_shape_for(m, moe.n_experts, moe.n_used)));
  }
  most = std::max<uint64_t>(most, bytes(cuda::moe_shape_for(n, moe.n_experts, moe.n_used)));
  return most;
}

uint64_t most_places(const MoeSpec& moe, uint64_t rows) {
  return most_of_shapes(moe, rows, [](const cuda::MoeShape& shape) { return unsigned_of(shape.n_places()); });
}

}  // namespace

cuda::MoeShape CudaExecutor::moe_shape(const MoeSpec& moe, int32_t m) {
  return cuda::moe_shape_for(m, moe.n_experts, moe.n_used);
}

// Rows of a step for every matrix, and places for those of experts.
uint64_t CudaExecutor::prepared_bytes(const Plan& plan, uint64_t rows) {
  int64_t widest = 0, widest_of_expert = 0;
  for (const Weight& w : plan.weights) {
    if (w.n_rows == 1) continue;
    int64_t& most = w.n_experts > 1 ? widest_of_expert : widest;
    most = std::max(most, w.n_cols);
  }
  const uint64_t all = cuda::activation_bytes(static_cast<int64_t>(rows), widest);
  if (widest_of_expert == 0) return all;
  const auto places = static_cast<int64_t>(most_places(plan.spec.moe, rows));
  return std::max<uint64_t>(all, cuda::activation_bytes(places, widest_of_expert));
}

void CudaExecutor::add_expert_sizes(const Plan& plan, uint64_t rows, std::vector<Size>& sizes) {
  const ModelSpec& s = plan.spec;
  const uint64_t f = sizeof(float), places = most_places(s.moe, rows);
  sizes.push_back({&Buffers::routing, most_of_shapes(s.moe, rows, cuda::moe_routing_bytes), "routing"});
  sizes.push_back({&Buffers::expert_ffn, f * places * unsigned_of(s.moe.d_ff_expert), "activations of experts"});
  sizes.push_back({&Buffers::expert_out, f * places * unsigned_of(s.d_model), "results of experts"});
  if (s.moe.d_ff_shared > 0)
    sizes.push_back({&Buffers::shared_out, f * rows * unsigned_of(s.d_model), "results of the shared expert"});
}

Status CudaExecutor::moe_route(const Op& op) {
  const MoeSpec& moe = plan_.spec.moe;
  const cuda::MoeShape shape = moe_shape(moe, m_);
  return cuda_status(
      cuda::launch_moe_route({.x = b_.hidden.as<float>(),
                              .norm_weight = weights_.vector(op.weights[slot::norm]),
                              .router = static_cast<const float*>(weights_.matrix(op.weights[slot::router]).data),
                              .bias = weights_.vector(op.weights[slot::router_bias]),
                              .shared_gate = weights_.vector(op.weights[slot::shared_weight]),
                              .positions = step_->device().positions,
                              .out = cuda::moe_routing_at(b_.routing.data(), shape),
                              .shape = shape,
                              .n_cols = plan_.spec.d_model,
                              .epsilon = plan_.spec.norm_epsilon,
                              .weights_scale = moe.weights_scale,
                              .softmax_over_chosen = moe.softmax_over_chosen()},
                             target()),
      "routing");
}

// Products that read the same rows. A single row goes to them as it is.
Status CudaExecutor::multiply_experts(std::span<const Product> products, const ExpertRows& rows) {
  const cuda::MoeShape shape = moe_shape(plan_.spec.moe, m_);
  const cuda::MoeRouting routing = cuda::moe_routing_at(b_.routing.data(), shape);
  for (size_t form = 0; form < kForms; ++form) {
    bool is_prepared = false;
    for (const Product& p : products) {
      if (cuda::activation_form(p.matrix.dtype) != static_cast<cuda::ActivationForm>(form)) continue;
      const int32_t most_rows = std::min(m_, shape.block_rows);
      cuda::LinearArgs args = arguments(p, {.x = rows.x, .norm = rows.norm, .m = most_rows});
      args.n_rows /= shape.n_experts;
      args.x = cuda::activations_at(b_.prepared.data(), shape.n_places(), p.matrix.n_cols);
      if (m_ == 1 && !rows.of_places && cuda::linear_takes_raw(p.matrix.dtype, p.matrix.n_cols)) {
        args.raw = rows.x;
      } else if (!is_prepared) {
        const int32_t* map = rows.of_places ? nullptr : routing.place_row;
        INLAY_TRY(
            prepare(args, {.x = rows.x, .map = map, .m = shape.n_places()}, static_cast<cuda::ActivationForm>(form)));
        is_prepared = true;
      }
      INLAY_CUDA_TRY(cuda::launch_expert_linear({.linear = args,
                                                 .blocks = routing.blocks,
                                                 .n_blocks = routing.n_blocks,
                                                 .most_blocks = shape.most_blocks(),
                                                 .routing_is_older = rows.of_places},
                                                target()),
                     p.what);
    }
  }
  return {};
}

Status CudaExecutor::moe_in(const Op& op) {
  const MoeSpec& moe = plan_.spec.moe;
  const WeightIndex gate = op.weights[slot::gate], up = op.weights[slot::up], norm = op.weights[slot::norm];
  const ExpertRows rows{b_.hidden.as<float>(), norm, false};
  const float* up_bias = weights_.vector(op.weights[slot::up_bias]);
  Product product{.matrix = weights_.matrix(gate),
                  .bias = weights_.vector(op.weights[slot::gate_bias]),
                  .out = b_.expert_ffn.as<float>(),
                  .ld_out = moe.d_ff_expert,
                  .what = "gate of experts"};
  if (weights_.is_interleaved(gate)) {
    product.epilogue = cuda::Epilogue::gate_up;
    product.up_bias = up_bias;
    INLAY_TRY(multiply_experts({&product, 1}, rows));
  } else {
    INLAY_TRY(multiply_experts({&product, 1}, rows));
    product.matrix = weights_.matrix(up);
    product.bias = up_bias;
    product.epilogue = cuda::Epilogue::up;
    INLAY_TRY(multiply_experts({&product, 1}, rows));
  }
  if (moe.d_ff_shared == 0) return {};
  return gate_and_up(
      {.gate = op.weights[slot::shared_gate], .up = op.weights[slot::shared_up], .d_ff = moe.d_ff_shared},
      {.x = rows.x, .norm = norm, .m = m_});
}

Status CudaExecutor::moe_out(const Op& op) {
  const MoeSpec& moe = plan_.spec.moe;
  const int64_t d_model = plan_.spec.d_model;
  const cuda::MoeShape shape = moe_shape(moe, m_);
  if (moe.d_ff_shared > 0) {
    const Product shared[] = {{.matrix = weights_.matrix(op.weights[slot::shared_projection]),
                               .out = b_.shared_out.as<float>(),
                               .ld_out = d_model,
                               .what = "projection of the shared expert"}};
    INLAY_TRY(multiply(shared, {.x = b_.ffn.as<float>(), .m = m_}));
  }
  const Product down{.matrix = weights_.matrix(op.weights[slot::projection]),
                     .bias = weights_.vector(op.weights[slot::bias]),
                     .out = b_.expert_out.as<float>(),
                     .ld_out = d_model,
                     .what = "projections of experts"};
  const cuda::MoeCombineArgs sum{.x = b_.hidden.as<float>(),
                                 .values = b_.expert_out.as<float>(),
                                 .shared = moe.d_ff_shared > 0 ? b_.shared_out.as<float>() : nullptr,
                                 .routing = cuda::moe_routing_at(b_.routing.data(), shape),
                                 .shape = shape,
                                 .n_cols = d_model};
  cuda::ExpertRowArgs row{.linear = arguments(down, {.m = m_}), .values = b_.expert_ffn.as<float>(), .sum = sum};
  row.linear.n_rows /= shape.n_experts;
  if (cuda::expert_row_runs(row)) return cuda_status(cuda::launch_expert_row(row, target()), down.what);
  INLAY_TRY(multiply_experts({&down, 1}, {b_.expert_ffn.as<float>(), kNoWeight, true}));
  return cuda_status(cuda::launch_moe_combine(sum, target()), "adding up experts");
}

// What moe_route and moe_in leave behind in the order that other backends have it in: the experts' logits without that
// of the shared expert's gate, and a row's pairs instead of places; zeros for padding.
Result<Tap> CudaExecutor::observe_experts(const Op& op) {
  const MoeSpec& moe = plan_.spec.moe;
  const cuda::MoeShape shape = moe_shape(moe, m_);
  const cuda::MoeRouting routing = cuda::moe_routing_at(b_.routing.data(), shape);
  const bool routes = op.kind == OpKind::moe_route;
  const int64_t n = routes ? moe.n_experts : moe.d_ff_expert, ld = routes ? n + 1 : n;
  std::vector<float> rows(static_cast<size_t>((routes ? m_ : shape.n_places()) * ld));
  std::vector<int32_t> places(static_cast<size_t>(routes ? m_ : shape.n_pairs()));
  std::iota(places.begin(), places.end(), 0);
  const void* from = routes ? routing.logits : b_.expert_ffn.as<float>();
  INLAY_CUDA_TRY(cudaMemcpyAsync(rows.data(), from, rows.size() * sizeof(float), cudaMemcpyDeviceToHost, stream_.get()),
                 "reading values of experts");
  if (!routes) {
    INLAY_CUDA_TRY(cudaMemcpyAsync(places.data(), routing.pair_place, places.size() * sizeof(int32_t),
                                   cudaMemcpyDeviceToHost, stream_.get()),
                   "reading places of experts");
  }
  INLAY_TRY(wait_for(stream_.get(), "reading values of experts"));
  observed_.assign(places.size() * static_cast<size_t>(n), 0.0f);
  for (size_t i = 0; i < places.size(); ++i) {
    if (places[i] >= 0)
      std::copy_n(&rows[static_cast<size_t>(places[i] * ld)], n, &observed_[i * static_cast<size_t>(n)]);
  }
  return Tap{.what = routes ? "router" : "experts",
             .values = observed_.data(),
             .n_rows = m_,
             .n_cols = routes ? n : n * moe.n_used};
}

}  // namespace inlay
