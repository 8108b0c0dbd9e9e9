#include "src/capi/guard.h"
#include "src/capi/handles.h"

namespace inlay::capi {
namespace {

struct ReadBy {
  ChatFormatChoice choice;
  MessageParser::Options options;
};

Status read_parser_params(const inlay_chat_parser_params* given, ReadBy& out) {
  inlay_chat_parser_params params;
  INLAY_TRY(read_struct(given, "params", params));
  INLAY_TRY(check_flags(params.flags, INLAY_CHAT_PARSER_WRITTEN_MARKERS, "params.flags"));
  out.options.written_markers = (params.flags & INLAY_CHAT_PARSER_WRITTEN_MARKERS) != 0;
  INLAY_ASSIGN(const std::string_view format, read_text(params.format, params.format_len, "params.format"));
  if (params.format) out.choice.json = format;
  INLAY_ASSIGN(const std::string_view source, read_text(params.chat_template, params.template_len, "params.chat_template"));
  if (params.chat_template) out.choice.source = source;
  INLAY_ASSIGN(const std::string_view tools, read_text(params.tools, params.tools_len, "params.tools"));
  INLAY_ASSIGN(out.options.tools, ToolTypes::read(std::string(tools)));
  out.choice.has_tools = !out.options.tools.empty();
  INLAY_ASSIGN(out.options.prompt, read_tokens(params.prompt, params.n_prompt, "params.prompt"));
  return {};
}

inlay_chat_delta delta_of(const MessageParser::Part& part) {
  inlay_chat_delta out = {};
  out.kind = static_cast<inlay_chat_delta_kind>(part.kind);
  if (part.whole) out.flags |= INLAY_CHAT_DELTA_FLAG_WHOLE;
  out.call = static_cast<int32_t>(part.call);
  out.first_byte = part.text;
  out.text_bytes = part.n_text;
  return out;
}

}  // namespace
}  // namespace inlay::capi

using namespace inlay;
using namespace inlay::capi;

inlay_status inlay_chat_get_format(const inlay_engine* engine, const inlay_chat_parser_params* params, char* buf, size_t cap, size_t* needed,
                                   inlay_error* err) {
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    ReadBy given;
    INLAY_TRY(read_parser_params(params, given));
    INLAY_ASSIGN(const ModelChatFormatPtr format, engine->engine->chat_format(given.choice));
    return write_text(format->json(), buf, cap, needed);
  });
}

inlay_status inlay_chat_parser_create(const inlay_engine* engine, const inlay_chat_parser_params* params, inlay_chat_parser** parser, inlay_error* err) {
  clear(parser);
  return guarded<inlay_engine>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(engine, "engine"));
    INLAY_TRY(check_not_null(parser, "parser"));
    ReadBy given;
    INLAY_TRY(read_parser_params(params, given));
    INLAY_ASSIGN(ModelChatFormatPtr format, engine->engine->chat_format(given.choice));
    auto handle = std::make_unique<inlay_chat_parser>();
    handle->shared = std::make_shared<Shared>();
    INLAY_ASSIGN(handle->parser, MessageParser::make(std::move(format), given.options));
    *parser = handle.release();
    return {};
  });
}

void inlay_chat_parser_free(inlay_chat_parser* parser) { free_handle(parser); }

inlay_status inlay_chat_parser_append(inlay_chat_parser* parser, const int32_t* tokens, size_t n_tokens, inlay_error* err) {
  return guarded<inlay_chat_parser>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(parser, "parser"));
    INLAY_ASSIGN(const std::span<const int32_t> ids, read_tokens(tokens, n_tokens, "tokens"));
    return parser->parser->append(ids);
  });
}

inlay_status inlay_chat_parser_append_text(inlay_chat_parser* parser, const char* text, size_t text_len, inlay_error* err) {
  return guarded<inlay_chat_parser>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(parser, "parser"));
    INLAY_ASSIGN(const std::string_view given, read_text(text, text_len, "text"));
    return parser->parser->append_text(given);
  });
}

inlay_status inlay_chat_parser_finish(inlay_chat_parser* parser, inlay_error* err) {
  return guarded<inlay_chat_parser>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(parser, "parser"));
    parser->parser->finish();
    return {};
  });
}

inlay_status inlay_chat_parser_take(inlay_chat_parser* parser, inlay_chat_delta* deltas, size_t cap_deltas, size_t delta_stride, char* text,
                                    size_t cap_text, size_t* n_deltas, inlay_error* err) {
  clear(n_deltas);
  return guarded<inlay_chat_parser>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(parser, "parser"));
    INLAY_TRY(check_not_null(n_deltas, "n_deltas"));
    if (cap_deltas != 0) INLAY_TRY(check_not_null(deltas, "deltas"));
    INLAY_TRY(check_stride(delta_stride, kFirstSize<inlay_chat_delta>, alignof(inlay_chat_delta), "delta_stride"));
    if (cap_text != 0) INLAY_TRY(check_not_null(text, "text"));
    INLAY_ASSIGN(const auto parts, parser->parser->take(cap_deltas, {text, cap_text}));
    for (size_t i = 0; i < parts.size(); ++i)
      write_sized(reinterpret_cast<std::byte*>(deltas) + i * delta_stride, delta_stride, delta_of(parts[i]));
    *n_deltas = parts.size();
    return {};
  });
}

inlay_status inlay_chat_parser_get_info(inlay_chat_parser* parser, inlay_chat_parser_info* info, inlay_error* err) {
  return guarded<inlay_chat_parser>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(parser, "parser"));
    INLAY_TRY(check_out_struct(info, "info"));
    const MessageParser& own = *parser->parser;
    inlay_chat_parser_info out = {};
    if (own.is_finished()) out.flags |= INLAY_CHAT_PARSER_INFO_FINISHED;
    if (own.is_finished() && own.is_complete()) out.flags |= INLAY_CHAT_PARSER_INFO_COMPLETE;
    if (own.is_malformed()) out.flags |= INLAY_CHAT_PARSER_INFO_MALFORMED;
    out.n_calls = static_cast<int32_t>(own.n_calls());
    write_struct(info, out);
    return {};
  });
}

inlay_status inlay_chat_parser_get_message(inlay_chat_parser* parser, char* buf, size_t cap, size_t* needed, inlay_error* err) {
  return guarded<inlay_chat_parser>(err, [&](auto& use) -> Status {
    INLAY_TRY(use.begin(parser, "parser"));
    INLAY_ASSIGN(const std::string message, parser->parser->message());
    return write_text(message, buf, cap, needed);
  });
}
