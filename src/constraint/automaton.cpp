#include "src/constraint/automaton.h"

#include <algorithm>

namespace inlay::constraint {

Automaton::Automaton(Grammar grammar, const AutomatonLimits& limits) : grammar_(std::move(grammar)), limits_(limits) {
  if (grammar_.limit && !grammar_.rules[grammar_.limit->rule].productions.empty())
    limited_dot_ = grammar_.rules[grammar_.limit->rule].productions[0] + 1;
  regexes().set_base();
  regexes().set_limit(limits_.bytes);
  reset();
}

void Automaton::reset() {
  regexes().forget();
  symbols_.clear();
  instances_.clear();
  configs_.clear();
  items_.clear();
  targets_.clear();
  stacks_.clear();
  returns_.clear();
  config_numbers_.clear();
  stack_numbers_.clear();
  instance_numbers_.clear();
  tasks_.clear();
  task_numbers_.clear();
  calls_.clear();
  found_.clear();
  full_ = found_end_ = false;
  (void)of_items({}, false);  // kDead
  std::vector<Return> bottom{{kAcceptDot, 0}};
  (void)stack_of(bottom);
}

size_t Automaton::memory() const {
  return grammar_.regexes.memory() + symbols_.size() * sizeof(Symbol) + instances_.size() * (sizeof(Instance) + 16) +
         configs_.size() * sizeof(Config) + items_.size() * sizeof(Item) + targets_.size() * 4 + stacks_.size() * sizeof(Stack) +
         returns_.size() * sizeof(Return) + config_numbers_.bytes() + stack_numbers_.bytes() + instance_numbers_.bytes();
}

ConfigId Automaton::of_items(std::vector<Item> items, bool complete) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  if (items.size() > limits_.items || memory() > limits_.bytes) full_ = true;
  if (!is_within_limits()) return kDead;
  uint64_t hash = complete ? 2 : 1;
  for (const Item& item : items) hash = mix(mix(mix(hash, item.regex), item.dot), item.stack);
  const auto is = [&](uint32_t number) {
    const Config& config = configs_[number];
    return config.complete == complete && config.n_items == items.size() &&
           std::equal(items.begin(), items.end(), items_.begin() + config.items);
  };
  return config_numbers_.find_or_add(hash, is, [&] {
    Config config;
    config.complete = complete;
    config.items = static_cast<uint32_t>(items_.size());
    config.n_items = static_cast<uint32_t>(items.size());
    config.classes = regexes().classes_of(kNothing);
    for (const Item& item : items) {
      config.limited = config.limited || is_limited(item);
      if (item.is_tokens())
        config.has_tokens = true;
      else
        config.classes = regexes().classes().combined(config.classes, regexes().classes_of(item.regex));
    }
    config.targets = static_cast<uint32_t>(targets_.size());
    targets_.resize(targets_.size() + regexes().classes().size(config.classes), kUnknown);
    targets_[config.targets] = kDead;
    items_.insert(items_.end(), items.begin(), items.end());
    configs_.push_back(config);
    return static_cast<uint32_t>(configs_.size() - 1);
  });
}

// What follows the text is among the items already, where the text may end.
ConfigId Automaton::closing(ConfigId config) {
  std::vector<Item> kept;
  const std::vector<Item> all(items(config).begin(), items(config).end());
  for (Item item : all) {
    if (is_limited(item)) {
      item.regex = regexes().both({item.regex, grammar_.limit->tail});
      if (regexes().first(item.regex).empty() || regexes().is_nothing(item.regex)) continue;
    }
    kept.push_back(item);
  }
  return of_items(std::move(kept), is_complete(config));
}

uint32_t Automaton::stack_of(std::vector<Return>& back) {
  std::sort(back.begin(), back.end());
  back.erase(std::unique(back.begin(), back.end()), back.end());
  uint64_t hash = 3;
  for (const Return& place : back) hash = mix(mix(hash, place.dot), place.stack);
  const auto is = [&](uint32_t number) {
    const auto others = returns(number);
    return std::equal(others.begin(), others.end(), back.begin(), back.end());
  };
  return stack_numbers_.find_or_add(hash, is, [&] {
    stacks_.push_back({static_cast<uint32_t>(returns_.size()), static_cast<uint32_t>(back.size())});
    returns_.insert(returns_.end(), back.begin(), back.end());
    return static_cast<uint32_t>(stacks_.size() - 1);
  });
}

ConfigId Automaton::start() {
  add_call(grammar_.start, kAcceptDot, 0);
  if (is_nullable(grammar_.start)) found_end_ = true;
  return close();
}

ConfigId Automaton::make_step(ConfigId config, uint8_t byte) {
  const auto n = configs_[config].n_items;
  for (uint32_t i = 0; i < n; ++i) {
    const Item item = items_[configs_[config].items + i];
    if (item.is_tokens()) continue;
    const RegexId next = regexes().step(item.regex, byte);
    if (next == kNothing) continue;
    if (!regexes().first(next).empty()) found_.push_back({next, item.dot, item.stack});
    if (regexes().nullable(next)) add_task(item.dot, item.stack, false);
  }
  const ConfigId next = close();
  if (is_within_limits()) targets_[configs_[config].targets + regexes().classes().map(configs_[config].classes)[byte]] = next;
  return next;
}

ConfigId Automaton::step_token(ConfigId config, int32_t token, bool by_name) {
  for (const Item& item : items(config)) {
    if (!item.is_tokens()) continue;
    const TokenSet& set = grammar_.token_sets[item.regex & ~Item::kTokens];
    if (set.has(token) && !(set.negated && by_name)) add_task(item.dot, item.stack, false);
  }
  return close();
}

ConfigId Automaton::merge(ConfigId a, ConfigId b) {
  if (a == kDead || a == b) return b;
  if (b == kDead) return a;
  std::vector<Item> all(items(a).begin(), items(a).end());
  all.insert(all.end(), items(b).begin(), items(b).end());
  return of_items(std::move(all), is_complete(a) || is_complete(b));
}

void Automaton::add_task(uint32_t dot, uint32_t stack, bool fresh) {
  const Task task{dot, stack, fresh};
  (void)task_numbers_.find_or_add(
      mix(mix(fresh, dot), stack), [&](uint32_t number) { return tasks_[number] == task; },
      [&] {
        tasks_.push_back(task);
        return static_cast<uint32_t>(tasks_.size() - 1);
      });
}

ConfigId Automaton::close() {
  size_t n_done = 0;
  std::vector<Return> back;
  while (is_within_limits()) {
    if (found_.size() > size_t{4} * limits_.items || tasks_.size() > size_t{16} * limits_.items) full_ = true;
    if (n_done < tasks_.size()) {
      const Task task = tasks_[n_done++];
      advance(task);
      continue;
    }
    if (calls_.empty()) break;
    const uint32_t rule = calls_.front().rule;
    back.clear();
    while (!calls_.empty() && calls_.front().rule == rule) {
      const Return place = calls_.front().back;
      std::pop_heap(calls_.begin(), calls_.end());
      calls_.pop_back();
      // A call at the end of a rule returns to where that rule returns to.
      if (place.dot != kAcceptDot && symbol(place.dot).kind == SymbolKind::end) {
        const auto further = returns(place.stack);
        back.insert(back.end(), further.begin(), further.end());
      } else {
        back.push_back(place);
      }
    }
    expand(rule, stack_of(back));
  }
  if (!tasks_.empty()) {
    tasks_.clear();
    task_numbers_.clear();
  }
  calls_.clear();
  const bool complete = std::exchange(found_end_, false);
  std::vector<Item> items;
  items.swap(found_);
  return of_items(std::move(items), complete);
}

void Automaton::advance(const Task& task) {
  regexes().add_steps(1);
  if (task.dot == kAcceptDot) {
    found_end_ = true;
    return;
  }
  const Symbol at = symbol(task.dot);
  switch (at.kind) {
    case SymbolKind::end:
      if (task.fresh) return;
      for (uint32_t i = 0; i < stacks_[task.stack].size; ++i) {
        const Return back = returns_[stacks_[task.stack].begin + i];
        add_task(back.dot, back.stack, false);
      }
      return;
    case SymbolKind::terminal:
      found_.push_back({at.id, task.dot + 1, task.stack});
      if (regexes().nullable(at.id)) add_task(task.dot + 1, task.stack, task.fresh);
      return;
    case SymbolKind::tokens:
      found_.push_back({at.id | Item::kTokens, task.dot + 1, task.stack});
      return;
    case SymbolKind::rule:
      if (is_nullable(at.id)) add_task(task.dot + 1, task.stack, task.fresh);
      [[fallthrough]];
    case SymbolKind::some:
      return add_call(at.id, task.dot + 1, task.stack);
  }
}

void Automaton::add_call(uint32_t rule, uint32_t dot, uint32_t stack) {
  calls_.push_back({rank(rule), rule, {dot, stack}});
  std::push_heap(calls_.begin(), calls_.end());
}

void Automaton::expand(uint32_t rule, uint32_t stack) {
  for (const uint32_t begin : productions(rule)) add_task(begin, stack, true);
}

bool Automaton::is_nullable(uint32_t rule) const {
  const size_t n = grammar_.rules.size();
  return rule < n ? grammar_.rules[rule].nullable : instances_[rule - n].nullable;
}

uint32_t Automaton::rank(uint32_t rule) const {
  const size_t n = grammar_.rules.size();
  return grammar_.rules[rule < n ? rule : instances_[rule - n].rule].rank;
}

}  // namespace inlay::constraint
