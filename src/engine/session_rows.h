// Keys and values of a session as rows of bytes, on their way from the device and back: several blocks at a time, by several threads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "src/backend/kv_form.h"
#include "src/base/hash.h"
#include "src/base/thread_pool.h"
#include "src/engine/session_bytes.h"

namespace inlay {

// Of a saved session's bytes: the hash of the hashes of all their parts of kPart bytes, of which the last may be shorter. So several threads can
// compute it.
class StateHash {
 public:
  static constexpr size_t kPart = size_t{1} << 20;

  void add(std::span<const std::byte> bytes, ThreadPool* pool = nullptr);
  uint64_t value() const;

 private:
  void fill(std::span<const std::byte> bytes);

  Hash64 parts_, part_;
  size_t n_in_part_ = 0;
  std::vector<uint64_t> whole_;  // scratch: of parts that lie in one call's bytes
};

// What is cached of a sequence, from its first position on. Each call of next() goes to the next rows.
class SessionRows {
 public:
  SessionRows(Engine& engine, const SessionState& state);

  const Status& status() const { return status_; }  // of the memory that it needs
  ThreadPool& pool() { return *pool_; }
  bool next();
  size_t n_bytes() const { return n_bytes_; }  // of the rows at hand
  std::span<std::byte> buffer();               // as large, of the object
  Status read_device(const KvHoldings& holdings, std::span<std::byte> rows);         // fills them
  Status write_device(const KvHoldings& holdings, std::span<const std::byte> rows);  // queues what they have

 private:
  struct Part {
    int32_t group = 0, block = 0;  // of the table
    KvBlockPart rows;
    size_t n_bytes = 0;
    size_t at = 0;                // in the rows at hand
    std::byte* chunk = nullptr;   // where the block is on its way
  };
  Status noted(Status status);
  Status copy(const KvHoldings& holdings, bool to_host);

  static constexpr uint64_t kBytesOfThread = uint64_t{4} << 20;
  static constexpr int32_t kMostThreads = 4;

  Engine& engine_;
  Backend& backend_;
  Status status_;
  std::vector<Part> parts_;           // of all rows, in their order
  size_t first_ = 0, end_ = 0;        // of these, those at hand
  size_t n_bytes_ = 0;
  std::vector<std::unique_ptr<TakenChunk>> chunks_;
  std::vector<std::byte> buffer_;
  std::optional<ThreadPool> pool_;
};

}  // namespace inlay
