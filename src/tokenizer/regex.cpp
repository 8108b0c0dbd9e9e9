#include "src/tokenizer/regex.h"

namespace inlay {
namespace {

constexpr std::ptrdiff_t kNear = 64;  // bytes that a scan goes before it leaves marks
constexpr std::ptrdiff_t kMarkDistance = 16;

struct Step {
  uint32_t character_class;
  uint32_t n_bytes;
};

inline Step step_at(const CodeClasses& classes, const char* at, const char* end) {
  if (at == end) return {classes.size(), 0};
  const auto byte = static_cast<unsigned char>(*at);
  if (byte < 0x80) return {classes.of_ascii(byte), 1};
  const CodePoint point = decode_utf8(at);
  return {classes.of(point.value), point.n_bytes};
}

const char* next_mark(const char* begin, const char* at) {
  return begin + (((at - begin) / kMarkDistance) + 1) * kMarkDistance;
}

}  // namespace

const char* Regex::match(const Text& text, const char* at, Scratch& scratch) const {
  const RegexAutomaton& automaton = automata_[0];
  const uint32_t width = classes_.size() + 1;
  const char* last = nullptr;
  const char* far = text.end - at > kNear ? at + kNear : text.end + 1;
  for (uint32_t state = automaton.start; state != 0;) {
    if (at >= far) return scan_far(text, 0, state, at, last, false, scratch);
    uint32_t row = state >> RegexAutomaton::kRowShift;
    if (state & RegexAutomaton::kConditional) row += condition_bits(text, automaton, row, at, scratch);
    const Step step = step_at(classes_, at, text.end);
    state = automaton.next[row * width + step.character_class];
    if (state & RegexAutomaton::kMatched) last = at;
    if (state >> RegexAutomaton::kRowShift == 0) break;
    at += step.n_bytes;
  }
  return last;
}

// `existence`: any match will do, and the answer is `last`, not null, as soon as there is one.
const char* Regex::scan_far(const Text& text, uint32_t which, uint32_t state, const char* at, const char* last,
                            bool existence, Scratch& scratch) const {
  const RegexAutomaton& automaton = automata_[which];
  const uint32_t width = classes_.size() + 1;
  const size_t old_trail = scratch.trail.size();
  size_t kept_trail = old_trail;  // marks up to the last match say nothing
  const char* mark = next_mark(text.begin, at);
  bool known_match = false;
  while (true) {
    uint32_t row = state >> RegexAutomaton::kRowShift;
    if (at >= mark) {
      const uint64_t key = static_cast<uint64_t>(at - text.begin) << 24 | static_cast<uint64_t>(row) << 4 | which;
      const auto known = scratch.ends_in_match.find(key);
      known_match = known != scratch.ends_in_match.end() && known->second;
      if (known != scratch.ends_in_match.end()) break;
      scratch.trail.push_back(key);
      mark = next_mark(text.begin, at);
    }
    if (state & RegexAutomaton::kConditional) row += condition_bits(text, automaton, row, at, scratch);
    const Step step = step_at(classes_, at, text.end);
    state = automaton.next[row * width + step.character_class];
    if (state & RegexAutomaton::kMatched) {
      last = at;
      kept_trail = scratch.trail.size();
      if (existence) break;
    }
    if (state >> RegexAutomaton::kRowShift == 0) break;
    at += step.n_bytes;
  }
  if (known_match) last = at;
  const bool found = existence && last != nullptr;
  for (size_t i = found ? old_trail : kept_trail; i < scratch.trail.size(); ++i)
    scratch.ends_in_match.emplace(scratch.trail[i], found);
  scratch.trail.resize(old_trail);
  return last;
}

uint32_t Regex::condition_bits(const Text& text, const RegexAutomaton& automaton, uint32_t row, const char* at,
                               Scratch& scratch) const {
  uint32_t bits = 0, bit = 1;
  for (const uint32_t condition : automaton.conditions[row]) {
    if (holds(text, conditions_[condition], at, scratch)) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

bool Regex::holds(const Text& text, const RegexCondition& condition, const char* at, Scratch& scratch) const {
  if (condition.automaton >= 0) {
    const auto which = static_cast<uint32_t>(condition.automaton);
    const uint32_t start = automata_[which].start;
    const bool found = start != 0 && scan_far(text, which, start, at, nullptr, true, scratch) != nullptr;
    return found != condition.negated;
  }
  if (at == text.begin) return condition.at_edge;
  const char* previous = at - 1;
  while (is_continuation(*previous)) --previous;
  return condition.previous[step_at(classes_, previous, text.end).character_class];
}

}  // namespace inlay
