// What the tests of parsers of messages share.
#pragma once

#include "tests/capi/client.h"
#include "tests/support/chat_model.h"

namespace inlay::test {

struct FreeParser {
  void operator()(inlay_chat_parser* p) const { inlay_chat_parser_free(p); }
};
using ParserPtr = std::unique_ptr<inlay_chat_parser, FreeParser>;

inline EnginePtr load_chat_model(const ChatModel& model) {
  const auto bytes = chat_model(model);
  inlay_load_params params = on(INLAY_DEVICE_CPU);
  params.n_threads = 1;
  params.max_sessions = 2;
  inlay_engine* engine = nullptr;
  inlay_error err;
  EXPECT_EQ(inlay_load_memory(bytes.data(), bytes.size(), &params, &engine, &err), INLAY_OK) << err.message;
  return EnginePtr(engine);
}

inline constexpr const char* kOwnFormat = R"({"name": "own", "reasoning": {"begin": "<think>", "end": "</think>"}, "calls": {"written": "tagged",
    "begin": "<call>", "end": "</call>", "arguments_begin": ":", "parameter_begin": "[", "parameter_name_end": "]", "value_end": "[/]"}})";
inline constexpr const char* kOwnTools =
    R"([{"type": "function", "function": {"name": "add", "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "string"}}}}}])";
inline constexpr const char* kOwnText = "<think>Stra\u00dfe</think>1,5 <call>add:[a]1.5[/][b]2.5[/]</call>";

inline inlay_chat_parser_params parser_params() {
  inlay_chat_parser_params out = sized<inlay_chat_parser_params>();
  out.format = kOwnFormat;
  out.tools = kOwnTools;
  out.format_len = out.tools_len = SIZE_MAX;
  return out;
}

}  // namespace inlay::test
