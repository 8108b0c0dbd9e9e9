// The first byte chooses a built-in format, whether its markers are tokens, and whether there are tools; up to a zero byte follows the prompt's
// tail, then the message. In place of a built-in format there may be one of the input's own. Whatever the bytes are: the same deltas for the whole
// text and for its bytes, whole characters, calls that begin and end in order, and arguments of complete calls that can be read.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/chat_format/chat_parser.h"
#include "src/formats/json.h"
#include "src/formats/text.h"
#include "tests/fuzz/check.h"
#include "tests/support/chat_pieces.h"

namespace {

using namespace inlay;
using Pieces = std::vector<ChatPiece>;

enum : uint8_t { kFormat = 31, kTokens = 32, kTools = 64, kCut = 128 };

constexpr const char* kToolList = R"([{"name": "weather", "parameters": {"properties": {"place": {"type": "string"}, "days": {"type": "integer"},
  "hot": {"type": "boolean"}, "limit": {"type": ["number", "null"]}, "list": {"type": "array"}}}}, {"name": "now"}])";

std::shared_ptr<const ChatFormat> format_of(uint8_t first, std::string_view& rest) {
  const auto names = chat_format_names();
  const size_t which = first & kFormat;
  const bool with_tokens = (first & kTokens) != 0;
  if (which < names.size()) return test::built_in(names[which], with_tokens);
  const std::string_view own = rest.substr(0, rest.find('\0'));
  rest.remove_prefix(std::min(rest.size(), own.size() + 1));
  auto format = ChatFormat::read(std::string(own), "fuzz");
  if (format.ok()) return test::shared(*std::move(format), with_tokens);
  FUZZ_CHECK(format.status().code == Code::format && format.status().message.starts_with("fuzz: "));
  FUZZ_CHECK(is_valid_utf8(format.status().message));
  return nullptr;
}

// Calls follow each other, and each has a name before all else.
void check_order(const std::vector<ChatDelta>& deltas) {
  using Kind = ChatDelta::Kind;
  uint32_t n_calls = 0;
  bool open = false;
  for (const ChatDelta& delta : deltas) {
    FUZZ_CHECK(is_valid_utf8(delta.text));
    switch (delta.kind) {
      case Kind::reasoning:
      case Kind::content:
        FUZZ_CHECK(!open && !delta.text.empty());
        break;
      case Kind::call_begin:
        FUZZ_CHECK(!open && !delta.text.empty() && delta.call == n_calls);
        open = true;
        break;
      case Kind::call_end:
        FUZZ_CHECK(open && delta.call == n_calls);
        open = false;
        ++n_calls;
        break;
      default:
        FUZZ_CHECK(open && delta.call == n_calls);
    }
  }
  FUZZ_CHECK(!open);
}

std::vector<ChatDelta> run(const std::shared_ptr<const ChatFormat>& format, const std::shared_ptr<const ToolTypes>& tools, const Pieces& tail,
                           const Pieces& pieces, bool& complete, bool& malformed) {
  ChatParser parser(format, tools);
  parser.begin_behind(tail);
  std::vector<ChatDelta> out = parser.take();
  for (const ChatPiece& piece : pieces) {
    parser.append(piece);
    for (ChatDelta& delta : parser.take()) out.push_back(std::move(delta));
  }
  parser.finish();
  for (ChatDelta& delta : parser.take()) out.push_back(std::move(delta));
  complete = parser.complete(), malformed = parser.malformed();
  return out;
}

void check_arguments(const ChatMessage& message) {
  for (const ChatCall& call : message.calls) {
    if (!call.complete) continue;
    const auto arguments = JsonDocument::parse(call.arguments, "arguments");
    FUZZ_CHECK(arguments.ok() || arguments.status().message.find("twice") != std::string::npos);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto format = format_of(data[0], rest);
  if (!format) return 0;
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(data[0] & kTools ? kToolList : ""));
  const std::string_view tail_text = rest.substr(0, rest.find('\0'));
  const std::string_view text = rest.substr(std::min(rest.size(), tail_text.size() + 1));
  const std::vector<std::string_view> others = {"<|im_start|>", "<|x|>"};
  const Pieces tail = test::cut(tail_text, *format, others), pieces = test::cut(text, *format, others);
  const Pieces bytes = test::cut_further(pieces, [&](size_t n) { return data[0] & kCut ? 1 + n % 7 : 1; });
  bool complete[2], malformed[2];
  const auto whole = run(format, tools, tail, pieces, complete[0], malformed[0]), cut = run(format, tools, tail, bytes, complete[1], malformed[1]);
  check_order(whole);
  check_order(cut);
  std::vector<std::string> whole_parts, cut_parts;
  test::add_parts(whole, whole_parts);
  test::add_parts(cut, cut_parts);
  FUZZ_CHECK(whole_parts == cut_parts && complete[0] == complete[1] && malformed[0] == malformed[1]);
  ChatMessage message;
  add_deltas(whole, message);
  check_arguments(message);
  return 0;
}
