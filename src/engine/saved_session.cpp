#include "src/engine/saved_session.h"

#include <algorithm>

#include "src/engine/session_bytes.h"

namespace inlay {

Result<SavedSession> SavedSession::of(Session& session) {
  INLAY_TRY(session.check_not_in_slices());
  SavedSession out(session);
  INLAY_ASSIGN(out.state_, SessionBytes::describe(session));
  Engine& engine = session.engine();
  {
    const EngineLock lock(engine.mutex_);
    INLAY_TRY(engine.lost_.status());
    out.holdings_ = session.seq_.kv;
  }
  out.description_ = bytes_of(out.state_);
  out.header_.kv_dtype = kv_dtype_number(engine.backend().config().kv_dtype);
  out.header_.model = engine.fingerprint();
  out.header_.n_description = out.description_.size();
  out.header_.n_bytes = state_bytes(engine, out.state_, out.description_.size());
  out.header_.hash = hash_of_header(out.header_, out.description_);
  return out;
}

Status SavedSession::write(const StateSink& sink) {
  sink_ = sink;
  return write();
}

Status SavedSession::write(std::span<std::byte> state) {
  sink_ = {};
  left_ = state;
  return write();
}

Status SavedSession::put(std::span<const std::byte> bytes) {
  hash_.add(bytes);
  if (sink_) return sink_(bytes);
  std::ranges::copy(bytes, left_.begin());
  left_ = left_.subspan(bytes.size());
  return {};
}

Status SavedSession::put_rows(SessionRows& rows) {
  const std::span<std::byte> room = sink_ ? rows.buffer() : left_.first(rows.n_bytes());
  INLAY_TRY(rows.read_device(holdings_, room));
  hash_.add(room, &rows.pool());
  if (sink_) return sink_(room);
  left_ = left_.subspan(room.size());
  return {};
}

Status SavedSession::write() {
  hash_ = {};
  INLAY_TRY(put(std::as_bytes(std::span(&header_, 1))));
  INLAY_TRY(put(std::as_bytes(std::span(description_))));
  {
    SessionRows rows(session_->engine(), state_);
    INLAY_TRY(rows.status());
    while (rows.next()) INLAY_TRY(put_rows(rows));
  }
  if (state_.logits_readable) INLAY_TRY(put_logits());
  const uint64_t hash = hash_.value();
  return put(std::as_bytes(std::span(&hash, 1)));
}

Status SavedSession::put_logits() {
  Engine& engine = session_->engine();
  const TakenChunk chunk(engine);
  INLAY_TRY(chunk.status());
  Status status = engine.backend().copy_logits_to_host(session_->seq_.slot, chunk.data());
  if (status.ok()) status = engine.backend().wait_for_copies();
  {
    const EngineLock lock(engine.mutex_);
    INLAY_TRY(engine.lost_.noted(std::move(status)));
  }
  return put({chunk.data(), static_cast<size_t>(engine.spec().n_vocab) * sizeof(float)});
}

}  // namespace inlay
