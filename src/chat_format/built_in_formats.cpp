// The built-in formats, in the order in which find_chat_format() tries them.
#include <iterator>

#include "src/chat_format/chat_format.h"

namespace inlay {
namespace {

struct BuiltIn {
  std::string_view name, json;
};

constexpr BuiltIn kFormats[] = {
    {"harmony", R"({
  "name": "harmony",
  "channels": {
    "begin": "<|start|>", "channel": "<|channel|>", "constraint": "<|constrain|>", "body": "<|message|>",
    "end": ["<|end|>", "<|return|>", "<|call|>"],
    "role": "assistant", "recipient": "to=", "tool_prefix": "functions.",
    "reasoning": "analysis", "content": ["final", "commentary"]
  },
  "template_has": ["<|channel|>", "<|message|>"]
})"},
    {"glm", R"({
  "name": "glm",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "tagged", "begin": "<tool_call>", "end": "</tool_call>",
    "parameter_begin": "<arg_key>", "parameter_name_end": "</arg_key>", "value_begin": "<arg_value>", "value_end": "</arg_value>"
  },
  "template_has": ["<tool_call>", "<arg_key>", "<arg_value>"]
})"},
    {"qwen3-coder", R"({
  "name": "qwen3-coder",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "tagged", "bare": true, "begin": ["<tool_call>", "<function="], "end": ["</function>", "</tool_call>"],
    "arguments_begin": ">", "parameter_begin": "<parameter=", "parameter_name_end": ">", "value_end": "</parameter>", "value_lines": true
  },
  "template_has": ["<tool_call>", "<function=", "<parameter="]
})"},
    {"seed", R"({
  "name": "seed",
  "reasoning": {"begin": "<seed:think>", "end": "</seed:think>"},
  "calls": {
    "written": "tagged", "begin": ["<seed:tool_call>", "<function="], "end": ["</function>", "</seed:tool_call>"],
    "arguments_begin": ">", "parameter_begin": "<parameter=", "parameter_name_end": ">", "value_end": "</parameter>"
  },
  "template_has": ["<seed:tool_call>", "<function=", "<parameter="]
})"},
    {"minimax", R"({
  "name": "minimax",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "tagged", "section_begin": "<minimax:tool_call>", "section_end": "</minimax:tool_call>",
    "begin": "<invoke name=\"", "end": "</invoke>",
    "arguments_begin": "\">", "parameter_begin": "<parameter name=\"", "parameter_name_end": "\">", "value_end": "</parameter>"
  },
  "template_has": ["<minimax:tool_call>", "<invoke name=", "<parameter name="]
})"},
    {"command", R"({
  "name": "command",
  "reasoning": {"begin": "<|START_THINKING|>", "end": "<|END_THINKING|>"},
  "content": {"begin": "<|START_RESPONSE|>", "end": "<|END_RESPONSE|>"},
  "calls": {
    "written": "json", "begin": "<|START_ACTION|>", "end": "<|END_ACTION|>",
    "name_key": "tool_name", "arguments_key": "parameters", "id_key": "tool_call_id"
  },
  "template_has": ["<|START_ACTION|>", "tool_name"]
})"},
    {"nemotron", R"({
  "name": "nemotron",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {"written": "json", "begin": "<TOOLCALL>", "end": "</TOOLCALL>", "name_key": "name", "arguments_key": "arguments"},
  "template_has": "<TOOLCALL>"
})"},
    {"hermes", R"({
  "name": "hermes",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "json", "begin": "<tool_call>", "end": "</tool_call>", "name_key": "name", "arguments_key": ["arguments", "parameters"],
    "id_key": "id", "writes_id": false
  },
  "template_has": "<tool_call>"
})"},
    {"deepseek-v3", R"({
  "name": "deepseek-v3",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "named", "section_begin": "<｜tool▁calls▁begin｜>", "section_end": "<｜tool▁calls▁end｜>",
    "begin": ["<｜tool▁call▁begin｜>", "function", "<｜tool▁sep｜>"], "arguments_begin": "```json", "end": ["```", "<｜tool▁call▁end｜>"]
  },
  "template_has": ["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "```json"]
})"},
    {"deepseek-v3.1", R"({
  "name": "deepseek-v3.1",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "named", "section_begin": "<｜tool▁calls▁begin｜>", "section_end": "<｜tool▁calls▁end｜>",
    "begin": "<｜tool▁call▁begin｜>", "arguments_begin": "<｜tool▁sep｜>", "end": "<｜tool▁call▁end｜>"
  },
  "template_has": ["<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"]
})"},
    {"kimi", R"({
  "name": "kimi",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "named", "section_begin": "<|tool_calls_section_begin|>", "section_end": "<|tool_calls_section_end|>",
    "begin": "<|tool_call_begin|>", "name_prefix": "functions.", "name_suffix": ":", "arguments_begin": "<|tool_call_argument_begin|>",
    "end": "<|tool_call_end|>"
  },
  "template_has": ["<|tool_call_begin|>", "<|tool_call_argument_begin|>"]
})"},
    {"mistral-args", R"({
  "name": "mistral-args",
  "reasoning": {"begin": "[THINK]", "end": "[/THINK]"},
  "calls": {"written": "named", "begin": "[TOOL_CALLS]", "id_begin": "[CALL_ID]", "arguments_begin": "[ARGS]"},
  "template_has": ["[TOOL_CALLS]", "[ARGS]"]
})"},
    {"mistral", R"({
  "name": "mistral",
  "calls": {"written": "json", "begin": "[TOOL_CALLS]", "name_key": "name", "arguments_key": "arguments", "id_key": "id"},
  "template_has": "[TOOL_CALLS]"
})"},
    {"llama3", R"({
  "name": "llama3",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {
    "written": "json", "begin": "<|python_tag|>", "bare": true, "separator": ";",
    "name_key": "name", "arguments_key": ["parameters", "arguments"]
  },
  "template_has": ["<|start_header_id|>", "\"parameters\": "]
})"},
    {"granite", R"({
  "name": "granite",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "content": {"begin": "<response>", "end": "</response>"},
  "calls": {"written": "json", "begin": "<|tool_call|>", "name_key": "name", "arguments_key": "arguments"},
  "template_has": ["<|tool_call|>", "<|start_of_role|>"]
})"},
    {"lfm2", R"({
  "name": "lfm2",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {"written": "python", "begin": "<|tool_call_start|>", "end": "<|tool_call_end|>"},
  "template_has": "<|tool_list_start|>"
})"},
    {"pythonic", R"({
  "name": "pythonic",
  "reasoning": {"begin": "<think>", "end": "</think>"},
  "calls": {"written": "python", "bare": true},
  "template_has": "[func_name1("
})"},
    {"think", R"({"name": "think", "reasoning": {"begin": "<think>", "end": "</think>"}, "template_has": "<think>"})"},
    {"think-brackets", R"({"name": "think-brackets", "reasoning": {"begin": "[THINK]", "end": "[/THINK]"}, "template_has": "[THINK]"})"},
    {"content", R"({"name": "content"})"},
};

constexpr const char* kNoCalls = "the chat template writes tool calls in no known format: none will be found";
constexpr const char* kNothing = "the chat template writes tool calls in no known format: all text is content";

bool has(std::string_view source, const std::string& part) { return source.find(part) != source.npos; }

bool writes(std::string_view source, const ChatFormat& format) {
  for (const std::string& part : format.template_has)
    if (!has(source, part)) return false;
  for (const std::string& part : format.template_lacks)
    if (has(source, part)) return false;
  return true;
}

}  // namespace

std::vector<std::string_view> chat_format_names() {
  std::vector<std::string_view> out;
  for (const BuiltIn& format : kFormats) out.push_back(format.name);
  return out;
}

std::string_view chat_format_json(std::string_view name) {
  for (const BuiltIn& format : kFormats)
    if (format.name == name) return format.json;
  return {};
}

FoundChatFormat find_chat_format(std::string_view template_source, std::span<const ChatFormat> own) {
  FoundChatFormat out;
  for (const ChatFormat& format : own) {
    if (!writes(template_source, format)) continue;
    out.format = format;
    if (!format.has_calls()) out.remark = kNoCalls;
    return out;
  }
  for (const BuiltIn& built_in : kFormats) {
    auto format = ChatFormat::read(std::string(built_in.json), std::string(built_in.name));
    if (!format.ok() || !writes(template_source, *format)) continue;
    out.format = *std::move(format);
    break;
  }
  ChatFormat& format = out.format;
  // Fine-tuned models without reasoning have the other markers of the family; their content may well speak of these.
  if (!format.reasoning_begin.empty() && !has(template_source, format.reasoning_begin.text) && !has(template_source, format.reasoning_end.text))
    format.reasoning_begin = format.reasoning_end = {};
  if (!format.has_calls()) out.remark = format.has_reasoning() ? kNoCalls : kNothing;
  return out;
}

}  // namespace inlay
