#include "src/engine/request_queue.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "src/tokenizer/utf8.h"

namespace inlay {

bool Request::is_unread() const { return n_unread.load(std::memory_order_relaxed) >= run.queue->limits().max_unread_tokens; }

RequestQueue::RequestQueue(std::weak_ptr<Engine> engine, const QueueLimits& limits) : engine_(std::move(engine)), limits_(limits) {}

Status RequestQueue::add(const std::shared_ptr<Request>& request) {
  const Lock lock(mutex_);
  if (is_closed_) return error(Code::invalid_state, "the queue's engine was freed");
  if (requests_.size() >= static_cast<size_t>(limits_.max_requests)) {
    Status full = error(Code::queue_full, "the queue has %d requests whose ends were not polled or whose vectors were not taken, and room for no more", limits_.max_requests);
    full.required = static_cast<uint64_t>(limits_.max_requests) + 1;
    full.available = static_cast<uint64_t>(limits_.max_requests);
    return full;
  }
  const size_t n = request->draws() ? static_cast<size_t>(limits_.max_unread_tokens) : 0;
  request->news.tokens.reserve(n);
  request->news.text.reserve(4 * n);
  if (request->draws()) reserve_top(request->news, request->run.options.session.sampler.n_logprobs);
  requests_.emplace(request->id, request);
  return {};
}

void RequestQueue::make_room_for_top(Request& request, int32_t n_logprobs) {
  const Lock lock(mutex_);
  reserve_top(request.news, n_logprobs);
}

void RequestQueue::reserve_top(Request::News& news, int32_t n_logprobs) const {
  const int32_t n_top = std::clamp(n_logprobs, 0, kMaxLogprobs);
  news.top.reserve(static_cast<size_t>(limits_.max_unread_tokens) * static_cast<size_t>(n_top));
  news.n_top = n_top;
}

std::shared_ptr<Request> RequestQueue::cancel(uint64_t id) {
  const Lock lock(mutex_);
  const auto found = requests_.find(id);
  if (found == requests_.end() || found->second->news.has_ended) return nullptr;
  found->second->news.is_cancelled = true;
  return found->second;
}

// Puts a request behind those that have something to tell; true: it is the first. Behind another one there is nobody to wake: who waits has been woken for
// that, and the handle is set until all of them are polled.
bool RequestQueue::list(Request& request) {
  if (request.news.is_listed) return false;
  request.news.is_listed = true;
  const bool is_first = first_listed_ == nullptr;
  (is_first ? first_listed_ : last_listed_->news.next) = &request;
  last_listed_ = &request;
  if (!is_first) return false;
  changed_.notify_all();
  if (handle_) handle_->set();
  return true;
}

void RequestQueue::unlist_first() {
  Request::News& news = first_listed_->news;
  news.is_listed = false;
  first_listed_ = std::exchange(news.next, nullptr);
  if (first_listed_ != nullptr) return;
  last_listed_ = nullptr;
  if (handle_ && !is_closed_) handle_->clear();
}

static void take_text(TextStream& from, std::string& to) {
  const size_t n_before = to.size(), n = from.n_ready();
  to.resize(n_before + n);
  to.resize(n_before + from.take(to.data() + n_before, n));
}

bool RequestQueue::add_token(Request& request, const SampleResult& drawn, TextStream& text) {
  const Lock lock(mutex_);
  Request::News& news = request.news;
  if (forgets_ || news.is_cancelled || news.has_ended) return false;
  news.tokens.push_back({drawn.token, drawn.logprob});
  for (int32_t i = 0; i < news.n_top; ++i) news.top.push_back(i < drawn.n_logprobs ? drawn.top[i] : TokenLogprob{-1, 0});
  request.n_unread.store(static_cast<int32_t>(news.tokens.size()), std::memory_order_relaxed);
  take_text(text, news.text);
  return list(request);
}

static void take_last_text(const RequestQueue::LastText& from, std::string& to, RequestEnd& end) {
  if (from.stream == nullptr) return;
  try {
    if (from.is_cut) from.stream->flush();
    take_text(*from.stream, to);
  } catch (const std::bad_alloc&) {
    end.reason = FinishReason::error;
    end.status = out_of_memory();
  }
}

bool RequestQueue::add_end(Request& request, RequestEnd end, const LastText& text, std::vector<float> values) {
  const Lock lock(mutex_);
  Request::News& news = request.news;
  if (news.has_ended) return false;
  if (!news.is_cancelled) take_last_text(text, news.text, end);
  if (news.is_cancelled && end.reason != FinishReason::error) {  // its last token may not have been told
    end.reason = FinishReason::cancelled;
    values.clear();
  }
  news.has_ended = true;
  news.end = std::move(end);
  news.values = std::move(values);
  news.end.n_values = news.values.size();
  if (forgets_) {
    requests_.erase(request.id);
    return false;
  }
  return list(request);
}

void RequestQueue::wake() {
  const Lock lock(wake_mutex_);
  if (wake_) wake_();
}

void RequestQueue::set_wake(Wake wake) {
  const Lock lock(wake_mutex_);
  wake_ = std::move(wake);
}

namespace {

void move_front(std::vector<TokenLogprob>& from, size_t n, std::span<TokenLogprob> to) {
  const auto end = from.begin() + static_cast<std::ptrdiff_t>(n);
  std::copy(from.begin(), end, to.begin());
  from.erase(from.begin(), end);
}

Status no_room() {
  Status small = error(Code::buffer_too_small, "there is no room for the next event; 1 event, 1 token and its likeliest ones, and 4 bytes of text are room for any");
  small.required = 4;
  return small;
}

}  // namespace

// What there is room for of a request's tokens and text; false: nothing.
bool RequestQueue::take_news(Request& request, const EventRoom& room, size_t& n_tokens, size_t& n_text, RequestEvent& event) {
  Request::News& news = request.news;
  const bool ends = news.tokens.empty() && news.text.empty();
  event = {.request = request.id, .user = request.user, .is_end = ends, .first_token = n_tokens, .first_byte = n_text};
  if (ends) {
    const std::string_view message = news.end.status.message;
    if (message.size() > room.text.size() - n_text && n_text > 0) return false;  // the next call has more room
    event.n_text = whole_characters(message, room.text.size() - n_text);
    std::ranges::copy(message.substr(0, event.n_text), room.text.begin() + static_cast<ptrdiff_t>(n_text));
    event.end = std::move(news.end);  // its numbers stay; a copy of the message might find no memory
  } else {
    const bool wants_tokens = room.tokens.data() != nullptr, wants_text = room.text.data() != nullptr;
    const size_t n_top = wants_tokens ? static_cast<size_t>(news.n_top) : 0;
    event.n_top = static_cast<int32_t>(n_top);
    event.n_tokens = wants_tokens ? std::min(news.tokens.size(), (room.tokens.size() - n_tokens) / (1 + n_top)) : 0;
    event.n_text = wants_text ? whole_characters(news.text, room.text.size() - n_text) : 0;
    const bool lacks_room = (wants_tokens && !news.tokens.empty()) || (wants_text && !news.text.empty());
    if (event.n_tokens == 0 && event.n_text == 0 && lacks_room) return false;
    if (!wants_tokens) news.tokens.clear(), news.top.clear();
    if (!wants_text) news.text.clear();
    move_front(news.tokens, event.n_tokens, room.tokens.subspan(n_tokens));
    move_front(news.top, event.n_tokens * n_top, room.tokens.subspan(n_tokens + event.n_tokens));
    std::ranges::copy(std::string_view(news.text).substr(0, event.n_text), room.text.begin() + static_cast<ptrdiff_t>(n_text));
    news.text.erase(0, event.n_text);
    const int32_t n_before = request.n_unread.exchange(static_cast<int32_t>(news.tokens.size()), std::memory_order_relaxed);
    if (n_before >= limits_.max_unread_tokens) lets_go_on_.store(true, std::memory_order_relaxed);
  }
  event.number = ++n_events_;
  n_tokens += event.n_tokens * (1 + static_cast<size_t>(event.n_top));
  n_text += event.n_text;
  return true;
}

Result<size_t> RequestQueue::poll(const EventRoom& room, WriteEvent write, void* to) {
  const Lock lock(mutex_);
  if (first_listed_ == nullptr) {
    if (is_closed_) return error(Code::invalid_state, "the queue's engine was freed, and all of its events were polled");
    return size_t{0};
  }
  size_t n_events = 0, n_tokens = 0, n_text = 0;
  while (first_listed_ != nullptr && n_events < room.n_events) {
    Request& request = *first_listed_;
    RequestEvent event;
    if (!take_news(request, room, n_tokens, n_text, event)) break;
    write(to, n_events++, event);
    Request::News& news = request.news;
    if (!event.is_end && (!news.tokens.empty() || !news.text.empty() || news.has_ended)) continue;
    unlist_first();
    news.is_end_polled = event.is_end;
    if (event.is_end && news.values.empty()) requests_.erase(request.id);
  }
  if (n_events == 0) return no_room();
  return n_events;
}

Status RequestQueue::take_values(uint64_t id, std::span<float> out, bool only_asks, size_t& n) {
  n = 0;
  const Lock lock(mutex_);
  const auto number = static_cast<unsigned long long>(id);
  const auto found = requests_.find(id);
  if (found == requests_.end()) return error(Code::not_found, "the queue has no request %llu any more, or never had it: a vector can be taken once", number);
  Request::News& news = found->second->news;
  if (!news.has_ended) return error(Code::invalid_state, "request %llu has not ended", number);
  if (news.values.empty())
    return error(Code::not_found, "request %llu has no vector: %s", number, news.end.n_values > 0 ? "it was taken" : "it is of another kind than EMBED, or did not end with EMBEDDED");
  n = news.values.size();
  if (only_asks) return {};
  if (out.size() < n) {
    Status small = error(Code::buffer_too_small, "the vector has %zu values, the buffer has room for %zu", n, out.size());
    small.required = n;
    small.available = out.size();
    return small;
  }
  std::ranges::copy(news.values, out.begin());
  news.values = {};
  if (news.is_end_polled) requests_.erase(found);
  return {};
}

Result<RequestQueue::Waited> RequestQueue::wait(std::optional<int64_t> timeout_us, std::optional<uint64_t> n_wakes) {
  Lock lock(mutex_);
  Waited waited = Waited::ready;
  if (!has_news()) waited = timeout_us == 0 ? Waited::time_over : wait_for_news(lock, timeout_us, n_wakes.value_or(n_wakes_));
  if (first_listed_ != nullptr) return Waited::ready;
  if (is_closed_) return error(Code::invalid_state, "the queue or its engine was freed");
  return waited;
}

RequestQueue::Waited RequestQueue::wait_for_news(Lock& lock, std::optional<int64_t> timeout_us, uint64_t n_before) {
  using Clock = std::chrono::steady_clock;
  if (std::exchange(ends_next_wait_, false)) return Waited::woken;
  if (n_wakes_ != n_before) return ended_since(n_before);
  const auto start = Clock::now();
  auto waited = Waited::ready;
  ++n_waiting_;
  while (!has_news() && n_wakes_ == n_before && waited == Waited::ready) {
    if (!timeout_us) {
      changed_.wait(lock);
      continue;
    }
    const auto passed = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - start);
    if (passed.count() >= *timeout_us) waited = Waited::time_over;
    else changed_.wait_for(lock, std::chrono::microseconds(*timeout_us) - passed);
  }
  if (n_wakes_ != n_before) return ended_since(n_before);  // which counts it no more
  --n_waiting_;
  return waited;
}

bool RequestQueue::has_events() const {
  const Lock lock(mutex_);
  return has_news();
}

void RequestQueue::wake_waits() {
  const Lock lock(mutex_);
  if (n_waiting_ == 0) {
    ends_next_wait_ = true;
    return;
  }
  end_waits_now();
  last_wake_ = n_wakes_;
}

void RequestQueue::end_waits() {
  const Lock lock(mutex_);
  end_waits_now();
}

void RequestQueue::end_waits_now() {
  n_waiting_ = 0;
  ++n_wakes_;
  changed_.notify_all();
}

uint64_t RequestQueue::n_wakes() const {
  const Lock lock(mutex_);
  return n_wakes_;
}

size_t RequestQueue::n_waiting() const {
  const Lock lock(mutex_);
  return n_waiting_;
}

Result<WakeHandle::System> RequestQueue::handle() {
  const Lock lock(mutex_);
  if (!handle_) {
    INLAY_ASSIGN(WakeHandle made, WakeHandle::make());
    handle_.emplace(std::move(made));
    if (first_listed_ != nullptr || is_closed_) handle_->set();
  }
  return handle_->system();
}

void RequestQueue::close(bool forget) {
  const Lock lock(mutex_);
  is_closed_ = true;
  if (forget) {
    forgets_ = true;
    first_listed_ = last_listed_ = nullptr;
    std::erase_if(requests_, [](const auto& entry) { return entry.second->news.has_ended; });
  }
  changed_.notify_all();
  if (handle_) handle_->set();
}

std::vector<std::shared_ptr<Request>> RequestQueue::live() const {
  const Lock lock(mutex_);
  std::vector<std::shared_ptr<Request>> out;
  for (const auto& [id, request] : requests_) {
    if (!request->news.has_ended) out.push_back(request);
  }
  return out;
}

}  // namespace inlay
