// Regular languages over bytes as expressions, with intersection and complement. Equal expressions have one number, and
// the automaton of an expression is made while it is used: its states are derivatives, expressions themselves.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/constraint/byte_classes.h"
#include "src/constraint/byte_set.h"
#include "src/constraint/hashing.h"

namespace inlay::constraint {

using RegexId = uint32_t;
inline constexpr RegexId kNothing = 0;   // no text at all
inline constexpr RegexId kEmptyText = 1;  // the text without bytes
inline constexpr RegexId kAnyText = 2;   // every sequence of bytes
inline constexpr uint32_t kUnbounded = UINT32_MAX;

enum class RegexKind : uint8_t { nothing, empty, bytes, concat, either, both, complement, repeat, multiple };

struct RegexNode {
  RegexKind kind = RegexKind::nothing;
  bool nullable = false;  // the empty text is in the language
  bool boolean = false;   // an intersection or a complement is inside: the language may be empty although it does not look so
  bool finite = false;    // certainly of finitely many texts
  uint16_t depth = 1;     // of the recursion of a derivative
  uint32_t a = 0, b = 0, c = 0;  // by kind: a set; two parts; the list's begin and size; the part, min and max; factor and remainder
  uint32_t first = 0;            // the set of bytes that a text may begin with, or more
};

class RegexStore {
 public:
  RegexStore();

  RegexId bytes(const ByteSet& set);
  RegexId byte(uint8_t value);
  RegexId literal(std::string_view text);
  RegexId literals(std::vector<std::string> texts);  // any of them, as a tree of their beginnings
  RegexId concat(RegexId a, RegexId b);
  RegexId concat(std::initializer_list<RegexId> parts);
  RegexId either(std::vector<RegexId> parts);
  RegexId both(std::vector<RegexId> parts);
  RegexId complement(RegexId part);
  RegexId repeat(RegexId part, uint32_t min, uint32_t max);
  RegexId optional(RegexId part) { return either({kEmptyText, part}); }
  // Decimal digits whose number, after that `remainder` was read, is a multiple of `factor`.
  RegexId multiple(uint32_t factor, uint32_t remainder);

  // `id` has every text that may stand beside it as an alternative: it absorbs the others.
  void add_universe(RegexId id) { universes_.push_back(id); }

  const RegexNode& node(RegexId id) const { return nodes_[id]; }
  std::span<const RegexId> parts(const RegexNode& node) const { return {lists_.data() + node.a, node.b}; }
  bool nullable(RegexId id) const { return nodes_[id].nullable; }
  const ByteSet& first(RegexId id) const { return sets_[nodes_[id].first]; }

  // What may follow after `byte`; kNothing exactly where no text of the language begins so.
  RegexId step(RegexId id, uint8_t byte) {
    if (rows_[id].classes == kNoRow) make_row(id);
    const Row row = rows_[id];
    const RegexId known = targets_[row.begin + classes_.map(row.classes)[byte]];
    return known != kUnknown ? known : make_step(id, byte);
  }
  // The bytes that the expression does not tell apart are one class.
  uint32_t classes_of(RegexId id) {
    if (rows_[id].classes == kNoRow) make_row(id);
    return rows_[id].classes;
  }
  bool is_nothing(RegexId id) { return nodes_[id].boolean ? !can_match(id) : id == kNothing; }

  ByteClasses& classes() { return classes_; }

  // What was made up to now stays, and what is made from here on is dropped by forget().
  void set_base();
  void forget();
  size_t memory() const;
  // Beyond so many bytes or steps, or where an expression is nested too deeply, every new expression is kNothing, and
  // is_full() is true: what was computed since is void.
  void set_limit(size_t bytes) { limit_ = bytes; }
  void allow_steps(uint64_t n) { max_steps_ = steps_ + n; }
  bool is_full() const { return full_ || steps_ > max_steps_; }
  uint64_t steps() const { return steps_; }  // so far; each is a bounded piece of work
  void add_steps(uint64_t n) { steps_ += n; }

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;
  static constexpr RegexId kUnknown = UINT32_MAX;
  static constexpr uint16_t kMaxDepth = 400;
  enum class Answer : uint8_t { unknown, no, yes };
  struct Row {
    uint32_t classes = kNoRow;
    uint32_t begin = 0;
  };

  RegexId add(const RegexNode& node, std::span<const RegexId> list = {});
  RegexId join(RegexId head, RegexId rest);
  uint32_t set_number(const ByteSet& set);
  void make_row(RegexId id);
  RegexId make_step(RegexId id, uint8_t byte);
  RegexId derivative(RegexId id, uint8_t byte);
  RegexId derivative_of_list(RegexId id, uint8_t byte);
  void collect_sets(RegexId id);
  bool can_match(RegexId id);
  bool obviously_can_match(RegexId id) const;
  void flatten(RegexKind kind, std::vector<RegexId>& parts) const;
  void merge_heads(std::vector<RegexId>& parts);

  std::vector<RegexNode> nodes_;
  std::vector<Row> rows_;         // by node
  std::vector<Answer> matches_;   // by node: is there a text
  std::vector<RegexId> lists_;    // of nodes that have several parts
  std::vector<RegexId> targets_;  // by row and class
  std::vector<ByteSet> sets_;
  NumberTable node_numbers_, set_numbers_;
  std::vector<uint32_t> collected_;  // sets, of the row that is being made
  // Rows by the sets that split them: many expressions have the same
  struct Partition {
    std::vector<uint32_t> sets;
    uint32_t classes;
  };
  std::vector<Partition> partitions_;
  NumberTable partition_numbers_;
  ByteClasses classes_;
  std::vector<RegexId> universes_;
  std::array<RegexId, 256> of_byte_{};  // of single bytes, 0 where there is none yet
  size_t limit_ = size_t{64} << 20;
  bool full_ = false;
  uint64_t steps_ = 0, max_steps_ = UINT64_MAX;
  struct Base {
    size_t nodes = 0, lists = 0, sets = 0;
  } base_;
};

}  // namespace inlay::constraint
