// Which requests take part in the next step, and which give way: a function of their states, of what there is room for, and of a clock that
// belongs to the caller. docs/design/requests.md, "Order of work"
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace inlay {

inline constexpr int32_t kTopLevel = 7;

// A request as the planner sees it. Times are microseconds of the caller's clock.
struct PlannedRequest {
  enum class State : uint8_t { waiting, running, resting };  // resting: was put out, and comes back

  static constexpr int32_t kNotLookedFor = -1;

  State state = State::waiting;
  int32_t priority = 0;            // 0 to kTopLevel
  int64_t submitted = 0;
  int64_t waiting_since = 0;       // to begin, or of a running one for its next part
  int64_t deadline = INT64_MAX;    // orders requests of one level
  int32_t n_cached = 0;            // tokens in the cache; of a resting one none
  int32_t n_tokens = 0;            // of the sequence so far: those that are not cached are computed before it draws
  int32_t n_most = INT32_MAX;      // that it can ever have
  int32_t n_blocks = 0;            // that it has: since it began those of its prompt and of min_drawn tokens
  int32_t n_shared = 0;            // of these, that do not become free when it gives way
  int32_t n_found = 0;             // how many first blocks of a running request it would begin with, or kNotLookedFor
  size_t found_at = 0;             // which request has them: into the requests
  int32_t n_drawn = 0;             // since it began or came back
  bool is_whole = false;           // what is not cached is one part: each token sees all others
  bool is_unread = false;          // nobody has polled what it drew: it draws no more, and gives way to all others
};

struct RoundLimits {
  int32_t max_sequences = 0;     // of a step, and running at once
  int32_t max_step_tokens = 0;
  int32_t max_prompt_tokens = 0; // of prompts, in a step; the first whole one goes beyond it
  int32_t max_timed_tokens = INT32_MAX;  // of all, in the time that a step may take; drawn ones, the first whole one, and least_chunk of prompts go beyond it
  int32_t least_chunk = 16;
  int32_t block_tokens = 0;
  int32_t n_blocks = 0;          // that one request can come to have
  int32_t n_free = 0;            // that nobody uses
  int64_t age = 250'000;         // a waiting request rises by a level in this time
  int32_t min_drawn = 16;        // tokens that a request draws before it is put out again
};

struct Round {
  struct Part {
    size_t request = 0;   // into the requests
    int32_t n_tokens = 0; // of its sequence, from n_cached on
    bool draws = false;   // behind the last of them
  };
  std::vector<Part> parts;       // of the step
  std::vector<size_t> put_out;   // before it: their blocks are free then
  // A request whose n_found has to be known: the rest of the round means nothing then, and it is to be planned anew.
  static constexpr size_t kNone = SIZE_MAX;
  size_t asks = kNone;
  std::vector<size_t> begun;     // waiting or resting ones that run from now on, in this order, with blocks for all their tokens and min_drawn more, if it can have these and there are as many
};

// The level of a request, with what it has gained by waiting; and of one that runs as if it still waited.
int32_t level_of(const PlannedRequest& request, int64_t now, int64_t age);
int32_t aged_level_of(const PlannedRequest& request, int64_t now, int64_t age);

// Whether request a begins before b, of two that wait: by level, those that were put out first, then by deadline, then by age.
bool begins_before(const PlannedRequest& a, const PlannedRequest& b, int64_t now, int64_t age);

// Who runs goes on: one token of each that draws, and chunks of prompts in what is left. Who waits begins, the highest level first, at one
// level those that were put out, then by deadline, then by age; nobody is passed over for one behind it. Blocks that lack are taken from the
// running request of the lowest level, and of these from the latest, if that is below the one that lacks them. A block that a beginning
// request shares with a running one is counted once.
class RoundPlanner {
 public:
  // What was planned before changes nothing: the object keeps memory alone.
  void plan(std::span<const PlannedRequest> requests, const RoundLimits& limits, int64_t now, Round& out);

 private:
  const PlannedRequest& at(size_t i) const { return requests_[i]; }
  bool is_before(size_t a, size_t b) const;
  void sort(std::vector<size_t>& some) const;
  int32_t n_lacking_to_begin(size_t i) const;
  int32_t n_lacking(size_t i, int32_t n) const;
  bool take(size_t i, int32_t n, bool lacks_place, Round& out);
  bool gives_way(size_t other, size_t i) const;
  bool is_below(size_t other, size_t i) const;
  bool draws(size_t i) const { return at(i).n_tokens - at(i).n_cached <= 1; }
  void put_out(size_t other, Round& out);
  void put_out_surplus(Round& out);
  int32_t chunk_of(size_t i, int32_t n_left, bool is_first) const;
  void give_rows(Round& out);
  void begin_waiting(Round& out);
  bool asks(size_t i, int32_t n) const;
  int32_t n_given_by(size_t other, size_t to) const;
  void give_chunks(Round& out);
  void add(size_t i, int32_t n, Round& out);

  std::span<const PlannedRequest> requests_;
  RoundLimits limits_;
  int64_t now_ = 0;
  std::vector<size_t> running_, waiting_, order_, gone_;
  std::vector<size_t> sharing_;  // of those that begin in this round, who begin with blocks of running ones
  int32_t n_free_ = 0, n_tokens_ = 0;
};

}  // namespace inlay
