#include "src/constraint/grammar.h"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace inlay::constraint {

bool TokenSet::has(int32_t id) const { return std::binary_search(ids.begin(), ids.end(), id) != negated; }

uint32_t Grammar::add_rule(std::string name) {
  rules.emplace_back();
  rules.back().name = std::move(name);
  return static_cast<uint32_t>(rules.size() - 1);
}

void Grammar::add_production(uint32_t rule, const std::vector<Symbol>& production) {
  rules[rule].productions.push_back(static_cast<uint32_t>(symbols.size()));
  for (const Symbol& symbol : production)
    if (symbol != terminal(kEmptyText)) symbols.push_back(symbol);
  symbols.push_back({});
}

void Grammar::make_list(uint32_t rule, ListRule list) {
  rules[rule].kind = RuleKind::list;
  rules[rule].detail = static_cast<uint32_t>(lists.size());
  lists.push_back(std::move(list));
}

void Grammar::make_object(uint32_t rule, ObjectRule object) {
  rules[rule].kind = RuleKind::object;
  rules[rule].detail = static_cast<uint32_t>(objects.size());
  objects.push_back(std::move(object));
}

bool ListRule::may_begin(uint32_t n, uint32_t n_counted) const {
  if (n > max || n_counted > max_counted) return false;
  const uint64_t room = max == kUnbounded ? UINT64_MAX : max - n;
  uint64_t most = counted.kind == SymbolKind::end ? 0 : room;  // further ones that count
  if (max_counted != kUnbounded) most = std::min<uint64_t>(most, max_counted - n_counted);
  const uint64_t missing = n < min ? min - n : 0, missing_counted = n_counted < min_counted ? min_counted - n_counted : 0;
  const uint64_t least = rest.kind == SymbolKind::end ? std::max(missing, missing_counted) : missing_counted;
  return least <= most && missing <= room;
}

bool Grammar::is_nullable(const Symbol& symbol) const {
  if (symbol.kind == SymbolKind::terminal) return regexes.nullable(symbol.id);
  return symbol.kind == SymbolKind::rule && rules[symbol.id].nullable;
}

bool Grammar::is_productive(const Symbol& symbol) {
  if (symbol.kind == SymbolKind::terminal) return !regexes.is_nothing(symbol.id);
  return symbol.kind == SymbolKind::tokens || rules[symbol.id].productive;
}

// Calls update(rule) for all rules until it says of none that there was news, or until is_full(). The last rules come first, which others mostly
// use, and a rule waits until all others that changed before were looked at: so a long one is not looked at again for each of its parts.
template <class Full, class Update>
static void until_settled(size_t n_rules, const std::vector<std::vector<uint32_t>>& users, Full&& is_full, Update&& update) {
  std::deque<uint32_t> work(n_rules);
  std::vector<bool> waiting(n_rules, true);
  for (size_t i = 0; i < n_rules; ++i) work[i] = static_cast<uint32_t>(n_rules - 1 - i);
  while (!work.empty() && !is_full()) {
    const uint32_t rule = work.front();
    work.pop_front();
    waiting[rule] = false;
    if (!update(rule)) continue;
    for (const uint32_t user : users[rule])
      if (!waiting[user]) {
        waiting[user] = true;
        work.push_back(user);
      }
  }
}

template <class Each>
static void for_each_symbol(const Grammar& grammar, const Rule& rule, Each&& each) {
  if (rule.kind == RuleKind::list) {
    const ListRule& list = grammar.lists[rule.detail];
    for (const Symbol& symbol : list.prefix) each(symbol);
    if (list.rest.kind != SymbolKind::end) each(list.rest);
    if (list.counted.kind != SymbolKind::end) each(list.counted);
  } else if (rule.kind == RuleKind::object) {
    const ObjectRule& object = grammar.objects[rule.detail];
    for (const Member& member : object.members) each(member.value);
    for (const Member& member : object.others) each(member.value);
  } else {
    for (uint32_t at : rule.productions)
      for (; grammar.symbols[at].kind != SymbolKind::end; ++at) each(grammar.symbols[at]);
  }
}

static std::vector<std::vector<uint32_t>> users_of_rules(const Grammar& grammar) {
  std::vector<std::vector<uint32_t>> users(grammar.rules.size());
  for (uint32_t user = 0; user < grammar.rules.size(); ++user)
    for_each_symbol(grammar, grammar.rules[user], [&](const Symbol& symbol) {
      if (symbol.kind == SymbolKind::rule || symbol.kind == SymbolKind::some) users[symbol.id].push_back(user);
    });
  return users;
}

void Grammar::find_nullable() {
  until_settled(rules.size(), users_of_rules(*this), [&] { return regexes.is_full(); }, [&](uint32_t id) {
    Rule& rule = rules[id];
    if (rule.nullable) return false;
    if (rule.kind == RuleKind::productions) {
      for (uint32_t at : rule.productions) {
        const uint32_t begin = at;
        while (is_nullable(symbols[at])) ++at;
        regexes.add_steps(at - begin + 1);
        if (symbols[at].kind == SymbolKind::end) return rule.nullable = true;
      }
    } else if (rule.kind == RuleKind::list) {
      const ListRule& list = lists[rule.detail];
      const bool bare = list.open == kEmptyText && list.separator == kEmptyText && list.close == kEmptyText;
      return rule.nullable = bare && (list.min == 0 || is_nullable(list.rest));
    }
    return false;
  });
}

bool Grammar::is_productive(const Rule& rule, bool with_equal_keys) {
  if (rule.kind == RuleKind::productions)
    return std::any_of(rule.productions.begin(), rule.productions.end(), [&](uint32_t at) {
      const uint32_t begin = at;
      while (symbols[at].kind != SymbolKind::end && is_productive(symbols[at])) ++at;
      regexes.add_steps(at - begin + 1);
      return symbols[at].kind == SymbolKind::end;
    });
  if (rule.kind == RuleKind::list) {
    const ListRule& list = lists[rule.detail];
    if (list.min > list.max) return false;
    if (!list.once.empty()) return list.min <= list.once.size();
    const bool rest = list.rest.kind != SymbolKind::end && is_productive(list.rest);
    if (list.counts()) {
      ListRule possible{.min = list.min, .max = list.max, .min_counted = list.min_counted, .max_counted = list.max_counted};
      if (rest) possible.rest = list.rest;
      if (list.counted.kind != SymbolKind::end && is_productive(list.counted)) possible.counted = list.counted;
      return possible.may_begin(0, 0);
    }
    for (size_t i = 0; i < list.min && i < list.prefix.size(); ++i)
      if (!is_productive(list.prefix[i])) return false;
    return rest || list.min <= list.prefix.size();
  }
  const ObjectRule& object = objects[rule.detail];
  regexes.add_steps(object.members.size());
  uint64_t n_required = 0, n_possible = 0;
  const auto possible = [&](const Member& member) { return !regexes.is_nothing(member.key) && is_productive(member.value); };
  for (const Member& member : object.members) {
    n_possible += possible(member);
    if (!member.required) continue;
    ++n_required;
    if (!possible(member)) return false;
  }
  if (std::any_of(object.others.begin(), object.others.end(), possible)) n_possible = with_equal_keys ? kUnbounded : n_possible + 1;
  return n_required <= object.max && object.min <= object.max && object.min <= n_possible;
}

void Grammar::find_productive(bool with_equal_keys) {
  until_settled(rules.size(), users_of_rules(*this), [&] { return regexes.is_full(); }, [&](uint32_t id) {
    Rule& rule = rules[id];
    return !rule.productive && (rule.productive = is_productive(rule, with_equal_keys));
  });
}

bool Grammar::can_match(const Symbol& symbol) {
  if (symbol.kind != SymbolKind::rule) return is_productive(symbol);
  std::vector<uint32_t> reached{symbol.id};
  std::unordered_map<uint32_t, uint32_t> number{{symbol.id, 0}};
  std::vector<std::vector<uint32_t>> users(1);
  for (uint32_t user = 0; user < reached.size(); ++user) {
    rules[reached[user]].productive = false;
    for_each_symbol(*this, rules[reached[user]], [&](const Symbol& part) {
      regexes.add_steps(1);
      if (part.kind != SymbolKind::rule && part.kind != SymbolKind::some) return;
      const auto [at, is_new] = number.try_emplace(part.id, static_cast<uint32_t>(reached.size()));
      if (is_new) reached.push_back(part.id), users.emplace_back();
      users[at->second].push_back(user);
    });
  }
  until_settled(reached.size(), users, [&] { return regexes.is_full(); }, [&](uint32_t i) {
    Rule& rule = rules[reached[i]];
    return !rule.productive && (rule.productive = is_productive(rule, false));
  });
  return rules[symbol.id].productive;
}

// From the start down to the last rule that has a name of its own, through rules that nothing matches.
const std::string& Grammar::dead_name() const {
  const auto is_dead = [&](const Symbol& symbol) { return (symbol.kind == SymbolKind::rule || symbol.kind == SymbolKind::some) && !rules[symbol.id].productive; };
  std::vector<bool> seen(rules.size());
  uint32_t at = start, named = start;
  while (!seen[at]) {
    const Rule& rule = rules[at];
    seen[at] = true;
    if (rule.name.find(' ') == std::string::npos) named = at;
    if (rule.kind == RuleKind::object) break;  // members that need not be there may be dead, too
    uint32_t next = at;
    for_each_symbol(*this, rule, [&](const Symbol& symbol) {
      if (next == at && is_dead(symbol)) next = symbol.id;
    });
    at = next;
  }
  return rules[named].name;
}

// What can be chosen can then be finished.
void Grammar::drop_unproductive() {
  for (Rule& rule : rules)
    std::erase_if(rule.productions, [&](uint32_t at) {
      while (symbols[at].kind != SymbolKind::end)
        if (!is_productive(symbols[at++])) return true;
      return false;
    });
  for (ListRule& list : lists) {
    if (list.rest.kind != SymbolKind::end && !is_productive(list.rest)) list.rest = {};
    if (list.counted.kind != SymbolKind::end && !is_productive(list.counted)) list.counted = {};
    size_t n = 0;
    while (n < list.prefix.size() && is_productive(list.prefix[n])) ++n;
    if (n < list.prefix.size()) {
      list.prefix.resize(n);
      list.rest = {};
    }
    if (list.rest.kind == SymbolKind::end && list.once.empty() && !list.counts()) list.max = std::min(list.max, static_cast<uint32_t>(list.prefix.size()));
  }
  for (ObjectRule& object : objects) {
    const auto impossible = [&](const Member& member) {
      return regexes.is_nothing(member.key) || !is_productive(member.value);
    };
    std::erase_if(object.members, impossible);
    std::erase_if(object.others, impossible);
  }
}

// Rules that `rule` may begin with.
void Grammar::left_calls(uint32_t id, std::vector<uint32_t>& out) const {
  const Rule& rule = rules[id];
  const auto add = [&](const Symbol& symbol) {
    if (symbol.kind == SymbolKind::rule || symbol.kind == SymbolKind::some) out.push_back(symbol.id);
  };
  if (rule.kind == RuleKind::productions) {
    for (uint32_t at : rule.productions) {
      for (; symbols[at].kind != SymbolKind::end; ++at) {
        add(symbols[at]);
        if (!is_nullable(symbols[at])) break;
      }
    }
  } else if (rule.kind == RuleKind::list &&
             (lists[rule.detail].open == kEmptyText || lists[rule.detail].separator == kEmptyText)) {
    for (const Symbol& symbol : lists[rule.detail].prefix) add(symbol);
    add(lists[rule.detail].rest);
  }
}

Status Grammar::order_rules() {
  enum : uint8_t { unseen, open, done };
  std::vector<uint8_t> state(rules.size(), unseen);
  struct Place {
    uint32_t rule;
    size_t next;
    std::vector<uint32_t> calls;
  };
  uint32_t rank = static_cast<uint32_t>(rules.size());
  std::vector<Place> path;
  const auto enter = [&](uint32_t rule) {
    state[rule] = open;
    path.push_back({rule, 0, {}});
    left_calls(rule, path.back().calls);
  };
  for (uint32_t root = 0; root < rules.size(); ++root) {
    if (state[root] == unseen) enter(root);
    while (!path.empty()) {
      Place& place = path.back();
      if (place.next == place.calls.size()) {
        state[place.rule] = done;
        rules[place.rule].rank = rank--;
        path.pop_back();
        continue;
      }
      const uint32_t called = place.calls[place.next++];
      if (state[called] == open)
        return error(Code::unsupported, "the rule %s begins with itself", rules[called].name.c_str());
      if (state[called] == unseen) enter(called);
    }
  }
  return {};
}

Status Grammar::finish() {
  for (Rule& rule : rules) rule.productive = false;
  find_nullable();
  find_productive();
  if (regexes.is_full()) return {};
  if (!rules[start].productive) return error(Code::format, "nothing can match the rule %s", dead_name().c_str());
  drop_unproductive();
  return order_rules();
}

size_t Grammar::memory() const {
  size_t out = regexes.memory() + symbols.size() * sizeof(Symbol) + rules.size() * sizeof(Rule) + lists.size() * sizeof(ListRule) +
               objects.size() * sizeof(ObjectRule) + token_sets.size() * sizeof(TokenSet);
  for (const Rule& rule : rules) out += rule.productions.size() * 4 + rule.name.size();
  for (const ListRule& list : lists) out += list.prefix.size() * sizeof(Symbol) + list.once.size() * sizeof(RegexId);
  for (const ObjectRule& object : objects) out += (object.members.size() + object.others.size()) * sizeof(Member);
  for (const TokenSet& set : token_sets) out += set.ids.size() * 4;
  return out;
}

}  // namespace inlay::constraint
