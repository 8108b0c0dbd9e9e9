// A recognizer that shares nothing with the automaton but the grammar and the derivatives of single expressions: every stack
// is written out, nothing but equal stacks is merged, and tokens are read one by one.
#pragma once

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

#include "src/constraint/grammar.h"

namespace inlay::constraint {

class NaiveRecognizer {
 public:
  // Of a grammar that was finished.
  explicit NaiveRecognizer(Grammar& grammar) : grammar_(grammar) {
    push({{Task::symbol, {SymbolKind::rule, grammar.start}, 0, 0}});
    seen_.clear();
  }

  bool step(uint8_t byte) {
    const std::set<Thread> before = std::move(threads_);
    threads_.clear();
    complete_ = false;
    for (const Thread& thread : before) {
      const RegexId next = grammar_.regexes.step(thread.regex, byte);
      if (next == kNothing) continue;
      if (!grammar_.regexes.first(next).empty()) threads_.insert({next, thread.tasks});
      if (grammar_.regexes.nullable(next)) push(thread.tasks);
    }
    seen_.clear();
    return is_alive();
  }
  bool is_alive() const { return complete_ || !threads_.empty(); }
  bool is_complete() const { return complete_; }
  size_t n_threads() const { return threads_.size(); }

 private:
  struct Task {
    enum Kind : uint8_t { symbol, list, object } kind;
    Symbol what;         // of a list or an object: the rule
    uint32_t index = 0;  // of the next member; or of a list: the set of elements that were written, how many count
    uint32_t count = 0;  // of what was read
    auto operator<=>(const Task& other) const {
      return std::tuple(kind, what.kind, what.id, index, count) <=> std::tuple(other.kind, other.what.kind, other.what.id, other.index, other.count);
    }
    bool operator==(const Task& other) const { return (*this <=> other) == 0; }
  };
  using Tasks = std::vector<Task>;  // the next one is the last
  struct Thread {
    RegexId regex;
    Tasks tasks;
    auto operator<=>(const Thread&) const = default;
  };

  static Task of(Symbol symbol) { return {Task::symbol, symbol, 0, 0}; }
  void push_with(Tasks tasks, std::initializer_list<Task> more) {
    for (auto task = std::rbegin(more); task != std::rend(more); ++task) tasks.push_back(*task);
    push(std::move(tasks));
  }

  void push(Tasks tasks) {
    if (!seen_.insert(tasks).second) return;
    if (tasks.empty()) {
      complete_ = true;
      return;
    }
    const Task task = tasks.back();
    tasks.pop_back();
    if (task.kind == Task::list) return push_list(task, grammar_.lists[grammar_.rules[task.what.id].detail], tasks);
    if (task.kind == Task::object) return push_object(task, grammar_.objects[grammar_.rules[task.what.id].detail], tasks);
    if (task.what.kind == SymbolKind::terminal) {
      if (!grammar_.regexes.first(task.what.id).empty()) threads_.insert({task.what.id, tasks});
      if (grammar_.regexes.nullable(task.what.id)) push(std::move(tasks));
      return;
    }
    const Rule& rule = grammar_.rules[task.what.id];
    if (rule.kind == RuleKind::list) return push_with(std::move(tasks), {of(terminal(grammar_.lists[rule.detail].open)), {Task::list, task.what, 0, 0}});
    if (rule.kind == RuleKind::object)
      return push_with(std::move(tasks), {of(terminal(grammar_.objects[rule.detail].open)), {Task::object, task.what, 0, 0}});
    for (const uint32_t begin : rule.productions) {
      Tasks more = tasks;
      uint32_t end = begin;
      while (grammar_.symbols[end].kind != SymbolKind::end) ++end;
      while (end > begin) more.push_back(of(grammar_.symbols[--end]));
      push(std::move(more));
    }
  }

  // So many elements that more of them are the same: without it empty ones could follow each other without end.
  static uint32_t next_count(const ListRule& list, uint32_t count) {
    const uint32_t enough = std::max({list.min, static_cast<uint32_t>(list.prefix.size()), 1u});
    return list.max == kUnbounded ? std::min(count + 1, enough) : count + 1;
  }

  // Whether a list can be ended, by trying all that may follow; of small numbers.
  static bool can_end(const ListRule& list, uint32_t n, uint32_t n_counted) {
    if (n > list.max || n_counted > list.max_counted || n > list.min + list.min_counted + 2) return false;
    if (n >= list.min && n_counted >= list.min_counted) return true;
    return (list.counted.kind != SymbolKind::end && can_end(list, n + 1, n_counted + 1)) || (list.rest.kind != SymbolKind::end && can_end(list, n + 1, n_counted));
  }

  void push_list(const Task& task, const ListRule& list, const Tasks& tasks) {
    if (list.counts()) {
      if (task.count >= list.min && task.index >= list.min_counted) push_with(tasks, {of(terminal(list.close))});
      for (const uint32_t more : {0u, 1u}) {
        const Symbol element = more ? list.counted : list.rest;
        if (element.kind == SymbolKind::end || !can_end(list, task.count + 1, task.index + more)) continue;
        push_with(tasks, {of(terminal(task.count == 0 ? kEmptyText : list.separator)), of(element), {Task::list, task.what, task.index + more, task.count + 1}});
      }
      return;
    }
    if (task.count >= list.min) push_with(tasks, {of(terminal(list.close))});
    if (task.count >= list.max) return;
    for (uint32_t i = 0; i < list.once.size(); ++i) {
      const uint32_t bit = uint32_t{1} << i;
      if ((task.index & bit) != 0) continue;
      push_with(tasks, {of(terminal(task.count == 0 ? kEmptyText : list.separator)), of(terminal(list.once[i])), {Task::list, task.what, task.index | bit, task.count + 1}});
    }
    const Symbol element = task.count < list.prefix.size() ? list.prefix[task.count] : list.rest;
    if (element.kind == SymbolKind::end) return;
    const Symbol separator = terminal(task.count == 0 ? kEmptyText : list.separator);
    push_with(tasks, {of(separator), of(element), {Task::list, task.what, 0, next_count(list, task.count)}});
  }

  void push_object(const Task& task, const ObjectRule& object, const Tasks& tasks) {
    uint32_t n_required = 0;
    for (size_t i = task.index; i < object.members.size(); ++i) n_required += object.members[i].required;
    if (n_required == 0 && task.count >= object.min) push_with(tasks, {of(terminal(object.close))});
    const Symbol separator = terminal(task.count == 0 ? kEmptyText : object.separator);
    const auto member = [&](const Member& one, size_t next, uint64_t n_left, uint64_t n_most) {
      if (task.count + 1 + n_left > object.max || n_most < object.min) return;
      push_with(tasks, {of(separator), of(terminal(one.key)), of(one.value), {Task::object, task.what, static_cast<uint32_t>(next), task.count + 1}});
    };
    for (size_t i = task.index; i < object.members.size(); ++i) {
      n_required -= object.members[i].required;
      member(object.members[i], i + 1, n_required, task.count + object.members.size() - i + (object.others.empty() ? 0 : 1));
      if (object.members[i].required) return;
    }
    for (const Member& one : object.others) member(one, object.members.size(), 0, task.count + 1);
  }

  Grammar& grammar_;
  std::set<Thread> threads_;
  std::set<Tasks> seen_;  // of the step that is being made
  bool complete_ = false;
};

}  // namespace inlay::constraint
