// The rows of function_calls.h for constraints.
#pragma once

#include "tests/capi/client.h"

namespace inlay::test {

struct FreeConstraint {
  void operator()(inlay_constraint* c) const { inlay_constraint_free(c); }
};
using ConstraintPtr = std::unique_ptr<inlay_constraint, FreeConstraint>;

inline inlay_constraint_params constraint_of(const char* text, inlay_constraint_kind kind = INLAY_CONSTRAINT_JSON_SCHEMA) {
  inlay_constraint_params out = sized<inlay_constraint_params>();
  out.kind = kind;
  out.text = text;
  out.text_len = text ? SIZE_MAX : 0;
  return out;
}

inline constexpr const char* kNumberSchema =
    R"({"type": "array", "items": {"type": "number", "minimum": 0.25, "maximum": 1.5}, "minItems": 2, "maxItems": 3, "format": "strange"})";

template <class World>
ConstraintPtr made_of(const World& world, std::string& out) {
  const inlay_constraint_params params = constraint_of(kNumberSchema);
  inlay_constraint* made = nullptr;
  inlay_error err;
  const inlay_status status = CALL(inlay_constraint_create, world.engine.get(), &params, &made, &err);
  out += outcome(status, err);
  return ConstraintPtr(made);
}

// A session's text under it, 12 tokens at most.
template <class World>
std::string constrained(const World& world, inlay_constraint* constraint) {
  inlay_sampler_params sampler = sized<inlay_sampler_params>();
  sampler.temperature = 1;
  inlay_session_params params = sized<inlay_session_params>();
  params.sampler = &sampler;
  inlay_session* session = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_session_create(world.engine.get(), &params, &session, &err), INLAY_OK) << err.message;
  const SessionPtr owner(session);
  EXPECT_EQ(inlay_prefill(session, kPlain.data(), kPlain.size(), nullptr, &err), INLAY_OK) << err.message;
  std::string out = outcome(CALL(inlay_session_set_constraint, session, constraint, "[", SIZE_MAX, &err), err);
  for (int i = 0; i < 12; ++i) {
    inlay_event event = {};
    const inlay_status status = inlay_decode_step(&session, 1, &event, sizeof event, &err);
    out += outcome(status, err) + bytes_of(event);
    if (event.finish_reason != INLAY_FINISH_NONE) break;
  }
  return out;
}

template <class Row, class World>
std::vector<Row> constraint_rows() {
  return {
      {"inlay_constraint_create", [](const World& w) {
         std::string out;
         made_of(w, out);
         return out;
       }},
      {"inlay_constraint_free", [](const World& w) {
         std::string out;
         ConstraintPtr made = made_of(w, out);
         CALL(inlay_constraint_free, made.release());
         return out;
       }},
      {"inlay_constraint_get_info", [](const World& w) {
         std::string out;
         const ConstraintPtr made = made_of(w, out);
         inlay_constraint_info info = sized<inlay_constraint_info>();
         inlay_error err;
         const inlay_status status = CALL(inlay_constraint_get_info, made.get(), &info, &err);
         return out + outcome(status, err) + std::to_string(info.n_remarks) + std::to_string(info.memory_bytes > 0);
       }},
      {"inlay_constraint_get_remark", [](const World& w) {
         std::string out;
         const ConstraintPtr made = made_of(w, out);
         return out + text_of([&](auto... buf) { return CALL(inlay_constraint_get_remark, made.get(), size_t{0}, buf...); });
       }},
      {"inlay_session_set_constraint", [](const World& w) {
         std::string out;
         const ConstraintPtr made = made_of(w, out);
         return out + constrained(w, made.get());
       }},
      {"inlay_session_get_forced_text", [](const World& w) {
         std::string out;
         const ConstraintPtr made = made_of(w, out);
         return out + generated(w, true, [&](const SessionPtr& session) {
           inlay_error err;
           const inlay_status status = inlay_session_set_constraint(session.get(), made.get(), nullptr, 0, &err);
           return outcome(status, err) + text_of([&](auto... buf) { return CALL(inlay_session_get_forced_text, session.get(), buf...); });
         });
       }},
  };
}

}  // namespace inlay::test
