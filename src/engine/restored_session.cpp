#include <algorithm>

#include "src/base/format.h"
#include "src/engine/saved_session.h"
#include "src/engine/session_bytes.h"
#include "src/engine/turn.h"

namespace inlay {
namespace {

constexpr uint64_t kMostDescription = uint64_t{1} << 30;
constexpr size_t kDescriptionAtOnce = size_t{1} << 20;  // a size that the bytes do not bear out takes no memory

const char* name_of_type(uint32_t kv_dtype) {
  constexpr const char* kNames[] = {"F16", "F32", "FP8", "INT8"};
  return kv_dtype >= 1 && kv_dtype <= 4 ? kNames[kv_dtype - 1] : "an unknown type";
}

// The bytes, as they come from a source, or where they lie.
class Input {
 public:
  explicit Input(const StateSource& source) : source_(&source) {}
  explicit Input(std::span<const std::byte> bytes) : n_bytes(bytes.size()), left_(bytes) {}
  const uint64_t n_bytes = 0;  // there are; 0: not known

  Status read(std::span<std::byte> into) {
    if (into.empty()) return {};
    INLAY_TRY(take(into));
    hash_.add(into);
    return {};
  }
  // Rows in a buffer of theirs, or where they lie.
  Result<std::span<const std::byte>> read(SessionRows& rows) {
    std::span<const std::byte> out;
    if (source_ == nullptr) {
      INLAY_ASSIGN(out, next(rows.n_bytes()));
    } else {
      const std::span<std::byte> buffer = rows.buffer();
      INLAY_TRY((*source_)(buffer));
      out = buffer;
    }
    hash_.add(out, &rows.pool());
    return out;
  }
  Status check_end() {
    const uint64_t wanted = hash_.value();
    uint64_t hash = 0;
    INLAY_TRY(take(std::as_writable_bytes(std::span(&hash, 1))));
    return hash == wanted ? Status() : error(Code::format, "the saved session is damaged: its checksum differs");
  }

 private:
  Status take(std::span<std::byte> into) {
    if (source_ != nullptr) return (*source_)(into);
    INLAY_ASSIGN(const std::span<const std::byte> bytes, next(into.size()));
    std::ranges::copy(bytes, into.begin());
    return {};
  }
  Result<std::span<const std::byte>> next(size_t n) {
    if (n > left_.size()) return error(Code::format, "the saved session ends after %s", counted(n_bytes, "byte").c_str());
    const std::span<const std::byte> out = left_.first(n);
    left_ = left_.subspan(n);
    return out;
  }

  const StateSource* source_ = nullptr;  // none: left_
  std::span<const std::byte> left_;
  StateHash hash_;
};

Status check_header(const StateHeader& header, std::string_view description, const Engine& engine) {
  if (header.hash != hash_of_header(header, description)) return error(Code::format, "the saved session is damaged: its header's checksum differs");
  const uint32_t own = kv_dtype_number(engine.backend().config().kv_dtype);
  if (header.model != engine.fingerprint())
    return error(Code::unsupported, "the session was saved by another model, or by this one with other types of weights or another scaling of positions");
  if (header.kv_dtype != own)
    return error(Code::unsupported, "the saved session's keys and values are %s, the engine's are %s", name_of_type(header.kv_dtype), name_of_type(own));
  return {};
}

Result<SessionState> read_head(Input& in, const Engine& engine) {
  StateHeader header;
  INLAY_TRY(in.read(std::as_writable_bytes(std::span(&header, 1))));
  if (header.magic != StateHeader::kMagic) return error(Code::format, "the bytes are no saved session");
  if (header.version != StateHeader::kVersion)
    return error(Code::unsupported, "the session was saved in version %u of its format, this library knows version %u", header.version, StateHeader::kVersion);
  if (header.n_description > kMostDescription || header.n_description > header.n_bytes)
    return error(Code::format, "the saved session is damaged: its description would have %llu bytes", static_cast<unsigned long long>(header.n_description));
  std::string description;
  while (description.size() < header.n_description) {
    const size_t at = description.size(), n = std::min(kDescriptionAtOnce, static_cast<size_t>(header.n_description) - at);
    description.resize(at + n);
    INLAY_TRY(in.read(std::as_writable_bytes(std::span(description).subspan(at))));
  }
  INLAY_TRY(check_header(header, description, engine));
  INLAY_ASSIGN(SessionState state, read_state(description, engine));
  if (in.n_bytes > 0 && in.n_bytes != header.n_bytes) {
    return error(Code::format, "the saved session has %llu bytes, expected %llu", static_cast<unsigned long long>(in.n_bytes),
                 static_cast<unsigned long long>(header.n_bytes));
  }
  if (header.n_bytes != state_bytes(engine, state, header.n_description)) return error(Code::format, "the saved session is not as long as what it has");
  return state;
}

}  // namespace

// Fills the cache of a session that was just made: nobody else knows it.
class SessionFiller {
 public:
  SessionFiller(Engine& engine, Session& session, const SessionState& state) : engine_(engine), backend_(engine.backend()), seq_(session.seq_), session_(session), state_(state) {}

  // Blocks for what is cached, and those that the generation holds.
  Status reserve() {
    const Engine::Turn turn(engine_);
    Sequences& sequences = engine_.sequences_;
    seq_.n_computed = state_.n_computed;
    sequences.lay_out_empty(seq_, state_.first_rows);
    const int64_t n_now = seq_.n_tokens(), most = session_.options_.max_tokens, n_context = engine_.info_.n_context;
    const int64_t held = most == 0 ? n_context : std::min(n_context, n_now + std::max<int64_t>(1, most - session_.n_drawn_));
    const Status status = engine_.reserve(seq_, state_.holds_blocks ? static_cast<int32_t>(held) : state_.n_computed, engine_.prefill_chunk_);
    if (status.ok()) sequences.cover(seq_, state_.n_computed);
    if (status.ok() && state_.holds_blocks) sequences.hold(seq_);
    return status;
  }

  Status fill(Input& in) {
    SessionRows rows(engine_, state_);
    INLAY_TRY(rows.status());
    KvHoldings holdings;
    {
      const EngineLock lock(engine_.mutex_);
      holdings = seq_.kv;
    }
    while (rows.next()) {
      INLAY_ASSIGN(const std::span<const std::byte> bytes, in.read(rows));
      INLAY_TRY(rows.write_device(holdings, bytes));
    }
    INLAY_TRY(noted(backend_.wait_for_copies()));
    return state_.logits_readable ? fill_logits(in) : Status();
  }

  void finish() {
    const EngineLock lock(engine_.mutex_);
    seq_.has_logits = state_.has_logits;
    seq_.logits_readable = state_.logits_readable;
    session_.publish();
  }

 private:
  Status noted(Status status) {
    const EngineLock lock(engine_.mutex_);
    return engine_.lost_.noted(std::move(status));
  }

  Status fill_logits(Input& in) {
    const TakenChunk chunk(engine_);
    INLAY_TRY(chunk.status());
    INLAY_TRY(noted(backend_.wait_for_copies()));
    INLAY_TRY(in.read({chunk.data(), static_cast<size_t>(engine_.spec().n_vocab) * sizeof(float)}));
    INLAY_TRY(noted(backend_.copy_logits_from_host(seq_.slot, chunk.data())));
    return noted(backend_.wait_for_copies());
  }

  Engine& engine_;
  Backend& backend_;
  Sequence& seq_;
  Session& session_;
  const SessionState& state_;
};

// The session goes if anything fails on the way, and with it all that was taken.
static Result<std::shared_ptr<Session>> restore(const std::shared_ptr<Engine>& engine, Input in) {
  INLAY_ASSIGN(const SessionState state, read_head(in, *engine));
  INLAY_ASSIGN(std::shared_ptr<Session> session, SessionBytes::make(*engine, state));
  INLAY_TRY(session->enter_call());  // so that no request takes its blocks meanwhile
  const struct Leave {
    Session& session;
    ~Leave() { session.leave_call(); }
  } leave{*session};
  SessionFiller filler(*engine, *session, state);
  INLAY_TRY(filler.reserve());
  INLAY_TRY(filler.fill(in));
  INLAY_TRY(in.check_end());
  filler.finish();
  return session;
}

Result<std::shared_ptr<Session>> restore_session(const std::shared_ptr<Engine>& engine, const StateSource& source) { return restore(engine, Input(source)); }

Result<std::shared_ptr<Session>> restore_session(const std::shared_ptr<Engine>& engine, std::span<const std::byte> bytes) {
  if (bytes.empty()) return error(Code::format, "the saved session has no bytes");
  return restore(engine, Input(bytes));
}

}  // namespace inlay
