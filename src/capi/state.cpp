#include "src/base/host_call.h"
#include "src/capi/guard.h"
#include "src/capi/handles.h"
#include "src/engine/saved_session.h"

namespace inlay::capi {
namespace {

// Longer parts are cut, so that a callback is never asked for all at once.
constexpr size_t kMostAtOnce = size_t{4} << 20;

// One part after the other through call(bytes, n), which gives 0 or a system error number.
template <class Byte, class Call>
Status in_parts(std::span<Byte> bytes, const char* what, const Call& call) {
  for (size_t n = 0; !bytes.empty(); bytes = bytes.subspan(n)) {
    n = std::min(bytes.size(), kMostAtOnce);
    int32_t code = 0;
    call_host([&] { code = call(bytes.data(), n); });
    if (code == 0) continue;
    Status failed = error(Code::io, "the %s callback returned %d for %zu bytes of the saved session", what, code, n);
    failed.native_code = code;
    return failed;
  }
  return {};
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_session_save(inlay_session* session, void* state, size_t cap, size_t* needed, inlay_error* err) {
  clear(needed);
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_ASSIGN(SavedSession saved, SavedSession::of(*session->session));
    if (needed) *needed = static_cast<size_t>(saved.n_bytes());
    if (!state && cap == 0) return {};
    INLAY_TRY(check_not_null(state, "state"));
    if (cap < saved.n_bytes()) {
      Status small = error(Code::buffer_too_small, "the saved session has %llu bytes, the buffer has room for %zu", static_cast<unsigned long long>(saved.n_bytes()), cap);
      small.required = saved.n_bytes();
      small.available = cap;
      return small;
    }
    return saved.write(std::span(static_cast<std::byte*>(state), static_cast<size_t>(saved.n_bytes())));
  });
}

inlay_status inlay_session_save_to(inlay_session* session, const inlay_state_writer* writer, inlay_error* err) {
  return guarded<inlay_session>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(session, "session"));
    INLAY_TRY(check_not_null(writer, "writer"));
    inlay_state_writer to;
    INLAY_TRY(read_struct(writer, "writer", to));
    if (to.reserved != 0) return error(Code::invalid_argument, "writer.reserved is not 0");
    if (!to.write) return error(Code::invalid_argument, "writer.write is NULL");
    INLAY_ASSIGN(SavedSession saved, SavedSession::of(*session->session));
    return saved.write([&](std::span<const std::byte> bytes) {
      return in_parts(bytes, "write", [&](const std::byte* from, size_t n) { return to.write(to.user, from, n); });
    });
  });
}

inlay_status inlay_session_restore(const inlay_engine* engine, const void* state, size_t n_bytes, inlay_session** session, inlay_error* err) {
  clear(session);
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(check_not_null(session, "session"));
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(state, "state"));
    return hand_over(restore_session(engine->engine, std::span(static_cast<const std::byte*>(state), n_bytes)), engine->shared, session);
  });
}

inlay_status inlay_session_restore_from(const inlay_engine* engine, const inlay_state_reader* reader, inlay_session** session, inlay_error* err) {
  clear(session);
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(check_not_null(session, "session"));
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(reader, "reader"));
    inlay_state_reader from;
    INLAY_TRY(read_struct(reader, "reader", from));
    if (from.reserved != 0) return error(Code::invalid_argument, "reader.reserved is not 0");
    if (!from.read) return error(Code::invalid_argument, "reader.read is NULL");
    const StateSource source = [&](std::span<std::byte> into) {
      return in_parts(into, "read", [&](std::byte* at, size_t n) { return from.read(from.user, at, n); });
    };
    return hand_over(restore_session(engine->engine, source), engine->shared, session);
  });
}
