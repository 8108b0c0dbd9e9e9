// What saving and restoring have in common.
#pragma once

#include <string_view>

#include "src/base/hash.h"
#include "src/engine/session_state.h"

namespace inlay {

// From sessions to their descriptions and back.
class SessionBytes {
 public:
  // UNSUPPORTED where the session has a constraint without a source.
  static Result<SessionState> describe(const Session& session);
  // A session of the state's tokens and options, with a slot, without keys and values.
  static Result<std::shared_ptr<Session>> make(Engine& engine, SessionState state);
};

// A chunk of the host's memory, for as long as it lives.
class TakenChunk {
 public:
  explicit TakenChunk(Engine& engine);
  ~TakenChunk();
  TakenChunk(const TakenChunk&) = delete;
  TakenChunk& operator=(const TakenChunk&) = delete;

  const Status& status() const { return status_; }
  std::byte* data() const { return data_; }

 private:
  Engine& engine_;
  Status status_;
  std::byte* data_ = nullptr;
};

// The C interface's numbers.
constexpr uint32_t kv_dtype_number(KvDType type) { return type == KvDType::f16 ? 1 : type == KvDType::f32 ? 2 : type == KvDType::fp8 ? 3 : 4; }

inline uint64_t hash_of_header(const StateHeader& header, std::string_view description) {
  Hash64 hash;
  hash.add(std::as_bytes(std::span(&header, 1)).first(offsetof(StateHeader, hash)));
  hash.add(std::as_bytes(std::span(description)));
  return hash.value();
}

}  // namespace inlay
