#include "src/engine/round.h"

#include <algorithm>
#include <tuple>

namespace inlay {

using State = PlannedRequest::State;

int32_t level_of(const PlannedRequest& request, int64_t now, int64_t age) {
  return request.state == State::running ? request.priority : aged_level_of(request, now, age);
}

int32_t aged_level_of(const PlannedRequest& request, int64_t now, int64_t age) {
  const int64_t gained = std::max<int64_t>(0, now - request.waiting_since) / std::max<int64_t>(1, age);
  return static_cast<int32_t>(std::min<int64_t>(kTopLevel, request.priority + gained));
}

void RoundPlanner::plan(std::span<const PlannedRequest> requests, const RoundLimits& limits, int64_t now, Round& out) {
  requests_ = requests;
  limits_ = limits;
  now_ = now;
  n_free_ = limits.n_free;
  n_tokens_ = 0;
  out.parts.clear();
  out.put_out.clear();
  out.begun.clear();
  out.asks = Round::kNone;
  sharing_.clear();
  running_.clear();
  waiting_.clear();
  for (size_t i = 0; i < requests.size(); ++i) (requests[i].state == State::running ? running_ : waiting_).push_back(i);
  sort(running_);
  sort(waiting_);
  put_out_surplus(out);
  give_rows(out);
  begin_waiting(out);
  give_chunks(out);
}

// Who has waited for longer than it takes to come to the top comes before whoever has a deadline: these could come and come.
static int64_t deadline_of(const PlannedRequest& request, int64_t now, int64_t age) {
  const int64_t overdue = request.waiting_since + (kTopLevel + 1) * std::max<int64_t>(1, age);
  return now < overdue ? request.deadline : std::min(request.deadline, overdue);
}

bool begins_before(const PlannedRequest& a, const PlannedRequest& b, int64_t now, int64_t age) {
  const auto key = [&](const PlannedRequest& r) { return std::tuple(-level_of(r, now, age), r.state != State::resting, deadline_of(r, now, age), r.submitted); };
  return key(a) < key(b);
}

bool RoundPlanner::is_before(size_t a, size_t b) const {
  if (begins_before(at(a), at(b), now_, limits_.age)) return true;
  return a < b && !begins_before(at(b), at(a), now_, limits_.age);
}

void RoundPlanner::sort(std::vector<size_t>& some) const {
  std::ranges::sort(some, [this](size_t a, size_t b) { return is_before(a, b); });
}

// Blocks that it lacks to begin: for its tokens and those that it draws before it may be put out again, but no more than there are.
int32_t RoundPlanner::n_lacking_to_begin(size_t i) const {
  const int32_t end = at(i).n_most - limits_.min_drawn < at(i).n_tokens ? at(i).n_most : at(i).n_tokens + limits_.min_drawn;
  return std::min(n_lacking(i, std::max(end, at(i).n_tokens) - at(i).n_cached), limits_.n_blocks - at(i).n_blocks);
}

// Blocks that it lacks for n more tokens.
int32_t RoundPlanner::n_lacking(size_t i, int32_t n) const {
  const int32_t n_wanted = (at(i).n_cached + n + limits_.block_tokens - 1) / limits_.block_tokens;
  return std::max(0, n_wanted - at(i).n_blocks);
}

// Makes room for n blocks of request i, and a place if it lacks one, by what is below it; false, and nothing is done, if that is not enough.
bool RoundPlanner::take(size_t i, int32_t n, bool lacks_place, Round& out) {
  gone_.clear();
  int32_t n_room = n_free_;
  for (auto last = running_.rbegin(); last != running_.rend() && (n_room < n || lacks_place); ++last) {
    const int32_t n_given = n_given_by(*last, i);
    if (!gives_way(*last, i) || (n_given <= 0 && !lacks_place)) continue;
    gone_.push_back(*last);
    n_room += n_given;
    lacks_place = false;
  }
  if (n_room < n || lacks_place) return false;
  n_free_ = n_room - n;
  for (const size_t other : gone_) put_out(other, out);
  return true;
}

// Blocks that are free when `other` is put out, but for those with which `to` begins, or who else begins in this round.
int32_t RoundPlanner::n_given_by(size_t other, size_t to) const {
  int32_t n_taken = at(to).found_at == other ? std::max(0, at(to).n_found) : 0;
  for (const size_t i : sharing_) {
    if (at(i).found_at == other) n_taken = std::max(n_taken, at(i).n_found);
  }
  return at(other).n_blocks - std::max(at(other).n_shared, n_taken);  // both are its first ones
}

void RoundPlanner::put_out(size_t other, Round& out) {
  std::erase(running_, other);
  std::erase_if(out.parts, [&](const Round::Part& part) { return part.request == other; });
  out.put_out.push_back(other);
}

// More run than a step may have, where it is to be cut and those before it were not: who nobody polls waits for a place, else the last of the order.
void RoundPlanner::put_out_surplus(Round& out) {
  while (running_.size() > static_cast<size_t>(limits_.max_sequences)) {
    const auto unread = std::find_if(running_.rbegin(), running_.rend(), [this](size_t i) { return at(i).is_unread; });
    const size_t last = unread == running_.rend() ? running_.back() : *unread;
    put_out(last, out);
    n_free_ += at(last).n_blocks - at(last).n_shared;
  }
}

// Whether `other`, which runs, may be put out for request i. One that has begun in this round has no blocks to give, and what was given to it
// is not counted among its own.
bool RoundPlanner::gives_way(size_t other, size_t i) const {
  if (other == i || at(other).state != State::running || at(other).n_blocks == 0) return false;
  if (at(other).is_unread) return !at(i).is_unread;  // it would hold up all others for as long as nobody polls
  return at(other).n_drawn >= limits_.min_drawn && is_below(other, i);
}

// By priorities as they were submitted. What a request gains by waiting only says when it begins: if it put out its equals, these would wait and
// put out it, and where a step is slow each would compute its whole prompt again for a few tokens.
bool RoundPlanner::is_below(size_t other, size_t i) const {
  if (at(other).priority != at(i).priority) return at(other).priority < at(i).priority;
  return at(i).state == State::running && std::pair(at(other).submitted, other) > std::pair(at(i).submitted, i);
}

// One token of each running request that draws. Who finds no block waits for one, with all that it has.
void RoundPlanner::give_rows(Round& out) {
  order_.assign(running_.begin(), running_.end());
  for (const size_t i : order_) {
    if (!draws(i) || at(i).is_unread || n_tokens_ == limits_.max_step_tokens) continue;
    if (std::ranges::find(running_, i) == running_.end()) continue;  // was put out for one before it
    if (take(i, n_lacking(i, 1), false, out)) add(i, 1, out);
  }
}

// With room for the tokens that it draws before it may be put out: so who runs always comes so far.
void RoundPlanner::begin_waiting(Round& out) {
  for (const size_t i : waiting_) {
    int32_t n = n_lacking_to_begin(i);
    if (asks(i, n)) {
      out.asks = i;
      return;
    }
    if (at(i).n_found > 0 && std::ranges::find(running_, at(i).found_at) != running_.end()) {
      n -= at(i).n_found;
      sharing_.push_back(i);
    }
    if (!take(i, n, running_.size() >= static_cast<size_t>(limits_.max_sequences), out)) return;
    running_.push_back(i);
    out.begun.push_back(i);
  }
}

// Whether n blocks, of which it may find some, are more than are free, and all that it may find would be enough.
bool RoundPlanner::asks(size_t i, int32_t n) const {
  if (at(i).n_found != PlannedRequest::kNotLookedFor || n <= n_free_) return false;
  int32_t n_room = n_free_ + (at(i).n_tokens - 1) / limits_.block_tokens;
  bool has_place = running_.size() < static_cast<size_t>(limits_.max_sequences);
  for (const size_t other : running_) {
    if (!gives_way(other, i)) continue;
    n_room += std::max(0, n_given_by(other, i));
    has_place = true;
  }
  return has_place && n <= n_room;
}

// Of what is left. One that cannot be cut waits until it fits; the first in the order has all the room that a step has.
int32_t RoundPlanner::chunk_of(size_t i, int32_t n_left, bool is_first) const {
  const int32_t n = at(i).n_tokens - at(i).n_cached;
  if (!at(i).is_whole || n <= n_left) return std::min(n, n_left);
  return is_first && n <= limits_.max_step_tokens - n_tokens_ ? n : 0;
}

// In the order in which they would begin, if they still waited: who computes a prompt below others comes to its turn as who waits does.
void RoundPlanner::give_chunks(Round& out) {
  bool is_first = true;
  int32_t n_left = std::min(limits_.max_prompt_tokens, limits_.max_step_tokens - n_tokens_);
  n_left = std::min(n_left, std::max(limits_.least_chunk, limits_.max_timed_tokens - n_tokens_));
  std::ranges::sort(running_, {}, [this](size_t i) {
    return std::tuple(-aged_level_of(at(i), now_, limits_.age), at(i).state != State::resting, deadline_of(at(i), now_, limits_.age), at(i).submitted, i);
  });
  for (const size_t i : running_) {
    if (draws(i) && at(i).state == State::running) continue;
    const int32_t n = chunk_of(i, n_left, is_first);
    if (n <= 0 || out.parts.size() >= static_cast<size_t>(limits_.max_sequences)) continue;
    is_first = false;
    n_left -= n;
    add(i, n, out);
  }
}

void RoundPlanner::add(size_t i, int32_t n, Round& out) {
  out.parts.push_back({.request = i, .n_tokens = n, .draws = at(i).n_cached + n == at(i).n_tokens && !at(i).is_unread});
  n_tokens_ += n;
}

}  // namespace inlay
