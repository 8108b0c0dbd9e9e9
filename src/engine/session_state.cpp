#include "src/engine/session_state.h"

#include <algorithm>
#include <cmath>

#include "src/backend/kv_form.h"
#include "src/backend/kv_memory.h"
#include "src/engine/state_bytes.h"

namespace inlay {
namespace {

struct BiasFields {
  LogitBias bias;
  template <class Archive>
  void archive(Archive& a) {
    a(bias.token, bias.bias);
  }
};

template <class Archive>
void archive_sampler(Archive& a, SamplerParams& p) {
  a(p.temperature, p.top_k, p.top_p, p.min_p, p.repetition_penalty, p.frequency_penalty, p.presence_penalty, p.penalty_window, p.seed, p.n_logprobs);
  std::vector<BiasFields> bias;
  for (const LogitBias& one : p.bias) bias.push_back({one});
  a(bias);
  p.bias.clear();
  for (const BiasFields& one : bias) p.bias.push_back(one.bias);
  a(p.typical_p, p.top_n_sigma, p.dynatemp_range, p.dynatemp_exponent, p.xtc_probability, p.xtc_threshold, p.mirostat_tau, p.mirostat_eta);
  a(p.adaptive_target, p.adaptive_decay, p.dry_multiplier, p.dry_base, p.dry_allowed_length, p.dry_window, p.dry_breakers);
  a(p.temperature_last, p.spare_end_tokens);
}

Status contradicts(const char* what) { return error(Code::format, "the saved session contradicts itself: %s", what); }

// Of a session's own generation; the others are of requests.
bool is_finish_reason(FinishReason reason) {
  return reason >= FinishReason::none && reason <= FinishReason::dead_end && reason != FinishReason::timeout && reason != FinishReason::error;
}

// As a status of the state's, whatever a check of parameters says.
Status as_format(Status status) {
  if (!status.ok()) status = error(Code::format, "the saved session has what no session can have: %s", status.message.c_str());
  return status;
}

Status check_sequence(const SessionState& s, const Engine& engine) {
  const auto n_context = static_cast<size_t>(engine.info().n_context);
  if (s.tokens.size() > n_context) {
    Status full = error(Code::context_full, "the saved session has %zu tokens, the context has room for %zu", s.tokens.size(), n_context);
    full.required = s.tokens.size();
    full.available = n_context;
    return full;
  }
  INLAY_TRY(as_format(engine.check_tokens(s.tokens)));
  const auto n_tokens = static_cast<int32_t>(s.tokens.size());
  if (s.options.for_requests && s.logits_readable) return contradicts("a session for requests has logits");
  if (s.n_computed < 0 || s.n_computed > n_tokens) return contradicts("more tokens were computed than there are");
  if (s.logits_readable && s.n_computed == 0) return contradicts("there are logits, and no token was computed");
  if (s.has_logits && (!s.logits_readable || s.n_computed != n_tokens)) return contradicts("its logits are not those after the last token");
  const std::vector<KvGroup>& groups = engine.plan().kv.groups;
  if (s.first_rows.size() != groups.size()) return contradicts("its keys and values are those of other layers");
  for (size_t g = 0; g < groups.size(); ++g) {
    const int32_t window = groups[g].window, first = s.first_rows[g];
    if (first < 0 || first > first_key(window, s.n_computed)) return contradicts("keys and values are missing");
    // Blocks before the window are released while a sequence grows, and only the window's are taken for one that is restored.
    if (first < first_key(window, s.n_computed - 1) / kKvBlockTokens * kKvBlockTokens) return contradicts("it has keys and values from before a window");
  }
  return {};
}

Status check_generation(const SessionState& s, const Engine& engine) {
  const SessionOptions& o = s.options;
  INLAY_TRY(as_format(validate(o.sampler, engine.spec().n_vocab)));
  INLAY_TRY(as_format(validate_stop_tokens(o.stop_tokens, engine.spec().n_vocab)));
  if (o.max_tokens < 0 || s.n_drawn < 0 || static_cast<size_t>(s.n_drawn) > s.tokens.size()) return contradicts("a number of tokens is out of its range");
  if (!is_finish_reason(s.finish_reason)) return contradicts("there is no such finish reason");
  if (!std::isfinite(s.sampler_state.mirostat_drift) || !std::isfinite(s.sampler_state.adaptive_lead)) return contradicts("its sampler's state is not finite");
  if (s.constrained.size() > 1) return contradicts("it has several constraints");
  if (s.constrained.empty()) return {};
  if (s.constrained[0].from > s.tokens.size()) return contradicts("its constraint begins behind its tokens");
  for (const TakenOut& gap : s.constrained[0].taken_out)
    if (gap.at > s.tokens.size() || gap.n > s.constrained[0].accepted.size()) return contradicts("tokens are taken out of a text that is shorter");
  return o.ignore_end_of_generation ? contradicts("it has a constraint and ignores where texts end") : Status();
}

}  // namespace

template <class Archive>
void SessionState::archive(Archive& a) {
  a(tokens, n_computed, has_logits, logits_readable, first_rows);
  a(options.stream, options.max_tokens, options.ignore_end_of_generation, options.reserve, options.for_requests, options.stop_tokens);
  archive_sampler(a, options.sampler);
  a(holds_blocks, n_drawn, finish_reason, sampler_state.mirostat_drift, sampler_state.adaptive_lead, generation);
  a(text, constrained);
}

std::string bytes_of(const SessionState& state) {
  StateOut out;
  out(state);
  return out.take();
}

Result<SessionState> read_state(std::string_view bytes, const Engine& engine) {
  SessionState out;
  StateIn in(bytes);
  in(out);
  if (!in.is_at_end()) return error(Code::format, "the saved session's description is not %zu bytes long, or is damaged", bytes.size());
  INLAY_TRY(check_sequence(out, engine));
  INLAY_TRY(check_generation(out, engine));
  return out;
}

namespace {

// What a group has cached of a state: positions [first, n_computed).
uint64_t state_kv_bytes(const Engine& engine, const SessionState& state, size_t group) {
  const Backend& backend = engine.backend();
  const auto n_positions = static_cast<uint64_t>(std::max(0, state.n_computed - state.first_rows[group]));
  return n_positions * backend.kv_form().row_bytes() * static_cast<uint64_t>(backend.kv_memory().n_pools(static_cast<int32_t>(group)));
}

}  // namespace

uint64_t state_bytes(const Engine& engine, const SessionState& state, uint64_t n_description) {
  uint64_t n = sizeof(StateHeader) + n_description + sizeof(uint64_t);
  for (size_t g = 0; g < state.first_rows.size(); ++g) n += state_kv_bytes(engine, state, g);
  return n + (state.logits_readable ? static_cast<uint64_t>(engine.spec().n_vocab) * sizeof(float) : 0);
}

}  // namespace inlay
