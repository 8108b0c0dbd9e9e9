#include <limits>

#include "src/base/format.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {

Status hand_over(Result<std::shared_ptr<Session>> made, std::shared_ptr<Shared> shared, inlay_session** out) {
  if (!made.ok()) return std::move(made).status();
  auto handle = std::make_unique<inlay_session>();
  handle->session = *std::move(made);
  handle->shared = std::move(shared);
  *out = handle.release();
  return {};
}

namespace {

// Before anything of that size is copied.
Status check_stop_count(size_t n, const char* name) {
  if (n <= kMaxStopTokens) return {};
  return error(Code::invalid_argument, "%s is %zu, expected at most %zu", name, n, kMaxStopTokens);
}

Result<std::vector<std::string>> read_stops(const inlay_text* stops, size_t n, const char* name, const char* count_name) {
  if (n != 0) INLAY_TRY(check_not_null(stops, name));
  if (n > TextStream::kMaxStops)
    return error(Code::invalid_argument, "%s is %zu, expected at most %zu", count_name, n, TextStream::kMaxStops);
  std::vector<std::string> out;
  for (size_t i = 0; i < n; ++i) {
    INLAY_ASSIGN(const std::string_view text, read_text(stops[i].data, stops[i].len, "a stop string"));
    out.emplace_back(text);
  }
  return out;
}

}  // namespace

namespace {

template <class T>
void set_unless_zero(T given, T& out) {
  if (given != 0) out = given;
}

Status read_dry(const inlay_sampler_params& params, SamplerParams& out) {
  out.dry_multiplier = params.dry_multiplier;
  set_unless_zero(params.dry_base, out.dry_base);
  set_unless_zero(params.dry_allowed_length, out.dry_allowed_length);
  set_unless_zero(params.dry_window, out.dry_window);
  if ((params.flags & INLAY_SAMPLER_NO_DRY_BREAKERS) != 0) {
    if (params.n_dry_breakers != 0) {
      return error(Code::invalid_argument, "sampler.flags turn breakers off, but sampler.n_dry_breakers is %zu",
                   params.n_dry_breakers);
    }
    out.dry_breakers.clear();
  }
  if (params.n_dry_breakers == 0) return {};
  if (params.n_dry_breakers > kMaxDryBreakers) {
    return error(Code::invalid_argument, "sampler.n_dry_breakers is %zu, expected at most %zu", params.n_dry_breakers,
                 kMaxDryBreakers);
  }
  INLAY_TRY(check_not_null(params.dry_breakers, "sampler.dry_breakers"));
  out.dry_breakers.clear();
  for (size_t i = 0; i < params.n_dry_breakers; ++i) {
    const inlay_text& breaker = params.dry_breakers[i];
    INLAY_ASSIGN(const std::string_view text, read_text(breaker.data, breaker.len, "a text of sampler.dry_breakers"));
    if (text.empty()) {
      return error(Code::invalid_argument, "sampler.dry_breakers has no bytes in text %zu; a flag turns breakers off", i);
    }
    out.dry_breakers.emplace_back(text);
  }
  return {};
}

}  // namespace

Status read_sampler(const inlay_sampler_params* given, SamplerParams& out) {
  inlay_sampler_params params;
  INLAY_TRY(read_struct(given, "sampler", params));
  INLAY_TRY(check_flags(params.flags, INLAY_SAMPLER_NO_DRY_BREAKERS | INLAY_SAMPLER_TEMPERATURE_LAST | INLAY_SAMPLER_SPARE_END_TOKENS,
                        "sampler.flags"));
  if (params.reserved != 0) return error(Code::invalid_argument, "sampler.reserved is not 0");
  if (params.n_bias > static_cast<size_t>(kMaxBias)) {
    return error(Code::invalid_argument, "sampler.n_bias is %zu, expected at most %d", params.n_bias, kMaxBias);
  }
  if (params.n_bias != 0) INLAY_TRY(check_not_null(params.bias, "sampler.bias"));
  out.temperature_last = (params.flags & INLAY_SAMPLER_TEMPERATURE_LAST) != 0;
  out.spare_end_tokens = (params.flags & INLAY_SAMPLER_SPARE_END_TOKENS) != 0;
  out.temperature = params.temperature;
  out.top_k = params.top_k;
  set_unless_zero(params.top_p, out.top_p);
  out.min_p = params.min_p;
  set_unless_zero(params.repetition_penalty, out.repetition_penalty);
  out.frequency_penalty = params.frequency_penalty;
  out.presence_penalty = params.presence_penalty;
  set_unless_zero(params.penalty_window, out.penalty_window);
  out.seed = params.seed;
  out.n_logprobs = params.n_logprobs;
  for (size_t i = 0; i < params.n_bias; ++i) out.bias.push_back({params.bias[i].token, params.bias[i].bias});
  set_unless_zero(params.typical_p, out.typical_p);
  out.top_n_sigma = params.top_n_sigma;
  out.dynatemp_range = params.dynatemp_range;
  set_unless_zero(params.dynatemp_exponent, out.dynatemp_exponent);
  out.xtc_probability = params.xtc_probability;
  set_unless_zero(params.xtc_threshold, out.xtc_threshold);
  out.mirostat_tau = params.mirostat_tau;
  set_unless_zero(params.mirostat_eta, out.mirostat_eta);
  out.adaptive_target = params.adaptive_target;
  set_unless_zero(params.adaptive_decay, out.adaptive_decay);
  return read_dry(params, out);
}

Status read_session_params(const inlay_session_params* given, SessionOptions& out) {
  inlay_session_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_flags(params.flags, INLAY_SESSION_IGNORE_END_OF_GENERATION | INLAY_SESSION_RESERVE | INLAY_SESSION_FOR_REQUESTS, "params.flags"));
  INLAY_TRY(check_range(params.max_tokens, 0, std::numeric_limits<int32_t>::max(), "params.max_tokens"));
  if (params.reserved != 0) return error(Code::invalid_argument, "params.reserved is not 0");
  out.stream = params.stream;
  out.max_tokens = params.max_tokens;
  out.reserve = (params.flags & INLAY_SESSION_RESERVE) != 0;
  out.for_requests = (params.flags & INLAY_SESSION_FOR_REQUESTS) != 0;
  out.ignore_end_of_generation = (params.flags & INLAY_SESSION_IGNORE_END_OF_GENERATION) != 0;
  INLAY_ASSIGN(const auto stop_tokens, read_tokens(params.stop_tokens, params.n_stop_tokens, "params.stop_tokens"));
  INLAY_TRY(check_stop_count(stop_tokens.size(), "params.n_stop_tokens"));
  out.stop_tokens.assign(stop_tokens.begin(), stop_tokens.end());
  INLAY_ASSIGN(out.stops, read_stops(params.stops, params.n_stops, "params.stops", "params.n_stops"));
  INLAY_ASSIGN(out.constraint, read_constraint(params.constraint, "params.constraint"));
  return read_sampler(params.sampler, out.sampler);
}

}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_session_create(const inlay_engine* engine, const inlay_session_params* params,
                                  inlay_session** session, inlay_error* err) {
  clear(session);
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(check_not_null(session, "session"));
    INLAY_TRY(use.begin(engine, "engine"));
    SessionOptions options;
    INLAY_TRY(read_session_params(params, options));
    return hand_over(engine->engine->create_session(options), engine->shared, session);
  });
}

void inlay_session_free(inlay_session* session) { free_handle(session); }

inlay_status inlay_session_get_info(const inlay_session* session, inlay_session_info* info, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_TRY(check_out_struct(info, "info"));
    const SessionInfo now = session->session->info();
    inlay_session_info out = {};
    out.finish_reason = static_cast<inlay_finish_reason>(now.finish_reason);
    out.n_tokens = now.n_tokens;
    out.n_context = now.n_context;
    out.n_generated = now.n_drawn;
    out.n_kv_blocks = now.n_kv_blocks;
    out.text_pending = now.n_pending_text;
    out.generation = now.generation;
    out.constraint_state = static_cast<inlay_constraint_state>(now.constraint);
    write_struct(info, out);
    return {};
  });
}

inlay_status inlay_session_fork(inlay_session* session, inlay_session** child, inlay_error* err) {
  clear(child);
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(check_not_null(child, "child"));
    INLAY_TRY(use.begin(session, "session"));
    return hand_over(session->session->fork(), session->shared, child);
  });
}

inlay_status inlay_session_truncate(inlay_session* session, size_t n_tokens, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    if (n_tokens > INT32_MAX)
      return error(Code::invalid_argument, "n_tokens is %zu, more than the sequence has", n_tokens);
    return session->session->truncate(static_cast<int32_t>(n_tokens));
  });
}

inlay_status inlay_session_shift(inlay_session* session, size_t first, size_t n_tokens, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    return session->session->shift(first, n_tokens);
  });
}

inlay_status inlay_session_accept(inlay_session* session, const int32_t* tokens, size_t n_tokens, size_t* n_accepted,
                                  inlay_error* err) {
  clear(n_accepted);
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    size_t n = 0;
    Status status = session->session->accept(ids, n);
    if (n_accepted) *n_accepted = n;
    return status;
  });
}

inlay_status inlay_session_get_tokens(inlay_session* session, size_t first, int32_t* tokens, size_t cap, size_t* n_tokens,
                                      inlay_error* err) {
  clear(n_tokens);
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_TRY(check_not_null(n_tokens, "n_tokens"));
    if (cap != 0) INLAY_TRY(check_not_null(tokens, "tokens"));
    const std::span<const int32_t> all = session->session->tokens();
    if (first > all.size())
      return error(Code::invalid_argument, "first is %zu, but the sequence has %s", first, counted(all.size(), "token").c_str());
    return write_tokens(all.subspan(first), tokens, cap, n_tokens, first == 0 ? "the sequence" : "the rest of the sequence");
  });
}

inlay_status inlay_session_set_sampler(inlay_session* session, const inlay_sampler_params* params, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    SamplerParams sampler;
    INLAY_TRY(read_sampler(params, sampler));
    return session->session->set_sampler(sampler);
  });
}

inlay_status inlay_session_set_stop(inlay_session* session, const inlay_text* stops, size_t n_stops, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(std::vector<std::string> texts, read_stops(stops, n_stops, "stops", "n_stops"));
    return session->session->set_stop(std::move(texts));
  });
}

inlay_status inlay_session_set_stop_tokens(inlay_session* session, const int32_t* tokens, size_t n_tokens,
                                           inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(const auto ids, read_tokens(tokens, n_tokens, "tokens"));
    INLAY_TRY(check_stop_count(ids.size(), "n_tokens"));
    return session->session->set_stop_tokens({ids.begin(), ids.end()});
  });
}

inlay_status inlay_session_set_max_tokens(inlay_session* session, int32_t max_tokens, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    return session->session->set_max_tokens(max_tokens);
  });
}

inlay_status inlay_session_copy_logits(inlay_session* session, float* logits, size_t cap, size_t* needed,
                                       inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    if (needed) *needed = static_cast<size_t>(session->session->engine().spec().n_vocab);
    if (!logits && cap == 0) return {};
    INLAY_TRY(check_not_null(logits, "logits"));
    return session->session->copy_logits({logits, cap});
  });
}

inlay_status inlay_session_view_logits(inlay_session* session, inlay_logits* view, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_TRY(check_out_struct(view, "view"));
    inlay_logits out = {};
    INLAY_ASSIGN(const std::span<const float> logits, session->session->view_logits());
    out.values = logits.data();
    out.n_values = logits.size();
    write_struct(view, out);
    return {};
  });
}

void inlay_session_cancel(const inlay_session* session) {
  // In a signal handler nothing may be taken: not the memory of an error, nor that of the thread's variables.
  if (!is_live(session)) return;
  auto* const own = const_cast<inlay_session*>(session);
  if (!own->users.enter()) return;
  if (own->shared->of_fork == fork_generation()) own->session->cancel();
  if (own->users.leave()) delete own;
}

inlay_status inlay_session_cancel_generation(const inlay_session* session, uint64_t generation, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    session->session->cancel_generation(generation);
    return {};
  });
}
