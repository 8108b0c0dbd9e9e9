// A context-free grammar whose terminals are regular expressions over bytes, or sets of tokens. Rules for lists and
// objects are stated by their parts: the automaton makes the rules of their positions when it comes to them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/constraint/regex_store.h"

namespace inlay::constraint {

enum class SymbolKind : uint8_t {
  end,       // of a production
  terminal,  // id: a RegexId
  tokens,    // id: a set of tokens
  rule,      // id: a rule
  some,      // a rule without the empty text
};

struct Symbol {
  SymbolKind kind = SymbolKind::end;
  uint32_t id = 0;

  bool operator==(const Symbol&) const = default;
};

inline Symbol terminal(RegexId regex) { return {SymbolKind::terminal, regex}; }
inline Symbol call(uint32_t rule) { return {SymbolKind::rule, rule}; }

// Elements between brackets, separated; brackets and separator may be kEmptyText.
struct ListRule {
  RegexId open = kEmptyText, separator = kEmptyText, close = kEmptyText;
  std::vector<Symbol> prefix;  // of the first elements
  Symbol rest;                 // of all others; SymbolKind::end: there are none
  uint32_t min = 0, max = kUnbounded;
  // In place of prefix and rest, where there are any: each element is one of these, and no two are the same. At most kMaxOnce.
  std::vector<RegexId> once;
  // Elements that count, of which there are min_counted to max_counted; there is no prefix then. SymbolKind::end: none does.
  Symbol counted;
  uint32_t min_counted = 0, max_counted = kUnbounded;

  bool counts() const { return counted.kind != SymbolKind::end || min_counted > 0; }
  // Whether so many elements, of which so many count, may be the begin of a list: what may follow is `rest` and `counted` where they are there.
  bool may_begin(uint32_t n, uint32_t n_counted) const;
};
inline constexpr size_t kMaxOnce = 32;

struct Member {
  RegexId key = kNothing;  // with what separates it from the value
  Symbol value;
  bool required = false;
};

// Members in their order, each at most once; then any number of others. Nothing remembers which keys the others have, so two of them may have the
// same one: towards `min` they count as one member, towards `max` each of them counts.
struct ObjectRule {
  RegexId open = kEmptyText, separator = kEmptyText, close = kEmptyText;
  std::vector<Member> members;
  std::vector<Member> others;
  uint32_t min = 0, max = kUnbounded;

  // Whether there may be enough members, where `count` were written and n_left of `members` and the others may follow.
  bool is_enough(uint64_t count, uint64_t n_left) const { return count + n_left + !others.empty() >= min; }
};

enum class RuleKind : uint8_t { productions, list, object };

struct Rule {
  RuleKind kind = RuleKind::productions;
  uint32_t detail = 0;                // of a list or an object
  std::vector<uint32_t> productions;  // where they begin in Grammar::symbols
  std::string name;                   // for messages; words where it has none of its own
  bool nullable = false;
  bool productive = false;  // some text can be derived
  uint32_t rank = 0;        // larger than that of every rule that may begin with it
};

// Token terminals: the tokens themselves, or all others.
struct TokenSet {
  std::vector<int32_t> ids;  // sorted
  bool negated = false;

  bool has(int32_t id) const;
};

// A rule that begins with a text of at most so many tokens. Behind them the text goes on by `tail` alone.
struct TokenLimit {
  uint32_t rule = 0;  // of one production
  uint32_t max_tokens = 0;
  RegexId tail = kEmptyText;
};

class Grammar {
 public:
  RegexStore regexes;
  std::vector<Symbol> symbols;  // of all productions, each ending with SymbolKind::end
  std::vector<Rule> rules;
  std::vector<ListRule> lists;
  std::vector<ObjectRule> objects;
  std::vector<TokenSet> token_sets;
  std::optional<TokenLimit> limit;
  uint32_t start = 0;
  // The expressions of one character of a JSON string, first that of Spelling::json: by them masks find what slices know in advance.
  std::vector<RegexId> string_characters;

  uint32_t add_rule(std::string name = {});
  void add_production(uint32_t rule, const std::vector<Symbol>& production);
  void make_list(uint32_t rule, ListRule list);
  void make_object(uint32_t rule, ObjectRule object);

  // Finds what is nullable and productive, drops what is not productive, and orders the rules. An error where a rule begins
  // with itself, or where nothing matches: then it names a rule that nothing matches.
  Status finish();
  size_t memory() const;
  // Of what there is so far. `with_equal_keys`: as if keys that are the same made an object larger, so that what an object of other keys can
  // be is found, too.
  void find_productive(bool with_equal_keys = false);
  bool is_productive(const Symbol& symbol);
  // Whether some text can be derived of it, of the rules that there are so far; whatever was assumed of those it calls is forgotten.
  bool can_match(const Symbol& symbol);

 private:
  bool is_nullable(const Symbol& symbol) const;
  bool is_productive(const Rule& rule, bool with_equal_keys);
  void find_nullable();
  const std::string& dead_name() const;
  void drop_unproductive();
  void left_calls(uint32_t rule, std::vector<uint32_t>& out) const;
  Status order_rules();
};

}  // namespace inlay::constraint
