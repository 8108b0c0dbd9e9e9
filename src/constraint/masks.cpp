#include "src/constraint/masks.h"

#include <algorithm>
#include <utility>

namespace inlay::constraint {

namespace {

constexpr uint64_t kManyNodes = 500;  // a mask is kept if it took so many

void set_bit(std::span<uint32_t> words, int32_t token) {
  words[static_cast<size_t>(token) / 32] |= uint32_t{1} << (static_cast<uint32_t>(token) % 32);
}

void clear_bit(std::span<uint32_t> words, int32_t token) {
  words[static_cast<size_t>(token) / 32] &= ~(uint32_t{1} << (static_cast<uint32_t>(token) % 32));
}

bool has_bit(std::span<const uint32_t> words, int32_t token) {
  return words[static_cast<size_t>(token) / 32] >> (static_cast<uint32_t>(token) % 32) & 1;
}

}  // namespace

MaskMaker::MaskMaker(const TokenTrie& tokens, size_t max_bytes)
    : tokens_(tokens), max_kept_(max_bytes / (tokens.mask_words() * 4 + 1)) {
  size_t depth = tokens.tree().max_depth();
  for (const Level* level : {&tokens.slice().any_length, &tokens.slice().limited}) depth = std::max(depth, level->quoted.max_depth());
  path_.resize(depth + 2);
  outer_path_.resize(depth + 2);
}

void MaskMaker::make(Automaton& automaton, ConfigId config, std::span<uint32_t> words) {
  const size_t n = words.size();
  if (config < place_.size() && place_[config] != 0) {
    const auto begin = kept_.begin() + static_cast<ptrdiff_t>((place_[config] - 1) * n);
    std::copy(begin, begin + static_cast<ptrdiff_t>(n), words.begin());
    return;
  }
  std::fill(words.begin(), words.end(), 0);
  n_visited_ = 0;
  ranges_.clear();
  const TokenTree& tree = tokens_.tree();
  const Range whole{&tree, 0, static_cast<uint32_t>(tree.nodes().size()), config};
  if (!add_slice(automaton, tokens_.slice(), whole, words)) add_root(automaton, config, words);
  while (!ranges_.empty() && automaton.is_within_limits()) {
    const Range range = ranges_.back();
    ranges_.pop_back();
    walk(automaton, range, words);
  }
  if (!automaton.is_within_limits()) return;
  for (const SameToken& same : tokens_.same_tokens())
    if (has_bit(words, same.same_as)) set_bit(words, same.token);
  if (automaton.has_token_items(config)) add_tokens(automaton, config, words);
  if (automaton.is_complete(config))
    for (const int32_t token : tokens_.ends()) set_bit(words, token);
  if (n_visited_ >= kManyNodes && max_kept_ > 0) keep(config, words);
}

// The oldest one makes room.
void MaskMaker::keep(ConfigId config, std::span<const uint32_t> words) {
  if (place_.size() <= config) place_.resize(config + 1);
  if (owners_.size() < max_kept_) {
    owners_.push_back(config);
    kept_.insert(kept_.end(), words.begin(), words.end());
    place_[config] = static_cast<uint32_t>(owners_.size());
    return;
  }
  const size_t at = next_kept_++ % max_kept_;
  place_[std::exchange(owners_[at], config)] = 0;
  place_[config] = static_cast<uint32_t>(at) + 1;
  std::copy(words.begin(), words.end(), kept_.begin() + static_cast<ptrdiff_t>(at * words.size()));
}

// Calls visit(node, configuration after it) for the nodes that the automaton reaches; where it returns false, not for those
// below.
template <class Visit>
void MaskMaker::visit(Automaton& automaton, const Range& range, Visit&& visit) {
  const TokenTree& tree = *range.tree;
  const std::span<const TreeNode> nodes = tree.nodes();
  if (range.begin == range.end || range.config == kDead) return;
  const uint32_t top = nodes[range.begin].depth;
  path_[0] = range.config;
  uint64_t n = 0;
  for (uint32_t at = range.begin; at < range.end;) {
    const TreeNode& node = nodes[at];
    const uint32_t depth = node.depth - top;
    const ConfigId next = automaton.step(path_[depth], node.byte);
    ++n;
    if (next == kDead || !visit(at, next)) {
      at = node.next;
      continue;
    }
    path_[depth + 1] = next;
    ++at;
  }
  n_visited_ += n;
  automaton.regexes().add_steps(n / 16);
}

void MaskMaker::walk(Automaton& automaton, const Range& range, std::span<uint32_t> words) {
  const TokenTree& tree = *range.tree;
  const std::span<const TreeNode> nodes = tree.nodes();
  // Of many children few can be reached: they are looked up.
  const auto add_few = [&](const TokenTree::Child& children, ConfigId config) {
    const ByteClasses::Few& few = automaton.few(config);
    if (few.n > ByteClasses::kFew) return false;
    for (uint32_t i = 0; i < few.n; ++i)
      if (const uint32_t child = children[few.bytes[i]]; child != TreeNode::kNone)
        ranges_.push_back({&tree, child, nodes[child].next, config});
    return true;
  };
  const bool is_whole = range.begin == 0 && range.end == nodes.size() && range.end > 0 && nodes[0].next != range.end;
  if (is_whole && add_few(*tree.root_children(), range.config)) return;
  visit(automaton, range, [&](uint32_t at, ConfigId next) {
    const TreeNode& node = nodes[at];
    if (node.token >= 0) set_bit(words, node.token);
    if (node.slice != TreeNode::kNone && add_slice(automaton, tree.slice(node.slice), {&tree, at + 1, node.next, next}, words)) return false;
    return node.wide == TreeNode::kNone || !add_few(tree.children(node.wide), next);
  });
}

void MaskMaker::walk_groups(Automaton& automaton, const Level& level, ConfigId config, std::span<uint32_t> words) {
  const TokenTree& tree = level.quoted;
  visit(automaton, {&tree, 0, static_cast<uint32_t>(tree.nodes().size()), config}, [&](uint32_t at, ConfigId) {
    const int32_t group = tree.nodes()[at].token;
    if (group >= 0)
      for (const int32_t token : level.groups[static_cast<size_t>(group)]) set_bit(words, token);
    return true;
  });
}

// Adds what may follow below a node, if the slice knows some of it.
bool MaskMaker::add_slice(Automaton& automaton, const Slice& slice, const Range& below, std::span<uint32_t> words) {
  const Split parts = split(automaton, below.config);
  if (parts.inside == kDead || !automaton.is_within_limits()) return false;
  const Level& level = parts.any_length ? slice.any_length : slice.limited;
  for (size_t i = 0; i < level.inside_mask.size(); ++i) words[i] |= level.inside_mask[i];
  for (const int32_t token : level.inside) set_bit(words, token);
  if (parts.closed != kDead) {
    exceptions_.clear();
    bits_.clear();
    if (parts.has_exceptions) find_exceptions(automaton, below);
    for (const Range& range : exceptions_)
      for (uint32_t at = range.begin; at < range.end; ++at)
        if (const int32_t token = range.tree->nodes()[at].token; token >= 0) bits_.push_back({token, has_bit(words, token)});
    for (const int32_t token : level.closing) set_bit(words, token);
    path_.swap(outer_path_);  // that of the walk that this is a part of
    walk_groups(automaton, level, parts.closed, words);
    path_.swap(outer_path_);
    for (const Bit& bit : bits_)
      if (!bit.set) clear_bit(words, bit.token);
    ranges_.insert(ranges_.end(), exceptions_.begin(), exceptions_.end());
  }
  add_whole(slice.with_quote, parts.unsure);
  add_whole(level.others, parts.inside);
  if (parts.rest == kDead) return true;
  if (&slice == &tokens_.slice())
    add_root(automaton, parts.rest, words);
  else
    ranges_.push_back({below.tree, below.begin, below.end, parts.rest});
  return true;
}

void MaskMaker::add_whole(const TokenTree& tree, ConfigId config) {
  if (config != kDead) ranges_.push_back({&tree, 0, static_cast<uint32_t>(tree.nodes().size()), config});
}

// All tokens, where no slice as a whole is known: of its parts those that an item reaches over, and those that none can reach over are left out.
void MaskMaker::add_root(Automaton& automaton, ConfigId config, std::span<uint32_t> words) {
  static_assert(kSliceCharacters == kLongestReach);
  const Slice& slice = tokens_.slice();
  std::array<uint32_t, kCharacterSets> reach{};
  uint32_t most = 0;
  const auto n = static_cast<uint32_t>(automaton.items(config).size());
  const bool look = !slice.parts.empty() && automaton.few(config).n > ByteClasses::kFew && n <= 64;
  for (uint32_t i = 0; look && i < n; ++i) {
    const Item item = automaton.items(config)[i];
    if (item.is_tokens()) continue;
    most = std::max(most, reach_.most(automaton.regexes(), item.regex));
    for (uint32_t set = 0; set < kCharacterSets; ++set) {
      const uint32_t one = reach_.of(automaton.regexes(), item.regex, set);
      if (one == 0) break;  // nor of a larger set
      reach[set] = std::max(reach[set], one);
    }
  }
  if (reach[0] == 0) return add_whole(tokens_.tree(), config);
  for (uint32_t set = 0; set < kCharacterSets; ++set) {
    if (reach[set] > 0) {
      const std::vector<uint32_t>& known = slice.part(set, reach[set]).up_to;
      for (size_t i = 0; i < words.size(); ++i) words[i] |= known[i];
    }
    for (uint32_t length = reach[set] + 1; length <= std::min(most, kSliceCharacters); ++length) add_whole(slice.part(set, length).tree, config);
  }
  add_whole(slice.with_quote, config);
  add_whole(slice.limited.others, config);
}

const MaskMaker::Split& MaskMaker::split(Automaton& automaton, ConfigId config) {
  if (splits_.size() <= config) splits_.resize(config + 1);
  if (splits_[config].known) return splits_[config];
  Split out;
  out.known = true;
  const std::vector<Item> items(automaton.items(config).begin(), automaton.items(config).end());
  std::vector<Inside> where;
  for (const Item& item : items) {
    where.push_back(item.is_tokens() ? Inside::no : inside(automaton, item));
    out.any_length |= where.back() >= Inside::any_length;
  }
  std::vector<Item> inside_items, unsure, closing, rest;
  for (size_t i = 0; i < items.size(); ++i) {
    if (where[i] == Inside::no || (out.any_length && where[i] < Inside::any_length)) {
      rest.push_back(items[i]);
      continue;
    }
    inside_items.push_back(items[i]);
    out.has_exceptions |= where[i] == Inside::exceptions;
    if (where[i] == Inside::unsure)
      unsure.push_back(items[i]);
    else
      closing.push_back({automaton.regexes().node(items[i].regex).b, items[i].dot, items[i].stack});
  }
  if (!inside_items.empty()) {
    out.rest = automaton.of_items(std::move(rest), false);
    out.unsure = automaton.of_items(std::move(unsure), false);
    out.closed = automaton.step(automaton.of_items(std::move(closing), false), '"');
    out.inside = inside_items.size() == items.size() ? config : automaton.of_items(std::move(inside_items), false);
  }
  if (splits_.size() <= config) splits_.resize(config + 1);
  return splits_[config] = out;
}

// An expression of characters of a string, then what begins with its quote.
MaskMaker::Inside MaskMaker::inside(Automaton& automaton, const Item& item) const {
  const RegexStore& regexes = automaton.regexes();
  const RegexNode& node = regexes.node(item.regex);
  ByteSet quote;
  quote.add('"');
  if (node.kind != RegexKind::concat || !(regexes.first(node.b) == quote)) return Inside::no;
  const RegexNode& head = regexes.node(node.a);
  const auto& characters = automaton.grammar().string_characters;
  const auto takes_slices = [&](const RegexNode& part) {
    return part.kind == RegexKind::repeat && part.c >= kSliceCharacters &&
           std::find(characters.begin(), characters.end(), part.a) != characters.end();
  };
  const auto is_any_length = [&](const RegexNode& part) { return part.c == kUnbounded && part.a == characters[0]; };
  if (takes_slices(head)) return head.b > 1 ? Inside::unsure : is_any_length(head) ? Inside::any_length : Inside::limited;
  if (head.kind != RegexKind::both) return Inside::no;
  // Any text but finitely many
  uint32_t n_texts = 0;
  for (const RegexId id : regexes.parts(head)) {
    const RegexNode& part = regexes.node(id);
    if (takes_slices(part) && part.b == 0 && is_any_length(part))
      ++n_texts;
    else if (part.kind != RegexKind::complement || !regexes.node(part.a).finite)
      return Inside::no;
  }
  return n_texts == 1 ? Inside::exceptions : Inside::no;
}

// Where one of the texts that an item excludes is followed by a quote.
void MaskMaker::find_exceptions(Automaton& automaton, const Range& below) {
  const auto n = static_cast<uint32_t>(automaton.items(below.config).size());
  for (uint32_t i = 0; i < n; ++i) {
    const Item item = automaton.items(below.config)[i];
    if (item.is_tokens() || inside(automaton, item) != Inside::exceptions) continue;
    const RegexNode head = automaton.regexes().node(automaton.regexes().node(item.regex).a);
    for (uint32_t k = 0; k < head.b; ++k) {
      const RegexNode part = automaton.regexes().node(automaton.regexes().parts(head)[k]);
      if (part.kind == RegexKind::complement) find_exceptions(automaton, below, part.a);
    }
  }
}

void MaskMaker::find_exceptions(Automaton& automaton, const Range& below, RegexId texts) {
  const std::span<const TreeNode> nodes = below.tree->nodes();
  struct Place {
    uint32_t begin, end;
    RegexId texts;
    ConfigId config;
  };
  std::vector<Place> places{{below.begin, below.end, texts, below.config}};
  while (!places.empty() && automaton.is_within_limits()) {
    const Place place = places.back();
    places.pop_back();
    for (uint32_t at = place.begin; at < place.end; at = nodes[at].next) {
      const TreeNode& node = nodes[at];
      if (node.byte == '"' && automaton.regexes().nullable(place.texts))
        exceptions_.push_back({below.tree, at, node.next, place.config});
      if (!automaton.regexes().first(place.texts).has(node.byte)) continue;
      const RegexId next = automaton.regexes().step(place.texts, node.byte);
      if (next != kNothing) places.push_back({at + 1, node.next, next, automaton.step(place.config, node.byte)});
    }
  }
}

void MaskMaker::add_tokens(const Automaton& automaton, ConfigId config, std::span<uint32_t> words) const {
  for (const Item& item : automaton.items(config)) {
    if (!item.is_tokens()) continue;
    const TokenSet& set = automaton.grammar().token_sets[item.regex & ~Item::kTokens];
    if (!set.negated) {
      for (const int32_t token : set.ids)
        if (token >= 0 && token < tokens_.n_tokens()) set_bit(words, token);
      continue;
    }
    for (int32_t token = 0; token < tokens_.n_tokens(); ++token)
      if (tokens_.kind(token) != PieceKind::unused && tokens_.kind(token) != PieceKind::end && set.has(token)) set_bit(words, token);
  }
}

void MaskMaker::reset() {
  kept_.clear();
  place_.clear();
  owners_.clear();
  next_kept_ = 0;
  splits_.clear();
  reach_.reset();
}

}  // namespace inlay::constraint
