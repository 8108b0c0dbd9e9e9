// The rows of function_calls.h for saved sessions.
#pragma once

#include "tests/capi/client.h"

namespace inlay::test {

inline int32_t take_state(void* user, const void* state, uint64_t n) {
  in_callback("write");
  static_cast<std::string*>(user)->append(static_cast<const char*>(state), n);
  leave_callback();
  return 0;
}

// What is left of a text, from the front.
inline int32_t give_state(void* user, void* into, uint64_t n) {
  in_callback("read");
  auto& left = *static_cast<std::string*>(user);
  const bool inside = n <= left.size();
  if (inside) {
    std::memcpy(into, left.data(), n);
    left.erase(0, n);
  }
  leave_callback();
  return inside ? 0 : 5;
}

inline std::string saved(const SessionPtr& session) {
  std::string out;
  size_t n = 0;
  inlay_error err;
  EXPECT_EQ(CALL(inlay_session_save, session.get(), nullptr, size_t{0}, &n, &err), INLAY_OK) << err.message;
  out.resize(n);
  EXPECT_EQ(CALL(inlay_session_save, session.get(), out.data(), out.size(), &n, &err), INLAY_OK) << err.message;
  return out;
}

// Row: a name and what it observes of a World.
template <class Row, class World>
std::vector<Row> state_rows() {
  return {
      {"inlay_session_save", [](const World& w) { return generated(w, true, [](const SessionPtr& session) { return saved(session); }); }},
      {"inlay_session_save_to", [](const World& w) {
         return generated(w, true, [](const SessionPtr& session) {
           std::string out;
           inlay_state_writer writer = sized<inlay_state_writer>();
           writer.user = &out;
           writer.write = take_state;
           inlay_error err;
           const inlay_status status = CALL(inlay_session_save_to, session.get(), &writer, &err);
           EXPECT_EQ(out, saved(session));
           return outcome(status, err) + out;
         });
       }},
      {"inlay_session_restore", [](const World& w) {
         const SessionPtr session = session_of(w, true);
         prefilled(session);
         const std::string state = saved(session);
         inlay_session* made = nullptr;
         inlay_error err;
         const inlay_status status = CALL(inlay_session_restore, w.engine.get(), state.data(), state.size(), &made, &err);
         const SessionPtr again(made);
         return outcome(status, err) + stepped(again, 4) + logits_of(again);
       }},
      {"inlay_session_restore_from", [](const World& w) {
         const SessionPtr session = session_of(w, true);
         prefilled(session);
         std::string state = saved(session);
         inlay_state_reader reader = sized<inlay_state_reader>();
         reader.user = &state;
         reader.read = give_state;
         inlay_session* made = nullptr;
         inlay_error err;
         const inlay_status status = CALL(inlay_session_restore_from, w.engine.get(), &reader, &made, &err);
         const SessionPtr again(made);
         return outcome(status, err) + std::to_string(state.size()) + stepped(again, 4) + logits_of(again);
       }},
  };
}

}  // namespace inlay::test
