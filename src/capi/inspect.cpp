// Profiles of steps, and the comparison of two engines.
#include "src/engine/inspect.h"

#include "src/capi/guard.h"
#include "src/capi/handles.h"

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_profile_step(const inlay_engine* engine, const inlay_profile_params* params, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    inlay_profile_params p;
    INLAY_TRY(read_struct(params, "params", p));
    INLAY_ASSIGN(Profile profile, profile_step(*engine->engine, {.n_tokens = p.n_tokens ? p.n_tokens : 1,
                                                                 .n_past = p.n_past,
                                                                 .n_repetitions = p.n_repetitions}));
    engine->engine->keep_profile(std::move(profile));
    return {};
  });
}

inlay_status inlay_profile_text(const inlay_engine* engine, inlay_profile_form form, char* buf, size_t cap,
                                size_t* needed, inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_range(form, INLAY_PROFILE_KINDS, INLAY_PROFILE_TRACE, "form"));
    const std::vector<Profile> profiles = engine->engine->profiles();
    if (profiles.empty()) return error(Code::not_found, "nothing was profiled yet");
    if (form == INLAY_PROFILE_TRACE) return write_text(chrome_trace(profiles), buf, cap, needed);
    const Profile& latest = profiles.back();
    return write_lines(form == INLAY_PROFILE_KINDS ? kind_table(latest) : timeline_table(latest), buf, cap, needed);
  });
}

inlay_status inlay_compare_text(const inlay_engine* engine_a, const inlay_engine* engine_b, const int32_t* tokens,
                                size_t n_tokens, double nmse_limit, int32_t* first, char* buf, size_t cap,
                                size_t* needed, inlay_error* err) {
  return guarded(err, [&]() -> Status {
    Use<inlay_engine> a, b;
    INLAY_TRY(a.begin(engine_a, "engine_a"));
    INLAY_TRY(b.begin(engine_b, "engine_b"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    if (!(nmse_limit >= 0)) return error(Code::invalid_argument, "nmse_limit is %g, expected 0 or more", nmse_limit);
    INLAY_ASSIGN(const Comparison comparison, compare_engines(*engine_a->engine, *engine_b->engine, ids));
    if (first) *first = comparison.first_over(nmse_limit);
    return write_lines(comparison_table(comparison, nmse_limit), buf, cap, needed);
  });
}
