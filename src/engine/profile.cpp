#include <algorithm>

#include "src/backend/host_buffers.h"
#include "src/engine/inspect.h"

namespace inlay {
namespace {

constexpr int kWarmUps = 2;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

// Fixed and well mixed over the vocabulary.
std::vector<int32_t> mixed_tokens(int32_t n, int32_t n_vocab) {
  std::vector<int32_t> out(static_cast<size_t>(n));
  uint64_t state = 1;
  for (int32_t& token : out) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    token = static_cast<int32_t>((state >> 33) % static_cast<uint64_t>(n_vocab));
  }
  return out;
}

Status check(const Engine& engine, const ProfileRequest& r, const BackendConfig& config) {
  struct Range {
    const char* name;
    int64_t value, low, high;
  };
  const Range ranges[] = {{"n_tokens", r.n_tokens, 1, config.max_step_tokens},
                          {"n_past", r.n_past, 0, engine.info().n_context - 1},
                          {"n_tokens + n_past", int64_t{r.n_tokens} + r.n_past, 1, engine.info().n_context},
                          {"n_repetitions", r.n_repetitions, 0, 10000}};
  for (const Range& range : ranges) {
    if (range.value < range.low || range.value > range.high) {
      return error(Code::invalid_argument, "%s is %lld, expected %lld to %lld", range.name,
                   static_cast<long long>(range.value), static_cast<long long>(range.low),
                   static_cast<long long>(range.high));
    }
  }
  return {};
}

std::vector<ProfiledOp> priced_ops(const Plan& plan, const ProfileRequest& r, KvDType kv_dtype) {
  const uint64_t elements = static_cast<uint64_t>(2 * plan.spec.d_kv()) * kKvBlockTokens;  // of one layer's block
  const StepShape shape{.n_tokens = r.n_tokens,
                        .n_past = r.n_past,
                        .kv_element_bytes = static_cast<int64_t>(kv_block_bytes(plan.spec, kv_dtype) / elements)};
  std::vector<ProfiledOp> ops;
  for (size_t i = 0; i < plan.ops.size(); ++i) {
    const Op& op = plan.ops[i];
    const bool runs = op.kind != OpKind::sample || r.n_tokens == 1;  // a prompt's step draws nothing
    const OpCost c = runs ? cost(plan, op, shape) : OpCost{};
    ops.push_back({.index = static_cast<int32_t>(i),
                   .kind = op_name(op.kind),
                   .layer = is_layer_op(op.kind) ? op.layer : -1,
                   .weight_bytes = c.weight_bytes,
                   .kv_bytes = c.kv_bytes,
                   .activation_bytes = c.activation_bytes,
                   .flops = c.flops});
  }
  return ops;
}

}  // namespace

void Engine::keep_profile(Profile profile) {
  const EngineLock lock(mutex_);
  if (profiles_.size() == kMaxProfiles) profiles_.erase(profiles_.begin());
  profiles_.push_back(std::move(profile));
}

std::vector<Profile> Engine::profiles() const {
  const EngineLock lock(mutex_);
  return profiles_;
}

Result<Profile> profile_step(Engine& engine, const ProfileRequest& r) {
  const BackendConfig& config = engine.backend().config();
  INLAY_TRY(check(engine, r, config));
  const int n = r.n_repetitions ? r.n_repetitions : kDefaultRepetitions;
  Profile profile{
      .device = engine.backend().description(), .n_tokens = r.n_tokens, .n_past = r.n_past, .n_repetitions = n};
  profile.ops = priced_ops(engine.plan(), r, config.kv_dtype);

  INLAY_TRY(engine.check_not_in_slices());
  INLAY_ASSIGN(const std::shared_ptr<Session> session, engine.create_session({}));
  const std::vector<int32_t> tokens = mixed_tokens(r.n_past + r.n_tokens, engine.spec().n_vocab);
  size_t n_done = 0;
  if (r.n_past > 0) INLAY_TRY(session->prefill(std::span(tokens).first(static_cast<size_t>(r.n_past)), n_done));

  // In turns, so that what else happens on the machine meets both.
  std::vector<double> steps;
  std::vector<std::vector<double>> times(profile.ops.size());
  for (int i = -kWarmUps; i < n; ++i) {
    INLAY_ASSIGN(const double seconds, engine.run_inspected(*session, tokens, r.n_past, {}));
    if (i >= 0) steps.push_back(seconds * 1e6);
    Inspection inspection;
    inspection.time = [&](const OpTime& t) {
      if (i >= 0) times[static_cast<size_t>(t.op_index)].push_back(t.us);
    };
    INLAY_ASSIGN(const double timed_seconds, engine.run_inspected(*session, tokens, r.n_past, std::move(inspection)));
    (void)timed_seconds;  // more than the step takes
  }
  profile.step_us = median(std::move(steps));
  double begin_us = 0;
  for (size_t i = 0; i < profile.ops.size(); ++i) {
    if (times[i].empty()) return error(Code::internal, "op %zu (%s) has no time", i, profile.ops[i].kind);
    profile.ops[i].begin_us = begin_us;
    profile.ops[i].us = median(std::move(times[i]));
    begin_us += profile.ops[i].us;
  }
  INLAY_ASSIGN(profile.read_bandwidth, engine.measure_read_bandwidth());
  return profile;
}

}  // namespace inlay
