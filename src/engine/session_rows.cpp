#include "src/engine/session_rows.h"

#include <algorithm>

#include "src/backend/kv_memory.h"

namespace inlay {

void StateHash::fill(std::span<const std::byte> bytes) {
  part_.add(bytes);
  n_in_part_ += bytes.size();
  if (n_in_part_ < kPart) return;
  parts_.add_value(part_.value());
  part_ = {};
  n_in_part_ = 0;
}

void StateHash::add(std::span<const std::byte> bytes, ThreadPool* pool) {
  const size_t n_first = n_in_part_ > 0 ? std::min(kPart - n_in_part_, bytes.size()) : 0;
  fill(bytes.first(n_first));
  bytes = bytes.subspan(n_first);
  if (const size_t n_whole = bytes.size() / kPart; pool != nullptr && n_whole > 1) {
    whole_.resize(n_whole);
    pool->parallel_for(static_cast<int64_t>(n_whole), 1, [&](int64_t begin, int64_t end, int) {
      for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
        Hash64 hash;
        hash.add(bytes.subspan(i * kPart, kPart));
        whole_[i] = hash.value();
      }
    });
    for (const uint64_t hash : whole_) parts_.add_value(hash);
    bytes = bytes.subspan(n_whole * kPart);
  }
  for (; !bytes.empty(); bytes = bytes.subspan(std::min(kPart, bytes.size()))) fill(bytes.first(std::min(kPart, bytes.size())));
}

uint64_t StateHash::value() const {
  Hash64 all = parts_;
  if (n_in_part_ > 0) all.add_value(part_.value());
  return all.value();
}

SessionRows::SessionRows(Engine& engine, const SessionState& state) : engine_(engine), backend_(engine.backend()) {
  const KvMemory& memory = backend_.kv_memory();
  uint64_t n_all = 0;
  for (size_t g = 0; g < state.first_rows.size(); ++g) {
    const auto number = static_cast<int32_t>(g);
    const int32_t first = state.first_rows[g], end = state.n_computed, n_pools = memory.n_pools(number);
    const uint64_t position_bytes = backend_.kv_form().row_bytes() * static_cast<uint64_t>(n_pools);
    for (int32_t b = first / kKvBlockTokens; b < kv_blocks_for(end); ++b) {
      const int32_t at = b * kKvBlockTokens;
      const KvBlockPart rows{.n_pools = n_pools, .block_bytes = memory.block_bytes(), .first = std::max(first - at, 0), .end = std::min(end - at, kKvBlockTokens)};
      if (rows.first >= rows.end) continue;
      parts_.push_back({.group = number, .block = b, .rows = rows, .n_bytes = position_bytes * static_cast<uint64_t>(rows.end - rows.first)});
      n_all += parts_.back().n_bytes;
    }
  }
  const auto n_wanted = std::min<uint64_t>(n_all / kBytesOfThread + 1, static_cast<uint64_t>(std::clamp(engine.info().n_threads, 1, kMostThreads)));
  pool_.emplace(static_cast<int>(n_wanted));
  for (uint64_t i = 0; i < n_wanted; ++i) {
    auto chunk = std::make_unique<TakenChunk>(engine);
    if (!chunk->status().ok() && !chunks_.empty()) break;  // it goes with those that there are
    status_ = chunk->status();
    if (!status_.ok()) return;
    chunks_.push_back(std::move(chunk));
  }
}

// As many blocks as the chunks have room for.
bool SessionRows::next() {
  first_ = end_;
  n_bytes_ = 0;
  size_t chunk = 0;
  uint64_t used = 0;
  for (; end_ < parts_.size(); ++end_) {
    Part& part = parts_[end_];
    const uint64_t block_bytes = backend_.kv_memory().block_bytes_of(part.group);
    if (used + block_bytes > engine_.chunk_bytes()) ++chunk, used = 0;
    if (chunk == chunks_.size()) break;
    part.chunk = chunks_[chunk]->data() + used;
    part.at = n_bytes_;
    used += block_bytes;
    n_bytes_ += part.n_bytes;
  }
  return end_ > first_;
}

Status SessionRows::noted(Status status) {
  const EngineLock lock(engine_.mutex_);
  return engine_.lost_.noted(std::move(status));
}

Status SessionRows::copy(const KvHoldings& holdings, bool to_host) {
  for (const Part& part : std::span(parts_).subspan(first_, end_ - first_)) {
    const std::span<const int32_t> block = std::span(holdings[static_cast<size_t>(part.group)].table).subspan(static_cast<size_t>(part.block), 1);
    INLAY_TRY(to_host ? backend_.copy_kv_to_host({part.group, block}, part.chunk) : backend_.copy_kv_from_host({part.group, block}, part.chunk));
  }
  return {};
}

std::span<std::byte> SessionRows::buffer() {
  if (buffer_.size() < n_bytes_) buffer_.resize(n_bytes_);
  return std::span(buffer_).first(n_bytes_);
}

Status SessionRows::read_device(const KvHoldings& holdings, std::span<std::byte> rows) {
  Status status = copy(holdings, true);
  if (status.ok()) status = backend_.wait_for_copies();
  INLAY_TRY(noted(std::move(status)));
  pool_->parallel_for(static_cast<int64_t>(end_ - first_), 1, [&](int64_t begin, int64_t end, int) {
    for (const Part& part : std::span(parts_).subspan(first_ + static_cast<size_t>(begin), static_cast<size_t>(end - begin)))
      kv_block_to_rows(backend_.kv_form(), part.rows, part.chunk, rows.data() + part.at);
  });
  return {};
}

// What was queued from the chunks before is done then.
Status SessionRows::write_device(const KvHoldings& holdings, std::span<const std::byte> rows) {
  INLAY_TRY(noted(backend_.wait_for_copies()));
  pool_->parallel_for(static_cast<int64_t>(end_ - first_), 1, [&](int64_t begin, int64_t end, int) {
    for (const Part& part : std::span(parts_).subspan(first_ + static_cast<size_t>(begin), static_cast<size_t>(end - begin)))
      kv_rows_to_block(backend_.kv_form(), part.rows, rows.data() + part.at, part.chunk);
  });
  return noted(copy(holdings, false));
}

}  // namespace inlay
