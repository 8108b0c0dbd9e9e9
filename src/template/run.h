// One rendering: what it may still cost, the objects that it made, and the time that it believes it is.
#pragma once

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/base/stack_budget.h"
#include "src/template/object.h"
#include "src/template/value.h"

namespace inlay::tmpl {

// What keeps a template that runs away from taking the host with it. The defaults leave a conversation of a million
// tokens room.
struct Limits {
  // One step is a node of the template evaluated, an item of a list touched, kBytesPerStep bytes of text built or read, or as many names
  // of variables looked through; so they bound the time and the memory (512 MiB of text) alike.
  uint64_t steps = uint64_t{1} << 24;
  uint64_t output_bytes = uint64_t{64} << 20;
  uint32_t depth = 400;        // statements and expressions inside each other, through calls of macros
  uint32_t value_depth = 200;  // containers inside each other
  int64_t range_items = 100000;
};

class Run {
 public:
  Run(const Limits& run_limits, const std::tm& local_time) : limits(run_limits), now(local_time) {}
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  Status charge(uint64_t steps);
  Status charge_bytes(uint64_t n_bytes) { return charge(n_bytes / kBytesPerStep); }
  // For a result of `n` times `each` bytes, which may be more than any integer holds.
  Status charge_product(uint64_t n, uint64_t each);
  Status charge_search(const Map& map, const Value& key);  // for Map::find and Map::set
  Status charge_sort(const Map& map);                      // of its keys
  uint64_t steps_left() const { return limits.steps - std::min(spent_, limits.steps); }

  // Wholly foreign where a function runs on something that is.
  Result<Value> text(std::string bytes, bool markup = false);
  Result<Value> text(Text text);  // its spans are exact
  // `bytes` are a part of a string value, or a text made of it.
  Result<Value> part(const Value& of, std::string_view bytes, bool markup = false);
  Result<Value> list(std::vector<Value> items, ListKind kind = ListKind::list);
  Result<Value> tuple(std::vector<Value> items) { return list(std::move(items), ListKind::tuple); }
  Result<Value> map(Map map);
  Status set(Map& map, Value key, Value value);
  Result<Value> texts(const Value& of, const std::vector<std::string_view>& parts, ListKind kind = ListKind::list);
  Result<Value> generator(std::vector<Value> items);
  // Of the items that `fill` puts into its argument. An error of the template's is for those who walk beyond the last item.
  template <class Fill>
  Result<Value> generator_of(const Fill& fill) {
    std::vector<Value> items;
    Status failure = fill(items);
    if (!failure.ok() && failure.code != Code::invalid_argument) return failure;
    INLAY_TRY(charge(items.size() + 1 + failure.message.size() / kBytesPerStep));
    return Value(make<Generator>(std::move(items), std::move(failure)));
  }

  // What a loop over the value visits. A generator is empty afterwards.
  Result<std::vector<Value>> iterate(const Value& value);
  Result<int64_t> length(const Value& value);
  Result<bool> contains(const Value& container, const Value& item);
  // Those of value.h, paid for.
  Result<bool> same(const Value& a, const Value& b);
  Result<Order> order(const Value& a, const Value& b, const char* sign);

  template <class T, class... Args>
  T* make(Args&&... args) {
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T* out = owned.get();
    objects_.push_back(std::move(owned));
    return out;
  }

  const Limits limits;
  const std::tm now;
  uint32_t depth = 0;  // of whatever recursion is going on
  StackBudget stack;   // the same recursion's
  bool foreign = false;  // the function at hand runs on text from the conversation

 private:
  Status check_nesting(uint32_t depth) const;
  uint64_t spent_ = 0;
  std::vector<std::unique_ptr<Object>> objects_;
};

// Says for the functions called while it lives whether they run on text from the conversation.
class ForeignScope {
 public:
  ForeignScope(Run& run, bool foreign) : run_(run), outer_(std::exchange(run.foreign, foreign)) {}
  ~ForeignScope() { run_.foreign = outer_; }
  ForeignScope(const ForeignScope&) = delete;
  ForeignScope& operator=(const ForeignScope&) = delete;

 private:
  Run& run_;
  const bool outer_;
};

// Counts a level of recursion for as long as it lives.
class Descent {
 public:
  explicit Descent(Run& run) : run_(run) { ++run_.depth; }
  ~Descent() { --run_.depth; }
  Descent(const Descent&) = delete;
  Descent& operator=(const Descent&) = delete;
  Status check() const;

 private:
  Run& run_;
};

}  // namespace inlay::tmpl
