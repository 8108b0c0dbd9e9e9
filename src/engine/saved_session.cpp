#include "src/engine/saved_session.h"

#include <algorithm>

#include "src/backend/kv_form.h"
#include "src/backend/kv_memory.h"
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

Status SavedSession::put(std::span<const std::byte> bytes) {
  hash_.add(bytes);
  return sink_(bytes);
}

Status SavedSession::copied(Status status) {
  Engine& engine = session_->engine();
  if (status.ok()) status = engine.backend().wait_for_copies();
  const EngineLock lock(engine.mutex_);
  return engine.lost_.noted(std::move(status));
}

Status SavedSession::write(const StateSink& sink) {
  sink_ = sink;
  hash_ = {};
  INLAY_TRY(put(std::as_bytes(std::span(&header_, 1))));
  INLAY_TRY(put(std::as_bytes(std::span(description_))));
  {
    const TakenChunk chunk(session_->engine());
    INLAY_TRY(chunk.status());
    for (size_t g = 0; g < state_.first_rows.size(); ++g) INLAY_TRY(put_group(g, chunk.data()));
    if (state_.logits_readable) INLAY_TRY(put_logits(chunk.data()));
  }
  const uint64_t hash = hash_.value();
  return sink_(std::as_bytes(std::span(&hash, 1)));
}

// As many blocks at a time as a chunk has room for.
Status SavedSession::put_group(size_t group, std::byte* chunk) {
  Engine& engine = session_->engine();
  Backend& backend = engine.backend();
  const KvMemory& memory = backend.kv_memory();
  const auto number = static_cast<int32_t>(group);
  const KvForm form = backend.kv_form();
  const int32_t first = state_.first_rows[group], end = state_.n_computed, n_pools = memory.n_pools(number);
  const uint64_t block_bytes = memory.block_bytes_of(number), position_bytes = form.row_bytes() * static_cast<uint64_t>(n_pools);
  const auto n_at_once = static_cast<int32_t>(engine.chunk_bytes() / block_bytes);
  std::vector<std::byte> rows(position_bytes * kKvBlockTokens);
  for (int32_t b = first / kKvBlockTokens, n = 0; b < kv_blocks_for(end); b += n) {
    n = std::min(n_at_once, kv_blocks_for(end) - b);
    const std::span<const int32_t> blocks = std::span(holdings_[group].table).subspan(static_cast<size_t>(b), static_cast<size_t>(n));
    INLAY_TRY(copied(backend.copy_kv_to_host({number, blocks}, chunk)));
    for (int32_t i = 0; i < n; ++i) {
      const int32_t at = (b + i) * kKvBlockTokens;
      const KvBlockPart part{.n_pools = n_pools, .block_bytes = memory.block_bytes(), .first = std::max(first - at, 0), .end = std::min(end - at, kKvBlockTokens)};
      if (part.first >= part.end) continue;
      kv_block_to_rows(form, part, chunk + static_cast<uint64_t>(i) * block_bytes, rows.data());
      INLAY_TRY(put(std::span(rows).first(position_bytes * static_cast<uint64_t>(part.end - part.first))));
    }
  }
  return {};
}

Status SavedSession::put_logits(std::byte* chunk) {
  Engine& engine = session_->engine();
  INLAY_TRY(copied(engine.backend().copy_logits_to_host(session_->seq_.slot, chunk)));
  return put({chunk, static_cast<size_t>(engine.spec().n_vocab) * sizeof(float)});
}

}  // namespace inlay
