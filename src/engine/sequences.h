// The sequences of an engine and what they share: the blocks of the cache and the slots of logits. What truncation, fork and shift do to
// them. Calls come with the engine's mutex.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/backend/backend.h"
#include "src/base/mutex.h"
#include "src/engine/host_blocks.h"
#include "src/engine/host_chunks.h"
#include "src/engine/kv_pools.h"
#include "src/engine/lost_device.h"
#include "src/engine/sequence.h"

namespace inlay {

// What the device had of a sequence, in the host's memory.
struct StoredSequence {
  struct Part {
    int32_t group = 0, first = 0, n = 0;  // entries of its table
    std::byte* at = nullptr;
  };
  std::vector<std::byte*> chunks;  // of HostChunks
  std::vector<Part> parts;
  std::byte* logits = nullptr;     // none, if they were not readable
  std::vector<KvPools::Former> formers;  // of each group
  int32_t n_computed = 0;
  bool has_logits = false;

  bool is_empty() const { return n_computed == 0; }
};

class Sequences {
 public:
  // `ahead`: each has a second slot. host_bytes: of the host's memory, for kept blocks whose room is wanted.
  Sequences(Backend& backend, LostDevice& lost, Mutex& mutex, int32_t max_sequences, bool ahead, uint64_t host_bytes = 0);
  Status start_host_blocks() { return host_ ? host_->start() : Status(); }  // the thread that takes that memory
  HostBlocks* host_blocks() const { return host_.get(); }  // or null

  Sequence empty() const;                   // without a slot, with memory for all that it can ever have
  bool take_slot(Sequence& sequence);       // false: all are taken
  void release(Sequence& sequence);         // its slot and its blocks
  void release_slot(Sequence& sequence);    // its logits are gone
  int32_t n_taken() const { return max_sequences_ - static_cast<int32_t>(free_slots_.size()); }

  // Blocks for the tokens up to n_positions that were not run yet, at most n_at_once of them in one step. They are taken
  // together, so that running them cannot fail for want of one.
  Status reserve(Sequence& sequence, int32_t n_positions, int32_t n_at_once);
  // The blocks of positions up to `end`, for a generation that has reserved some. What it has stays; shared blocks are not copied.
  Status reserve_more(Sequence& sequence, int32_t end, int32_t n_at_once);
  // An empty cache's sequence begins with what is found of its tokens, but the last: how many. What it has computed is found by others from now on.
  int32_t find_computed(Sequence& sequence);
  void keep_computed(const Sequence& sequence);
  void hold(Sequence& sequence) { kv_.hold(sequence.kv); }
  void let_go(Sequence& sequence) { kv_.let_go(sequence.kv); }
  void cover(Sequence& sequence, int32_t end) { kv_.cover(sequence.kv, end); }
  void settle(Sequence& sequence) { kv_.settle(sequence.kv); }
  // The blocks of positions from n_cached on go back; without a number, those behind the tokens that were run.
  void cut(Sequence& sequence, int32_t n_cached) { kv_.cut(sequence.kv, n_cached); }
  void cut(Sequence& sequence) { cut(sequence, sequence.n_computed); }

  // Its tokens before `end` were run, the last of them with logits or without.
  void advance(Sequence& sequence, int32_t end, bool logits);
  // The last token counts as not run; and all of them, if keys that it sees have left a window.
  void forget_logits(Sequence& sequence) { go_back(sequence, std::max(0, sequence.n_tokens() - 1)); }
  // The same for all tokens from n on.
  void go_back(Sequence& sequence, int32_t n);
  // The same tokens, cache and logits for a sequence that has a slot and no tokens.
  Status fork(const Sequence& from, Sequence& to);
  // What is cached behind tokens [first, first + n), before these leave the sequence. Where a window lacks what it would reach back to, all is
  // run again.
  Status shift(Sequence& sequence, int32_t first, int32_t n);

  // Copies what is computed of a sequence to the host, before it gives its blocks back; false: n_chunks are not enough for all that is there.
  bool store(const Sequence& sequence, size_t n_chunks, StoredSequence& out);
  // Tables for a sequence that has a slot, no blocks and the same tokens: where it begins, and what is still there. reserve() and cover() add the rest,
  // which bring_back() fills. How many tokens are there already.
  int32_t lay_out(const StoredSequence& stored, Sequence& sequence);
  Status bring_back(StoredSequence& stored, Sequence& sequence, int32_t n_there);
  void drop(StoredSequence& stored);
  HostChunks& chunks() { return chunks_; }
  const HostChunks& chunks() const { return chunks_; }
  // Tables without blocks for a sequence whose groups have cached what is behind these positions.
  void lay_out_empty(Sequence& sequence, std::span<const int32_t> first_rows) { kv_.lay_out(first_rows, sequence.kv); }

  const KvPools& pools() const { return kv_; }
  int32_t n_blocks_peak() const { return n_blocks_peak_; }

 private:
  std::byte* take_chunk(size_t n_chunks, StoredSequence& out);
  Status copy_block(int32_t group, int32_t from, int32_t to);
  void note_peak();

  Backend& backend_;
  LostDevice& lost_;
  Mutex& mutex_;
  const int32_t max_sequences_;
  const bool ahead_;
  const std::unique_ptr<HostBlocks> host_;
  KvPools kv_;
  HostChunks chunks_;
  std::vector<int32_t> free_slots_;
  int32_t n_blocks_peak_ = 0;
};

}  // namespace inlay
