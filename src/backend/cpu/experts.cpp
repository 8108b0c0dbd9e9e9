// Mixtures of experts: the tokens of a step are brought together by their experts, so that an expert's matrices are read
// once for all that go to it. A single token's experts share the threads tile by tile.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/expert_choice.h"
#include "src/backend/cpu/executor.h"

namespace inlay {
namespace {

constexpr int64_t kTokensAtOnce = 16;   // of a thread that routes or adds up
constexpr int64_t kColumnsAtOnce = 256;

}  // namespace

CpuExecutor::FormAreas CpuExecutor::expert_areas(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels) {
  const auto n_places = static_cast<uint64_t>(plan.spec.moe.n_used) * static_cast<uint64_t>(config.max_step_tokens);
  FormAreas areas;
  std::array<uint64_t, kForms> row{};
  for (const Weight& w : plan.weights) {
    if (w.n_experts == 1 || w.n_rows == 1) continue;
    const cpu::ActivationForm form = kernels.linear[static_cast<size_t>(w.dtype)].form;
    uint64_t& widest = row[static_cast<size_t>(form)];
    widest = std::max<uint64_t>(widest, kernels.activation_row_bytes(form, w.n_cols));
  }
  for (size_t form = 0; form < kForms; ++form) {
    areas.at[form] = areas.n_bytes;
    areas.n_bytes += row[form] * n_places;  // rows are multiples of 64 bytes
  }
  return areas;
}

void CpuExecutor::moe_route(const Op& op, const StepBatch& batch) {
  const MoeSpec& moe = plan_.spec.moe;
  const int64_t m = static_cast<int64_t>(batch.tokens.size()), d = plan_.spec.d_model;
  const Product products[] = {{op.weights[slot::router], vector(op, slot::router_bias), a_.router_logits, moe.n_experts, false}};
  prepare(products, a_.hidden, vector(op, slot::norm), d, m);
  multiply(products, m);
  const float* shared = vector(op, slot::shared_weight);
  pool_.parallel_for(m, kTokensAtOnce, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      choose_experts({.logits = a_.router_logits + row * moe.n_experts,
                      .experts = routing_.experts.data() + row * moe.n_used,
                      .weights = a_.expert_weights + row * moe.n_used,
                      .n_experts = moe.n_experts,
                      .n_used = moe.n_used,
                      .scale = moe.weights_scale,
                      .softmax_over_chosen = moe.softmax_over_chosen()});
      double dot = 0;
      for (int64_t i = 0; shared && i < d; ++i) dot += double{shared[i]} * double{a_.normed[row * d + i]};
      a_.shared_weights[row] = shared ? static_cast<float>(1.0 / (1.0 + std::exp(-dot))) : 1.0f;
    }
  });
  group_pairs(m);
}

void CpuExecutor::group_pairs(int64_t m) {
  const int32_t n_used = plan_.spec.moe.n_used;
  Routing& r = routing_;
  std::fill(r.counts.begin(), r.counts.end(), 0);
  const std::span pairs(r.experts.data(), static_cast<size_t>(m * n_used));
  for (const int32_t expert : pairs) ++r.counts[static_cast<size_t>(expert)];
  r.groups.clear();
  int32_t place = 0;
  for (int32_t e = 0; e < plan_.spec.moe.n_experts; ++e) {
    const int32_t n = r.counts[static_cast<size_t>(e)];
    if (n > 0) r.groups.push_back({e, place, n});
    r.counts[static_cast<size_t>(e)] = place;  // from now on: where the expert's next pair goes
    place += n;
  }
  for (size_t pair = 0; pair < pairs.size(); ++pair) {
    const int32_t to = r.counts[static_cast<size_t>(pairs[pair])]++;
    r.place_token[static_cast<size_t>(to)] = static_cast<int32_t>(pair) / n_used;
    r.pair_place[pair] = to;
  }
}

template <class Body>
void CpuExecutor::for_expert_tiles(int64_t n_tiles, const Body& body) {
  const int64_t total = static_cast<int64_t>(routing_.groups.size()) * n_tiles;
  pool_.parallel_for(total, std::max<int64_t>(1, total / (8 * pool_.size())), [&](int64_t begin, int64_t end, int) {
    while (begin < end) {
      const int64_t group = begin / n_tiles, stop = std::min(end, (group + 1) * n_tiles);
      body(routing_.groups[static_cast<size_t>(group)], begin - group * n_tiles, stop - group * n_tiles);
      begin = stop;
    }
  });
}

// Rows of x, by token or by place, in the order of the places and as the products of these weights take them.
void CpuExecutor::prepare_places(std::span<const WeightIndex> weights, const float* x, int64_t m, bool x_of_place) {
  std::array<bool, kForms> wanted{};
  for (const WeightIndex i : weights) wanted[static_cast<size_t>(kernel_of(i).form)] = true;
  const int64_t n_cols = plan_.weights[weights[0]].n_cols;
  const auto rows = [&](int64_t begin, int64_t end, int) {
    for (size_t f = 0; f < kForms; ++f) {
      const auto form = static_cast<cpu::ActivationForm>(f);
      if (!wanted[f]) continue;
      std::byte* to = expert_rows_.data() + expert_areas_.at[f];
      if (x_of_place) {
        kernels_.prepare(form, x, n_cols, n_cols, begin, end, fine_above_, to);
        continue;
      }
      const size_t row_bytes = kernels_.activation_row_bytes(form, n_cols);
      for (int64_t place = begin; place < end; ++place) {
        const int32_t token = routing_.place_token[static_cast<size_t>(place)];
        std::memcpy(to + static_cast<size_t>(place) * row_bytes, prepared(form) + static_cast<size_t>(token) * row_bytes, row_bytes);
      }
    }
  };
  const int64_t n_places = m * plan_.spec.moe.n_used;
  if (m <= kSerialRows) return rows(0, n_places, 0);
  pool_.parallel_for(n_places, std::max<int64_t>(1, n_places / (4 * pool_.size())), rows);
}

// What the kernel needs for the matrix of one expert.
cpu::LinearArgs CpuExecutor::args_of_expert(const Op& op, size_t weight_slot, size_t bias_slot, const ExpertGroup& group,
                                            float* out) const {
  const WeightIndex i = op.weights[weight_slot];
  const Weight& w = plan_.weights[i];
  const cpu::LinearKernel& kernel = kernel_of(i);
  const int64_t n_rows = w.rows_of_expert();
  const size_t expert_bytes = static_cast<size_t>(cpu::n_tiles(n_rows)) * kernel.tile_bytes(w.n_cols);
  const float* bias = vector(op, bias_slot);
  return {.weights = weights_.matrix(i) + static_cast<size_t>(group.expert) * expert_bytes,
          .activations = expert_rows_.data() + expert_areas_.at[static_cast<size_t>(kernel.form)] +
                         static_cast<size_t>(group.first_place) * kernels_.activation_row_bytes(kernel.form, w.n_cols),
          .out = out + group.first_place * n_rows,
          .bias = bias ? bias + group.expert * n_rows : nullptr,
          .n_rows = n_rows,
          .n_cols = w.n_cols,
          .m = group.n_places,
          .ld_out = n_rows,
          .add_to_out = 0};
}

void CpuExecutor::moe_in(const Op& op, const StepBatch& batch) {
  const auto m = static_cast<int64_t>(batch.tokens.size());
  const int64_t d_ff = plan_.spec.moe.d_ff_expert;
  const WeightIndex gate = op.weights[slot::gate], up = op.weights[slot::up], both[] = {gate, up};
  const Product forms[] = {{gate, nullptr, nullptr, 0, false}, {up, nullptr, nullptr, 0, false}};
  prepare(forms, a_.normed, nullptr, plan_.spec.d_model, m);  // moe_route has left the rows normed
  prepare_places(both, nullptr, m, false);
  const auto activate = kernels_.gated[static_cast<size_t>(plan_.spec.activation)];
  for_expert_tiles(cpu::n_tiles(d_ff), [&](const ExpertGroup& group, int64_t begin, int64_t end) {
    kernel_of(gate).run(args_of_expert(op, slot::gate, slot::gate_bias, group, a_.expert_gate), begin, end, 0, group.n_places);
    kernel_of(up).run(args_of_expert(op, slot::up, slot::up_bias, group, a_.expert_up), begin, end, 0, group.n_places);
    const int64_t row = begin * cpu::kTileRows, at = group.first_place * d_ff + row;
    activate(a_.expert_gate + at, a_.expert_up + at, std::min(end * cpu::kTileRows, d_ff) - row, d_ff, 0, group.n_places);
  });
  if (plan_.spec.moe.d_ff_shared == 0) return;
  gate_and_up({.gate = op.weights[slot::shared_gate], .up = op.weights[slot::shared_up], .d_ff = plan_.spec.moe.d_ff_shared}, a_.normed, m);
}

void CpuExecutor::moe_out(const Op& op, const StepBatch& batch) {
  const MoeSpec& moe = plan_.spec.moe;
  const int64_t m = static_cast<int64_t>(batch.tokens.size()), d = plan_.spec.d_model;
  const WeightIndex down[] = {op.weights[slot::projection]};
  prepare_places(down, a_.expert_gate, m, true);
  for_expert_tiles(cpu::n_tiles(d), [&](const ExpertGroup& group, int64_t begin, int64_t end) {
    kernel_of(down[0]).run(args_of_expert(op, slot::projection, slot::bias, group, a_.expert_out), begin, end, 0, group.n_places);
  });
  if (moe.d_ff_shared > 0) {
    const Product shared[] = {{op.weights[slot::shared_projection], nullptr, a_.shared_out, d, false}};
    prepare(shared, a_.gate, nullptr, moe.d_ff_shared, m);
    multiply(shared, m);
  }
  const int64_t n_parts = (d + kColumnsAtOnce - 1) / kColumnsAtOnce;
  pool_.parallel_for(m * n_parts, std::max<int64_t>(1, m * n_parts / (8 * pool_.size())), [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) add_experts(i / n_parts, i % n_parts * kColumnsAtOnce);
  });
}

// Columns from `first` on of one token, its experts in the order in which they were chosen.
void CpuExecutor::add_experts(int64_t row, int64_t first) {
  const MoeSpec& moe = plan_.spec.moe;
  const int64_t d = plan_.spec.d_model, n = std::min(kColumnsAtOnce, d - first);
  float sum[kColumnsAtOnce] = {};
  for (int64_t pair = row * moe.n_used; pair < (row + 1) * moe.n_used; ++pair) {
    const int64_t place = routing_.pair_place[static_cast<size_t>(pair)];
    kernels_.add_scaled(a_.expert_out + place * d + first, n, a_.expert_weights[pair], sum);
  }
  const int64_t at = row * d + first;
  if (moe.d_ff_shared > 0) kernels_.add_scaled(a_.shared_out + at, n, a_.shared_weights[row], sum);
  kernels_.add_scaled(sum, n, 1.0f, a_.hidden + at);
}

// What moe_in left at the pairs' places, pair after pair.
Tap CpuExecutor::observe_experts(int64_t m) {
  const MoeSpec& moe = plan_.spec.moe;
  const auto n_pairs = static_cast<size_t>(m * moe.n_used), n = static_cast<size_t>(moe.d_ff_expert);
  observed_.resize(n_pairs * n);
  for (size_t pair = 0; pair < n_pairs; ++pair) {
    std::copy_n(a_.expert_gate + static_cast<size_t>(routing_.pair_place[pair]) * n, n, observed_.data() + pair * n);
  }
  return {0, nullptr, "experts", observed_.data(), m, int64_t{moe.n_used} * moe.d_ff_expert};
}

}  // namespace inlay
