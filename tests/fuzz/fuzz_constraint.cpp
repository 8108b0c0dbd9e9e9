// The first byte chooses a language and its options, up to a zero byte follows the source, then what is written under it: tokens, steps back,
// copies. Whatever the bytes are: errors have a known code and whole characters; a bit of the mask says what accepting that token says; after a
// step back the mask is what it was; forced bytes may come; and a whole text under a schema is JSON.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/constraint/gbnf.h"
#include "src/constraint/json_schema.h"
#include "src/formats/json.h"
#include "src/formats/text.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/masks.h"

namespace {

using namespace inlay;
using namespace inlay::constraint;
using fuzz::check_error, fuzz::has, fuzz::Mask, fuzz::mask_of;

enum : uint8_t { kLanguage = 7, kCompact = 8, kEscapes = 16, kLenient = 32 };

const std::vector<Piece>& vocabulary() {
  static const std::vector<Piece> out = [] {
    static const std::string bytes = [] {
      std::string all;
      for (int b = 0; b < 256; ++b) all.push_back(static_cast<char>(b));
      return all;
    }();
    std::vector<Piece> pieces;
    for (const char b : std::string_view("{}[]\":, \n\\-+.0123456789abcdefnrtuEx\xc3\xa9\xe2\x82\xac\xf0\x9f\xff"))
      pieces.push_back({std::string_view(bytes).substr(static_cast<uint8_t>(b), 1), PieceKind::text});
    for (const std::string_view text : {"{\"", "\":", "\",", "\"}", "true", "false", "null", "\": \"", "12", "1e", "\\u00", "ab", "abc", "\xc3\xa9", "]}", "  "})
      pieces.push_back({text, PieceKind::text});
    pieces.push_back({{}, PieceKind::control});
    pieces.push_back({{}, PieceKind::unused});
    pieces.push_back({{}, PieceKind::end});
    return pieces;
  }();
  return out;
}

Result<Grammar> compile(uint8_t first, const std::string& source, bool& is_json) {
  const JsonStyle style{.whitespace = first & kCompact ? Whitespace::compact : Whitespace::flexible, .escapes = (first & kEscapes) != 0};
  const GbnfLimits limits{.text_bytes = 1 << 16, .steps = 1 << 16, .bytes = 4 << 20};
  is_json = false;
  switch (first & kLanguage) {
    case 0:
      return compile_gbnf(source, [](std::string_view text) { return text == "<|x|>" ? static_cast<int32_t>(vocabulary().size()) - 3 : -1; }, limits);
    case 1:
      return compile_regex(source, limits);
    case 2: {
      std::vector<std::string> choices;
      for (size_t at = 0; at <= source.size();) {
        const size_t end = std::min(source.find('|', at), source.size());
        choices.push_back(source.substr(at, end - at));
        at = end + 1;
      }
      return compile_choices(choices);
    }
    default:
      break;
  }
  is_json = true;
  const SchemaLimits small{.text_bytes = 1 << 16, .depth = 100, .sets = 500, .steps = 1 << 18, .bytes = 8 << 20};
  INLAY_ASSIGN(CompiledSchema compiled, compile_json_schema(source, {.style = style, .lenient = (first & kLenient) != 0}, small));
  for (const std::string& remark : compiled.remarks) FUZZ_CHECK(is_valid_utf8(remark));
  return std::move(compiled.grammar);
}

// One token in turn is tried beside each step: all of them would take too long.
void check_bit(const ConstraintState& state, const Mask& mask, int32_t token) {
  ConstraintState copy = state;
  if (!copy.accept_token(token).ok()) return;
  FUZZ_CHECK(copy.is_dead() != has(mask, token));
}

void check_whole(const ConstraintState& state, bool is_json) {
  if (!is_json || !state.is_complete()) return;
  const auto text = JsonDocument::parse(std::string(state.text()), "text");
  const auto is_for = [&](const char* reason) { return text.status().message.find(reason) != std::string::npos; };
  FUZZ_CHECK(text.ok() || is_for("twice") || is_for("nested more than"));  // additional keys may be written twice, and any depth
}

void check_forced(const ConstraintState& state) {
  ConstraintState copy = state;
  const auto forced = copy.forced_bytes(20);
  if (!forced.ok() || !copy.accept_bytes(*forced).ok()) return;
  FUZZ_CHECK(!copy.is_dead());
}

// Each byte is a token that is asked for, or above them a step back.
void write(const std::shared_ptr<const Constraint>& constraint, std::string_view steps, bool is_json) {
  ConstraintState state(constraint);
  const auto n_tokens = static_cast<int32_t>(vocabulary().size());
  std::vector<Mask> masks(1);
  if (!mask_of(state, masks[0])) return;
  int32_t tried = 0;
  for (const char step : steps.substr(0, 200)) {
    const auto asked = static_cast<uint8_t>(step);
    if (asked >= 250 && masks.size() > 1) {
      const size_t n = std::min<size_t>(asked - 249, masks.size() - 1);
      FUZZ_CHECK(state.roll_back(n).ok());
      masks.resize(masks.size() - n);
      Mask again;
      if (!mask_of(state, again)) return;
      FUZZ_CHECK(again == masks.back());
      continue;
    }
    check_bit(state, masks.back(), tried = (tried + 7) % n_tokens);
    if (asked % 16 == 0) check_forced(state);
    // The token that was asked for, or the next one that may come.
    int32_t token = asked % n_tokens, n = 0;
    while (n < n_tokens && !has(masks.back(), token)) token = (token + 1) % n_tokens, ++n;
    if (n == n_tokens || vocabulary()[static_cast<size_t>(token)].kind == PieceKind::end) break;
    const Status status = state.accept_token(token);
    if (!status.ok()) return check_error(status);
    FUZZ_CHECK(!state.is_dead());
    check_whole(state, is_json);
    if (!mask_of(state, masks.emplace_back())) return;
  }
  check_whole(state, is_json);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  static const auto tokens = *TokenTrie::make(vocabulary());
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string source(rest.substr(0, rest.find('\0')));
  bool is_json = false;
  auto grammar = compile(data[0], source, is_json);
  if (!grammar.ok()) return check_error(grammar.status()), 0;
  const ConstraintLimits limits{.compile_bytes = 8 << 20, .compile_steps = 1 << 18, .automaton = {}, .mask_bytes = 1 << 16};
  auto made = Constraint::make(*std::move(grammar), tokens, limits);
  if (!made.ok()) return check_error(made.status()), 0;
  write(*made, rest.substr(std::min(rest.size(), source.size() + 1)), is_json);
  return 0;
}
