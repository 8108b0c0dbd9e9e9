// The first two bytes choose a chat format, how its markers are written, what the prompt has begun and options; up to a zero byte follows a demand,
// as JSON or as choices of demands.h, then what is written under it: tokens, steps back, copies. Whatever the bytes are: errors have a known code and
// whole characters; a bit of the mask says what accepting that token says; after a step back the mask is what it was; reasoning is as short as was
// demanded; and a whole message parses back to what was demanded.
#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/constraint/constraint.h"
#include "src/engine/constrained.h"
#include "src/engine/message_grammar.h"
#include "src/formats/gguf.h"
#include "src/formats/json.h"
#include "src/formats/text.h"
#include "tests/fuzz/check.h"
#include "tests/fuzz/demands.h"
#include "tests/fuzz/masks.h"
#include "tests/fuzz/vocabularies.h"
#include "tests/support/chat_pieces.h"

namespace {

using namespace inlay;
using namespace inlay::constraint;
using fuzz::check_error, fuzz::has, fuzz::Mask, fuzz::mask_of;
using Calls = MessageDemand::Calls;
using Open = ChatParser::Open;

enum : uint8_t { kMarkers = 3, kPrompt = 12, kCompact = 16, kEscapes = 32, kLenient = 64, kChoices = 128 };

// A format in a vocabulary of bytes, some longer pieces, and the markers: as letters (also all at once), as tokens of text, as
// control tokens.
struct Model {
  ModelChatFormatPtr format;
  std::shared_ptr<const TokenTrie> tokens;
  int32_t n_tokens = 0;
};

Model make_model(std::string_view name, uint8_t markers) {
  const ChatFormat format = *ChatFormat::read(std::string(chat_format_json(name)), std::string(name));
  std::vector<std::string> pieces;
  for (int byte = 0; byte < 256; ++byte) pieces.push_back(fuzz::bpe_character(byte));
  for (const char* text : {"{\"", "\":", "\"}", "\", \"", "name", "arguments", "now", "weather", "\xc3\xa9", "true", "]}", "\n\n", "</", "ab"}) pieces.push_back(fuzz::bpe_text(text));
  std::vector<int32_t> types(pieces.size(), fuzz::kNormal);
  const auto add = [&](const std::string& text, int32_t type) {
    pieces.push_back(text);
    types.push_back(type);
    return static_cast<uint32_t>(pieces.size() - 1);
  };
  const uint32_t end = add("<|im_end|>", fuzz::kControl);
  for (const Marker* marker : format.markers()) {
    const bool is_token = markers > 0 && test::looks_like_a_token(marker->text);
    const auto kind = !is_token ? fuzz::kNormal : markers == 1 ? fuzz::kUserDefined : fuzz::kControl;
    add(is_token ? marker->text : fuzz::bpe_text(marker->text), kind);
  }
  testing::GgufImage image;
  image.text("tokenizer.ggml.model", "gpt2").text("tokenizer.ggml.pre", "gpt-2").texts("tokenizer.ggml.tokens", pieces).texts("tokenizer.ggml.merges", {});
  image.array("tokenizer.ggml.token_type", MetaType::i32, types).u32("tokenizer.ggml.eos_token_id", end).u32("tokenizer.ggml.bos_token_id", end);
  const auto bytes = image.build();
  const auto file = read_gguf(borrow_memory(bytes, "vocabulary"));
  Model out;
  out.format = std::make_shared<const ModelChatFormat>(*Tokenizer::from_metadata(file->metadata()), format);
  out.n_tokens = out.format->tokenizer->n_tokens();
  DrawnVocabulary vocabulary;
  out.tokens = *vocabulary.get(out.format->tokenizer.get(), out.n_tokens, out.format->vocabulary.marker_ids());
  return out;
}

const Model& model_of(uint8_t which, uint8_t markers) {
  static const auto names = chat_format_names();
  static std::vector<Model> made(names.size() * 3);
  const size_t at = which % names.size() * 3 + markers % 3u;
  if (!made[at].format) made[at] = make_model(names[which % names.size()], markers % 3u);
  return made[at];
}

// What the prompt ends with.
std::vector<int32_t> prompt_of(const Model& model, uint8_t how) {
  const ChatFormat& format = *model.format->vocabulary.format();
  std::string text;
  if ((how & kPrompt) == 4) text = format.channels.used() ? format.channels.channel.text + "analysis" + format.channels.body.text : format.reasoning_begin.text + "\n";
  if ((how & kPrompt) == 8) text = format.channels.used() ? format.channels.channel.text + "final" + format.channels.body.text : format.reasoning_begin.text + "\n\n" + format.reasoning_end.text;
  if ((how & kPrompt) == 12 && !format.calls.begin.empty()) text = format.calls.begin[0].text;
  std::vector<int32_t> out;
  FUZZ_CHECK(model.format->tokenizer->encode(text, {.add_special = false, .parse_special = true}, out).ok());
  return out;
}

class Message {
 public:
  Message(const Model& model, const MessageDemand& demand, std::vector<int32_t> prompt, bool is_exact)
      : model_(model), demand_(demand), prompt_(std::move(prompt)), is_exact_(is_exact) {}

  // Each byte is a token that is asked for, one of those that end something, or a step back.
  void write(const std::shared_ptr<const Constraint>& constraint, std::string_view steps) {
    ConstraintState state(constraint);
    std::vector<Mask> masks(1);
    if (!mask_of(state, masks[0])) return;
    int32_t tried = 0;
    for (const char step : steps.substr(0, 300)) {
      const auto asked = static_cast<uint8_t>(step);
      if (asked >= 252 && masks.size() > 1) {
        const size_t n = std::min<size_t>(asked - 251, masks.size() - 1);
        FUZZ_CHECK(state.roll_back(n).ok());
        masks.resize(masks.size() - n);
        written_.resize(written_.size() - n);
        Mask again;
        if (!mask_of(state, again)) return;
        FUZZ_CHECK(again == masks.back());
        continue;
      }
      check_bit(state, masks.back(), tried = (tried + 7) % model_.n_tokens);
      const int32_t token = wanted(masks.back(), asked);
      if (token < 0 || model_.format->tokenizer->is_end_of_generation(token)) {
        FUZZ_CHECK(token >= 0 || state.is_complete());  // what may go on can be finished
        break;
      }
      const Status status = state.accept_token(token);
      if (!status.ok()) return check_error(status);
      FUZZ_CHECK(!state.is_dead());
      written_.push_back(token);
      if (!mask_of(state, masks.emplace_back())) return;
    }
    check_reasoning();
    if (state.is_complete()) check_whole();
  }

 private:
  void check_bit(const ConstraintState& state, const Mask& mask, int32_t token) const {
    ConstraintState copy = state;
    if (!copy.accept_token(token).ok()) return;
    FUZZ_CHECK(copy.is_dead() != has(mask, token));
  }

  // The token that was asked for, or the next one that may come; from 128 on one that is no single letter, where there is one. -1: none may come.
  int32_t wanted(const Mask& mask, uint8_t asked) const {
    for (const int32_t first : {asked >= 128 ? 256 : 0, 0}) {
      const int32_t n = model_.n_tokens - first;
      for (int32_t i = 0; i < n; ++i)
        if (const int32_t token = first + (asked + i) % n; has(mask, token)) return token;
    }
    return -1;
  }

  std::unique_ptr<MessageParser> parser() const {
    auto out = MessageParser::make(model_.format, {.prompt = prompt_});
    FUZZ_CHECK(out.ok());
    return *std::move(out);
  }

  // Tokens while reasoning was open before and behind them; a marker of letters is of such tokens, too.
  void check_reasoning() const {
    if (!demand_.max_reasoning) return;
    const ChatFormat& format = *model_.format->vocabulary.format();
    const Marker& end = format.channels.used() ? format.channels.end[0] : format.reasoning_end;
    const auto reader = parser();
    size_t n = 0;
    for (const int32_t token : written_) {
      const bool was_open = reader->open() == Open::reasoning;
      FUZZ_CHECK(reader->append({&token, 1}).ok());
      n += was_open && reader->open() == Open::reasoning;
    }
    FUZZ_CHECK(n <= size_t{*demand_.max_reasoning} + 3 + (end.is_token ? 0 : end.text.size()));
  }

  void check_whole() const {
    const auto reader = parser();
    FUZZ_CHECK(reader->append(written_).ok());
    reader->finish();
    FUZZ_CHECK(!is_exact_ || (reader->is_complete() && !reader->is_malformed()));
    const auto text = reader->message();
    FUZZ_CHECK(text.ok());
    const auto message = JsonDocument::parse(*text, "message");
    FUZZ_CHECK(message.ok());
    if (is_exact_) check_message(message->root());
  }

  void check_message(const JsonValue& message) const {
    size_t n = 0;
    if (const auto calls = message.find("tool_calls")) {
      const JsonElements list = *calls->as_array();
      for (const JsonValue call : list) {
        const JsonValue function = *call.get("function");
        const std::string_view name = *function.get("name")->as_string();
        FUZZ_CHECK(std::any_of(demand_.tools.begin(), demand_.tools.end(), [&](const DemandedTool& tool) { return tool.name == name; }));
        ++n;
      }
    }
    FUZZ_CHECK(n == 0 || demand_.calls != Calls::never);
    FUZZ_CHECK(n > 0 || demand_.calls != Calls::must);
    FUZZ_CHECK(n <= 1 || demand_.parallel);
    const auto content = message.find("content");
    if (n > 0 || !content || (!demand_.is_json && !demand_.content_schema)) return;
    const auto value = JsonDocument::parse(std::string(*content->as_string()), "content");
    FUZZ_CHECK(value.ok() || value.status().message.find("twice") != std::string::npos);
  }

  const Model& model_;
  const MessageDemand& demand_;
  const std::vector<int32_t> prompt_;
  const bool is_exact_;
  std::vector<int32_t> written_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const Model& model = model_of(data[0], data[1] & kMarkers);
  const std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::string_view source = rest.substr(0, rest.find('\0'));
  const std::string text = data[1] & kChoices ? fuzz::DemandWriter(source).write() : std::string(source);
  const auto demand = MessageDemand::read(text);
  if (!demand.ok()) return check_error(demand.status()), 0;
  std::vector<int32_t> prompt = prompt_of(model, data[1]);
  const auto parser = MessageParser::make(model.format, {.prompt = prompt});
  FUZZ_CHECK(parser.ok());
  const JsonStyle style{.whitespace = data[1] & kCompact ? Whitespace::compact : Whitespace::flexible, .escapes = (data[1] & kEscapes) != 0};
  auto grammar = message_grammar(*model.format, *demand, (*parser)->open(), style, (data[1] & kLenient) != 0);
  if (!grammar.ok()) return check_error(grammar.status()), 0;
  for (const std::string& remark : grammar->remarks) FUZZ_CHECK(is_valid_utf8(remark));
  const ConstraintLimits limits{.compile_bytes = 8 << 20, .compile_steps = 1 << 20, .automaton = {}, .mask_bytes = 1 << 16};
  auto made = Constraint::make(std::move(grammar->grammar), model.tokens, limits);
  if (!made.ok()) return check_error(made.status()), 0;
  // Constants between tags may have the letters that end them, which is not refused (docs/design/tool-constraints.md).
  const bool is_exact = model.format->written->calls.written != ChatFormat::Written::tagged || text.find_first_of("<[") == text.npos || (data[1] & kChoices);
  Message(model, *demand, std::move(prompt), is_exact).write(*made, rest.substr(std::min(rest.size(), source.size() + 1)));
  return 0;
}
