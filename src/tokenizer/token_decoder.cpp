#include "src/tokenizer/token_decoder.h"

#include "src/base/ascii.h"
#include "src/formats/text.h"
#include "src/tokenizer/byte_alphabet.h"
#include "src/tokenizer/text_limits.h"
#include "src/tokenizer/utf8.h"

namespace inlay {
namespace {

// Ends once the text has more than `most` bytes.
void replace_all(std::string& text, std::string_view from, std::string_view to, size_t most) {
  std::string out;
  std::string_view left = text;
  for (size_t n = 0; (n = left.find(from)) != left.npos && out.size() <= most; left.remove_prefix(n + from.size()))
    out.append(left.substr(0, n)).append(to);
  text = out.append(left);
}

// The spaces before English punctuation and contractions that WordPiece's decoder takes away.
void clean_up(std::string& text) {
  constexpr std::string_view kRules[][2] = {{" .", "."},   {" ?", "?"},     {" !", "!"},    {" ,", ","},
                                            {" ' ", "'"},  {" n't", "n't"}, {" 'm", "'m"},  {" do not", " don't"},
                                            {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
  for (const auto& [from, to] : kRules) replace_all(text, from, to, text.size());
}

}  // namespace

int byte_of_token(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return -1;
  const int high = hex_value(text[3]), low = hex_value(text[4]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

Result<TokenDecoder> TokenDecoder::read(const JsonValue& json) {
  TokenDecoder out;
  if (json.is_null()) {
    out.steps_.push_back({Kind::joined});
    out.strips_ = true;
    return out;
  }
  INLAY_TRY(out.add(json));
  return out;
}

Status TokenDecoder::add(const JsonValue& json) {
  INLAY_ASSIGN(const JsonValue type_value, json.get("type"));
  INLAY_ASSIGN(const std::string_view type, type_value.as_string());
  if (type == "Sequence") {
    INLAY_ASSIGN(const JsonValue list, json.get("decoders"));
    INLAY_ASSIGN(const JsonElements elements, list.as_array());
    for (const JsonValue element : elements) INLAY_TRY(add(element));
    return {};
  }
  if (type == "Strip") return add_strip(json);
  if (steps_.size() >= kMaxTextSteps)
    return error(Code::unsupported, "%s is one step more than the %zu that a decoder may have", json.where().c_str(), kMaxTextSteps);
  if (fused_) return error(Code::unsupported, "%s comes after Fuse, where only Strip can", json.where().c_str());
  if (type == "Replace") return add_replace(json);
  if (type == "ByteLevel") return steps_.push_back({Kind::bytes}), Status{};
  if (type == "ByteFallback") return steps_.push_back({Kind::byte_tokens}), Status{};
  if (type == "Fuse") return fused_ = true, Status{};
  if (type == "Metaspace") {
    INLAY_ASSIGN(const std::string_view sign, json.string_or("replacement", kSpaceSign));
    INLAY_ASSIGN(const bool prefixed, json.bool_or("add_prefix_space", true));
    INLAY_ASSIGN(const std::string_view scheme, json.string_or("prepend_scheme", prefixed ? "always" : "never"));
    if (sign.empty()) return json.expected("an object whose replacement is not empty");
    steps_.push_back({Kind::replace, std::string(sign), " "});
    strips_ |= scheme != "never";
    return {};
  }
  if (type == "WordPiece") {
    INLAY_ASSIGN(const std::string_view prefix, json.string_or("prefix", "##"));
    INLAY_ASSIGN(const bool clean, json.bool_or("cleanup", true));
    steps_.push_back({Kind::word_pieces, std::string(prefix), {}, clean});
    strips_ = true;
    return {};
  }
  return error(Code::unsupported, "%s has the type %s, a decoder that is not known here", json.where().c_str(),
               quote(type).c_str());
}

Status TokenDecoder::add_replace(const JsonValue& json) {
  INLAY_ASSIGN(const JsonValue pattern, json.get("pattern"));
  const auto plain = pattern.find("String");
  if (!plain) return error(Code::unsupported, "%s is not a plain string", pattern.where().c_str());
  INLAY_ASSIGN(const std::string_view from, plain->as_string());
  INLAY_ASSIGN(const std::string_view to, json.string_or("content", ""));
  if (from.empty()) return plain->expected("a text to replace");
  steps_.push_back({Kind::replace, std::string(from), std::string(to)});
  return {};
}

// One space at the beginning of the fused text is all that pieces, given out one by one, can lose.
Status TokenDecoder::add_strip(const JsonValue& json) {
  INLAY_ASSIGN(const std::string_view content, json.string_or("content", " "));
  INLAY_ASSIGN(const int64_t start, json.i64_or("start", 0));
  INLAY_ASSIGN(const int64_t stop, json.i64_or("stop", 0));
  if (start == 0 && stop == 0) return {};
  if (content != " " || start != 1 || stop != 0 || !fused_)
    return error(Code::unsupported, "%s strips something else than one space at the beginning of the fused text",
                 json.where().c_str());
  strips_ = true;
  return {};
}

Status TokenDecoder::append_piece(std::string_view token, std::string& out) const {
  const size_t most = most_text_bytes(token.size());
  std::string piece(token), bytes;
  for (const Step& step : steps_) {
    switch (step.kind) {
      case Kind::bytes:
        bytes.clear();
        if (append_bytes_of(piece, bytes)) piece = bytes;
        break;
      case Kind::replace:
        replace_all(piece, step.from, step.to, most);
        break;
      case Kind::byte_tokens:
        if (const int byte = byte_of_token(piece); byte >= 0) piece.assign(1, static_cast<char>(byte));
        break;
      case Kind::word_pieces:
        piece = !step.from.empty() && piece.starts_with(step.from) ? piece.substr(step.from.size()) : " " + piece;
        if (step.clean) clean_up(piece);
        break;
      case Kind::joined:
        piece.insert(0, " ");
        break;
    }
    if (piece.size() > most)
      return error(Code::unsupported, "the decoder makes more than %zu bytes of the token %s", most, quote(token).c_str());
  }
  out += piece;
  return {};
}

}  // namespace inlay
