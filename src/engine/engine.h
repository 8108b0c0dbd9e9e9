// An engine: one model on one device, its KV pool and scheduler. A session: one sequence.
//
// Calls on different sessions of one engine may come from different threads; the engine serialises what touches the
// device. Calls on one session are the caller's to order, except cancel() and info().
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/backend/backend.h"
#include "src/base/load_times.h"
#include "src/base/turn_mutex.h"
#include "src/engine/chat.h"
#include "src/engine/chat_messages.h"
#include "src/engine/constrained.h"
#include "src/engine/decoder.h"
#include "src/engine/embedding_rules.h"
#include "src/engine/engine_locks.h"
#include "src/engine/log.h"
#include "src/engine/options.h"
#include "src/engine/sequences.h"
#include "src/engine/shared_steps.h"
#include "src/engine/text_stream.h"
#include "src/formats/gguf.h"
#include "src/profile/profile.h"
#include "src/sampler/dry.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

class Engine;
class ProgressReport;
class Requests;
class Session;
struct Request;

enum class FinishReason : int32_t {
  none = 0,
  end_of_generation = 1,
  stop_string = 2,
  max_tokens = 3,
  cancelled = 4,
  stop_token = 5,
  context_full = 6,
  timeout = 7,
  error = 8,
  constraint_end = 9,
  dead_end = 10,
  prefilled = 11,
  embedded = 12
};

// Of a session's text under its constraint. dead: nothing that it allows could follow.
enum class ConstraintStand : int32_t { none = 0, incomplete = 1, complete = 2, dead = 3 };

struct SessionInfo {
  int32_t n_tokens = 0;    // of the sequence, drawn ones included
  int32_t n_context = 0;
  int32_t n_drawn = 0;     // since the last prefill or truncation
  int32_t n_kv_blocks = 0;
  FinishReason finish_reason = FinishReason::none;
  uint64_t n_pending_text = 0;  // bytes that an event had no room for
  uint64_t generation = 0;      // prefills and truncations so far
  ConstraintStand constraint = ConstraintStand::none;
};

// One drawn token, or why there is none.
struct StepEvent {
  Status status;
  SampleResult sample;
  FinishReason finish_reason = FinishReason::none;

  bool draws() const { return status.ok() && finish_reason == FinishReason::none; }  // once the session was admitted
};
Status first_error(std::span<const StepEvent> events);

class Session {
 public:
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Engine& engine() const { return *engine_; }
  SessionInfo info() const;                          // any thread
  std::span<const int32_t> tokens() const { return seq_.tokens; }

  // Appends tokens and runs them in chunks. On an error or cancellation whole chunks stay; n_done says how many of the
  // given tokens now belong to the sequence.
  Status prefill(std::span<const int32_t> tokens, size_t& n_done);
  Result<std::shared_ptr<Session>> fork();
  Status truncate(int32_t n_tokens);
  // Appends tokens as if they had been drawn, until one of them ends the generation. Nothing is run.
  Status accept(std::span<const int32_t> tokens, size_t& n_accepted);
  // Takes n tokens from `first` on out of the sequence. Those behind them keep what they have cached, turned to where they
  // are now; a generation goes on.
  Status shift(size_t first, size_t n);
  Status set_sampler(const SamplerParams& params);
  Status set_stop(std::vector<std::string> stops);
  Status set_stop_tokens(std::vector<int32_t> tokens);
  Status set_max_tokens(int32_t max_tokens);  // 0: no limit but the context
  // What is drawn from now on, and by every later generation; null: anything. `written`: what of the text is there already, of this generation alone.
  Status set_constraint(std::shared_ptr<const constraint::Constraint> constraint, std::string_view written);
  Result<std::string> forced_text();  // that must follow under the constraint: whole characters
  // Logits after the last token that was run. invalid_state if there are none.
  Status copy_logits(std::span<float> out);
  // The same where they lie, which may change with any later call for this session.
  Result<std::span<const float>> view_logits();
  // Any thread; seen by every step that begins after it has returned.
  void cancel() { cancelled_.store(true, std::memory_order_seq_cst); }
  // Likewise, for the generation of that number alone.
  void cancel_generation(uint64_t number);

  // Text of drawn tokens that is complete and certain: moves up to n bytes, whole UTF-8 characters only.
  size_t take_text(char* out, size_t n);
  size_t n_pending_text() const { return text_.n_ready(); }

  // A session for requests belongs to one call or one request at a time: BUSY while a request has it. Nothing for other sessions.
  bool is_for_requests() const { return for_requests_; }
  Status enter_call();
  void leave_call();

 private:
  friend class Decoder;
  friend class Engine;
  friend class LiveRequests;
  friend class RequestSessions;
  friend class RequestSteps;
  friend class SavedSession;
  friend class SessionBytes;
  friend class SessionFiller;
  Session(std::shared_ptr<Engine> engine, const SessionOptions& options);

  Status check_not_in_slices() const;
  Status check_steps_itself() const;  // that it is no session for requests
  bool is_cancelled() const;  // whether there is a request for the end of this generation
  bool take_cancel();         // the same; it is spent by this
  void begin_generation();  // its number is one more than the last one's
  void publish();           // makes the figures of info() visible to other threads; the engine's mutex is held
  Status check_room(size_t n_new_tokens) const;
  int32_t n_reserved(int32_t n_tokens) const;
  Status reserve_more(int32_t max_tokens);
  Status prefill_chunk();
  void end_prefill(size_t n_tokens_before, bool complete);
  std::string last_bytes() const;
  // What stands at the beginning of a generation; made before anything changes, since it takes memory.
  static std::optional<ConstrainedText> beginning_of(const SessionOptions& options);
  void restart_constraint(std::optional<ConstrainedText> beginning);
  void accept_constrained(int32_t token);
  void make_mask() {  // of the constraint, if there is one: what may be drawn next
    if (constraint_) constraint_->make_mask();
  }
  const TokenMask* mask() const { return constraint_ ? &constraint_->mask() : nullptr; }
  FinishReason end_of_constraint() const;  // where it allows no token
  void after_rewrite(std::optional<ConstrainedText> beginning);  // the sequence was changed by the caller: drawing starts anew
  void begin_request(SessionOptions options, bool has_stops);  // whose tokens are there; locked
  DrawContext draw_context();  // of the next draw; valid until the one after it

  // Of a session for requests, with the engine's mutex: nobody else has it.
  bool is_idle() const INLAY_NEEDS(engine_mutex) { return !in_call_ && request_ == nullptr; }

  const std::shared_ptr<Engine> engine_;
  const bool for_requests_;         // it has no slot but while a request of it runs
  bool in_call_ INLAY_GUARDED_BY(engine_mutex) = false;  // of the host; a session for requests alone
  const Request* request_ INLAY_GUARDED_BY(engine_mutex) = nullptr;  // that has it from now on to its end; likewise
  uint64_t rests_since_ INLAY_GUARDED_BY(engine_mutex) = 0;           // RequestSessions' number of that; 0 while a request of it runs; likewise
  SessionOptions options_;
  SamplerState sampler_state_;
  DryBias dry_;
  Sequence seq_;
  bool in_step_ = false;          // is part of the decode step at hand
  uint64_t latest_step_ = 0;      // of SharedSteps
  int32_t n_drawn_ = 0;
  FinishReason finish_reason_ = FinishReason::none;
  TextStream text_;
  std::optional<ConstrainedText> constraint_;  // of this generation
  size_t constrained_from_ = 0;  // the sequence's first token under it
  std::vector<TakenOut> taken_out_;  // behind it
  uint64_t generation_ = 0;  // prefills and truncations that have begun
  std::atomic<bool> cancelled_{false};
  std::atomic<uint64_t> cancelled_generation_{0};  // 0: none
  std::atomic<bool> in_slices_{false};  // takes part in the engine's sliced step; written under the engine's mutex

  mutable Mutex info_mutex_;
  SessionInfo info_ INLAY_GUARDED_BY(info_mutex_);
};

struct EngineInfo {
  uint64_t n_params = 0;
  MemoryNeeds memory;
  uint64_t prefix_cache_host_bytes = 0;  // beside these: whole blocks of the budget
  int32_t n_context = 0;
  int32_t max_sessions = 0;
  int32_t n_threads = 0;
  DeviceKind device = DeviceKind::cpu;
  WeightDType weight_dtype = WeightDType::as_stored;  // what was asked for if it changes any
};

struct EngineStats {
  uint64_t n_prefill_tokens = 0, n_decode_tokens = 0, n_decode_steps = 0;
  double prefill_seconds = 0, decode_seconds = 0, load_seconds = 0;
  int32_t n_sessions = 0;
  int32_t n_kv_blocks = 0, n_kv_blocks_used = 0, n_kv_blocks_peak = 0;
  PrefixCache::StoreCounts stored;  // of kept blocks in the host's memory
  uint64_t prefix_cache_host_bytes_taken = 0;  // of that memory, so far
};

class Engine : public std::enable_shared_from_this<Engine> {
 public:
  static Result<std::shared_ptr<Engine>> load(const std::string& path, const EngineOptions& options);
  static Result<std::shared_ptr<Engine>> load(std::unique_ptr<ByteSource> source, const EngineOptions& options);
  ~Engine();
  // What load would come to, without reading weights.
  static Result<EngineInfo> plan_memory(const std::string& path, const EngineOptions& options);

  const ModelSpec& spec() const { return backend_->plan().spec; }
  const Plan& plan() const { return backend_->plan(); }
  const Metadata& metadata() const { return metadata_; }  // of the model file
  const Tokenizer* tokenizer() const { return tokenizer_.get(); }  // null if the model has none
  Result<ModelChatFormatPtr> chat_format(const ChatFormatChoice& choice) { return chat_formats_.get(tokenizer_, chat_templates_, choice); }
  const ChatTemplates& chat_templates() const { return chat_templates_; }
  Result<MadeConstraint> make_constraint(ConstraintSource source) { return ::inlay::make_constraint(*this, vocabulary_, std::move(source)); }
  const EmbeddingRules& embedding_rules() const { return embedding_rules_; }
  EngineInfo info() const;
  EngineStats stats() const;
  Log& log() { return *log_; }
  Backend& backend() const { return *backend_; }           // for saved sessions, and for inspection by tests
  uint64_t fingerprint() const { return fingerprint_; }    // of the model: fingerprint_of()
  uint64_t chunk_bytes() const INLAY_UNCHECKED { return sequences_.chunks().chunk_bytes(); }  // never another one
  HostBlocks* host_blocks() const INLAY_UNCHECKED { return sequences_.host_blocks(); }  // likewise; for tests
  uint32_t n_asking() const { return turn_.n_asking(); }  // likewise: threads that compute or wait for their turn
  size_t n_sharing() const { return shared_steps_.n_waiting(); }  // likewise: calls that wait for a step

  // Runs tokens [n_past, tokens.size()) of a sequence as one step, whose first n_past tokens the session has cached, and gives the
  // seconds that it took. The session does not advance. A single token is a decode step and draws.
  Result<double> run_inspected(Session& session, std::span<const int32_t> tokens, int32_t n_past, Inspection inspection);
  // Runs the next tokens of sessions, whose tokens must be there, all in one step that ends behind the last layer.
  struct LayersRun {
    Session* session = nullptr;
    int32_t n_tokens = 0;
    std::span<const AskedRows> asked = {};  // rows counted from the session's first one of this step
  };
  // `results`: of all asked rows in the order of the runs.
  Status run_layers(std::span<const LayersRun> runs, RowValues asked, const StepResults& results);
  // Makes the tokens, which passed check_tokens(), those of an empty session, and takes what its cache needs; nothing is run.
  Status place_tokens(Session& session, std::span<const int32_t> tokens);
  // INVALID_STATE while a step in slices is pending: what a call of several steps is told. One that comes while such a call is under way lets it
  // wait.
  Status check_not_in_slices() const;
  // Whether the model can run them: whether its embedding has their rows.
  Status check_tokens(std::span<const int32_t> tokens) const;
  const std::vector<float>& output_norm() const { return output_norm_; }  // weights of the norm before the head
  int32_t prefill_chunk() const { return prefill_chunk_; }
  Result<double> measure_read_bandwidth();  // bytes a second
  void keep_profile(Profile profile);       // the latest kMaxProfiles
  std::vector<Profile> profiles() const;

  // UNSUPPORTED of a model whose tokens see those behind them: what is drawn would change all that was computed.
  Status check_writes() const;
  Result<std::shared_ptr<Session>> create_session(const SessionOptions& options);
  Result<std::shared_ptr<Session>> create_text_session();  // for a text that is run as a whole, of any model
  Requests& requests() { return *requests_; }
  size_t n_ahead() const;  // sessions whose next token was begun before it is asked for: for tests

  // One token for every session that can have one; events[i] belongs to sessions[i]. The status is that of the first
  // event that has an error, or of the step itself: then no session changed.
  Status decode_step(std::span<Session* const> sessions, std::span<StepEvent> events);
  // The same, in one step with the calls of other threads that wait for their turn.
  Status decode_step(StepCaller& caller);

  // The same step in slices of at most max_units units (step_units.h), for a host that has a little time now and then.
  // The first call begins it, with all checks and with the blocks it needs; the next ones go on, if they name the same
  // sessions in the same order. units_left is 0 when the step has ended: then events and status are those of
  // decode_step. Until then the events stay as they are, and no other step runs on the engine. A step that fails in the
  // middle has ended, and no session changed.
  Status decode_slice(std::span<Session* const> sessions, int32_t max_units, std::span<StepEvent> events,
                      int32_t& units_left);
  Status decode_slice(StepCaller& caller, int32_t max_units, int32_t& units_left);
  // Gives up the sliced step of these sessions, which are then as before it. There may be none.
  Status decode_abandon(std::span<Session* const> sessions);

 private:
  friend class Decoder;
  friend class LiveRequests;
  friend class RequestSteps;
  friend class Requests;
  friend class SavedSession;
  friend class Session;
  friend class SessionBytes;
  friend class SessionFiller;
  friend class SessionRows;
  friend class TakenChunk;
  struct Parts;
  // Room for what the callers of a step name, and for its events.
  struct CalledStep {
    std::vector<Session*> sessions;
    std::vector<StepEvent> events;
  };
  struct CalledPart {
    std::span<Session*> sessions;
    std::span<StepEvent> events;
  };
  explicit Engine(Parts parts);
  static Result<std::shared_ptr<Engine>> assemble(Result<Checkpoint> checkpoint, const EngineOptions& options, LoadTimes& times,
                                                  ProgressReport& report);

  class Turn;      // turn.h
  class LongTurn;   // likewise
  class SliceTurn;  // likewise

  // Those that say "locked" need mutex_ held; those that say "in turn" a Turn.
  Status check_idle() const INLAY_NEEDS(engine_mutex);                                                                       // locked: neither a lost device nor a step in slices
  Status run_whole(OpenStep& step, StepQueue::Extent extent, const StepResults& results = {}) INLAY_NEEDS(engine_turn, engine_mutex);    // in turn
  // What the caller names behind the first n of the step, and the room for its events.
  CalledPart called_part(StepCaller& caller, size_t n) INLAY_NEEDS(engine_turn);
  void step_shared(SharedSteps::Call& leader) INLAY_NEEDS(engine_turn, engine_mutex);
  Status take_slot(Session& session);
  Status session_limit() const;
  Status check_constraint(const SessionOptions& options) const;
  void return_slot(Session& session);
  // Without a slot. It does not keep the engine alive, whose requests have it.
  std::shared_ptr<Session> session_of_request(const SessionOptions& options);
  // Sequences::reserve() for a call of a session: requests give way before it fails for want of blocks. Locked.
  Status reserve(Sequence& sequence, int32_t n_positions, int32_t n_at_once) INLAY_NEEDS(engine_mutex);

  std::unique_ptr<Log> log_;
  Metadata metadata_;
  const ChatTemplates chat_templates_;
  const EmbeddingRules embedding_rules_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  ChatFormats chat_formats_;
  DrawnVocabulary vocabulary_;
  std::unique_ptr<Backend> backend_;
  EngineInfo info_;
  std::vector<float> output_norm_;
  std::vector<int32_t> end_tokens_;  // ascending: those that penalties may spare
  uint64_t fingerprint_ = 0;
  int32_t prefill_chunk_ = 0;
  bool runs_ahead_ = false;

  // Who computes. In turns, so that a step waits for one chunk of another thread's prefill and not for all of them.
  mutable TurnMutex turn_;
  SharedSteps shared_steps_;  // whose leader asks for a turn
  // What follows, and what sessions have of it: held for moments only, never while the device computes, and taken after turn_.
  mutable Mutex mutex_;
  LostDevice lost_ INLAY_GUARDED_BY(engine_mutex);
  Sequences sequences_ INLAY_GUARDED_BY(engine_mutex);
  StepQueue queue_ INLAY_GUARDED_BY(engine_mutex);
  Decoder decoder_ INLAY_GUARDED_BY(engine_mutex);
  OpenStep step_ INLAY_GUARDED_BY(engine_turn);  // of run_whole()'s callers
  CalledStep called_ INLAY_GUARDED_BY(engine_turn);
  int32_t n_waiting_ INLAY_GUARDED_BY(engine_mutex) = 0;    // calls of several steps that wait until the step in slices that is pending has ended
  bool owes_turn_ INLAY_GUARDED_BY(engine_mutex) = false;   // it has: they come before the next one
  EngineStats stats_ INLAY_GUARDED_BY(engine_mutex);
  std::vector<Profile> profiles_ INLAY_GUARDED_BY(engine_mutex);
  std::unique_ptr<Requests> requests_;  // ends before all that it uses
};

}  // namespace inlay
