#include "src/constraint/pattern.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "src/base/ascii.h"
#include "src/constraint/character_class.h"
#include "src/tokenizer/utf8.h"

namespace inlay::constraint {

namespace {

constexpr uint32_t kMaxNesting = 100, kMaxCount = 1u << 30;

// A part of a pattern, by where its matches must lie: those that begin at the text's begin (1), end at its end (2), both or
// neither.
using Anchored = std::array<RegexId, 4>;
constexpr uint32_t kAtBegin = 1, kAtEnd = 2;

class PatternParser {
 public:
  PatternParser(RegexStore& store, std::string_view pattern, Spelling spelling)
      : store_(store), reader_(pattern), spelling_(spelling) {}

  Result<RegexId> run(bool whole) {
    if (const auto bad = bad_utf8()) return *bad;
    INLAY_ASSIGN(const Anchored parts, alternatives(0));
    if (!reader_.at_end()) return reader_.wrong(Code::format, "a ) without its (");
    const RegexId any = whole ? kEmptyText : store_.repeat(spelled(store_, CodePoints::all(), spelling_), 0, kUnbounded);
    std::vector<RegexId> out;
    for (uint32_t where = 0; where < 4; ++where) {
      RegexId part = parts[where];
      if (!whole && !(where & kAtBegin)) part = without_more(part, true);
      if (!whole && !(where & kAtEnd)) part = without_more(part, false);
      out.push_back(store_.concat({where & kAtBegin ? kEmptyText : any, part, where & kAtEnd ? kEmptyText : any}));
    }
    const RegexId all = store_.either(std::move(out));
    if (store_.is_full()) return error(Code::unsupported, "the pattern is too large");
    return all;
  }

 private:
  std::optional<Status> bad_utf8() const {
    std::string storage;
    if (well_formed(reader_.text(), storage).data() == reader_.text().data()) return {};
    return error(Code::format, "the pattern is not UTF-8");
  }

  // Beside any text a repetition may as well be the shortest one.
  RegexId without_more(RegexId part, bool at_begin) {
    std::vector<RegexId> chain;
    for (; store_.node(part).kind == RegexKind::concat; part = store_.node(part).b) chain.push_back(store_.node(part).a);
    chain.push_back(part);
    if (at_begin) std::reverse(chain.begin(), chain.end());
    while (!chain.empty() && store_.node(chain.back()).kind == RegexKind::repeat) {
      const RegexNode node = store_.node(chain.back());
      chain.back() = store_.repeat(node.a, node.b, node.b);
      if (node.b > 0) break;
      chain.pop_back();
    }
    if (at_begin) std::reverse(chain.begin(), chain.end());
    RegexId out = kEmptyText;
    for (size_t i = chain.size(); i-- > 0;) out = store_.concat(chain[i], out);
    return out;
  }

  static Anchored of(RegexId regex) { return {regex, kNothing, kNothing, kNothing}; }

  Result<Anchored> alternatives(uint32_t depth) {
    if (depth > kMaxNesting) return reader_.wrong(Code::unsupported, "groups nested too deeply");
    std::array<std::vector<RegexId>, 4> parts;
    do {
      INLAY_ASSIGN(const Anchored one, sequence(depth));
      for (size_t i = 0; i < 4; ++i) parts[i].push_back(one[i]);
    } while (reader_.take('|'));
    Anchored out;
    for (size_t i = 0; i < 4; ++i) out[i] = store_.either(std::move(parts[i]));
    return out;
  }

  Result<Anchored> sequence(uint32_t depth) {
    std::vector<Anchored> parts;
    while (!reader_.at_end() && !reader_.sees('|') && !reader_.sees(')')) {
      INLAY_ASSIGN(const Anchored part, term(depth));
      parts.push_back(part);
    }
    Anchored out = of(kEmptyText);
    for (size_t i = parts.size(); i-- > 0;) out = concat(parts[i], out);
    return out;
  }

  Anchored concat(const Anchored& x, const Anchored& y) {
    std::array<std::vector<RegexId>, 4> parts;
    for (uint32_t i = 0; i < 4; ++i)
      for (uint32_t j = 0; j < 4; ++j) {
        RegexId left = x[i], right = y[j];
        if (left == kNothing || right == kNothing) continue;
        // What must begin at the begin has nothing before it, and what must end at the end nothing behind it.
        if (j & kAtBegin) left = store_.nullable(left) ? kEmptyText : kNothing;
        if (i & kAtEnd) right = store_.nullable(right) ? kEmptyText : kNothing;
        parts[i | j].push_back(store_.concat(left, right));
      }
    Anchored out;
    for (size_t i = 0; i < 4; ++i) out[i] = store_.either(std::move(parts[i]));
    return out;
  }

  Result<Anchored> term(uint32_t depth) {
    if (reader_.take('^')) return Anchored{kNothing, kEmptyText, kNothing, kNothing};
    if (reader_.take('$')) return Anchored{kNothing, kNothing, kEmptyText, kNothing};
    if (reader_.sees("\\b") || reader_.sees("\\B")) return reader_.wrong(Code::unsupported, "word boundaries are not supported");
    Anchored part;
    if (reader_.take('(')) {
      INLAY_TRY(group_kind());
      INLAY_ASSIGN(part, alternatives(depth + 1));
      if (!reader_.take(')')) return reader_.wrong(Code::format, "a ( without its )");
    } else {
      INLAY_ASSIGN(const CodePoints set, reader_.character());
      part = of(spelled(store_, set, spelling_));
    }
    return quantified(part);
  }

  Status group_kind() {
    if (!reader_.take('?')) return {};
    if (reader_.take(':')) return {};
    if (reader_.sees('=') || reader_.sees('!') || reader_.sees("<=") || reader_.sees("<!"))
      return reader_.wrong(Code::unsupported, "look-ahead and look-behind are not supported");
    if (!reader_.take('<')) return reader_.wrong(Code::unsupported, "this kind of group is not supported");
    while (!reader_.at_end() && !reader_.take('>')) reader_.skip();
    return {};
  }

  Result<Anchored> quantified(const Anchored& part) {
    uint32_t min = 1, max = 1;
    if (reader_.take('*')) {
      min = 0, max = kUnbounded;
    } else if (reader_.take('+')) {
      max = kUnbounded;
    } else if (reader_.take('?')) {
      min = 0;
    } else if (!counts(min, max)) {
      return part;
    }
    if (min > max) return reader_.wrong(Code::format, "a repetition whose minimum is larger than its maximum");
    if (max != kUnbounded && max > kMaxCount) return reader_.wrong(Code::unsupported, "a repetition of more than 2^30 times");
    (void)reader_.take('?');
    if (reader_.sees('*') || reader_.sees('+') || reader_.sees('?')) return reader_.wrong(Code::format, "nothing to repeat");
    const bool anchored = part[1] != kNothing || part[2] != kNothing || part[3] != kNothing;
    if (!anchored) return of(store_.repeat(part[0], min, max));
    if (max > 1) return reader_.wrong(Code::unsupported, "a repetition of ^ or $");
    Anchored out = part;
    if (min == 0) out[0] = store_.optional(out[0]);
    if (max == 0) out = of(kEmptyText);
    return out;
  }

  // {n}, {n,} or {n,m}; anything else after a { stands for itself.
  bool counts(uint32_t& min, uint32_t& max) {
    const PatternReader before = reader_;
    const auto number = [&](uint32_t& out) {
      uint64_t value = 0;
      bool any = false;
      while (is_ascii_digit(reader_.peek())) {
        value = std::min<uint64_t>(value * 10 + static_cast<uint64_t>(reader_.peek() - '0'), kUnbounded - 1);
        reader_.skip();
        any = true;
      }
      out = static_cast<uint32_t>(value);
      return any;
    };
    if (reader_.take('{') && number(min)) {
      max = min;
      if (reader_.take(',') && !number(max)) max = kUnbounded;
      if (reader_.take('}')) return true;
    }
    min = max = 1;
    reader_ = before;
    return false;
  }

  RegexStore& store_;
  PatternReader reader_;
  const Spelling spelling_;
};

}  // namespace

Result<RegexId> compile_pattern(RegexStore& store, std::string_view pattern, Spelling spelling) {
  return PatternParser(store, pattern, spelling).run(false);
}

Result<RegexId> compile_whole_pattern(RegexStore& store, std::string_view pattern, Spelling spelling) {
  return PatternParser(store, pattern, spelling).run(true);
}

}  // namespace inlay::constraint
