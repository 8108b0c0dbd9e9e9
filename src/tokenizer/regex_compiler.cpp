#include <algorithm>
#include <map>

#include "src/formats/text.h"
#include "src/tokenizer/regex.h"
#include "src/tokenizer/regex_syntax.h"

namespace inlay {

namespace {

constexpr uint32_t kNone = UINT32_MAX;

enum class Op : uint8_t { set, next_in, condition, fork, match };

// Of a nondeterministic automaton; `next` and, of a fork, `other`, which comes second.
struct Instruction {
  Op op = Op::match;
  uint32_t next = kNone;
  uint32_t other = kNone;
  uint32_t argument = 0;  // set or condition
  bool at_edge = false;
};

using Program = std::vector<Instruction>;
using Places = std::vector<uint32_t>;  // instructions where the automaton may be, the preferred first

}  // namespace

CodeClasses::CodeClasses(const std::vector<CodeSet>& sets, std::vector<std::vector<bool>>& members) {
  Places bounds = {0};
  for (const CodeSet& set : sets)
    for (const CodeRange& range : set.ranges()) bounds.push_back(range.first), bounds.push_back(range.last + 1);
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  if (bounds.back() <= kLastCodePoint) bounds.push_back(kLastCodePoint + 1);
  std::map<std::vector<bool>, uint32_t> class_of;
  std::vector<size_t> at(sets.size(), 0);  // of each set, the first range that does not end before the interval
  members.assign(sets.size(), {});
  pages_.assign((kLastCodePoint >> 8) + 1, 0);
  cells_.assign(256, 0);
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    std::vector<bool> in(sets.size());
    for (size_t s = 0; s < sets.size(); ++s) {
      const auto& ranges = sets[s].ranges();
      while (at[s] < ranges.size() && ranges[at[s]].last < bounds[i]) ++at[s];
      in[s] = at[s] < ranges.size() && ranges[at[s]].first <= bounds[i];
    }
    const auto [entry, is_new] = class_of.emplace(std::move(in), n_classes_);
    if (is_new) {
      if (++n_classes_ > kMax) return;
      for (size_t s = 0; s < sets.size(); ++s) members[s].push_back(entry->first[s]);
    }
    fill(bounds[i], bounds[i + 1] - 1, static_cast<uint8_t>(entry->second));
  }
  for (uint32_t c = 0; c < 128; ++c) ascii_[c] = of(c);
}

// Pages whole in one class are shared between neighbours; page 0 of the cells is all class 0.
void CodeClasses::fill(uint32_t first, uint32_t last, uint8_t value) {
  uint16_t whole = 0;
  for (uint32_t page = first >> 8; page <= last >> 8; ++page) {
    const uint32_t from = std::max(first, page << 8) & 0xFF, to = std::min(last, page << 8 | 0xFF) & 0xFF;
    if (from == 0 && to == 0xFF && whole != 0) {
      pages_[page] = whole;
      continue;
    }
    if (value == 0 && pages_[page] == 0) continue;
    if (pages_[page] == 0) {
      pages_[page] = static_cast<uint16_t>(cells_.size() >> 8);
      cells_.resize(cells_.size() + 256);
    }
    std::fill_n(cells_.begin() + (static_cast<std::ptrdiff_t>(pages_[page]) << 8 | from), to - from + 1, value);
    if (from == 0 && to == 0xFF) whole = pages_[page];
  }
}

class RegexCompiler {
 public:
  RegexCompiler(std::string_view pattern, RegexTree tree) : pattern_(pattern), tree_(std::move(tree)) {}

  Result<Regex> run() {
    regex_.classes_ = CodeClasses(tree_.sets, members_);
    if (regex_.classes_.size() > CodeClasses::kMax) return too_large("character classes");
    width_ = regex_.classes_.size() + 1;
    INLAY_TRY(add_automaton(tree_.root));
    return std::move(regex_);
  }

 private:
  static constexpr size_t kMaxInstructions = 20'000, kMaxEntries = 2 << 20, kMaxConditions = 6;
  static constexpr size_t kMaxSteps = 50'000'000;  // nodes written and places visited: a fraction of a second

  Status too_large(const char* what) const {
    return error(Code::unsupported, "the regular expression %s needs too many %s", quote(pattern_).c_str(), what);
  }

  // Automata of what looks ahead inside `node` come before the end of this one, but its number before theirs.
  Status add_automaton(const RegexNode& node) {
    const size_t number = regex_.automata_.size();
    if (number >= Regex::kMaxAutomata) return too_large("ways to look ahead");
    regex_.automata_.emplace_back();
    Program outer;
    std::swap(outer, program_);
    program_.push_back({});  // the match
    INLAY_ASSIGN(const uint32_t start, emit(node, 0));
    RegexAutomaton automaton;
    INLAY_TRY(determine(start, automaton));
    regex_.automata_[number] = std::move(automaton);
    std::swap(outer, program_);
    return {};
  }

  Result<uint32_t> add(Instruction instruction) {
    if (program_.size() >= kMaxInstructions) return too_large("instructions");
    program_.push_back(instruction);
    return static_cast<uint32_t>(program_.size() - 1);
  }

  // The instruction at which `node`, followed by what begins at `next`, begins.
  Result<uint32_t> emit(const RegexNode& node, uint32_t next) {
    if (++n_steps_ > kMaxSteps) return too_large("repetitions");
    switch (node.kind) {
      case RegexKind::empty:
        return next;
      case RegexKind::set:
        return add({Op::set, next, kNone, node.set, false});
      case RegexKind::next_in:
        return add({Op::next_in, next, kNone, node.set, node.at_edge});
      case RegexKind::previous_in:
        return condition({-1, members_[node.set], node.at_edge, false}, next);
      case RegexKind::look_ahead: {
        const auto number = static_cast<int32_t>(regex_.automata_.size());
        INLAY_TRY(add_automaton(node.children[0]));
        return condition({number, {}, false, node.negated}, next);
      }
      case RegexKind::sequence:
        for (size_t i = node.children.size(); i-- > 0;) {
          INLAY_ASSIGN(next, emit(node.children[i], next));
        }
        return next;
      case RegexKind::choice:
        return choice(node, next);
      case RegexKind::repeat:
        return repeat(node, next);
    }
    return next;
  }

  Result<uint32_t> condition(RegexCondition condition, uint32_t next) {
    std::vector<RegexCondition>& all = regex_.conditions_;
    const auto same = std::find_if(all.begin(), all.end(), [&](const RegexCondition& other) {
      return condition.automaton < 0 && other.automaton < 0 && other.previous == condition.previous &&
             other.at_edge == condition.at_edge;
    });
    const auto number = static_cast<uint32_t>(same - all.begin());
    if (same == all.end()) all.push_back(std::move(condition));
    return add({Op::condition, next, kNone, number, false});
  }

  Result<uint32_t> choice(const RegexNode& node, uint32_t next) {
    INLAY_ASSIGN(uint32_t begin, emit(node.children.back(), next));
    for (size_t i = node.children.size() - 1; i-- > 0;) {
      INLAY_ASSIGN(const uint32_t branch, emit(node.children[i], next));
      INLAY_ASSIGN(begin, add({Op::fork, branch, begin, 0, false}));
    }
    return begin;
  }

  Result<uint32_t> fork(bool greedy, uint32_t inside, uint32_t after) {
    return add({Op::fork, greedy ? inside : after, greedy ? after : inside, 0, false});
  }

  Result<uint32_t> repeat(const RegexNode& node, uint32_t next) {
    const RegexNode& child = node.children[0];
    uint32_t begin = next;
    if (node.max == kUnbounded) {
      INLAY_ASSIGN(begin, fork(node.greedy, kNone, next));
      INLAY_ASSIGN(const uint32_t inside, emit(child, begin));
      (node.greedy ? program_[begin].next : program_[begin].other) = inside;
    } else {
      for (uint32_t i = node.min; i < node.max; ++i) {
        INLAY_ASSIGN(const uint32_t inside, emit(child, begin));
        INLAY_ASSIGN(begin, fork(node.greedy, inside, next));
      }
    }
    for (uint32_t i = 0; i < node.min; ++i) {
      const size_t n = program_.size();
      INLAY_ASSIGN(begin, emit(child, begin));
      if (program_.size() == n) break;  // an empty child: once is as often as wanted
    }
    return begin;
  }

  // ---- from the program to a deterministic automaton

  struct Moved {
    Places places;
    bool matched = false;
  };

  Status determine(uint32_t start, RegexAutomaton& automaton) {
    std::map<Places, uint32_t> known;
    std::vector<const Places*> waiting;
    automaton.next.assign(width_, 0);  // row 0: no way on
    automaton.conditions.assign(1, {});
    const auto state_of = [&](Places places) -> uint32_t {
      if (places.empty()) return 0;
      const auto [entry, is_new] = known.emplace(std::move(places), 0);
      if (is_new) {
        entry->second = add_rows(entry->first, automaton);
        waiting.push_back(&entry->first);
      }
      return entry->second;
    };
    automaton.start = state_of({start});
    for (size_t i = 0; i < waiting.size(); ++i) {
      const Places& places = *waiting[i];
      const uint32_t row = known.at(places) >> RegexAutomaton::kRowShift;
      if (automaton.conditions[row].size() > kMaxConditions) return too_large("conditions at one place");
      const size_t n_rows = size_t{1} << automaton.conditions[row].size();
      for (size_t bits = 0; bits < n_rows; ++bits)
        for (uint32_t c = 0; c < width_; ++c) {
          if (n_steps_ > kMaxSteps) return too_large("states");
          Moved moved = move(places, c, automaton.conditions[row], bits);
          const uint32_t state = state_of(std::move(moved.places));
          automaton.next[(row + bits) * width_ + c] = state | (moved.matched ? RegexAutomaton::kMatched : 0);
        }
      if (automaton.next.size() > kMaxEntries || automaton.conditions.size() > Regex::kMaxRows)
        return too_large("states");
    }
    return {};
  }

  uint32_t add_rows(const Places& places, RegexAutomaton& automaton) {
    Places conditions = conditions_at(places);
    const auto row = static_cast<uint32_t>(automaton.conditions.size());
    const size_t n_rows = size_t{1} << std::min(conditions.size(), kMaxConditions);
    automaton.next.resize(automaton.next.size() + n_rows * width_);
    automaton.conditions.resize(automaton.conditions.size() + n_rows);
    const uint32_t flag = conditions.empty() ? 0 : RegexAutomaton::kConditional;
    automaton.conditions[row] = std::move(conditions);
    return row << RegexAutomaton::kRowShift | flag;
  }

  // Visits what can be reached from `places` without taking a character, the preferred first. visit(instruction) says
  // whether its `next` is reached too; false for a match ends the walk.
  template <class Visit>
  void walk(const Places& places, Visit visit) {
    seen_.assign(program_.size(), false);
    Places stack(places.rbegin(), places.rend());
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      stack.pop_back();
      if (seen_[at]) continue;
      seen_[at] = true;
      ++n_steps_;
      const Instruction& instruction = program_[at];
      if (instruction.op == Op::match && !visit(instruction)) return;
      if (instruction.op == Op::match) continue;
      if (instruction.op == Op::fork) stack.push_back(instruction.other);
      if (instruction.op == Op::fork || visit(instruction)) stack.push_back(instruction.next);
    }
  }

  Places conditions_at(const Places& places) {
    Places out;
    walk(places, [&](const Instruction& instruction) {
      if (instruction.op == Op::condition) out.push_back(instruction.argument);
      return instruction.op != Op::set;
    });
    std::sort(out.begin(), out.end());
    out.erase(std::unique(out.begin(), out.end()), out.end());
    return out;
  }

  // Where class `c` (the last: the end of the text) leads, the conditions' outcomes being `bits`.
  Moved move(const Places& places, uint32_t c, const Places& conditions, size_t bits) {
    Moved out;
    placed_.assign(program_.size(), false);
    const bool at_end = c + 1 == width_;
    walk(places, [&](const Instruction& instruction) {
      switch (instruction.op) {
        case Op::set:
          if (!at_end && members_[instruction.argument][c]) add_place(instruction.next, out.places);
          return false;
        case Op::next_in:
          return at_end ? instruction.at_edge : static_cast<bool>(members_[instruction.argument][c]);
        case Op::condition: {
          const auto which = std::lower_bound(conditions.begin(), conditions.end(), instruction.argument);
          return (bits >> (which - conditions.begin()) & 1) != 0;
        }
        case Op::match:
          out.matched = true;
          return false;  // what is preferred less does not count
        case Op::fork:
          break;
      }
      return true;
    });
    return out;
  }

  void add_place(uint32_t place, Places& places) {
    if (!placed_[place]) places.push_back(place);
    placed_[place] = true;
  }

  const std::string_view pattern_;
  const RegexTree tree_;
  std::vector<std::vector<bool>> members_;  // by set and class
  uint32_t width_ = 0;                      // classes and the end of the text
  Program program_;
  std::vector<bool> seen_;    // by instruction: of a walk
  std::vector<bool> placed_;  // likewise: those that a move leads to
  size_t n_steps_ = 0;
  Regex regex_;
};

Result<Regex> Regex::compile(std::string_view pattern) {
  INLAY_ASSIGN(RegexTree tree, parse_regex(pattern));
  return RegexCompiler(pattern, std::move(tree)).run();
}

}  // namespace inlay
