// The rows of effects.cpp that show what the fields of parsers change.
#pragma once

#include "tests/capi/chat_client.h"
#include "tests/capi/effects_sampler.h"

namespace inlay::test {

// The message that a text is, read by a parser, or why there is none.
inline std::string parsed_text(const inlay_chat_parser_params& params, const char* text) {
  inlay_chat_parser* made = nullptr;
  inlay_error err;
  if (const auto status = inlay_chat_parser_create(engine().get(), &params, &made, &err); status != INLAY_OK) return failure(status, err);
  const ParserPtr parser(made);
  EXPECT_EQ(inlay_chat_parser_append_text(made, text, SIZE_MAX, &err), INLAY_OK) << err.message;
  EXPECT_EQ(inlay_chat_parser_finish(made, &err), INLAY_OK) << err.message;
  std::string out(4096, '\0');
  size_t n = 0;
  EXPECT_EQ(inlay_chat_parser_get_message(made, out.data(), out.size(), &n, &err), INLAY_OK) << err.message;
  return out.substr(0, n);
}

inline EffectRow parser_row(const char* field, Kind kind, std::function<void(inlay_chat_parser_params&)> set, std::string words = "",
                            std::function<void(inlay_chat_parser_params&)> base = {}) {
  return {field[0] == 'I' ? field : std::string("inlay_chat_parser_params.") + field, kind, [=](bool with) {
            inlay_chat_parser_params params = parser_params();
            if (base) base(params);
            if (with) set(params);
            return parsed_text(params, kOwnText);
          }, std::move(words)};
}

// A format whose begin of reasoning the vocabulary has as a token.
inline std::string format_with_token() {
  static const std::string token = [] {
    inlay_token_info info = sized<inlay_token_info>();
    for (int32_t id = 0; inlay_token_get_info(engine().get(), id, &info, nullptr) == INLAY_OK; ++id)
      if (info.kind == INLAY_TOKEN_CONTROL && info.piece_bytes > 2) return std::string(info.piece, info.piece + info.piece_bytes);
    return std::string();
  }();
  EXPECT_FALSE(token.empty());
  return R"({"name": "own", "reasoning": {"begin": ")" + token + R"(", "end": "</end>"}})";
}

inline std::vector<EffectRow> chat_effect_rows() {
  using enum Kind;
  using Params = inlay_chat_parser_params;
  static const char* const kTemplate = "{{ '<tool_call>' }}<think>";
  static const std::vector<int32_t> open = [] {
    std::vector<int32_t> out(64);
    size_t n = 0;
    inlay_tokenize(engine().get(), "<think>", SIZE_MAX, INLAY_TOKENIZE_NO_BOS_EOS, out.data(), out.size(), &n, nullptr);
    out.resize(n);
    return out;
  }();
  const auto by_template = [](Params& p) { p.format = nullptr, p.format_len = 0, p.chat_template = kTemplate, p.template_len = SIZE_MAX; };
  const auto with_prompt = [](Params& p) { p.prompt = open.data(), p.n_prompt = open.size(); };
  return {
      parser_row("struct_size", refused, [](Params& p) { p.struct_size = 3; }, "struct_size"),
      parser_row("flags", refused, [](Params& p) { p.flags = 1u << 31; }, "params.flags"),
      parser_row("format", effect, [](Params& p) { p.format = R"({"name": "other"})"; }),
      parser_row("format", refused, [](Params& p) { p.format = R"({"name": "other", "x": 1})"; }, "is no member of a chat format"),
      parser_row("format_len", refused, [](Params& p) { p.format_len = 5; }, "format"),
      parser_row("chat_template", effect, [](Params& p) { p.chat_template = "plain"; }, "", by_template),
      parser_row("template_len", effect, [](Params& p) { p.template_len = 5; }, "", by_template),
      parser_row("tools", effect, [](Params& p) { p.tools = "[]"; }),
      parser_row("tools", refused, [](Params& p) { p.tools = "[{}]"; }, "tools"),
      parser_row("tools_len", refused, [](Params& p) { p.tools_len = 3; }, "tools"),
      parser_row("prompt", effect, with_prompt),
      parser_row("n_prompt", effect, [](Params& p) { p.n_prompt = 1; }, "", with_prompt),
      parser_row("n_prompt", refused, [](Params& p) { p.n_prompt = 1; }, "params.prompt is NULL"),
      {"INLAY_CHAT_PARSER_WRITTEN_MARKERS", effect, [](bool with) {
         const std::string format = format_with_token();
         Params params = sized<Params>();
         params.format = format.data();
         params.format_len = format.size();
         params.flags = with ? INLAY_CHAT_PARSER_WRITTEN_MARKERS : 0;
         const size_t begin = format.find("begin\": \"") + 9;
         return parsed_text(params, (format.substr(begin, format.find('"', begin) - begin) + "a").c_str());
       }},
  };
}

}  // namespace inlay::test
