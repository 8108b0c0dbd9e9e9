// The rows of effects.cpp that show what the sampler's fields change, and what all rows are made of.
#pragma once

#include <functional>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "tests/capi/client.h"

namespace inlay::test {

enum class Kind { effect, refused, neutral };

// `observe(true)` has the field set, `observe(false)` has not. Refused: the error says `words`. Neutral: the item's
// description does, or that of its struct. An effect that is a line of the log says `words` there.
struct EffectRow {
  std::string name;
  Kind kind;
  std::function<std::string(bool set)> observe;
  std::string words = "";
};

inline std::string failure(inlay_status status, const inlay_error& err) {
  return std::string("INLAY_") + inlay_status_name(status) + ": " + err.message;
}

inline const EnginePtr& engine() {
  static const EnginePtr shared = load(on(INLAY_DEVICE_CPU));
  return shared;
}

// The draws of a session until it ends, 12 at most.
inline std::string drawn(const inlay_session_params& params, const std::vector<inlay_text>& stops = {},
                  const EnginePtr& of = engine()) {
  inlay_session* made = nullptr;
  inlay_error err;
  if (const auto status = inlay_session_create(of.get(), &params, &made, &err); status != INLAY_OK) return failure(status, err);
  const SessionPtr session(made);
  if (const auto status = stops.empty() ? INLAY_OK : inlay_session_set_stop(made, stops.data(), stops.size(), &err); status != INLAY_OK)
    return failure(status, err);
  inlay_engine_info info = sized<inlay_engine_info>();
  EXPECT_EQ(inlay_engine_get_info(of.get(), &info, nullptr), INLAY_OK);
  prefill(session, info.n_vocab == kVocab ? kPlain : Tokens{5, 6, 7});
  std::ostringstream out;
  for (int i = 0; i < 12; ++i) {
    inlay_event event;
    if (inlay_decode_step(&made, 1, &event, sizeof event, &err) != INLAY_OK) break;
    out << event.token << " (" << event.n_logprobs << ") ";
    if (event.finish_reason != 0) break;
  }
  out << "end " << info_of(session).finish_reason;
  return out.str();
}

inline std::string drawn(const inlay_sampler_params& sampler) {
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = &sampler;
  return drawn(params);
}

inline inlay_sampler_params hot() {
  inlay_sampler_params out = sized<inlay_sampler_params>();
  out.temperature = 5;
  out.seed = 1;
  return out;
}

inline EffectRow sampler_row(const char* field, Kind kind, std::function<void(inlay_sampler_params&)> set, std::string words = "",
                std::function<inlay_sampler_params()> base = hot) {
  return {field[0] == 'I' ? field : std::string("inlay_sampler_params.") + field, kind, [=](bool with) {
            inlay_sampler_params params = base();
            if (with) set(params);
            return drawn(params);
          }, std::move(words)};
}

inline const inlay_logit_bias kBias[] = {{7, 1e6f}, {8, 1e6f}, {7, 0.0f}, {kVocab, 1.0f}, {7, std::numeric_limits<float>::infinity()}};

inline EffectRow bias_row(const char* field, Kind kind, const inlay_logit_bias* with, const inlay_logit_bias* without, std::string words = "") {
  EffectRow row = sampler_row("", kind, [=](inlay_sampler_params& p) { p.bias = with; }, std::move(words), [=] {
    inlay_sampler_params params = sized<inlay_sampler_params>();
    params.bias = without;
    params.n_bias = 1;
    return params;
  });
  row.name = std::string("inlay_logit_bias.") + field;
  return row;
}

inline std::vector<EffectRow> sampler_rows() {
  using enum Kind;
  using Sampler = inlay_sampler_params;
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const auto greedy_sampler = [] { return sized<Sampler>(); };
  const auto penalized = [] {
    Sampler out = sized<Sampler>();
    out.frequency_penalty = 100;
    return out;
  };
  const auto hot_with = [](auto set) {
    return [set] {
      Sampler out = hot();
      set(out);
      return out;
    };
  };
  const auto dynamic = hot_with([](Sampler& p) { p.dynatemp_range = 4.9f; });
  const auto mirostat = hot_with([](Sampler& p) { p.mirostat_tau = 3; });
  const auto adaptive = hot_with([](Sampler& p) { p.temperature = 1, p.adaptive_target = 0.5f; });
  static const inlay_logit_bias always = {70, 50.0f};  // F without end
  static const inlay_text breaker = {"F", 1}, no_breaker = {"", 0};
  const auto repeating = hot_with([](Sampler& p) { p.temperature = 0, p.bias = &always, p.n_bias = 1; });
  const auto dry = [repeating] {
    Sampler out = repeating();
    out.dry_multiplier = 100;
    return out;
  };
  static const inlay_logit_bias star = {'*', 50.0f};  // a breaker by default
  const auto broken = [=] {
    Sampler out = dry();
    out.bias = &star;
    return out;
  };
  const std::string only = "only bias, DRY, penalties and n_logprobs change anything";
  return {
      sampler_row("struct_size", refused, [](Sampler& p) { p.struct_size = 3; }, "struct_size"),
      sampler_row("temperature", effect, [](Sampler& p) { p.temperature = 0; }),
      sampler_row("temperature", refused, [](Sampler& p) { p.temperature = -1; }, "temperature"),
      sampler_row("temperature", refused, [=](Sampler& p) { p.temperature = nan; }, "temperature"),
      sampler_row("top_k", effect, [](Sampler& p) { p.top_k = 1; }),
      sampler_row("top_k", neutral, [](Sampler& p) { p.top_k = 1 << 30; }, "all where the vocabulary has fewer"),
      sampler_row("top_k", neutral, [](Sampler& p) { p.top_k = 3; }, only, greedy_sampler),
      sampler_row("top_k", refused, [](Sampler& p) { p.top_k = -1; }, "top_k"),
      sampler_row("top_p", effect, [](Sampler& p) { p.top_p = 0.01f; }),
      sampler_row("top_p", neutral, [](Sampler& p) { p.top_p = 0.5f; }, only, greedy_sampler),
      sampler_row("top_p", refused, [](Sampler& p) { p.top_p = 2; }, "top_p"),
      sampler_row("min_p", effect, [](Sampler& p) { p.min_p = 1; }),
      sampler_row("min_p", neutral, [](Sampler& p) { p.min_p = 0.5f; }, only, greedy_sampler),
      sampler_row("min_p", refused, [](Sampler& p) { p.min_p = 2; }, "min_p"),
      sampler_row("repetition_penalty", effect, [](Sampler& p) { p.repetition_penalty = 100; }, "", greedy_sampler),
      sampler_row("repetition_penalty", refused, [](Sampler& p) { p.repetition_penalty = -1; }, "repetition_penalty"),
      sampler_row("frequency_penalty", effect, [](Sampler& p) { p.frequency_penalty = 100; }, "", greedy_sampler),
      sampler_row("frequency_penalty", refused, [=](Sampler& p) { p.frequency_penalty = inf; }, "frequency_penalty"),
      sampler_row("presence_penalty", effect, [](Sampler& p) { p.presence_penalty = 100; }, "", greedy_sampler),
      sampler_row("presence_penalty", refused, [=](Sampler& p) { p.presence_penalty = nan; }, "presence_penalty"),
      sampler_row("penalty_window", effect, [](Sampler& p) { p.penalty_window = 1; }, "", penalized),
      sampler_row("penalty_window", neutral, [](Sampler& p) { p.penalty_window = 1; }, "nothing without penalties"),
      sampler_row("penalty_window", refused, [](Sampler& p) { p.penalty_window = -2; }, "penalty_window"),
      sampler_row("n_logprobs", effect, [](Sampler& p) { p.n_logprobs = 2; }),
      sampler_row("n_logprobs", refused, [](Sampler& p) { p.n_logprobs = INLAY_MAX_LOGPROBS + 1; }, "n_logprobs"),
      sampler_row("seed", effect, [](Sampler& p) { p.seed = 2; }),
      sampler_row("seed", neutral, [](Sampler& p) { p.seed = 2; }, only, greedy_sampler),
      sampler_row("bias", effect, [](Sampler& p) { p.bias = kBias; p.n_bias = 1; }),
      sampler_row("bias", refused, [](Sampler& p) { p.n_bias = 1; }, "sampler.bias is NULL"),
      sampler_row("bias", refused, [](Sampler& p) { p.bias = kBias; p.n_bias = 3; }, "bias names token 7 twice"),
      sampler_row("n_bias", effect, [](Sampler& p) { p.n_bias = 1; }, "", [] {
        Sampler out = sized<Sampler>();
        out.bias = kBias;
        return out;
      }),
      sampler_row("n_bias", refused, [](Sampler& p) { p.bias = kBias; p.n_bias = 1025; }, "n_bias"),
      sampler_row("typical_p", effect, [](Sampler& p) { p.typical_p = 0.05f; }),
      sampler_row("typical_p", neutral, [](Sampler& p) { p.typical_p = 0.5f; }, only, greedy_sampler),
      sampler_row("typical_p", refused, [](Sampler& p) { p.typical_p = 2; }, "typical_p"),
      sampler_row("top_n_sigma", effect, [](Sampler& p) { p.top_n_sigma = 0.5f; }),
      sampler_row("top_n_sigma", neutral, [](Sampler& p) { p.top_n_sigma = 0.5f; }, only, greedy_sampler),
      sampler_row("top_n_sigma", refused, [](Sampler& p) { p.top_n_sigma = -1; }, "top_n_sigma"),
      sampler_row("dynatemp_range", effect, [](Sampler& p) { p.dynatemp_range = 4.9f; }),
      sampler_row("dynatemp_range", neutral, [](Sampler& p) { p.dynatemp_range = 1; }, only, greedy_sampler),
      sampler_row("dynatemp_range", refused, [](Sampler& p) { p.dynatemp_range = -1; }, "dynatemp_range"),
      sampler_row("dynatemp_exponent", effect, [](Sampler& p) { p.dynatemp_exponent = 40; }, "", dynamic),
      sampler_row("dynatemp_exponent", neutral, [](Sampler& p) { p.dynatemp_exponent = 40; }, "nothing without dynatemp_range"),
      sampler_row("dynatemp_exponent", refused, [=](Sampler& p) { p.dynatemp_exponent = inf; }, "dynatemp_exponent"),
      sampler_row("xtc_probability", effect, [](Sampler& p) { p.xtc_probability = 1, p.xtc_threshold = 0.001f; }),
      sampler_row("xtc_threshold", neutral, [](Sampler& p) { p.xtc_probability = 1, p.xtc_threshold = 0.6f; }, "above 0.5"),
      sampler_row("xtc_probability", neutral, [](Sampler& p) { p.xtc_probability = 1; }, only, greedy_sampler),
      sampler_row("xtc_probability", refused, [](Sampler& p) { p.xtc_probability = 2; }, "xtc_probability"),
      sampler_row("xtc_threshold", effect, [](Sampler& p) { p.xtc_threshold = 0.001f; }, "", [=] {
        Sampler out = hot();
        out.xtc_probability = 1;
        return out;
      }),
      sampler_row("xtc_threshold", neutral, [](Sampler& p) { p.xtc_threshold = 0.001f; }, "nothing without xtc_probability"),
      sampler_row("xtc_threshold", refused, [](Sampler& p) { p.xtc_threshold = 2; }, "xtc_threshold"),
      sampler_row("mirostat_tau", effect, [](Sampler& p) { p.mirostat_tau = 0.5f; }),
      sampler_row("mirostat_tau", neutral, [](Sampler& p) { p.mirostat_tau = 5; }, only, greedy_sampler),
      sampler_row("mirostat_tau", refused, [](Sampler& p) { p.mirostat_tau = -1; }, "mirostat_tau"),
      sampler_row("top_k", neutral, [](Sampler& p) { p.top_k = 1; }, "Where mirostat_tau is set", mirostat),
      sampler_row("top_p", neutral, [](Sampler& p) { p.top_p = 0.01f; }, "Where mirostat_tau is set", mirostat),
      sampler_row("min_p", neutral, [](Sampler& p) { p.min_p = 1; }, "Where mirostat_tau is set", mirostat),
      sampler_row("typical_p", neutral, [](Sampler& p) { p.typical_p = 0.05f; }, "Where mirostat_tau is set", mirostat),
      sampler_row("xtc_probability", neutral, [](Sampler& p) { p.xtc_probability = 1, p.xtc_threshold = 0.001f; }, "Where mirostat_tau is set", mirostat),
      sampler_row("mirostat_eta", effect, [](Sampler& p) { p.mirostat_eta = 5; }, "", mirostat),
      sampler_row("mirostat_eta", neutral, [](Sampler& p) { p.mirostat_eta = 5; }, "nothing without mirostat_tau"),
      sampler_row("mirostat_eta", refused, [](Sampler& p) { p.mirostat_eta = -1; }, "mirostat_eta"),
      sampler_row("adaptive_target", effect, [](Sampler& p) { p.adaptive_target = 0.01f; }),
      sampler_row("adaptive_target", neutral, [](Sampler& p) { p.adaptive_target = 0.5f; }, only, greedy_sampler),
      sampler_row("adaptive_target", refused, [](Sampler& p) { p.adaptive_target = 2; }, "adaptive_target"),
      sampler_row("adaptive_target", refused, [](Sampler& p) { p.adaptive_target = 0.5f; }, "must be 0 beside adaptive-p", mirostat),
      sampler_row("adaptive_decay", effect, [](Sampler& p) { p.adaptive_decay = 0.01f; }, "", adaptive),
      sampler_row("adaptive_decay", neutral, [](Sampler& p) { p.adaptive_decay = 0.01f; }, "nothing without adaptive_target"),
      sampler_row("adaptive_decay", refused, [](Sampler& p) { p.adaptive_decay = 1; }, "adaptive_decay"),
      sampler_row("dry_multiplier", effect, [](Sampler& p) { p.dry_multiplier = 100; }, "", repeating),
      sampler_row("dry_multiplier", refused, [](Sampler& p) { p.dry_multiplier = -1; }, "dry_multiplier"),
      sampler_row("dry_base", effect, [](Sampler& p) { p.dry_base = 1000; }, "", [=] {
        Sampler out = repeating();
        out.dry_multiplier = 0.01f;
        return out;
      }),
      sampler_row("dry_base", neutral, [](Sampler& p) { p.dry_base = 1000; }, "nothing without dry_multiplier", repeating),
      sampler_row("dry_base", refused, [](Sampler& p) { p.dry_base = 0.5f; }, "dry_base"),
      sampler_row("dry_allowed_length", effect, [](Sampler& p) { p.dry_allowed_length = 100; }, "", dry),
      sampler_row("dry_allowed_length", neutral, [](Sampler& p) { p.dry_allowed_length = 1; }, "nothing without dry_multiplier", repeating),
      sampler_row("dry_allowed_length", refused, [](Sampler& p) { p.dry_allowed_length = -1; }, "dry_allowed_length"),
      sampler_row("dry_window", effect, [](Sampler& p) { p.dry_window = 1; }, "", dry),
      sampler_row("dry_window", neutral, [](Sampler& p) { p.dry_window = 1; }, "nothing without dry_multiplier", repeating),
      sampler_row("dry_window", refused, [](Sampler& p) { p.dry_window = -2; }, "dry_window"),
      sampler_row("dry_breakers", effect, [](Sampler& p) { p.dry_breakers = &breaker, p.n_dry_breakers = 1; }, "", dry),
      sampler_row("dry_breakers", refused, [](Sampler& p) { p.n_dry_breakers = 1; }, "sampler.dry_breakers is NULL"),
      sampler_row("n_dry_breakers", effect, [](Sampler& p) { p.n_dry_breakers = 1; }, "", [=] {
        Sampler out = dry();
        out.dry_breakers = &breaker;
        return out;
      }),
      sampler_row("n_dry_breakers", refused, [](Sampler& p) { p.dry_breakers = &breaker, p.n_dry_breakers = 65; }, "n_dry_breakers"),
      sampler_row("dry_breakers", neutral, [](Sampler& p) { p.dry_breakers = &breaker, p.n_dry_breakers = 1; }, "nothing without dry_multiplier", repeating),
      sampler_row("dry_breakers", refused, [](Sampler& p) { p.dry_breakers = &no_breaker, p.n_dry_breakers = 1; }, "no bytes in text 0"),
      sampler_row("flags", refused, [](Sampler& p) { p.flags = 1u << 31; }, "sampler.flags"),
      sampler_row("flags", refused, [](Sampler& p) { p.dry_breakers = &breaker, p.n_dry_breakers = 1, p.flags = INLAY_SAMPLER_NO_DRY_BREAKERS; },
                  "sampler.flags turn breakers off"),
      sampler_row("reserved", refused, [](Sampler& p) { p.reserved = 1; }, "sampler.reserved"),
      sampler_row("INLAY_SAMPLER_NO_DRY_BREAKERS", effect, [](Sampler& p) { p.flags = INLAY_SAMPLER_NO_DRY_BREAKERS; }, "", broken),
      sampler_row("INLAY_SAMPLER_NO_DRY_BREAKERS", neutral, [](Sampler& p) { p.flags = INLAY_SAMPLER_NO_DRY_BREAKERS; },
                  "nothing without dry_multiplier", repeating),
      sampler_row("INLAY_SAMPLER_TEMPERATURE_LAST", effect, [](Sampler& p) { p.flags = INLAY_SAMPLER_TEMPERATURE_LAST; }, "",
                  hot_with([](Sampler& p) { p.min_p = 0.3f; })),
      sampler_row("INLAY_SAMPLER_TEMPERATURE_LAST", neutral, [](Sampler& p) { p.flags = INLAY_SAMPLER_TEMPERATURE_LAST; }, "Changes nothing with mirostat_tau", mirostat),
      sampler_row("INLAY_SAMPLER_TEMPERATURE_LAST", neutral, [](Sampler& p) { p.flags = INLAY_SAMPLER_TEMPERATURE_LAST; }, "and without a filter"),
      {"INLAY_SAMPLER_SPARE_END_TOKENS", effect, [](bool set) {
         static const inlay_logit_bias end = {kEnd, 50.0f};
         Sampler sampler = sized<Sampler>();
         sampler.bias = &end, sampler.n_bias = 1, sampler.presence_penalty = 100;
         if (set) sampler.flags = INLAY_SAMPLER_SPARE_END_TOKENS;
         inlay_session_params params = sized<inlay_session_params>();
         params.sampler = &sampler, params.flags = INLAY_SESSION_IGNORE_END_OF_GENERATION;
         return drawn(params);
       }},
      sampler_row("INLAY_SAMPLER_SPARE_END_TOKENS", neutral, [](Sampler& p) { p.flags = INLAY_SAMPLER_SPARE_END_TOKENS; }, "Changes nothing without penalties"),
      bias_row("token", effect, kBias, kBias + 1),
      bias_row("token", refused, kBias + 3, kBias, "token 320"),
      bias_row("bias", effect, kBias, kBias + 2),
      bias_row("bias", refused, kBias + 4, kBias, "bias of token 7"),
  };
}

}  // namespace inlay::test
