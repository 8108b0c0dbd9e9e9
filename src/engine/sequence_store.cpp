// Sequences that leave the device and come back.
#include <algorithm>

#include "src/backend/kv_memory.h"
#include "src/engine/sequences.h"

namespace inlay {

// Null: there is none left for it.
std::byte* Sequences::take_chunk(size_t n_chunks, StoredSequence& out) {
  if (chunks_.n_taken() >= n_chunks) return nullptr;
  out.chunks.reserve(out.chunks.size() + 1);
  const Result<std::byte*> chunk = chunks_.take();
  if (!chunk.ok()) return nullptr;
  out.chunks.push_back(*chunk);
  return *chunk;
}

bool Sequences::store(const Sequence& sequence, size_t n_chunks, StoredSequence& out) {
  if (sequence.n_computed == 0 || n_chunks == 0) return false;
  StoredSequence made{.n_computed = sequence.n_computed, .has_logits = sequence.has_logits};
  std::byte* at = nullptr;
  uint64_t left = 0;  // bytes of the last chunk, from `at` on
  struct Drop {  // unless it is moved out
    Sequences& sequences;
    StoredSequence& made;
    ~Drop() { sequences.drop(made); }
  } dropped{*this, made};
  for (size_t g = 0; g < sequence.kv.size(); ++g) {
    const KvHolding& holding = sequence.kv[g];
    const uint64_t bytes = backend_.kv_memory().block_bytes_of(static_cast<int32_t>(g));
    made.formers.push_back(kv_.former(holding));
    const int32_t end = kv_blocks_for(sequence.n_computed);
    for (int32_t i = holding.first, n = 0; i < end; i += n) {
      if (left < bytes) {
        if ((at = take_chunk(n_chunks, made)) == nullptr) return false;
        left = chunks_.chunk_bytes();
      }
      n = static_cast<int32_t>(std::min<uint64_t>(static_cast<uint64_t>(end - i), left / bytes));
      made.parts.push_back({static_cast<int32_t>(g), i, n, at});
      const std::span<const int32_t> blocks = std::span(holding.table).subspan(static_cast<size_t>(i), static_cast<size_t>(n));
      if (!lost_.noted(backend_.copy_kv_to_host({static_cast<int32_t>(g), blocks}, at)).ok()) return false;
      at += bytes * static_cast<uint64_t>(n);
      left -= bytes * static_cast<uint64_t>(n);
    }
  }
  if (sequence.logits_readable) {
    if (left < static_cast<uint64_t>(backend_.plan().spec.n_vocab) * sizeof(float) && (at = take_chunk(n_chunks, made)) == nullptr) return false;
    made.logits = at;
    if (!lost_.noted(backend_.copy_logits_to_host(sequence.slot, at)).ok()) return false;
  }
  out = std::move(made);
  return true;
}

int32_t Sequences::lay_out(const StoredSequence& stored, Sequence& sequence) {
  sequence.n_computed = stored.n_computed;
  return kv_.take_again(sequence.prefix(static_cast<size_t>(stored.n_computed)), stored.formers, sequence.kv);
}

Status Sequences::bring_back(StoredSequence& stored, Sequence& sequence, int32_t n_there) {
  kv_.cover(sequence.kv, stored.n_computed);
  note_peak();
  Status status;
  for (const StoredSequence::Part& part : stored.parts) {
    const int32_t n_skipped = std::clamp(n_there / kKvBlockTokens - part.first, 0, part.n);
    if (n_skipped == part.n || !status.ok()) continue;
    const std::span<const int32_t> blocks =
        std::span(sequence.kv[static_cast<size_t>(part.group)].table).subspan(static_cast<size_t>(part.first + n_skipped), static_cast<size_t>(part.n - n_skipped));
    const std::byte* const from = part.at + backend_.kv_memory().block_bytes_of(part.group) * static_cast<uint64_t>(n_skipped);
    status = lost_.noted(backend_.copy_kv_from_host({part.group, blocks}, from));
  }
  if (status.ok() && stored.logits != nullptr) status = lost_.noted(backend_.copy_logits_from_host(sequence.slot, stored.logits));
  if (status.ok()) {
    sequence.has_logits = stored.has_logits;
    sequence.logits_readable = stored.logits != nullptr;
  } else {
    sequence.n_computed = 0;
  }
  drop(stored);
  return status;
}

void Sequences::drop(StoredSequence& stored) {
  for (std::byte* chunk : stored.chunks) chunks_.give_back(chunk);
  stored = {};
}

}  // namespace inlay
