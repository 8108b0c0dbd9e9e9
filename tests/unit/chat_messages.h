// Messages of every format, and what they are taken apart into.
#pragma once

#include <random>
#include <string>

#include "src/chat_format/chat_format.h"

namespace inlay::test {

inline constexpr const char* kTools = R"([
  {"type": "function", "function": {"name": "weather", "parameters": {"type": "object", "properties": {
    "place": {"type": "string"}, "days": {"type": "integer"}, "hot": {"type": "boolean"}, "more": {"type": "object"},
    "list": {"type": "array", "items": {"type": "string"}}, "unit": {"enum": ["C", "F", null]}, "limit": {"type": ["number", "null"]}, "any": {}
  }}}},
  {"name": "now", "parameters": {}}
])";

struct ChatRow {
  const char* format;
  const char* text;
  const char* parts;
  const char* tail = "";
};

inline const ChatRow kMessages[] = {
    {"content", "Hello <think> <tool_call>\n", "C Hello <think> <tool_call>\n"},
    {"content", "", ""},
    {"think", "<think>\nHm.\n</think>\n\nYes.\n", "R Hm. | C Yes.\n"},
    {"think", "  \n<think></think>Yes", "C Yes"},
    {"think", "Hm.\n\nOr?\n</think>\nYes", "R Hm.\n\nOr? | C Yes", "<|im_start|>assistant\n<think>\n"},
    {"think", "Hm.</think>Yes", "R Hm. | C Yes", "x<think>"},
    {"think", "Yes", "C Yes", "<|im_start|>assistant\n<think>\n\n</think>\n\n"},
    {"think", "Yes", "C Yes", "<think> is what I mean"},
    {"think", "<think>cut", "R cut (incomplete)"},
    {"think-brackets", "[THINK]a[/THINK]b", "R a | C b"},

    {"hermes", "Look:\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"place\": \"Bern\"}}\n</tool_call>",
     "C Look: | B weather | A {\"place\": \"Bern\"} | E"},
    {"hermes",
     "<think>\nHm\n</think>\n\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {}}\n</tool_call>\n"
     "<tool_call>\n{\"name\": \"now\"}\n</tool_call>\n",
     "R Hm | B weather | A {} | E | B now | A {} | E"},
    {"hermes", "<tool_call>{\"arguments\": {\"days\": [1, 2.5e-3, \"\\u00e9\"]}, \"id\": \"x1\", \"name\": \"weather\"}</tool_call>then",
     "B weather | I x1 | A {\"days\": [1, 2.5e-3, \"\\u00e9\"]} | E | C then"},
    {"hermes", "<tool_call>{\"name\": \"weather\", \"arguments\": \"{\\\"place\\\": \\\"B\\\\u00fc\\\"}\", \"id\": 7}</tool_call>",
     "B weather | A {\"place\": \"B\\u00fc\"} | I 7 | E"},
    {"hermes", "<tool_call>{\"name\": \"weather\", \"arguments\": \"no object\"}</tool_call>", "B weather | A \"no object\" | E"},
    {"hermes", "<tool_call>[{\"name\": \"now\"}, {\"name\": \"weather\", \"arguments\": {}}]</tool_call>", "B now | A {} | E | B weather | A {} | E"},
    {"hermes", "<tool_call>{\"name\": \"w\", \"x\": {\"name\": 1}, \"arguments\": {\"a\": \"</tool_call>\"}}</tool_call>",
     "B w | A {\"a\": \"</tool_call>\"} | E"},
    {"hermes", "<tool_call>{\"name\": \"now\", \"arguments\": null}</tool_call>", "B now | A {} | E"},
    {"hermes", "<tool_call>{\"arguments\": null, \"name\": \"now\"}</tool_call>", "B now | A {} | E"},
    {"mistral-args", "[TOOL_CALLS]now[ARGS]null", "B now | A {} | E"},
    {"mistral-args", "[TOOL_CALLS]now[ARGS]\"{\\\"a\\\": 1}\"", "B now | A {\"a\": 1} | E"},
    {"hermes", "{\"name\": \"weather\"}</tool_call>", "B weather | A {} | E", "<|im_start|>assistant\n<tool_call>"},
    {"hermes", "Bern\"}}\n</tool_call>", "B weather | A {\"place\": \"Bern\"} | E",
     "<|im_start|>assistant\nSo:\n<tool_call>\n{\"name\": \"weather\", \"arguments\": {\"place\": \""},

    {"llama3", "{\"name\": \"weather\", \"parameters\": {\"place\": \"Bern\"}}", "B weather | A {\"place\": \"Bern\"} | E"},
    {"llama3", "<|python_tag|>{\"name\": \"now\", \"parameters\": {}}; {\"name\": \"weather\", \"parameters\": {\"days\": 2}}",
     "B now | A {} | E | B weather | A {\"days\": 2} | E"},
    {"llama3", "{\"type\": \"function\", \"name\": \"now\", \"parameters\": {}}", "B now | A {} | E"},
    {"llama3", "{\"answer\": 5}", "C {\"answer\": 5}"},
    {"llama3", "{\"name\": \"Ann\", \"parameters\": {}}", "C {\"name\": \"Ann\", \"parameters\": {}}"},
    {"llama3", "So {\"name\": \"now\", \"parameters\": {}}", "C So {\"name\": \"now\", \"parameters\": {}}"},
    {"llama3", "{\"name\": \"now\", \"parameters\": {}}; and", "B now | A {} | E | C ; and"},

    {"mistral", "[TOOL_CALLS][{\"name\": \"weather\", \"arguments\": {\"place\": \"B\"}, \"id\": \"abcdefghi\"}, "
                "{\"name\": \"now\", \"arguments\": {}}]",
     "B weather | A {\"place\": \"B\"} | I abcdefghi | E | B now | A {} | E"},
    {"mistral-args", "[TOOL_CALLS]weather[CALL_ID]abcdefghi[ARGS]{\"place\": \"B\"}[TOOL_CALLS]now[ARGS]{}",
     "B weather | I abcdefghi | A {\"place\": \"B\"} | E | B now | A {} | E"},
    {"mistral-args", "[THINK]Hm[/THINK]So[TOOL_CALLS]now[ARGS]{}", "R Hm | C So | B now | A {} | E"},
    {"kimi", "So<|tool_calls_section_begin|><|tool_call_begin|>functions.weather:0<|tool_call_argument_begin|>{\"days\": 1}<|tool_call_end|>"
             "<|tool_call_begin|>functions.now:1<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
     "C So | B weather | I functions.weather:0 | A {\"days\": 1} | E | B now | I functions.now:1 | A {} | E"},
    {"granite", "<think>a</think><response>b</response>", "R a | C b"},
    {"granite", "<think>a</think>\n<response>\nb\n</response>\n", "R a | C b"},
    {"granite", "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}]", "B now | A {} | E"},

    {"deepseek-v3", "Hm<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>weather\n```json\n{\"place\": \"B\"}\n```<｜tool▁call▁end｜>\n"
                    "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     "C Hm | B weather | A {\"place\": \"B\"} | E | B now | A {} | E"},
    {"deepseek-v3.1", "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{\"a\":[]}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
     "B now | A {\"a\":[]} | E"},

    {"qwen3-coder", "Look.\n<tool_call>\n<function=weather>\n<parameter=place>\nBern \"x\"\n\n</parameter>\n<parameter=days>\n3\n</parameter>\n"
                    "<parameter=hot>\nTrue\n</parameter>\n<parameter=more>\n{\"a\": [1]}\n</parameter>\n</function>\n</tool_call>",
     "C Look. | B weather | A {\"place\": \"Bern \\\"x\\\"\\n\", \"days\": 3, \"hot\": true, \"more\": {\"a\": [1]}} | E"},
    {"qwen3-coder", "<tool_call>\n<function=weather>\n<parameter=days>\nsoon\n</parameter>\n<parameter=limit>None</parameter>\n"
                    "<parameter=unit>\nC\n</parameter>\n<parameter=list>\n[\"a\"]\n</parameter>"
                    "<parameter=new>\n{}\n</parameter></function></tool_call>",
     "B weather | A {\"days\": \"soon\", \"limit\": null, \"unit\": \"C\", \"list\": [\"a\"], \"new\": {}} | E"},
    {"qwen3-coder", "<tool_call>\n<function=now>\n</function>\n</tool_call>\n<tool_call>\n<function=now></function></tool_call>",
     "B now | A {} | E | B now | A {} | E"},
    {"qwen3-coder", "So\n<function=now>\n</function>\n</tool_call>then", "C So | B now | A {} | E | C then"},
    {"qwen3-coder", "<function=now></function>\nthen <function=x>", "B now | A {} | E | C then <function=x>"},
    {"qwen3-coder", "<function=now></function>\n", "B now | A {} | E"},
    {"qwen3-coder", "<tool_call><function=weather><parameter=place>5</parameter><parameter=any>5</parameter></function></tool_call>",
     "B weather | A {\"place\": \"5\", \"any\": 5} | E"},
    {"seed", "<seed:think>Hm</seed:think>\nSo\n\n<seed:tool_call>\n<function=weather>\n<parameter=place>\nBern</parameter>\n"
             "<parameter=days>2</parameter>\n"
             "</function>\n</seed:tool_call>",
     "R Hm | C So | B weather | A {\"place\": \"\\nBern\", \"days\": 2} | E"},
    {"minimax", "So\n<minimax:tool_call>\n<invoke name=\"weather\">\n"
                "<parameter name=\"place\">Bern \"x\"</parameter><parameter name=\"hot\">true</parameter>"
                "</invoke>\n<invoke name=\"now\">\n</invoke>\n</minimax:tool_call>",
     "C So | B weather | A {\"place\": \"Bern \\\"x\\\"\", \"hot\": true} | E | B now | A {} | E"},
    {"command", "<|START_THINKING|>Hm<|END_THINKING|><|START_ACTION|>[\n"
                "    {\"tool_call_id\": \"0\", \"tool_name\": \"now\", \"parameters\": {}}\n]<|END_ACTION|>",
     "R Hm | B now | I 0 | A {} | E"},
    {"command", "<|START_RESPONSE|>Yes<|END_RESPONSE|>", "C Yes"},
    {"nemotron", "<TOOLCALL>[{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"now\", \"arguments\": {}}]</TOOLCALL>",
     "B now | A {} | E | B now | A {} | E"},
    {"glm", "\n<think>Hm</think>\nLook.\n<tool_call>weather\n<arg_key>place</arg_key>\n<arg_value>\nBern\n</arg_value>\n<arg_key>days</arg_key>\n"
            "<arg_value>3</arg_value>\n</tool_call>\n<tool_call>now\n</tool_call>\n<tool_call>now</tool_call>",
     "R Hm | C Look. | B weather | A {\"place\": \"\\nBern\\n\", \"days\": 3} | E | B now | A {} | E | B now | A {} | E"},

    {"lfm2", "<|tool_call_start|>[weather(place=\"Bern \\\"x\\\"\", days=3), now()]<|tool_call_end|>So",
     "B weather | A {\"place\": \"Bern \\\"x\\\"\", \"days\": 3} | E | B now | A {} | E | C So"},
    {"lfm2", "So\n<|tool_call_start|> weather ( list = ['a', 'it\\'s \"é\"', (1, -2.5e3,), [] ,], "
             "more={'k': {\"a\": None}, 'b': [True, False]}, hot = True, )<|tool_call_end|>",
     "C So | B weather | A {\"list\": [\"a\", \"it's \\\"é\\\"\", [1, -2.5e3], []], "
     "\"more\": {\"k\": {\"a\": null}, \"b\": [true, false]}, \"hot\": true} | E"},
    {"lfm2", "<|tool_call_start|>[weather(place='a\\nb\\x41\\u00e9\\U0001F600\\ud83d\\ude00\\q\\\\\\\nc\nd')]<|tool_call_end|>",
     "B weather | A {\"place\": \"a\\nbAé😀\\ud83d\\ude00\\\\q\\\\c\\nd\"} | E"},
    {"pythonic", "[weather(days=2), now()]", "B weather | A {\"days\": 2} | E | B now | A {} | E"},
    {"pythonic", "[1, 2]", "C [1, 2]"},
    {"pythonic", "[sum(days=2)]", "C [sum(days=2)]"},
    {"pythonic", "See [weather(days=2)]", "C See [weather(days=2)]"},
    {"harmony", "<|channel|>analysis<|message|>Hm.\n<|end|><|start|>assistant<|channel|>final<|message|>\nYes<|return|>", "R Hm.\n | C \nYes"},
    {"harmony", "<|channel|>commentary to=functions.weather <|constrain|>json<|message|>{\"place\": \"B\"}<|call|>",
     "B weather | A {\"place\": \"B\"} | E", "<|start|>assistant"},
    {"harmony", " to=functions.now<|channel|>commentary json<|message|>{} <|call|>"
                "<|start|>assistant to=functions.now<|channel|>commentary<|message|>{}",
     "B now | A {} | E | B now | A {} | E", "<|start|>user<|message|>x<|end|><|start|>assistant"},
    {"harmony", "<|channel|>analysis to=python code<|message|>print(\"1\")\n<|call|>", "B python | A \"print(\\\"1\\\")\\n\" | E"},
    {"harmony", "Hm<|end|>", "R Hm", "<|start|>assistant<|channel|>analysis<|message|>"},
    {"harmony", "", ""},
};

// What does not go on as its format says.
inline const ChatRow kMalformed[] = {
    {"hermes", "a\n<tool_call>\nnone\n</tool_call>b", "C a\n<tool_call>\nnone\n</tool_call>b (malformed)"},
    {"hermes", "<tool_call>{\"name\": 5}</tool_call>", "C <tool_call>{\"name\": 5}</tool_call> (malformed)"},
    {"hermes", "<tool_call>{\"arguments\": {}}</tool_call>", "C <tool_call>{\"arguments\": {}}</tool_call> (malformed)"},
    {"hermes", "<tool_call>{\"name\": \"now\", \"arguments\": {]}}</tool_call>", "B now | A { | E! | C ]}}</tool_call> (malformed)"},
    {"hermes", "<tool_call>{\"name\": \"now\", \"arguments\": {}</tool_call>", "B now | A {} | E! | C </tool_call> (malformed)"},
    {"hermes", "<tool_call>{\"name\": \"now\"} x", "B now | A {} | E | C  x (malformed)"},
    {"hermes", "<tool_call>{\"name\": \"now\", \"arguments\": {}, \"id\": 7} x", "B now | A {} | I 7 | E | C  x (malformed)"},
    {"hermes", "<tool_call>{\"na<tool_call>{\"name\": \"now\"}</tool_call>",
     "C <tool_call>{\"na<tool_call>{\"name\": \"now\"}</tool_call> (malformed)"},
    {"hermes", "<tool_call>x<tool_call>{\"name\": \"now\"}</tool_call>", "C <tool_call>x | B now | A {} | E (malformed)"},
    {"hermes", "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": \"1\n2\"}}</tool_call>", "B now | A {\"a\": \"1\\n2\"} | E (malformed)"},
    {"hermes", "<tool_call>{\"name\": \"now\", \"arguments\": {", "B now | A { | E! (incomplete)"},
    {"hermes", "a\n<tool_call>\n{\"name\": \"n", "C a\n<tool_call>\n{\"name\": \"n (incomplete)"},
    {"hermes", "<tool_call>{\"name\": \"now\"}", "B now | A {} | E (incomplete)"},
    {"hermes", "<tool_call>[{\"name\": \"now\"}]", "B now | A {} | E (incomplete)"},
    {"hermes", "a<tool_c", "C a<tool_c"},
    {"llama3", "<|python_tag|>print(1)", "C <|python_tag|>print(1) (malformed)"},
    {"mistral", "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}", "B now | A {} | E (incomplete)"},
    {"mistral", "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}, 5]", "B now | A {} | E | C  5] (malformed)"},
    {"mistral-args", "[TOOL_CALLS]now{}", "C [TOOL_CALLS]now{} (malformed)"},
    {"mistral-args", "[TOOL_CALLS][ARGS]{}", "C [TOOL_CALLS][ARGS]{} (malformed)"},
    {"deepseek-v3.1", "<｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜>", "C <｜tool▁calls▁begin｜>x<｜tool▁calls▁end｜> (malformed)"},
    {"qwen3-coder", "<tool_call>\n<function=now>\n<parameter=a>\n1\n</parameter>\n<parameter=a>2</parameter></function></tool_call>",
     "B now | A {\"a\": 1 | E! | C \n<parameter=a>2</parameter></function></tool_call> (malformed)"},
    {"qwen3-coder", "<tool_call>{\"name\": \"now\"}</tool_call>", "C <tool_call>{\"name\": \"now\"}</tool_call> (malformed)"},
    {"qwen3-coder", "<tool_call><function=weather><parameter=place>Bern", "B weather | A {\"place\": \"Bern | E! (incomplete)"},
    {"lfm2", "<|tool_call_start|>none<|tool_call_end|>", "C <|tool_call_start|>none<|tool_call_end|> (malformed)"},
    {"lfm2", "<|tool_call_start|>[now(5)]<|tool_call_end|>", "B now | A { | E! | C 5)]<|tool_call_end|> (malformed)"},
    {"lfm2", "<|tool_call_start|>[now(a=x)]<|tool_call_end|>", "B now | A {\"a\":  | E! | C )]<|tool_call_end|> (malformed)"},
    {"lfm2", "<|tool_call_start|>[now(a=1, a=2)]<|tool_call_end|>", "B now | A {\"a\": 1 | E! | C  a=2)]<|tool_call_end|> (malformed)"},
    {"lfm2", "<|tool_call_start|>[now(a='\\ud800x')]", "B now | A {\"a\": \"\\ud800 | E! | C x')] (malformed)"},
    {"lfm2", "<|tool_call_start|>[now(), ]", "B now | A {} | E | C  ] (malformed)"},
    {"lfm2", "<|tool_call_start|>[now(a=[1, 2", "B now | A {\"a\": [1, 2 | E! (incomplete)"},
    {"kimi", "<|tool_call_begin|>functions.:0<|tool_call_argument_begin|>{}",
     "C <|tool_call_begin|>functions.:0<|tool_call_argument_begin|>{} (malformed)"},
    {"minimax", "<minimax:tool_call>\n<invoke name=\"now\"></invoke>\nDone.", "B now | A {} | E | C \nDone. (malformed)"},
    {"glm", "<tool_call>{\"name\": \"now\"}</tool_call>", "C <tool_call>{\"name\": \"now\"}</tool_call> (malformed)"},
    {"harmony", "Plain answer.", "C Plain answer. (malformed)"},
    {"harmony", "assis<|channel|>final<|message|>x", "C assisx (malformed)"},
    {"harmony", "<|channel|>musings<|message|>Hm<|end|>", "C <|channel|>musings<|message|>Hm (malformed)"},
    {"harmony", "<|channel|>analysis<|message|>Hm<|start|>assistant<|channel|>final<|message|>Yes", "R Hm | C Yes (malformed)"},
    {"harmony", "<|channel|>commentary to=functions.now<|message|>soon<|call|>",
     "C <|channel|>commentary to=functions.now<|message|>soon (malformed)"},
    {"harmony", "<|channel|>commentary to=functions.now<|message|>{} x<|call|>", "B now | A {} | E | C  x (malformed)"},
    {"harmony", "<|channel|>analysis<|message|>Hm", "R Hm (incomplete)"},
    {"harmony", "<|channel|>fin", "C <|channel|>fin (incomplete)"},
};

// Markers, pieces of JSON and text, in an order that often makes a call.
inline std::string random_message(const ChatFormat& format, std::mt19937& random) {
  const auto markers = format.markers();
  const char* parts[] = {"{", "}", "[", "]", "\"", ":", ", ", "\n", " ", "x", "weather",
                         "{\"name\": \"weather\", \"arguments\": ", "{\"a\": 1}", "}\n",
                         "{\"name\": \"now\", \"parameters\": {}}", "\xC3\xA9", "\xF0\x9F\x98\x80", "\\", "place", "to=functions.now", "commentary",
                         "analysis", "final", "assistant", ";", "5", "true", "\"id\": \"1\"",
                         "now()", "[weather(place='x')", "weather(", ")", "'", "=", "days="};
  std::string out;
  for (unsigned n = random() % 24; n > 0; --n) {
    if (random() % 8 == 0) {  // a message as it should be
      const ChatRow& row = kMessages[random() % std::size(kMessages)];
      out += row.text;
    } else if (!markers.empty() && random() % 2) {
      out += markers[random() % markers.size()]->text;
    } else {
      out += parts[random() % std::size(parts)];
    }
  }
  return out;
}

}  // namespace inlay::test
