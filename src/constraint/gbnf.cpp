#include "src/constraint/gbnf.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "src/base/ascii.h"
#include "src/constraint/code_points.h"
#include "src/constraint/pattern.h"
#include "src/tokenizer/utf8.h"

namespace inlay::constraint {

namespace {

constexpr uint32_t kMaxNesting = 100;
constexpr uint64_t kStepsOfRule = 8;  // one that has no name of its own; it takes some 200 bytes

class GbnfParser {
 public:
  GbnfParser(std::string_view text, const TokenOfText& token_of, Grammar& grammar)
      : text_(text), token_of_(token_of), grammar_(grammar), store_(grammar.regexes) {}

  Status run() {
    skip_space(true);
    while (at_ < text_.size()) INLAY_TRY(rule());
    for (const auto& [name, known] : rules_)
      if (!known.defined) {
        at_ = known.used_at;
        return wrong(("the rule " + name + " is used and not defined").c_str());
      }
    const auto root = rules_.find("root");
    if (root == rules_.end()) return error(Code::format, "the grammar has no rule root");
    grammar_.start = root->second.rule;
    return {};
  }

 private:
  using Sequence = std::vector<Symbol>;
  struct Known {
    uint32_t rule;
    bool defined = false;
    size_t used_at = 0;
  };

  Status wrong(const char* what, Code code = Code::format) const {
    const std::string_view before = text_.substr(0, at_);
    const size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
    return error(code, "the grammar, line %zu, byte %zu: %s", static_cast<size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
                 at_ - line_begin + 1, what);
  }
  bool sees(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) { return sees(c) && (++at_, true); }

  void skip_space(bool over_lines) {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        while (at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '\r') ++at_;
      } else if (c == ' ' || c == '\t' || (over_lines && (c == '\n' || c == '\r'))) {
        ++at_;
      } else {
        return;
      }
    }
  }

  static bool is_name_character(char c) { return is_ascii_alnum(c) || c == '-'; }

  Result<std::string> name() {
    const size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    if (at_ == begin) return wrong("the name of a rule is expected");
    return std::string(text_.substr(begin, at_ - begin));
  }

  Known& known(const std::string& rule_name) {
    const auto [at, is_new] = rules_.try_emplace(rule_name);
    if (is_new) at->second = {grammar_.add_rule(rule_name), false, at_};
    return at->second;
  }

  Status rule() {
    const size_t begin = at_;
    INLAY_ASSIGN(const std::string own, name());
    skip_space(false);
    if (!text_.substr(at_).starts_with("::=")) return wrong("::= is expected after the name of a rule");
    at_ += 3;
    skip_space(true);
    Known& one = known(own);
    if (one.defined) {
      at_ = begin;
      return wrong("this rule is defined twice");
    }
    one.defined = true;
    const uint32_t id = one.rule;
    INLAY_ASSIGN(const auto parts, alternatives(0));
    for (const Sequence& part : parts) grammar_.add_production(id, part);
    if (at_ < text_.size() && !sees('\n') && !sees('\r')) return wrong(sees(')') ? "a ) without its (" : "the end of the line is expected");
    skip_space(true);
    if (store_.is_full()) return wrong("the grammar is too large", Code::unsupported);
    return {};
  }

  Result<std::vector<Sequence>> alternatives(uint32_t depth) {
    if (depth > kMaxNesting) return wrong("groups nested too deeply", Code::unsupported);
    std::vector<Sequence> out;
    do {
      skip_space(true);
      INLAY_ASSIGN(Sequence one, sequence(depth));
      out.push_back(std::move(one));
    } while (take('|'));
    return out;
  }

  Result<Sequence> sequence(uint32_t depth) {
    Sequence out;
    while (at_ < text_.size()) {
      skip_space(depth > 0);
      if (at_ == text_.size() || sees('|') || sees(')') || sees('\n') || sees('\r')) break;
      if (store_.is_full()) return wrong("the grammar is too large", Code::unsupported);
      INLAY_ASSIGN(Symbol part, element(depth));
      skip_space(depth > 0);
      INLAY_TRY(repetition(part));
      // Terminals that follow each other are one.
      if (part.kind == SymbolKind::terminal && !out.empty() && out.back().kind == SymbolKind::terminal) {
        out.back() = terminal(store_.concat(out.back().id, part.id));
      } else {
        out.push_back(part);
      }
    }
    return out;
  }

  // Of alternatives one symbol
  Symbol symbol_of(const std::vector<Sequence>& parts) {
    std::vector<RegexId> terminals;
    for (const Sequence& part : parts) {
      if (part.size() > 1 || (part.size() == 1 && part[0].kind != SymbolKind::terminal)) break;
      terminals.push_back(part.empty() ? kEmptyText : part[0].id);
    }
    if (terminals.size() == parts.size()) return terminal(store_.either(std::move(terminals)));
    if (parts.size() == 1 && parts[0].size() == 1) return parts[0][0];
    store_.add_steps(kStepsOfRule);
    const uint32_t id = grammar_.add_rule("of a group");
    for (const Sequence& part : parts) grammar_.add_production(id, part);
    return call(id);
  }

  Result<Symbol> element(uint32_t depth) {
    if (take('(')) {
      INLAY_ASSIGN(const auto parts, alternatives(depth + 1));
      skip_space(true);
      if (!take(')')) return wrong("a ( without its )");
      return symbol_of(parts);
    }
    if (sees('"')) return literal();
    if (sees('[')) return character_class();
    if (take('.')) return terminal(utf8(store_, CodePoints::all()));
    if (sees('<') || sees('!')) return token();
    if (!is_name_character(text_[at_])) return wrong("a rule, a text, a class of characters or a group is expected");
    INLAY_ASSIGN(const std::string used, name());
    return call(known(used).rule);
  }

  Result<uint32_t> character() {
    if (!take('\\')) {
      if (!first_sequence(text_.substr(at_)).valid) return wrong("bytes that are not UTF-8");
      const CodePoint c = decode_utf8(text_.data() + at_);
      at_ += c.n_bytes;
      return c.value;
    }
    const char letter = at_ < text_.size() ? text_[at_] : '\0';
    constexpr std::string_view kLetters = "trn\\\"[]", kMeanings = "\t\r\n\\\"[]";
    if (const size_t i = kLetters.find(letter); i != kLetters.npos) return ++at_, static_cast<uint32_t>(static_cast<unsigned char>(kMeanings[i]));
    const size_t n = letter == 'x' ? 2 : letter == 'u' ? 4 : letter == 'U' ? 8 : 0;
    if (n == 0) return wrong("an unknown escape");
    uint32_t value = 0;
    for (size_t i = 0; i < n; ++i) {
      const int digit = at_ + 1 + i < text_.size() ? hex_value(text_[at_ + 1 + i]) : -1;
      if (digit < 0) return wrong("too few hexadecimal digits in an escape");
      value = value << 4 | static_cast<uint32_t>(digit);
    }
    if (value > kLastCodePoint || (value >= 0xD800 && value < 0xE000)) return wrong("an escape that is no character");
    at_ += 1 + n;
    return value;
  }

  Result<Symbol> literal() {
    ++at_;
    std::string out;
    while (!take('"')) {
      if (at_ == text_.size()) return wrong("a text without its end");
      INLAY_ASSIGN(const uint32_t c, character());
      append_utf8(c, out);
    }
    return terminal(store_.literal(out));
  }

  Result<Symbol> character_class() {
    ++at_;
    const bool negated = take('^');
    CodePoints set;
    while (!take(']')) {
      if (at_ == text_.size()) return wrong("a [ without its ]");
      INLAY_ASSIGN(const uint32_t first, character());
      uint32_t last = first;
      if (sees('-') && !text_.substr(at_).starts_with("-]")) {
        ++at_;
        if (at_ == text_.size()) return wrong("a [ without its ]");
        INLAY_ASSIGN(last, character());
        if (first > last) return wrong("a range whose begin is behind its end");
      }
      set.add(first, last);
    }
    return terminal(utf8(store_, negated ? set.complement() : set));
  }

  Result<Symbol> token() {
    TokenSet set;
    set.negated = take('!');
    const size_t end = text_.find('>', at_);
    if (!take('<') || end == text_.npos) return wrong("a token in < and > is expected");
    std::string_view inner = text_.substr(at_, end - at_);
    int64_t id = -1;
    if (inner.starts_with('[') && inner.ends_with(']')) {
      inner = inner.substr(1, inner.size() - 2);
      id = inner.empty() ? -1 : 0;
      for (const char c : inner) id = is_ascii_digit(c) && id >= 0 && id < INT32_MAX / 10 ? id * 10 + (c - '0') : -1;
      if (id < 0) return wrong("the number of a token is expected");
    } else {
      id = token_of_ ? token_of_(text_.substr(at_ - 1, end - at_ + 2)) : -1;
      if (id < 0 && token_of_) id = token_of_(inner);
      if (id < 0) return wrong("the vocabulary has no such token");
    }
    at_ = end + 1;
    set.ids.push_back(static_cast<int32_t>(id));
    grammar_.token_sets.push_back(std::move(set));
    return Symbol{SymbolKind::tokens, static_cast<uint32_t>(grammar_.token_sets.size() - 1)};
  }

  Result<uint32_t> count() {
    uint64_t out = 0;
    if (at_ == text_.size() || !is_ascii_digit(text_[at_])) return wrong("a number is expected");
    for (; at_ < text_.size() && is_ascii_digit(text_[at_]); ++at_) {
      out = out * 10 + static_cast<uint64_t>(text_[at_] - '0');
      if (out > 1u << 30) return wrong("a repetition of more than 2^30 times", Code::unsupported);
    }
    return static_cast<uint32_t>(out);
  }

  Status repetition(Symbol& part) {
    uint32_t min = 1, max = 1;
    if (take('*')) {
      min = 0, max = kUnbounded;
    } else if (take('+')) {
      max = kUnbounded;
    } else if (take('?')) {
      min = 0;
    } else if (take('{')) {
      skip_space(false);
      INLAY_ASSIGN(min, count());
      max = min;
      skip_space(false);
      if (take(',')) {
        skip_space(false);
        max = kUnbounded;
        if (!sees('}')) {
          INLAY_ASSIGN(max, count());
        }
        skip_space(false);
      }
      if (!take('}')) return wrong("a { without its }");
      if (min > max) return wrong("a repetition whose minimum is larger than its maximum");
    } else {
      return {};
    }
    if (part.kind == SymbolKind::terminal) {
      part = terminal(store_.repeat(part.id, min, max));
      return {};
    }
    ListRule list;
    list.rest = part;
    list.min = min;
    list.max = max;
    store_.add_steps(kStepsOfRule);
    if (store_.is_full()) return wrong("the grammar is too large", Code::unsupported);
    const uint32_t id = grammar_.add_rule("of a repetition");
    grammar_.make_list(id, std::move(list));
    part = call(id);
    return {};
  }

  std::string_view text_;
  const TokenOfText& token_of_;
  Grammar& grammar_;
  RegexStore& store_;
  size_t at_ = 0;
  std::map<std::string, Known> rules_;
};

}  // namespace

Result<Grammar> compile_gbnf(std::string_view text, const TokenOfText& token_of, const GbnfLimits& limits) {
  if (text.size() > limits.text_bytes)
    return error(Code::unsupported, "the grammar has %zu bytes, the limit is %zu", text.size(), limits.text_bytes);
  Grammar out;
  out.regexes.set_limit(limits.bytes);
  out.regexes.allow_steps(limits.steps);
  INLAY_TRY(GbnfParser(text, token_of, out).run());
  return out;
}

Result<Grammar> compile_regex(std::string_view pattern, const GbnfLimits& limits) {
  if (pattern.size() > limits.text_bytes)
    return error(Code::unsupported, "the pattern has %zu bytes, the limit is %zu", pattern.size(), limits.text_bytes);
  Grammar out;
  out.regexes.set_limit(limits.bytes);
  out.regexes.allow_steps(limits.steps);
  INLAY_ASSIGN(const RegexId regex, compile_whole_pattern(out.regexes, pattern, Spelling::plain));
  out.start = out.add_rule("of the pattern");
  out.add_production(out.start, {terminal(regex)});
  return out;
}

}  // namespace inlay::constraint
