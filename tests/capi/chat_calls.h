// The rows of function_calls.h for parsers of messages.
#pragma once

#include "tests/capi/chat_client.h"

namespace inlay::test {

template <class World>
ParserPtr parser_of(const World& world, std::string& out) {
  const inlay_chat_parser_params params = parser_params();
  inlay_chat_parser* made = nullptr;
  inlay_error err;
  const inlay_status status = CALL(inlay_chat_parser_create, world.engine.get(), &params, &made, &err);
  out += outcome(status, err);
  return ParserPtr(made);
}

inline std::string read_text(const ParserPtr& parser) {
  inlay_error err;
  const inlay_status status = CALL(inlay_chat_parser_append_text, parser.get(), kOwnText, SIZE_MAX, &err);
  return outcome(status, err);
}

inline std::string finished(const ParserPtr& parser) {
  inlay_error err;
  const inlay_status status = CALL(inlay_chat_parser_finish, parser.get(), &err);
  return outcome(status, err);
}

inline std::string taken(const ParserPtr& parser) {
  std::vector<inlay_chat_delta> deltas(16);
  std::string text(1024, '\0');
  size_t n = 0;
  inlay_error err;
  const inlay_status status =
      CALL(inlay_chat_parser_take, parser.get(), deltas.data(), deltas.size(), sizeof deltas[0], text.data(), text.size(), &n, &err);
  std::string out = outcome(status, err) + std::to_string(n) + text;
  for (const inlay_chat_delta& delta : deltas) out += std::to_string(delta.kind) + std::to_string(delta.flags);
  return out;
}

inline std::string message_of(const ParserPtr& parser) {
  return text_of([&](auto... buf) { return CALL(inlay_chat_parser_get_message, parser.get(), buf...); });
}

template <class Row, class World>
std::vector<Row> chat_rows() {
  return {
      {"inlay_chat_get_format", [](const World& w) {
         const inlay_chat_parser_params params = parser_params();
         return text_of([&](auto... buf) { return CALL(inlay_chat_get_format, w.engine.get(), &params, buf...); });
       }},
      {"inlay_chat_parser_create", [](const World& w) {
         std::string out;
         parser_of(w, out);
         return out;
       }},
      {"inlay_chat_parser_free", [](const World& w) {
         std::string out;
         ParserPtr parser = parser_of(w, out);
         CALL(inlay_chat_parser_free, parser.release());
         return out;
       }},
      {"inlay_chat_parser_append", [](const World& w) {
         std::string out;
         const ParserPtr parser = parser_of(w, out);
         inlay_error err;
         const inlay_status status = CALL(inlay_chat_parser_append, parser.get(), kPlain.data(), kPlain.size(), &err);
         return out + outcome(status, err) + finished(parser) + taken(parser);
       }},
      {"inlay_chat_parser_append_text", [](const World& w) {
         std::string out;
         const ParserPtr parser = parser_of(w, out);
         return out + read_text(parser) + taken(parser);
       }},
      {"inlay_chat_parser_finish", [](const World& w) {
         std::string out;
         const ParserPtr parser = parser_of(w, out);
         return out + finished(parser);
       }},
      {"inlay_chat_parser_take", [](const World& w) {
         std::string out;
         const ParserPtr parser = parser_of(w, out);
         return out + read_text(parser) + finished(parser) + taken(parser);
       }},
      {"inlay_chat_parser_get_info", [](const World& w) {
         std::string out;
         const ParserPtr parser = parser_of(w, out);
         out += read_text(parser);
         inlay_chat_parser_info info = sized<inlay_chat_parser_info>();
         inlay_error err;
         const inlay_status status = CALL(inlay_chat_parser_get_info, parser.get(), &info, &err);
         return out + outcome(status, err) + bytes_of(info);
       }},
      {"inlay_chat_parser_get_message", [](const World& w) {
         std::string out;
         const ParserPtr parser = parser_of(w, out);
         return out + read_text(parser) + finished(parser) + message_of(parser);
       }},
  };
}

}  // namespace inlay::test
