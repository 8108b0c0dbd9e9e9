// The automaton of a grammar, made while it is used. A configuration is a set of items: an expression that is being read,
// what follows it in its rule, and where the rule returns to. Stacks share their beginnings, and stacks that call the same
// rule at the same place are merged, so there are few of them however ambiguous the grammar is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "src/constraint/grammar.h"

namespace inlay::constraint {

using ConfigId = uint32_t;
inline constexpr ConfigId kDead = 0;

struct Item {
  static constexpr uint32_t kTokens = uint32_t{1} << 31;  // of `regex`: the rest is the number of a set of tokens

  uint32_t regex;
  uint32_t dot;    // what follows
  uint32_t stack;  // where the rule returns to

  bool operator==(const Item&) const = default;
  auto operator<=>(const Item&) const = default;
  bool is_tokens() const { return (regex & kTokens) != 0; }
};

struct AutomatonLimits {
  size_t bytes = size_t{64} << 20;         // of configurations and expressions
  uint64_t steps = uint64_t{1} << 20;      // of one call
  uint32_t items = uint32_t{1} << 14;      // of one configuration
};

class Automaton {
 public:
  Automaton(Grammar grammar, const AutomatonLimits& limits);

  ConfigId start();
  // The configuration after `byte`; kDead exactly where no text goes on so.
  ConfigId step(ConfigId config, uint8_t byte) {
    const Config& at = configs_[config];
    const ConfigId known = targets_[at.targets + regexes().classes().map(at.classes)[byte]];
    return known != kUnknown ? known : make_step(config, byte);
  }
  // By its terminals of tokens alone; `by_name`: the token is not one of "all others".
  ConfigId step_token(ConfigId config, int32_t token, bool by_name);
  ConfigId merge(ConfigId a, ConfigId b);

  bool is_complete(ConfigId config) const { return configs_[config].complete; }
  bool has_token_items(ConfigId config) const { return configs_[config].has_tokens; }
  std::span<const Item> items(ConfigId config) const {
    return {items_.data() + configs_[config].items, configs_[config].n_items};
  }
  ConfigId of_items(std::vector<Item> items, bool complete);
  // Inside of the text that Grammar::limit limits; how many tokens it may have; and what may follow when it had them.
  bool is_limited(ConfigId config) const { return configs_[config].limited; }
  uint32_t max_limited() const { return grammar_.limit ? grammar_.limit->max_tokens : kUnbounded; }
  ConfigId closing(ConfigId config);
  // The bytes that may lead on, where they are few.
  const ByteClasses::Few& few(ConfigId config) { return regexes().classes().few(configs_[config].classes); }

  RegexStore& regexes() { return grammar_.regexes; }
  const Grammar& grammar() const { return grammar_; }

  // Every computation begins so. False: a limit was passed since, and what was computed is void.
  void allow_steps() { regexes().allow_steps(limits_.steps); }
  bool is_within_limits() const { return !full_ && !grammar_.regexes.is_full(); }
  void reset();  // drops all configurations
  size_t memory() const;

 private:
  static constexpr ConfigId kUnknown = UINT32_MAX;
  static constexpr uint32_t kAcceptDot = UINT32_MAX;
  struct Config {
    uint32_t items = 0, n_items = 0;
    uint32_t targets = 0;  // by class of bytes
    uint32_t classes = 0;
    bool complete = false;  // the text may end here
    bool has_tokens = false;
    bool limited = false;
  };
  struct Return {
    uint32_t dot, stack;
    bool operator==(const Return&) const = default;
    auto operator<=>(const Return&) const = default;
  };
  struct Stack {
    uint32_t begin, size;  // of returns
  };
  struct Task {
    uint32_t dot, stack;
    bool fresh;  // nothing was read since the rule was called: that it may be empty was considered there
    bool operator==(const Task&) const = default;
  };
  struct Call {
    uint32_t rank, rule;
    Return back;
    // Of a heap whose top is the rule that is to be expanded first
    bool operator<(const Call& other) const { return std::pair(rank, rule) > std::pair(other.rank, other.rule); }
  };
  // A rule of a position in a list or an object
  enum class Position : uint8_t { first, rest, next };
  struct Instance {
    uint32_t rule;
    Position position;
    uint32_t index, count;
    std::vector<uint32_t> productions;  // where they begin in symbols_
    bool nullable = false, made = false;
  };

  const Symbol& symbol(uint32_t dot) const {
    const size_t n = grammar_.symbols.size();
    return dot < n ? grammar_.symbols[dot] : symbols_[dot - n];
  }
  std::span<const Return> returns(uint32_t stack) const { return {returns_.data() + stacks_[stack].begin, stacks_[stack].size}; }

  bool is_limited(const Item& item) const { return !item.is_tokens() && item.dot == limited_dot_; }
  ConfigId make_step(ConfigId config, uint8_t byte);
  void add_task(uint32_t dot, uint32_t stack, bool fresh);
  void advance(const Task& task);
  void add_call(uint32_t rule, uint32_t dot, uint32_t stack);
  void expand(uint32_t rule, uint32_t stack);
  ConfigId close();  // the configuration of tasks_ and found_
  uint32_t stack_of(std::vector<Return>& returns);

  bool is_nullable(uint32_t rule) const;
  uint32_t rank(uint32_t rule) const;
  uint32_t instance(uint32_t rule, Position position, uint32_t index, uint32_t count);
  const std::vector<uint32_t>& productions(uint32_t rule);
  void make_productions(Instance& instance);
  void make_list(Instance& instance, const ListRule& list);
  void make_once(Instance& instance, const ListRule& list);
  void make_counted(Instance& instance, const ListRule& list);
  void make_object(Instance& instance, const ObjectRule& object);
  void produce(Instance& instance, std::initializer_list<Symbol> production);

  Grammar grammar_;
  AutomatonLimits limits_;
  uint32_t limited_dot_ = kAcceptDot;  // behind the text that is limited
  std::vector<Symbol> symbols_;  // of instances' productions
  std::vector<Instance> instances_;
  std::vector<Config> configs_;
  std::vector<Item> items_;
  std::vector<ConfigId> targets_;
  std::vector<Stack> stacks_;
  std::vector<Return> returns_;
  NumberTable config_numbers_, stack_numbers_, instance_numbers_;
  bool full_ = false;

  // Of the closure that is being computed
  std::vector<Task> tasks_;  // done ones, too: none is done twice
  NumberTable task_numbers_;
  std::vector<Call> calls_;
  std::vector<Item> found_;
  bool found_end_ = false;
};

}  // namespace inlay::constraint
