#include "src/constraint/regex_store.h"

#include <algorithm>
#include <iterator>

namespace inlay::constraint {

RegexStore::RegexStore() {
  (void)set_number(ByteSet{});
  const uint32_t any = set_number(ByteSet::all());
  add({RegexKind::nothing, false, false, true, 1});
  add({RegexKind::empty, true, false, true, 1});
  add({RegexKind::complement, true, false, false, 1, kNothing, 0, 0, any});
}

uint32_t RegexStore::set_number(const ByteSet& set) {
  uint64_t hash = 1;
  for (const uint64_t word : set.words) hash = mix(hash, word);
  return set_numbers_.find_or_add(
      hash, [&](uint32_t number) { return sets_[number] == set; },
      [&] {
        sets_.push_back(set);
        return static_cast<uint32_t>(sets_.size() - 1);
      });
}

// `list` replaces a and b.
RegexId RegexStore::add(const RegexNode& node, std::span<const RegexId> list) {
  ++steps_;
  if (full_) return kNothing;
  if (node.depth > kMaxDepth || steps_ > max_steps_ || memory() > limit_) {
    full_ = true;
    return kNothing;
  }
  uint64_t hash = static_cast<uint64_t>(node.kind) + 1;
  if (list.empty()) {
    hash = mix(mix(mix(hash, node.a), node.b), node.c);
  } else {
    for (const RegexId part : list) hash = mix(hash, part);
  }
  const auto is = [&](uint32_t number) {
    const RegexNode& other = nodes_[number];
    if (other.kind != node.kind) return false;
    if (list.empty()) return other.a == node.a && other.b == node.b && other.c == node.c;
    const auto others = parts(other);
    return std::equal(others.begin(), others.end(), list.begin(), list.end());
  };
  return node_numbers_.find_or_add(hash, is, [&] {
    RegexNode made = node;
    if (!list.empty()) {
      made.a = static_cast<uint32_t>(lists_.size());
      made.b = static_cast<uint32_t>(list.size());
      lists_.insert(lists_.end(), list.begin(), list.end());
    }
    nodes_.push_back(made);
    rows_.push_back({});
    matches_.push_back(Answer::unknown);
    return static_cast<uint32_t>(nodes_.size() - 1);
  });
}

RegexId RegexStore::bytes(const ByteSet& set) {
  if (set.empty()) return kNothing;
  const uint32_t number = set_number(set);
  return add({RegexKind::bytes, false, false, true, 1, number, 0, 0, number});
}

RegexId RegexStore::byte(uint8_t value) {
  if (of_byte_[value] != 0) return of_byte_[value];
  ByteSet set;
  set.add(value);
  return of_byte_[value] = bytes(set);
}

RegexId RegexStore::literal(std::string_view text) {
  RegexId out = kEmptyText;
  for (size_t i = text.size(); i-- > 0;) out = concat(byte(static_cast<uint8_t>(text[i])), out);
  return out;
}

RegexId RegexStore::literals(std::vector<std::string> texts) {
  std::sort(texts.begin(), texts.end());
  texts.erase(std::unique(texts.begin(), texts.end()), texts.end());
  // The alternatives after each beginning of the last text, from the shortest on.
  std::vector<std::vector<RegexId>> open(1);
  std::string path;
  const auto close_to = [&](size_t depth) {
    while (path.size() > depth) {
      const RegexId rest = either(std::move(open.back()));
      open.pop_back();
      open.back().push_back(concat(byte(static_cast<uint8_t>(path.back())), rest));
      path.pop_back();
    }
  };
  for (const std::string& text : texts) {
    size_t common = 0;
    while (common < path.size() && common < text.size() && path[common] == text[common]) ++common;
    close_to(common);
    for (size_t i = common; i < text.size(); ++i) {
      path.push_back(text[i]);
      open.emplace_back();
    }
    open.back().push_back(kEmptyText);
  }
  close_to(0);
  return either(std::move(open.front()));
}

RegexId RegexStore::concat(std::initializer_list<RegexId> parts) {
  RegexId out = kEmptyText;
  for (size_t i = parts.size(); i-- > 0;) out = concat(parts.begin()[i], out);
  return out;
}

// A chain leans to the right, so that a derivative looks at its head alone.
RegexId RegexStore::concat(RegexId a, RegexId b) {
  if (a == kNothing || b == kNothing) return kNothing;
  if (a == kEmptyText) return b;
  if (b == kEmptyText) return a;
  if (nodes_[a].kind != RegexKind::concat) return join(a, b);
  std::vector<RegexId> heads;
  for (; nodes_[a].kind == RegexKind::concat; a = nodes_[a].b) heads.push_back(nodes_[a].a);
  b = join(a, b);
  while (!heads.empty() && b != kNothing) {
    b = join(heads.back(), b);
    heads.pop_back();
  }
  return b;
}

// Of a head that is no chain itself.
RegexId RegexStore::join(RegexId head, RegexId rest) {
  if (head == kAnyText && rest == kAnyText) return rest;
  const RegexNode &x = nodes_[head], &y = nodes_[rest];
  RegexNode node{RegexKind::concat, x.nullable && y.nullable, x.boolean || y.boolean, x.finite && y.finite, 0, head, rest};
  node.depth = static_cast<uint16_t>(1 + std::max(x.depth, x.nullable ? y.depth : uint16_t{0}));
  node.first = x.first;
  if (x.nullable && x.first != y.first) {
    ByteSet first = sets_[x.first];
    first |= sets_[y.first];
    node.first = set_number(first);
  }
  return add(node);
}

void RegexStore::flatten(RegexKind kind, std::vector<RegexId>& list) const {
  for (size_t i = 0; i < list.size(); ++i) {
    if (nodes_[list[i]].kind != kind) continue;
    const auto inner = parts(nodes_[list[i]]);
    list[i] = inner[0];  // never of the same kind
    std::ranges::copy(inner.subspan(1), std::back_inserter(list));
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

// Alternatives that differ in their first byte alone become one.
void RegexStore::merge_heads(std::vector<RegexId>& list) {
  struct Head {
    RegexId rest;
    uint32_t set;
    RegexId whole;
  };
  std::vector<Head> heads;
  std::vector<RegexId> out;
  for (const RegexId part : list) {
    const RegexNode& node = nodes_[part];
    if (node.kind == RegexKind::bytes)
      heads.push_back({kEmptyText, node.a, part});
    else if (node.kind == RegexKind::concat && nodes_[node.a].kind == RegexKind::bytes)
      heads.push_back({node.b, nodes_[node.a].a, part});
    else
      out.push_back(part);
  }
  if (heads.size() < 2) return;
  std::sort(heads.begin(), heads.end(), [](const Head& x, const Head& y) { return x.rest < y.rest; });
  for (size_t i = 0, end; i < heads.size(); i = end) {
    for (end = i + 1; end < heads.size() && heads[end].rest == heads[i].rest;) ++end;
    if (end == i + 1) {
      out.push_back(heads[i].whole);
      continue;
    }
    ByteSet set;
    for (size_t j = i; j < end; ++j) set |= sets_[heads[j].set];
    out.push_back(concat(bytes(set), heads[i].rest));
  }
  std::sort(out.begin(), out.end());
  list = std::move(out);
}

RegexId RegexStore::either(std::vector<RegexId> list) {
  flatten(RegexKind::either, list);
  if (std::binary_search(list.begin(), list.end(), kAnyText)) return kAnyText;
  for (const RegexId universe : universes_)
    if (std::binary_search(list.begin(), list.end(), universe)) return universe;
  if (!list.empty() && list[0] == kNothing) list.erase(list.begin());
  merge_heads(list);
  steps_ += list.size();
  // The empty text adds nothing to what has it already.
  if (list.size() > 1 && list[0] == kEmptyText &&
      std::any_of(list.begin() + 1, list.end(), [&](RegexId part) { return nullable(part); }))
    list.erase(list.begin());
  if (list.empty()) return kNothing;
  if (list.size() == 1) return list[0];
  RegexNode node{RegexKind::either, false, false, true};
  ByteSet first;
  for (const RegexId part : list) {
    const RegexNode& inner = nodes_[part];
    node.nullable |= inner.nullable;
    node.boolean |= inner.boolean;
    node.finite &= inner.finite;
    node.depth = std::max(node.depth, static_cast<uint16_t>(inner.depth + 1));
    first |= sets_[inner.first];
  }
  node.first = set_number(first);
  return add(node, list);
}

RegexId RegexStore::both(std::vector<RegexId> list) {
  flatten(RegexKind::both, list);
  std::erase(list, kAnyText);
  if (list.empty()) return kAnyText;
  if (list[0] == kNothing) return kNothing;
  if (list.size() == 1) return list[0];
  steps_ += list.size();
  RegexNode node{RegexKind::both, true, true, false};
  ByteSet first = ByteSet::all();
  for (const RegexId part : list) {
    const RegexNode& inner = nodes_[part];
    node.nullable &= inner.nullable;
    node.finite |= inner.finite;
    node.depth = std::max(node.depth, static_cast<uint16_t>(inner.depth + 1));
    first &= sets_[inner.first];
  }
  if (first.empty() || list[0] == kEmptyText) return node.nullable ? kEmptyText : kNothing;
  node.first = set_number(first);
  return add(node, list);
}

RegexId RegexStore::complement(RegexId part) {
  if (part == kNothing) return kAnyText;
  const RegexNode& inner = nodes_[part];
  if (inner.kind == RegexKind::complement) return inner.a;
  RegexNode node{RegexKind::complement, !inner.nullable, true, false, static_cast<uint16_t>(inner.depth + 1), part};
  node.first = nodes_[kAnyText].first;
  return add(node);
}

RegexId RegexStore::repeat(RegexId part, uint32_t min, uint32_t max) {
  if (max == 0 || part == kEmptyText) return kEmptyText;
  if (part == kNothing) return min == 0 ? kEmptyText : kNothing;
  if (min == 1 && max == 1) return part;
  const RegexNode& inner = nodes_[part];
  if (inner.nullable) min = 0;
  if (inner.kind == RegexKind::repeat && inner.b == 0 && inner.c == kUnbounded) return part;
  if (inner.kind == RegexKind::bytes && min == 0 && max == kUnbounded && sets_[inner.a] == ByteSet::all()) return kAnyText;
  RegexNode node{RegexKind::repeat, min == 0, inner.boolean, inner.finite && max != kUnbounded,
                 static_cast<uint16_t>(inner.depth + 1), part, min, max, inner.first};
  return add(node);
}

RegexId RegexStore::multiple(uint32_t factor, uint32_t remainder) {
  return add({RegexKind::multiple, remainder == 0, false, false, 1, factor, remainder, 0, set_number(ByteSet::range('0', '9'))});
}

RegexId RegexStore::derivative_of_list(RegexId id, uint8_t byte) {
  const bool is_both = nodes_[id].kind == RegexKind::both;
  std::vector<RegexId> out;
  const uint32_t n = nodes_[id].b;
  for (uint32_t i = 0; i < n; ++i) {
    const RegexId part = lists_[nodes_[id].a + i];
    if (!first(part).has(byte)) {
      if (is_both) return kNothing;
      continue;
    }
    out.push_back(derivative(part, byte));
  }
  return is_both ? both(std::move(out)) : either(std::move(out));
}

// Deep as the expression is nested: RegexNode::depth.
RegexId RegexStore::derivative(RegexId id, uint8_t byte) {
  ++steps_;
  const RegexNode node = nodes_[id];
  if (!sets_[node.first].has(byte)) return kNothing;
  switch (node.kind) {
    case RegexKind::bytes:
      return kEmptyText;
    case RegexKind::concat: {
      const RegexId head = concat(derivative(node.a, byte), node.b);
      return nodes_[node.a].nullable ? either({head, derivative(node.b, byte)}) : head;
    }
    case RegexKind::either:
    case RegexKind::both:
      return derivative_of_list(id, byte);
    case RegexKind::complement:
      return complement(derivative(node.a, byte));
    case RegexKind::repeat: {
      const uint32_t max = node.c == kUnbounded ? kUnbounded : node.c - 1;
      return concat(derivative(node.a, byte), repeat(node.a, node.b == 0 ? 0 : node.b - 1, max));
    }
    case RegexKind::multiple:
      return multiple(node.a, static_cast<uint32_t>((uint64_t{10} * node.b + (byte - '0')) % node.a));
    default:
      return kNothing;
  }
}

// The sets that the expression's derivatives depend on.
void RegexStore::collect_sets(RegexId id) {
  const RegexNode node = nodes_[id];
  switch (node.kind) {
    case RegexKind::bytes:
      if (collected_.empty() || collected_.back() != node.a) collected_.push_back(node.a);
      return;
    case RegexKind::concat:
      collect_sets(node.a);
      if (nodes_[node.a].nullable) collect_sets(node.b);
      return;
    case RegexKind::either:
    case RegexKind::both:
      for (uint32_t i = 0; i < node.b; ++i) collect_sets(lists_[node.a + i]);
      return;
    case RegexKind::complement:
    case RegexKind::repeat:
      return collect_sets(node.a);
    case RegexKind::multiple:
      for (uint8_t digit = '0'; digit <= '9'; ++digit) {
        ByteSet set;
        set.add(digit);
        collected_.push_back(set_number(set));
      }
      return;
    default:
      return;
  }
}

void RegexStore::make_row(RegexId id) {
  ++steps_;
  collected_.assign(1, nodes_[id].first);
  collect_sets(id);
  steps_ += collected_.size();
  std::sort(collected_.begin() + 1, collected_.end());
  collected_.erase(std::unique(collected_.begin() + 1, collected_.end()), collected_.end());
  uint64_t hash = 5;
  for (const uint32_t set : collected_) hash = mix(hash, set);
  const uint32_t partition = partition_numbers_.find_or_add(
      hash, [&](uint32_t number) { return partitions_[number].sets == collected_; },
      [&] {
        ClassBuilder builder(sets_[collected_[0]]);
        for (size_t i = 1; i < collected_.size(); ++i) builder.split(sets_[collected_[i]]);
        partitions_.push_back({collected_, classes_.number(builder)});
        return static_cast<uint32_t>(partitions_.size() - 1);
      });
  Row row;
  row.classes = partitions_[partition].classes;
  row.begin = static_cast<uint32_t>(targets_.size());
  targets_.resize(targets_.size() + classes_.size(row.classes), kUnknown);
  targets_[row.begin] = kNothing;
  rows_[id] = row;
}

RegexId RegexStore::make_step(RegexId id, uint8_t byte) {
  RegexId next = derivative(id, byte);
  if (is_nothing(next)) next = kNothing;
  if (!full_) targets_[rows_[id].begin + classes_.map(rows_[id].classes)[byte]] = next;
  return next;
}

// An infinite language loses nothing but finitely many texts.
bool RegexStore::obviously_can_match(RegexId id) const {
  for (; nodes_[id].kind == RegexKind::concat; id = nodes_[id].b)
    if (!obviously_can_match(nodes_[id].a)) return false;
  const RegexNode& node = nodes_[id];
  if (node.nullable || !node.boolean) return id != kNothing;
  if (node.kind != RegexKind::both) return false;
  uint32_t n_infinite = 0;
  for (const RegexId part : parts(node)) {
    const RegexNode& inner = nodes_[part];
    if (inner.kind == RegexKind::complement && nodes_[inner.a].finite) continue;
    if (inner.boolean || inner.kind != RegexKind::repeat || inner.c != kUnbounded || ++n_infinite > 1) return false;
  }
  return true;
}

// Looks for a derivative that is nullable, or known to have a text. A depth-first search: what lies on the way to it has
// one too; where it finds none, none of what it saw has.
bool RegexStore::can_match(RegexId id) {
  if (matches_[id] != Answer::unknown) return matches_[id] == Answer::yes;
  struct Place {
    RegexId id;
    uint32_t next_class;
  };
  std::vector<Place> path{{id, 1}};
  std::vector<RegexId> seen{id};
  bool found = obviously_can_match(id);
  matches_[id] = Answer::no;
  while (!path.empty() && !found && !full_) {
    const RegexId at = path.back().id;
    const uint32_t classes = classes_of(at), wanted = path.back().next_class++;
    if (wanted >= classes_.size(classes)) {
      path.pop_back();
      continue;
    }
    const ByteMap& map = classes_.map(classes);
    const auto byte = static_cast<uint8_t>(std::find(map.begin(), map.end(), wanted) - map.begin());
    const RegexId next = derivative(at, byte);
    if (matches_[next] == Answer::yes || obviously_can_match(next)) {
      matches_[next] = Answer::yes;
      found = true;
    } else if (matches_[next] == Answer::unknown && next != kNothing) {
      matches_[next] = Answer::no;
      seen.push_back(next);
      path.push_back({next, 1});
    }
  }
  if (full_ || found)
    for (const RegexId other : seen) matches_[other] = Answer::unknown;
  if (full_) return false;
  if (found)
    for (const Place& place : path) matches_[place.id] = Answer::yes;
  return found;
}

void RegexStore::set_base() { base_ = {nodes_.size(), lists_.size(), sets_.size()}; }

void RegexStore::forget() {
  RegexStore fresh;  // beside what is there, which stays where memory runs out
  for (const ByteSet& set : std::span(sets_).first(base_.sets)) (void)fresh.set_number(set);
  for (const RegexNode& node : std::span(nodes_).first(base_.nodes)) {
    const bool has_list = node.kind == RegexKind::either || node.kind == RegexKind::both;
    (void)fresh.add(node, has_list ? std::span<const RegexId>(lists_.data() + node.a, node.b) : std::span<const RegexId>());
  }
  fresh.base_ = base_;
  fresh.universes_ = universes_;
  fresh.limit_ = limit_;
  fresh.steps_ = steps_;
  *this = std::move(fresh);
}

size_t RegexStore::memory() const {
  return nodes_.size() * (sizeof(RegexNode) + sizeof(Row) + 1) + lists_.size() * 4 + targets_.size() * 4 +
         sets_.size() * sizeof(ByteSet) + node_numbers_.bytes() + set_numbers_.bytes() + classes_.memory() +
         partitions_.size() * (sizeof(Partition) + 32) + partition_numbers_.bytes();
}

}  // namespace inlay::constraint
