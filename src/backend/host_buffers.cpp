#include "src/backend/host_buffers.h"

#include <algorithm>

namespace inlay {
namespace {

struct Part {
  float* HostActivations::*target;
  uint64_t n_floats;
};

std::vector<Part> parts(const ModelSpec& s, const BackendConfig& c) {
  const auto m = static_cast<uint64_t>(c.max_step_tokens), slots = static_cast<uint64_t>(c.n_logit_slots);
  const auto d = static_cast<uint64_t>(s.d_model), ff = static_cast<uint64_t>(s.widest_ffn());
  const auto q = static_cast<uint64_t>(s.d_q()), kv = static_cast<uint64_t>(s.d_kv());
  const MoeSpec& moe = s.moe;
  const uint64_t routed = moe.n_experts > 0 ? m : 0, pairs = routed * static_cast<uint64_t>(moe.n_used);
  const auto expert_ff = static_cast<uint64_t>(moe.d_ff_expert);
  return {{&HostActivations::hidden, m * d},         {&HostActivations::normed, m * d},
          {&HostActivations::qkv, m * (q + 2 * kv)}, {&HostActivations::heads, m * q},
          {&HostActivations::gate, m * ff},          {&HostActivations::up, m * ff},
          {&HostActivations::router_logits, routed * static_cast<uint64_t>(moe.n_experts)},
          {&HostActivations::expert_weights, pairs},
          {&HostActivations::shared_weights, routed},
          {&HostActivations::expert_gate, pairs * expert_ff},
          {&HostActivations::expert_up, pairs * expert_ff},
          {&HostActivations::expert_out, pairs * d},
          {&HostActivations::shared_out, moe.d_ff_shared > 0 ? m * d : 0},
          {&HostActivations::head_rows, slots * d},  {&HostActivations::logit_rows, slots * static_cast<uint64_t>(s.n_vocab)}};
}

uint64_t padded(uint64_t n_floats) {
  constexpr uint64_t kLine = HostBuffer::kAlignment / sizeof(float);
  return (n_floats + kLine - 1) / kLine * kLine;
}

}  // namespace

uint64_t HostActivations::bytes(const ModelSpec& spec, const BackendConfig& config) {
  uint64_t n = 0;
  for (const Part& part : parts(spec, config)) n += padded(part.n_floats) * sizeof(float);
  return n;
}

Result<HostActivations> HostActivations::allocate(const ModelSpec& spec, const BackendConfig& config) {
  HostActivations a;
  INLAY_ASSIGN(a.storage, HostBuffer::allocate(bytes(spec, config), "intermediates of a step"));
  float* at = a.storage.as<float>();
  for (const Part& part : parts(spec, config)) {
    a.*part.target = at;
    at += padded(part.n_floats);
  }
  return a;
}

uint64_t LogitSlots::bytes(int32_t n_vocab, int32_t n_slots) {
  return static_cast<uint64_t>(n_vocab) * static_cast<uint64_t>(n_slots) * sizeof(float);
}

Result<LogitSlots> LogitSlots::allocate(int32_t n_vocab, int32_t n_slots) {
  LogitSlots slots(n_vocab);
  INLAY_ASSIGN(slots.logits_, HostBuffer::allocate(bytes(n_vocab, n_slots), "logits"));
  return slots;
}

void LogitSlots::duplicate(int32_t from, int32_t to) {
  const std::span<float> source = row(from);
  std::copy(source.begin(), source.end(), row(to).begin());
}

Status LogitSlots::sample(std::span<const SampleRow> rows, std::span<Draw> draws) {
  if (draws.size() < rows.size()) return error(Code::internal, "%zu results for %zu draws", draws.size(), rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const SampleRow& r = rows[i];
    draws[i] = {};
    DrawContext context = r.context;
    if (r.mask != nullptr) {
      draws[i].status = r.mask->status;
      context.allowed = r.mask->words;
      if (!draws[i].status.ok() || context.allowed.empty()) continue;
    }
    draws[i].status = sampler_.sample(row(r.slot), *r.params, r.history, r.stream, r.position, draws[i].result, context);
  }
  return {};
}

uint64_t kv_block_bytes(const ModelSpec& spec, KvDType dtype) {
  const bool scaled = dtype == KvDType::fp8 || dtype == KvDType::int8;
  const uint64_t element = dtype == KvDType::f32 ? 4 : scaled ? 1 : 2;
  const uint64_t scales = scaled ? sizeof(float) * static_cast<uint64_t>(spec.n_kv_heads) : 0;
  return 2 * (element * static_cast<uint64_t>(spec.d_kv()) + scales) * kKvBlockTokens;
}

}  // namespace inlay
