// The requests of an engine that have not ended, and what they hold: places, blocks, memory of the host. docs/design/requests.md
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "src/engine/request.h"
#include "src/engine/request_sessions.h"

namespace inlay {

// Since the engine was loaded.
struct RequestCounts {
  uint64_t n_put_out = 0, n_computed_again = 0;  // requests; tokens that were computed for a second time
  uint64_t n_stored = 0, n_copied_back = 0;      // requests that went to the host's memory; tokens that came from there
};

// For tests.
struct RequestHooks {
  std::function<int64_t()> now;                            // what the time is, microseconds; none: the system's
  std::function<void(const Request&, int32_t slot)> drew;  // a token of it, while the logits of that are in the slot
};

// Calls come with the engine's mutex, but for make() and flush().
class LiveRequests {
 public:
  LiveRequests(Engine& engine, RequestSessions& sessions, bool keeps);  // keeps: blocks of requests that are gone, for those that begin alike

  // Checks all that can be known before it runs. Nobody has it yet.
  Result<std::shared_ptr<Request>> make(std::shared_ptr<RequestQueue> queue, std::vector<int32_t> prompt, RequestOptions options) const;
  Status add(const std::shared_ptr<Request>& request) INLAY_NEEDS(engine_mutex);  // to its queue, too
  std::span<const std::shared_ptr<Request>> all() const INLAY_NEEDS(engine_mutex) { return all_; }
  int32_t n_running() const INLAY_NEEDS(engine_mutex);
  const RequestCounts& counts() const INLAY_NEEDS(engine_mutex) { return counts_; }
  // Requests that are put out go to the host's memory, to so many of HostChunks, instead of being computed again. Set where cuts of prompts change
  // bits, and in tests.
  void store_put_outs(size_t n_chunks) { n_store_chunks_ = n_chunks; }

  int64_t now() const;  // microseconds, of all times of requests
  const RequestHooks& hooks() const { return hooks_; }
  void set_hooks(RequestHooks hooks) { hooks_ = std::move(hooks); }  // before anything is submitted

  // Its end: at once, or behind the step that it is part of. One that has ended stays in all() until sweep().
  void stop(Request& request, FinishReason reason) INLAY_NEEDS(engine_mutex);
  void end(Request& request, FinishReason reason, Status status = {}) INLAY_NEEDS(engine_mutex);
  void end_all(FinishReason reason, const Status& status) INLAY_NEEDS(engine_mutex);
  void end_idle(FinishReason reason, const Status& status) INLAY_NEEDS(engine_mutex);  // those that are in no step
  void expire(int64_t now) INLAY_NEEDS(engine_mutex);
  void sweep() INLAY_NEEDS(engine_mutex);
  void tell(const std::shared_ptr<RequestQueue>& queue, bool wakes) INLAY_NEEDS(engine_mutex);  // each queue is in line once
  void make_room_to_wake(size_t n_queues) INLAY_NEEDS(engine_mutex);                              // so that telling takes no memory
  void flush();  // without locks: frees and tells what has piled up

  // Whether it begins with what others have computed, and leaves what it computes. A vector needs the rows of all its tokens.
  bool keeps(const Request& request) const { return keeps_ && !request.embeds(); }
  bool has_session(Request& request) INLAY_NEEDS(engine_mutex);
  const Request* awaited_by(const Request& request) const INLAY_NEEDS(engine_mutex);  // that computes what it begins with; null: none, it may begin
  struct Found {
    const Request* of = nullptr;
    int32_t n_blocks = 0;
  };
  Found found_of_running(const Request& request) const INLAY_NEEDS(engine_mutex);  // blocks of one that runs with which it would begin
  bool begin(Request& request) INLAY_NEEDS(engine_mutex);
  bool begin_in_slot(Request& request, Session& session, bool is_first, int32_t n_most, bool& has_begun) INLAY_NEEDS(engine_mutex);
  Status reserve(Sequence& sequence, int32_t end) INLAY_NEEDS(engine_mutex);
  void put_out(Request& request) INLAY_NEEDS(engine_mutex);
  // Gives back a slot and blocks by putting out a request that is in no step; false: there is none.
  bool give_slot() INLAY_NEEDS(engine_mutex);
  // The same for blocks: what sessions have that rest comes first.
  bool give_way() INLAY_NEEDS(engine_mutex) { return sessions_.give_blocks() || give_slot(); }

 private:
  using State = PlannedRequest::State;

  Status check(std::span<const int32_t> prompt, const RequestOptions& options) const;
  const KvPools& pools() const INLAY_UNCHECKED;  // for sizes that never change
  static std::span<const int32_t> wanted_by(const Request& request) INLAY_NEEDS(engine_mutex);
  bool may_share(const Request& other, const Request& request) const INLAY_NEEDS(engine_mutex);
  void release(Request& request) INLAY_NEEDS(engine_mutex);
  void find_computed(Request& request, Sequence& seq) INLAY_NEEDS(engine_mutex);
  bool come_back(Request& request, int32_t n_there) INLAY_NEEDS(engine_mutex);
  bool take_from_unread(const Sequence& sequence) INLAY_NEEDS(engine_mutex);

  Engine& engine_;
  RequestSessions& sessions_;
  const bool keeps_;
  size_t n_store_chunks_;
  RequestHooks hooks_;
  std::vector<std::shared_ptr<Request>> all_ INLAY_GUARDED_BY(engine_mutex);
  int64_t last_submitted_ INLAY_GUARDED_BY(engine_mutex) = 0;
  RequestCounts counts_ INLAY_GUARDED_BY(engine_mutex);

  std::vector<std::shared_ptr<Session>> left_ INLAY_GUARDED_BY(engine_mutex);  // to be freed without locks
  std::vector<std::shared_ptr<RequestQueue>> to_wake_ INLAY_GUARDED_BY(engine_mutex);
  std::atomic<bool> has_left_{false};
};

}  // namespace inlay
