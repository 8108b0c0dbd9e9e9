#include "src/tokenizer/regex_syntax.h"

#include <string>

#include "src/base/ascii.h"
#include "src/base/made_once.h"
#include "src/base/stack_budget.h"
#include "src/formats/text.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

constexpr uint32_t kMaxDepth = 50;       // of nested groups and brackets
constexpr uint32_t kMaxQuantifiers = 2;  // of one atom: each nests what is before it
constexpr uint32_t kMaxRepeat = 1000;    // of a counted repetition
constexpr size_t kMaxPattern = 1 << 16;  // bytes

const CodeSet& property(std::string_view name) {
  static constinit MadeOnce<CodeSet> space, digit, word, hex;
  MadeOnce<CodeSet>& set = name == "space" ? space : name == "digit" ? digit : name == "word" ? word : hex;
  return set.get([&] { return *property_set(name); });
}

class RegexParser {
 public:
  explicit RegexParser(std::string_view pattern) : text_(pattern) {}

  Result<RegexTree> run() {
    if (text_.size() > kMaxPattern) return wrong("is longer than 64 KiB");
    if (!is_valid_utf8(text_)) return wrong("is not UTF-8");
    INLAY_ASSIGN(tree_.root, choice(0));
    if (at_ < text_.size()) return wrong("has a closing parenthesis without an opening one");
    return std::move(tree_);
  }

 private:
  Status wrong(const std::string& what) const {
    return error(Code::unsupported, "the regular expression %s %s (at byte %zu)", quote(text_).c_str(), what.c_str(),
                 at_);
  }

  bool done() const { return at_ == text_.size(); }
  bool looking_at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool take(std::string_view what) {
    if (!looking_at(what)) return false;
    at_ += what.size();
    return true;
  }
  uint32_t take_character() {
    const CodePoint point = decode_utf8(text_.data() + at_);
    at_ += point.n_bytes;
    return point.value;
  }

  RegexNode set_node(CodeSet set, RegexKind kind = RegexKind::set) {
    RegexNode node;
    node.kind = kind;
    node.set = static_cast<uint32_t>(tree_.sets.size());
    tree_.sets.push_back(std::move(set));
    return node;
  }
  RegexNode edge_node(RegexKind kind, CodeSet set, bool at_edge) {
    RegexNode node = set_node(std::move(set), kind);
    node.at_edge = at_edge;
    return node;
  }
  static RegexNode group(RegexKind kind, std::vector<RegexNode> children) {
    RegexNode node;
    node.kind = kind;
    node.children = std::move(children);
    return node;
  }
  static RegexNode repeated(RegexNode child, uint32_t min, uint32_t max) {
    RegexNode node = group(RegexKind::repeat, {});
    node.children.push_back(std::move(child));
    node.min = min;
    node.max = max;
    return node;
  }

  Result<RegexNode> choice(uint32_t depth) {
    if (stack_.is_spent()) return stack_.go_on([&] { return choice(depth); });
    if (depth > kMaxDepth) return wrong("nests too deep");
    const bool outer_case = ignore_case_, outer_dot = dot_matches_newline_;
    std::vector<RegexNode> branches;
    do {
      INLAY_ASSIGN(RegexNode branch, sequence(depth));
      branches.push_back(std::move(branch));
    } while (take("|"));
    ignore_case_ = outer_case;
    dot_matches_newline_ = outer_dot;
    if (branches.size() == 1) return std::move(branches[0]);
    return group(RegexKind::choice, std::move(branches));
  }

  Result<RegexNode> sequence(uint32_t depth) {
    std::vector<RegexNode> parts;
    while (!done() && !looking_at("|") && !looking_at(")")) {
      INLAY_ASSIGN(RegexNode atom, one(depth));
      uint32_t n_quantifiers = 0;
      while (!done() && (looking_at("*") || looking_at("+") || looking_at("?") || is_counted())) {
        if (++n_quantifiers > kMaxQuantifiers) return wrong("has more than 2 quantifiers in a row");
        INLAY_ASSIGN(atom, quantified(std::move(atom)));
      }
      parts.push_back(std::move(atom));
    }
    return parts.size() == 1 ? std::move(parts[0]) : group(RegexKind::sequence, std::move(parts));
  }

  // {n}, {n,}, {,m} or {n,m}; anything else in braces is literal
  bool is_counted() const {
    if (!looking_at("{")) return false;
    const std::string_view rest = text_.substr(at_ + 1);
    const size_t end = rest.find('}');
    return end != rest.npos && rest.substr(0, end).find_first_not_of("0123456789,") == rest.npos && end > 0 &&
           rest.substr(0, end) != "," &&
           std::count(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(end), ',') < 2;
  }

  uint32_t take_number() {
    uint32_t n = 0;
    for (; !done() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_)
      n = std::min<uint32_t>(n * 10 + static_cast<uint32_t>(text_[at_] - '0'), kMaxRepeat + 1);
    return n;
  }

  Result<RegexNode> quantified(RegexNode atom) {
    const bool counted = looking_at("{");
    uint32_t min = 0, max = kUnbounded;
    if (counted) {
      ++at_;
      min = max = take_number();
      if (take(",")) max = looking_at("}") ? kUnbounded : take_number();
      ++at_;
      if (min > kMaxRepeat || (max != kUnbounded && (max > kMaxRepeat || max < min)))
        return wrong("repeats in the wrong order or more than 1000 times");
    } else {
      min = text_[at_] == '+' ? 1 : 0;
      if (text_[at_++] == '?') max = 1;
    }
    const RegexNode copy = atom.kind == RegexKind::set ? atom : RegexNode{};
    RegexNode node = repeated(std::move(atom), min, max);
    if (take("?")) {
      if (counted && min == max) return wrong("has a lazy mark after a fixed count");
      node.greedy = false;
    } else if (!counted && take("+")) {
      return possessive(std::move(node), copy);
    }
    return node;
  }

  // S*+ is S*(?!S) for a set S, which is all that pre-tokenizers make possessive; S?+ is S|(?!S).
  Result<RegexNode> possessive(RegexNode node, const RegexNode& atom) {
    if (atom.kind != RegexKind::set) return wrong("has a possessive quantifier after more than one character");
    const CodeSet none_such = tree_.sets[atom.set].complement();
    RegexNode edge = edge_node(RegexKind::next_in, none_such, true);
    if (node.max == 1) return group(RegexKind::choice, {atom, std::move(edge)});
    return group(RegexKind::sequence, {std::move(node), std::move(edge)});
  }

  Result<RegexNode> one(uint32_t depth) {
    if (take("(")) return parenthesis(depth);
    if (looking_at("[")) {
      INLAY_ASSIGN(CodeSet set, bracket(depth));
      return set_node(std::move(set));
    }
    if (take(".")) return set_node(dot_matches_newline_ ? CodeSet::all() : CodeSet{{'\n', '\n'}}.complement());
    if (take("^")) return edge_node(RegexKind::previous_in, CodeSet{{'\n', '\n'}}, true);
    if (take("$")) return edge_node(RegexKind::next_in, CodeSet{{'\n', '\n'}}, true);
    if (looking_at("*") || looking_at("+") || looking_at("?")) return wrong("has a quantifier after nothing");
    if (looking_at("\\")) return escaped();
    const uint32_t c = take_character();
    return literal(c);
  }

  RegexNode literal(uint32_t c) {
    const CodeSet set{{c, c}};
    return set_node(ignore_case_ ? set.ignoring_case() : set);
  }

  Result<RegexNode> escaped() {
    if (take("\\A")) return edge_node(RegexKind::previous_in, {}, true);
    if (take("\\z")) return edge_node(RegexKind::next_in, {}, true);
    if (take("\\b")) return word_boundary(true);
    if (take("\\B")) return word_boundary(false);
    INLAY_ASSIGN(CodeSet set, escaped_set());
    return set_node(ignore_case_ ? set.ignoring_case() : std::move(set));
  }

  RegexNode word_boundary(bool between) {
    const CodeSet word = property("word"), other = word.complement();
    const auto pair = [&](bool before, bool after) {
      return group(RegexKind::sequence, {edge_node(RegexKind::previous_in, before ? word : other, !before),
                                         edge_node(RegexKind::next_in, after ? word : other, !after)});
    };
    return group(RegexKind::choice, {pair(true, !between), pair(false, between)});
  }

  Result<RegexNode> parenthesis(uint32_t depth) {
    if (take("?=")) return look(depth, false, false);
    if (take("?!")) return look(depth, false, true);
    if (take("?<=")) return look(depth, true, false);
    if (take("?<!")) return look(depth, true, true);
    if (take("?<") || take("?P<")) {
      const size_t end = text_.find('>', at_);
      if (end == text_.npos) return wrong("has a group name without an end");
      at_ = end + 1;
    } else if (take("?")) {
      return flags(depth);
    }
    return closed(depth);
  }

  Result<RegexNode> closed(uint32_t depth) {
    INLAY_ASSIGN(RegexNode inner, choice(depth + 1));
    if (!take(")")) return wrong("lacks a closing parenthesis");
    return inner;
  }

  // After (? : (?i) up to the end of the enclosing group, (?i:...), (?:...)
  Result<RegexNode> flags(uint32_t depth) {
    const bool outer_case = ignore_case_, outer_dot = dot_matches_newline_;
    bool value = true;
    for (; !done() && text_[at_] != ':' && text_[at_] != ')'; ++at_) {
      if (text_[at_] == '-')
        value = false;
      else if (text_[at_] == 'i')
        ignore_case_ = value;
      else if (text_[at_] == 'm' || text_[at_] == 's')
        dot_matches_newline_ = value;
      else
        return wrong("has a group of an unknown kind");
    }
    if (take(")")) return RegexNode{};
    if (!take(":")) return wrong("lacks a closing parenthesis");
    INLAY_ASSIGN(RegexNode inner, closed(depth));
    ignore_case_ = outer_case;
    dot_matches_newline_ = outer_dot;
    return inner;
  }

  Result<RegexNode> look(uint32_t depth, bool behind, bool negated) {
    INLAY_ASSIGN(RegexNode inner, closed(depth));
    if (inner.kind == RegexKind::set) {
      const CodeSet& set = tree_.sets[inner.set];
      const RegexKind kind = behind ? RegexKind::previous_in : RegexKind::next_in;
      return edge_node(kind, negated ? set.complement() : CodeSet(set), negated);
    }
    if (behind) return wrong("looks behind for more than one character");
    RegexNode node = group(RegexKind::look_ahead, {});
    node.children.push_back(std::move(inner));
    node.negated = negated;
    return node;
  }

  Result<uint32_t> hexadecimal(size_t n_least, size_t n_most) {
    uint32_t value = 0;
    size_t n = 0;
    for (; n < n_most && !done(); ++n, ++at_) {
      const int digit = hex_value(text_[at_]);
      if (digit < 0) break;
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    if (n < n_least || value > kLastCodePoint) return wrong("has an escape that is no code point");
    return value;
  }

  // The set of an escape that stands for characters, at its backslash.
  Result<CodeSet> escaped_set() {
    ++at_;
    if (done()) return wrong("ends in a backslash");
    const char c = text_[at_];
    const auto named = [&](std::string_view name, bool negated) {
      ++at_;
      return negated ? property(name).complement() : property(name);
    };
    if (c == 's' || c == 'S') return named("space", c == 'S');
    if (c == 'd' || c == 'D') return named("digit", c == 'D');
    if (c == 'w' || c == 'W') return named("word", c == 'W');
    if (c == 'h' || c == 'H') return named("xdigit", c == 'H');
    if (c == 'p' || c == 'P') return named_property();
    INLAY_ASSIGN(const uint32_t value, escaped_character());
    return CodeSet{{value, value}};
  }

  Result<uint32_t> escaped_character() {
    constexpr std::string_view kLetters = "nrtfvae0", kMeanings = {"\n\r\t\f\v\a\x1B\0", 8};
    const char c = text_[at_];
    if (const size_t i = kLetters.find(c); i != kLetters.npos) {
      ++at_;
      return static_cast<uint32_t>(kMeanings[i]);
    }
    if (take("x{")) {
      INLAY_ASSIGN(const uint32_t value, hexadecimal(1, 8));
      if (!take("}")) return wrong("has an escape that is no code point");
      return value;
    }
    if (take("x")) return hexadecimal(1, 2);
    if (take("u")) return hexadecimal(4, 4);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
      return wrong(std::string("has the escape \\") + c + ", which is not known here");
    return take_character();
  }

  // At the p of \p{Name}, \p{^Name}, \P{Name}, \pL
  Result<CodeSet> named_property() {
    bool negated = text_[at_++] == 'P';
    std::string_view name;
    if (take("{")) {
      negated ^= take("^");
      const size_t end = text_.find('}', at_);
      if (end == text_.npos) return wrong("has a property name without an end");
      name = text_.substr(at_, end - at_);
      at_ = end + 1;
    } else if (!done()) {
      name = text_.substr(at_++, 1);
    }
    for (const std::string_view prefix : {"Script=", "sc=", "General_Category=", "gc="})
      if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
    const auto set = property_set(name);
    if (!set) return wrong("names the property " + quote(name) + ", which is not known here");
    return negated ? set->complement() : *set;
  }

  // [...], at the opening bracket; && intersects what stands on its sides.
  Result<CodeSet> bracket(uint32_t depth) {
    if (depth > kMaxDepth) return wrong("nests too deep");
    ++at_;
    const bool negated = take("^");
    CodeSet both = CodeSet::all(), set;
    for (bool first = true; first || !looking_at("]"); first = false) {
      if (done()) return wrong("lacks a closing bracket");
      if (take("&&")) {
        set.normalize();
        both = both.intersection(set);
        set = {};
        first = true;
        if (looking_at("]")) break;
      } else {
        INLAY_TRY(bracket_item(depth, set));
      }
    }
    ++at_;
    set.normalize();
    set = both.intersection(set);
    if (ignore_case_) set = set.ignoring_case();
    return negated ? set.complement() : set;
  }

  Status bracket_item(uint32_t depth, CodeSet& out) {
    if (take("[:")) {
      const bool negated = take("^");
      const size_t end = text_.find(":]", at_);
      const auto set = end == text_.npos ? std::nullopt : property_set(text_.substr(at_, end - at_));
      if (!set) return wrong("names a class in [: :] that is not known here");
      out.add(negated ? set->complement() : *set);
      at_ = end + 2;
      return {};
    }
    if (looking_at("[")) {
      INLAY_ASSIGN(const CodeSet set, bracket(depth + 1));
      out.add(set);
      return {};
    }
    CodeSet set;
    INLAY_TRY(bracket_character(set));
    const bool single = set.ranges().size() == 1 && set.ranges()[0].first == set.ranges()[0].last;
    if (!single || !looking_at("-") || text_.substr(at_ + 1).starts_with("]") || at_ + 1 == text_.size()) {
      out.add(set);
      return {};
    }
    ++at_;
    CodeSet last;
    INLAY_TRY(bracket_character(last));
    if (last.ranges().size() != 1 || last.ranges()[0].first < set.ranges()[0].first)
      return wrong("has a range whose end lies before its beginning");
    out.add(set.ranges()[0].first, last.ranges()[0].last);
    return {};
  }

  Status bracket_character(CodeSet& out) {
    if (looking_at("\\")) {
      if (take("\\b")) return out = CodeSet{{8, 8}}, Status{};
      INLAY_ASSIGN(out, escaped_set());
      return {};
    }
    const uint32_t c = take_character();
    out = CodeSet{{c, c}};
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
  bool ignore_case_ = false;
  StackBudget stack_;
  bool dot_matches_newline_ = false;
  RegexTree tree_;
};

}  // namespace

Result<RegexTree> parse_regex(std::string_view pattern) { return RegexParser(pattern).run(); }

}  // namespace inlay
