// A session as bytes: what it is beside its keys, values and logits, and the header in front of all. docs/design/session-state.md
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/engine/engine.h"

namespace inlay {

struct StateHeader {
  static constexpr std::array<char, 8> kMagic = {'I', 'N', 'L', 'A', 'Y', 'S', 'E', 'S'};
  static constexpr uint32_t kVersion = 3;

  std::array<char, 8> magic = kMagic;
  uint32_t version = kVersion;
  uint32_t kv_dtype = 0;       // as the C interface counts them
  uint64_t n_bytes = 0;        // of the whole, header and checksum included
  uint64_t model = 0;          // fingerprint_of()
  uint64_t n_description = 0;  // bytes of a SessionState, which follows the header
  uint64_t hash = 0;           // of the header before it, and of the description
};
static_assert(sizeof(StateHeader) == 48);

struct SessionState {
  // A constraint is made again from its source.
  struct Constrained {
    uint32_t compiler = constraint::kCompilerVersion;
    std::string source;  // Constraint::origin()
    uint64_t from = 0;   // the sequence's first token under it
    std::vector<TakenOut> taken_out;
    std::vector<constraint::ConstraintState::Accepted> accepted;
    template <class Archive>
    void archive(Archive& a) {
      a(compiler, source, from, taken_out, accepted);
    }
  };

  std::vector<int32_t> tokens;
  int32_t n_computed = 0;
  bool has_logits = false, logits_readable = false;
  std::vector<int32_t> first_rows;  // of each KV group the first position that is cached
  SessionOptions options;           // without stops and constraint
  bool holds_blocks = false;        // those of max_tokens
  int32_t n_drawn = 0;
  FinishReason finish_reason = FinishReason::none;
  SamplerState sampler_state;
  uint64_t generation = 0;
  TextStream::Held text;
  std::vector<Constrained> constrained;  // one or none

  template <class Archive>
  void archive(Archive& a);
};

std::string bytes_of(const SessionState& state);
// What does not go together is FORMAT; what is more than the engine has is CONTEXT_FULL.
Result<SessionState> read_state(std::string_view bytes, const Engine& engine);

uint64_t state_bytes(const Engine& engine, const SessionState& state, uint64_t n_description);

}  // namespace inlay
