// Where the events of requests lie until the host collects them. docs/design/requests.md
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "src/base/mutex.h"
#include "src/base/wake_handle.h"
#include "src/engine/request.h"

namespace inlay {

struct QueueLimits {
  int32_t max_requests = 1024;  // that were submitted and whose ends nobody has polled, or whose vectors nobody has taken
  int32_t max_unread_tokens = 256;  // a request with as many that nobody has polled draws no more
};

// What has become of a request.
struct RequestEvent {
  uint64_t request = 0, number = 0, user = 0;
  bool is_end = false;
  size_t first_token = 0, n_tokens = 0;  // into the tokens' room; behind these n_tokens x n_top likeliest ones
  int32_t n_top = 0;
  size_t first_byte = 0, n_text = 0;     // into the text's room
  RequestEnd end;                        // of an end; then the text is the status' message
};

// Without tokens (data() is null) those of events are dropped, and without text their texts.
struct EventRoom {
  size_t n_events = 0;
  std::span<TokenLogprob> tokens;
  std::span<char> text;
};

// All calls come from any thread; the engine's mutex may be held, but not for wake() and set_wake().
class RequestQueue {
 public:
  using Wake = std::function<void()>;

  RequestQueue(std::weak_ptr<Engine> engine, const QueueLimits& limits);

  std::shared_ptr<Engine> engine() const { return engine_.lock(); }
  const QueueLimits& limits() const { return limits_; }

  // Room for a request and its events: QUEUE_FULL, or INVALID_STATE once the queue was closed.
  Status add(const std::shared_ptr<Request>& request);
  void make_room_for_top(Request& request, int32_t n_logprobs);  // before it draws
  // Its number's request, which gets no token any more; null if there is none that goes on.
  std::shared_ptr<Request> cancel(uint64_t id);

  // True: the queue had nothing to tell before; wake() is to be called.
  [[nodiscard]] bool add_token(Request& request, const SampleResult& drawn, TextStream& text);
  // What is left of a request's text, if it has any; is_cut: nothing has ended it, so that what is held back belongs to it.
  struct LastText {
    TextStream* stream = nullptr;
    bool is_cut = false;
  };
  // Where memory runs out for the text, that is the end. values: its vector, or nothing.
  [[nodiscard]] bool add_end(Request& request, RequestEnd end, const LastText& text, std::vector<float> values);
  void wake();

  // Events in the order in which requests came to have something to tell; how many. BUFFER_TOO_SMALL where there is no room for the first one.
  // `write` gets each of them. INVALID_STATE once the queue is closed and empty.
  template <class Write>
  Result<size_t> poll(const EventRoom& room, Write write) {
    return poll(room, [](void* to, size_t i, const RequestEvent& event) { (*static_cast<Write*>(to))(i, event); }, &write);
  }
  // Moves the vector of a request that has ended with one to `out`; n: its values. With `only_asks` it stays. BUFFER_TOO_SMALL where it has no room.
  Status take_values(uint64_t id, std::span<float> out, bool only_asks, size_t& n);
  // Whether a request that had too many unread tokens has fewer since the last call.
  bool takes_up_again() { return lets_go_on_.exchange(false, std::memory_order_relaxed); }
  enum class Waited : uint8_t { time_over, ready, woken, nobody_computes };  // the numbers of inlay_wait_result
  // Until there is something to poll. Without a number of microseconds it waits for ever. n_wakes: what n_wakes() was before the caller looked whether
  // anybody would end the wait; one that has ended since then ends it.
  Result<Waited> wait(std::optional<int64_t> timeout_us, std::optional<uint64_t> n_wakes = {});
  uint64_t n_wakes() const;
  bool has_events() const;
  // The host's: ends the waits that are under way, or else the next one. And where nobody would end those that are under way any more.
  void wake_waits();
  void end_waits();
  size_t n_waiting() const;  // for tests
  // The system's handle that is ready while there is something to poll; it belongs to the queue.
  Result<WakeHandle::System> handle();
  // Called when the queue comes to have something to tell. The one before is not called any more once this has returned.
  void set_wake(Wake wake);

  // No more requests. Waiters wake; with `forget` what is not polled is dropped.
  void close(bool forget);
  std::vector<std::shared_ptr<Request>> live() const;  // that have not ended; for tests

 private:
  using WriteEvent = void (*)(void* to, size_t i, const RequestEvent& event);
  Result<size_t> poll(const EventRoom& room, WriteEvent write, void* to);
  bool has_news() const INLAY_NEEDS(mutex_) { return first_listed_ != nullptr || is_closed_; }
  Waited wait_for_news(Lock& lock, std::optional<int64_t> timeout_us, uint64_t n_before) INLAY_NEEDS(mutex_);
  Waited ended_since(uint64_t n_before) const INLAY_NEEDS(mutex_) { return last_wake_ > n_before ? Waited::woken : Waited::nobody_computes; }
  void end_waits_now() INLAY_NEEDS(mutex_);
  bool list(Request& request) INLAY_NEEDS(mutex_);
  void unlist_first() INLAY_NEEDS(mutex_);
  void reserve_top(Request::News& news, int32_t n_logprobs) const INLAY_NEEDS(mutex_);
  bool take_news(Request& request, const EventRoom& room, size_t& n_tokens, size_t& n_text, RequestEvent& event) INLAY_NEEDS(mutex_);

  const std::weak_ptr<Engine> engine_;
  const QueueLimits limits_;
  mutable Mutex mutex_;
  Condition changed_;
  std::unordered_map<uint64_t, std::shared_ptr<Request>> requests_ INLAY_GUARDED_BY(mutex_);  // whose ends nobody has polled, or whose vectors nobody has taken
  Request *first_listed_ INLAY_GUARDED_BY(mutex_) = nullptr, *last_listed_ INLAY_GUARDED_BY(mutex_) = nullptr;  // that have something to tell
  uint64_t n_events_ INLAY_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> lets_go_on_{false};
  bool is_closed_ INLAY_GUARDED_BY(mutex_) = false, forgets_ INLAY_GUARDED_BY(mutex_) = false;
  uint64_t n_wakes_ INLAY_GUARDED_BY(mutex_) = 0;    // calls that have ended waits, but for those that are left to the next one
  uint64_t last_wake_ INLAY_GUARDED_BY(mutex_) = 0;  // of them the number of the host's last one
  size_t n_waiting_ INLAY_GUARDED_BY(mutex_) = 0;  // waits that none has ended
  bool ends_next_wait_ INLAY_GUARDED_BY(mutex_) = false;
  std::optional<WakeHandle> handle_ INLAY_GUARDED_BY(mutex_);

  Mutex wake_mutex_;  // held while the host's function runs, and no other lock
  Wake wake_ INLAY_GUARDED_BY(wake_mutex_);
};

}  // namespace inlay
