// The rules of the positions in lists and objects, made when the automaton comes to them.
#include <algorithm>
#include <bit>

#include "src/constraint/automaton.h"

namespace inlay::constraint {

uint32_t Automaton::instance(uint32_t rule, Position position, uint32_t index, uint32_t count) {
  const uint32_t number = instance_numbers_.find_or_add(
      mix(mix(mix(static_cast<uint64_t>(position), rule), index), count),
      [&](uint32_t i) {
        const Instance& other = instances_[i];
        return other.rule == rule && other.position == position && other.index == index && other.count == count;
      },
      [&] {
        Instance made{rule, position, index, count, {}};
        const Rule& whole = grammar_.rules[rule];
        if (whole.kind == RuleKind::list && position == Position::rest) {
          const ListRule& list = grammar_.lists[whole.detail];
          const bool nullable_element = list.rest.kind == SymbolKind::rule && grammar_.rules[list.rest.id].nullable;
          made.nullable = list.close == kEmptyText && (count >= list.min || nullable_element);
        }
        instances_.push_back(std::move(made));
        return static_cast<uint32_t>(instances_.size() - 1);
      });
  return static_cast<uint32_t>(grammar_.rules.size()) + number;
}

const std::vector<uint32_t>& Automaton::productions(uint32_t rule) {
  const auto n = static_cast<uint32_t>(grammar_.rules.size());
  if (rule < n && grammar_.rules[rule].kind == RuleKind::productions) return grammar_.rules[rule].productions;
  if (rule < n) rule = instance(rule, Position::first, 0, 0);
  if (!instances_[rule - n].made) {
    Instance made = instances_[rule - n];
    make_productions(made);
    made.made = true;
    instances_[rule - n] = std::move(made);
  }
  return instances_[rule - n].productions;
}

void Automaton::produce(Instance& instance, std::initializer_list<Symbol> production) {
  instance.productions.push_back(static_cast<uint32_t>(grammar_.symbols.size() + symbols_.size()));
  for (const Symbol& part : production)
    if (part != terminal(kEmptyText)) symbols_.push_back(part);
  symbols_.push_back({});
}

void Automaton::make_productions(Instance& made) {
  regexes().add_steps(1);
  const Rule& rule = grammar_.rules[made.rule];
  if (rule.kind == RuleKind::list)
    make_list(made, grammar_.lists[rule.detail]);
  else
    make_object(made, grammar_.objects[rule.detail]);
}

void Automaton::make_list(Instance& made, const ListRule& list) {
  if (!list.once.empty()) return make_once(made, list);
  if (list.counts()) return make_counted(made, list);
  const bool is_first = made.position == Position::first;
  const uint32_t n = made.count;
  const Symbol open = terminal(is_first ? list.open : kEmptyText);
  Symbol element = n < list.prefix.size() ? list.prefix[n] : list.rest;
  const bool nullable = element.kind == SymbolKind::rule && grammar_.rules[element.id].nullable;
  if (n >= list.min || nullable) produce(made, {open, terminal(list.close)});
  if (n >= list.max || element.kind == SymbolKind::end) return;
  if (nullable) element.kind = SymbolKind::some;
  // Positions that differ in nothing are one.
  const auto last = std::max(list.min, static_cast<uint32_t>(list.prefix.size()));
  const uint32_t next = list.max == kUnbounded ? std::min(n + 1, last) : n + 1;
  produce(made, {open, terminal(is_first ? kEmptyText : list.separator), element,
                 call(instance(made.rule, Position::rest, 0, next))});
}

// The index is the number of elements that count. Both numbers grow no further than what they are compared with.
void Automaton::make_counted(Instance& made, const ListRule& list) {
  const bool is_first = made.position == Position::first;
  const uint32_t n = made.count, n_counted = made.index;
  const Symbol open = terminal(is_first ? list.open : kEmptyText);
  if (n >= list.min && n_counted >= list.min_counted) produce(made, {open, terminal(list.close)});
  const auto add = [&](const Symbol& element, uint32_t more) {
    if (element.kind == SymbolKind::end || !list.may_begin(n + 1, n_counted + more)) return;
    const uint32_t next = list.max == kUnbounded ? std::min(n + 1, list.min) : n + 1;
    const uint32_t next_counted = list.max_counted == kUnbounded ? std::min(n_counted + more, list.min_counted) : n_counted + more;
    produce(made, {open, terminal(is_first ? kEmptyText : list.separator), element, call(instance(made.rule, Position::rest, next_counted, next))});
  };
  add(list.counted, 1);
  add(list.rest, 0);
}

// The index is the set of elements that were written.
void Automaton::make_once(Instance& made, const ListRule& list) {
  const bool is_first = made.position == Position::first;
  const uint32_t written = made.index;
  const auto n = static_cast<uint32_t>(std::popcount(written));
  const Symbol open = terminal(is_first ? list.open : kEmptyText);
  if (n >= list.min) produce(made, {open, terminal(list.close)});
  if (n >= list.max) return;
  for (uint32_t i = 0; i < list.once.size(); ++i)
    if ((written >> i & 1) == 0)
      produce(made, {open, terminal(is_first ? kEmptyText : list.separator), terminal(list.once[i]),
                     call(instance(made.rule, Position::rest, written | uint32_t{1} << i, 0))});
}

void Automaton::make_object(Instance& made, const ObjectRule& object) {
  const uint32_t index = made.index, count = made.count;
  const auto n = static_cast<uint32_t>(object.members.size());
  regexes().add_steps(n - index + object.others.size());
  const auto n_required = static_cast<uint32_t>(
      std::count_if(object.members.begin() + index, object.members.end(), [](const Member& member) { return member.required; }));
  const bool may_close = n_required == 0 && count >= object.min;
  if (made.position == Position::first) {
    if (may_close) produce(made, {terminal(object.open), terminal(object.close)});
    const bool goes_on = object.max > 0 && (n > 0 || !object.others.empty());
    if (goes_on) produce(made, {terminal(object.open), call(instance(made.rule, Position::next, 0, 0))});
    return;
  }
  const bool is_last = count >= object.max;
  if (made.position == Position::rest) {
    if (may_close) produce(made, {terminal(object.close)});
    const bool goes_on = !is_last && (index < n || !object.others.empty());
    if (goes_on) produce(made, {terminal(object.separator), call(instance(made.rule, Position::next, index, count))});
    return;
  }
  const uint32_t enough = object.max == kUnbounded ? object.min : object.max;
  const auto rest = [&](uint32_t at) { return call(instance(made.rule, Position::rest, at, std::min(count + 1, enough))); };
  // After a member there must be room for what is required, and enough that may follow.
  uint32_t left = n_required;
  for (uint32_t i = index; i < n; ++i) {
    const Member& member = object.members[i];
    left -= member.required;
    if (object.is_enough(count, n - i) && uint64_t{count} + 1 + left <= object.max)
      produce(made, {terminal(member.key), member.value, rest(i + 1)});
    if (member.required) return;
  }
  if (!object.is_enough(count, 0)) return;
  for (const Member& member : object.others) produce(made, {terminal(member.key), member.value, rest(n)});
}

}  // namespace inlay::constraint
