// How messages come: tokens and letters, cut characters, cut messages, the order and the size of what is given, hostile text.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "src/chat_format/chat_vocabulary.h"
#include "src/formats/gguf.h"
#include "src/tokenizer/json_tokenizer.h"
#include "tests/fuzz/vocabularies.h"
#include "tests/support/chat_pieces.h"
#include "tests/support/processor_time.h"
#include "tests/unit/chat_messages.h"

namespace inlay {
namespace {

using test::built_in;
using test::cut;
using test::cut_further;
using test::parse;
using test::Parsed;
using Pieces = std::vector<ChatPiece>;

Pieces letters(std::string_view text) { return cut_further({{text, false}}, [](size_t) { return 1; }); }

TEST(ChatStream, LettersOfATokenAreNoMarker) {
  const auto format = built_in("hermes", true);
  const std::string text = "<tool_call>{\"name\": \"now\"}</tool_call>";
  EXPECT_EQ(parse(format, nullptr, {}, letters(text)).text(), "C " + text);
  EXPECT_EQ(parse(format, nullptr, {}, {{"<think>"}, {"a"}, {"</think>"}}).text(), "C <think>a</think>");
  EXPECT_EQ(parse(format, nullptr, {}, {{"<think>", true}, {"a</think>"}, {"</think>", true}}).text(), "R a</think>");
  // In a call's string, a marker is its letters.
  EXPECT_EQ(parse(format, nullptr, {}, {{"<tool_call>", true}, {"{\"name\": \"n"}, {"<think>", true}, {"\", \"arguments\": \"a"}, {"<think>", true},
                                         {"\"}"}, {"</tool_call>", true}}).text(),
            "B n<think> | A \"a<think>\" | E");
}

TEST(ChatStream, TokensCountWhereverTheyStand) {
  const auto format = built_in("hermes", true);
  EXPECT_EQ(parse(format, nullptr, {}, {{"So"}, {"<think>", true}, {"a"}, {"</think>", true}, {"b"}}).text(), "C So | R a | C b");
  EXPECT_EQ(parse(format, nullptr, {}, {{"a"}, {"</think>", true}, {"b"}}).text(), "C a</think>b (malformed)");
  EXPECT_EQ(parse(format, nullptr, {}, {{"a"}, {"</tool_call>", true}}).text(), "C a</tool_call> (malformed)");
}

TEST(ChatStream, AnEndOfContentNeedsItsBegin) {
  EXPECT_EQ(parse(built_in("granite", false), nullptr, {}, {{"a\n</response>\nb"}}).text(), "C a\n</response>\nb");
  EXPECT_EQ(parse(built_in("granite", true), nullptr, {}, {{"a\n"}, {"</response>", true}, {"\nb"}}).text(), "C a\n</response>\nb (malformed)");
  EXPECT_EQ(parse(built_in("granite", false), nullptr, {}, {{"<response>a</response></response>"}}).text(), "C a</response>");
}

TEST(ChatStream, OtherControlTokensAreNothing) {
  const auto format = built_in("hermes", false);
  EXPECT_EQ(parse(format, nullptr, {}, {{"a"}, {"<|x|>", true}, {"b"}, {"<|im_end|>", true}}).text(), "C ab");
  EXPECT_EQ(parse(format, nullptr, {}, {{"<tool_call>{\"na"}, {"<|x|>", true}, {"me\": \"n\"}</tool_call>"}}).text(), "B n | A {} | E");
  EXPECT_EQ(parse(format, nullptr, {}, {{"<tool_"}, {"<|x|>", true}, {"call>"}}).text(), "C <tool_call>");  // between a marker's letters
}

TEST(ChatStream, CharactersAreWhole) {
  const auto format = built_in("think", false);
  EXPECT_EQ(parse(format, nullptr, {}, letters("<think>\xC3\xA9</think>\xF0\x9F\x98\x80")).text(), "R \xC3\xA9 | C \xF0\x9F\x98\x80");
  EXPECT_EQ(parse(format, nullptr, {}, letters("a\xFF\xC3")).text(), "C a\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(parse(format, nullptr, {}, {{"\xC3"}, {"<|x|>", true}, {"\xA9"}}).text(), "C \xEF\xBF\xBD\xEF\xBF\xBD");
}

// What is given while a message comes, with an empty part for every piece of which nothing could be given.
std::vector<std::string> given(std::shared_ptr<const ChatFormat> format, std::shared_ptr<const ToolTypes> tools, const Pieces& pieces) {
  ChatParser parser(std::move(format), std::move(tools));
  std::vector<std::string> out;
  for (const ChatPiece& piece : pieces) {
    parser.append(piece);
    std::vector<std::string> parts;
    test::add_parts(parser.take(), parts);
    out.push_back(test::joined(parts));
  }
  return out;
}

TEST(ChatStream, TextIsGivenAsSoonAsItIsCertain) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(given(built_in("hermes", false), nullptr, {{"Hi"}, {" <"}, {"b"}, {"\n"}, {"x"}}), (Parts{"C Hi", "C  ", "C <b", "", "C \nx"}));
  EXPECT_EQ(given(built_in("hermes", false), nullptr,
                  {{"<tool_call>{\"name\": \"n\""}, {", \"arguments\": "}, {"{\"a"}, {"\": [1"}, {", 2]}"}, {"}"}, {"\n</tool_call>"}}),
            (Parts{"", "", "B n | A {\"a", "A \": [1", "A , 2]}", "", "E"}));
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(test::kTools));
  EXPECT_EQ(given(built_in("qwen3-coder", false), tools,
                  {{"<tool_call><function=weather>"}, {"<parameter=place>\nNew"}, {" York\n"}, {"</parameter><parameter=days>1"}, {"2"},
                   {"</parameter>"}}),
            (Parts{"B weather | A {", "A \"place\": \"New", "A  York", "A \", \"days\": ", "", "A 12"}));
  EXPECT_EQ(given(built_in("harmony", true), nullptr, {{"<|channel|>", true}, {"analysis"}, {"<|message|>", true}, {"Hm"}, {"<"}}),
            (Parts{"", "", "", "R Hm", "R <"}));
}

// Of every message, cut behind every byte: what is given is a begin of what is given in the end; what is cut ends in some way.
TEST(ChatStream, CutMessagesAreBeginsOfWholeOnes) {
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(test::kTools));
  size_t n = 0, n_cut_calls = 0;
  for (const test::ChatRow& row : test::kMessages) {
    for (const bool with_tokens : {false, true}) {
      const auto format = built_in(row.format, with_tokens);
      const Pieces pieces = cut_further(cut(row.text, *format), [](size_t) { return 1; });
      const std::string whole = parse(format, tools, {}, pieces).text();
      for (size_t size = 0; size <= pieces.size(); ++size) {
        ChatParser parser(format, tools);
        std::vector<std::string> parts;
        for (size_t i = 0; i < size; ++i) parser.append(pieces[i]);
        test::add_parts(parser.take(), parts);
        ASSERT_TRUE(whole.starts_with(test::joined(parts))) << row.text << ", " << size << ": " << test::joined(parts);
        parser.finish();
        ChatMessage message;
        std::vector<ChatDelta> last = parser.take();
        EXPECT_TRUE(last.empty() || last.back().kind != ChatDelta::Kind::call_begin);
        n_cut_calls += !last.empty() && !last.back().complete;
        parser.append("more");  // after the end: nothing
        EXPECT_TRUE(parser.take().empty());
        ++n;
      }
    }
  }
  EXPECT_GT(n, 5000u);
  EXPECT_GT(n_cut_calls, 100u);
}

// Random text of markers and JSON: the same for every split, whole characters, calls that begin and end, arguments that can be read.
TEST(ChatStream, RandomMessages) {
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(test::kTools));
  std::mt19937 random(11);
  size_t n_calls = 0, n_malformed = 0;
  for (const std::string_view name : chat_format_names()) {
    for (const bool with_tokens : {false, true}) {
      const auto format = built_in(name, with_tokens);
      for (int i = 0; i < 400; ++i) {
        const std::string text = test::random_message(*format, random);
        const Pieces pieces = cut(text, *format);
        const std::string whole = parse(format, tools, {}, pieces).text();
        ASSERT_EQ(parse(format, tools, {}, cut_further(pieces, [](size_t) { return 1; })).text(), whole) << name << ": " << text;
        ASSERT_EQ(parse(format, tools, {}, cut_further(pieces, [&](size_t n) { return 1 + random() % n; })).text(), whole) << name << ": " << text;
        const ChatMessage message = parse_chat(format, tools, {}, pieces);
        for (const ChatCall& call : message.calls) {
          EXPECT_TRUE(!call.complete || is_json(call.arguments)) << call.arguments;
          EXPECT_FALSE(call.name.empty());
        }
        n_calls += message.calls.size();
        n_malformed += message.malformed;
      }
    }
  }
  EXPECT_GT(n_calls, 500u);
  EXPECT_GT(n_malformed, 500u);
}

TEST(ChatStream, LimitsAreExactAndTheSameForEverySplit) {
  const auto tools = std::make_shared<const ToolTypes>(*ToolTypes::read(test::kTools));
  const std::string name(ChatParser::kMaxNameBytes, 'n'), blanks(ChatParser::kMaxHeldBytes, ' '), digits(ChatParser::kMaxHeldBytes, '1');
  const auto check = [&](const char* format_name, const std::string& text, bool is_call) {
    const auto format = built_in(format_name, false);
    const Parsed whole = parse(format, tools, {}, {{text}});
    EXPECT_EQ(whole.malformed, !is_call);
    EXPECT_EQ(whole.parts[0][0], is_call ? 'B' : 'C');
    std::mt19937 random(7);
    EXPECT_EQ(parse(format, tools, {}, cut_further({{text}}, [&](size_t) { return 1 + random() % 5000; })).text(), whole.text());
  };
  check("mistral-args", "[TOOL_CALLS]" + name + "[ARGS]{}", true);
  check("glm", "<tool_call>" + name + "\n</tool_call>", true);
  check("mistral-args", "[TOOL_CALLS]n" + name + "[ARGS]{}", false);
  check("hermes", "<tool_call>{\"name\": \"" + name + "\"}</tool_call>", true);
  check("hermes", "<tool_call>{\"name\": \"" + name + "n\"}</tool_call>", false);
  check("hermes", "<tool_call>" + blanks.substr(100) + "{\"name\": \"n\"}</tool_call>", true);
  check("hermes", "<tool_call>" + blanks + "{\"name\": \"n\"}</tool_call>", false);
  check("qwen3-coder", "<tool_call>" + blanks.substr(100) + "<function=now></function></tool_call>", true);
  check("qwen3-coder", "<tool_call>" + blanks + "<function=now></function></tool_call>", false);
  ChatParser parser(built_in("qwen3-coder", false));
  parser.append("<tool_call>" + blanks);
  EXPECT_FALSE(parser.take().empty());
  check("hermes", "<tool_call>{\"name\": \"n\", \"arguments\": {\"a\": \"" + digits + digits + "\"}}</tool_call>", true);
  check("hermes", "<tool_call>{\"arguments\": {\"a\": \"" + digits + "\"}, \"name\": \"n\"}</tool_call>", false);
  check("qwen3-coder", "<tool_call><function=weather><parameter=days>" + digits + "</parameter></function></tool_call>", true);
  check("qwen3-coder", "<tool_call><function=weather><parameter=days>1" + digits + "</parameter></function></tool_call>", true);
  // A number that is too long to be held back is a string.
  const auto argument = [&](const std::string& value) {
    const std::string text = "<tool_call><function=weather><parameter=days>" + value + "</parameter></function></tool_call>";
    return parse(built_in("qwen3-coder", false), tools, {}, {{text}}).parts[1].substr(0, 12);
  };
  EXPECT_EQ(argument(digits), "A {\"days\": 1");
  EXPECT_EQ(argument("1" + digits), "A {\"days\": \"");
}

// Search looks at a part of a long text at a time: markers lie across its border, too.
TEST(ChatStream, MarkersAreFoundWhereverTheyStand) {
  for (size_t n = 490; n < 530; ++n) {
    const std::string text(n, 'x');
    EXPECT_EQ(parse(built_in("hermes", false), nullptr, {},
                    {{text + "<tool_call>{\"name\": \"n\"}</tool_call>"}}).text(), "C " + text + " | B n | A {} | E");
    EXPECT_EQ(parse(built_in("think", false), nullptr, {}, {{"<think>" + text + "</think>y"}}).text(), "R " + text + " | C y");
  }
}

TEST(ChatStream, TextThatFollowsTextIsOneDelta) {
  ChatParser parser(built_in("hermes", false));
  parser.append("a\n<b> \n\n");
  parser.append("<tool_call>{\"name\": \"n\", \"arguments\": {\"a\": [1, 2]}}</tool_call>");
  EXPECT_EQ(parser.take().size(), 4u);
}

TEST(ChatStream, ParametersAreCounted) {
  const auto call = [](size_t n) {
    std::string text = "<tool_call>\n<function=n>";
    for (size_t i = 0; i < n; ++i) text += "<parameter=p" + std::to_string(i) + ">1</parameter>";
    return parse(built_in("qwen3-coder", false), nullptr, {}, {{text + "</function></tool_call>"}});
  };
  EXPECT_FALSE(call(ChatParser::kMaxParameters).malformed);
  EXPECT_TRUE(call(ChatParser::kMaxParameters + 1).malformed);
}

// Texts made to be slow: four times the text may take four times the time, not sixteen.
TEST(ChatStream, alone_TimeIsLinear) {
  const auto repeated = [](std::string_view text, size_t n) {
    std::string out;
    while (out.size() < n) out += text;
    return out;
  };
  const struct {
    const char *format, *begin, *repeat;
  } kRows[] = {
      {"hermes", "", "<tool_call>"},
      {"hermes", "", "<tool_call>{\"name\": \"x\","},
      {"hermes", "", "<tool_call"},
      {"hermes", "", "\n"},
      {"hermes", "<think>", "</thin"},
      {"hermes", "<tool_call>{\"name\": \"n\", \"arguments\": \"", "\\\""},
      {"hermes", "<tool_call>", "["},
      {"granite", "", "x</response>"},
      {"mistral-args", "", "[TOOL_CALLS]n[CALL_ID]"},
      {"mistral", "[TOOL_CALLS][", "{\"name\": \"n\"},"},
      {"llama3", "", "{\"name\": \"n\", \"parameters\": {}};"},
      {"harmony", "", "<|channel|>"},
      {"harmony", "", "<|start|>assistant<|channel|>final<|message|>x<|end|>"},
      {"harmony", "", "<|start|>"},
      {"glm", "<tool_call>n", "<arg_key>k</arg_key><arg_value>v</arg_value>"},
      {"deepseek-v3.1", "<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"},
      {"qwen3-coder", "<tool_call><function=n><parameter=p>", "</paramete\n"},
  };
  for (const auto& row : kRows) {
    const auto format = built_in(row.format, false);
    const auto seconds = [&](size_t n) {
      const std::string text = row.begin + repeated(row.repeat, n);
      const double before = test::processor_seconds();
      parse(format, nullptr, {}, {{text}});
      parse(format, nullptr, {}, cut_further({{text}}, [](size_t) { return 4; }));
      return test::processor_seconds() - before;
    };
    const double small = std::min(seconds(50'000), seconds(50'000)), large = std::min(seconds(200'000), seconds(200'000));
    EXPECT_LT(large, 8 * small + 0.05) << row.format << ": " << row.repeat << ", " << small << " s";
  }
}

// ---- real tokens

TEST(ChatStream, TokensOfAVocabulary) {
  const auto image = fuzz::bpe_vocabulary("gpt-2").build();
  const auto file = read_gguf(borrow_memory(image, "vocabulary"));
  ASSERT_TRUE(file.ok()) << file.status().message;
  const auto tokenizer = *Tokenizer::from_metadata(file->metadata());
  const auto format = ChatFormat::read(R"({"name": "x", "reasoning": {"begin": "<user>", "end": "</user>"}})");
  const ChatVocabulary vocabulary(*tokenizer, *format);
  EXPECT_TRUE(vocabulary.format()->reasoning_begin.is_token);
  EXPECT_FALSE(vocabulary.format()->reasoning_end.is_token);
  const auto parsed = [&](std::initializer_list<const char*> texts) {
    Pieces pieces;
    for (const char* text : texts) {
      std::vector<int32_t> ids;
      EXPECT_TRUE(tokenizer->encode(text, {.add_special = false, .parse_special = true}, ids).ok());
      for (const int32_t id : ids) pieces.push_back(vocabulary.piece(id));
    }
    return parse(vocabulary.format(), nullptr, {}, pieces).text();
  };
  EXPECT_EQ(parsed({"<user>the thing</user>\nyes<|endoftext|>"}), "R the thing | C yes");
  EXPECT_EQ(parsed({"<", "user>the thing</user>"}), "C <user>the thing</user>");
  EXPECT_EQ(parsed({"<|begin|>x<us y"}), "C x<us y");
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(ChatStream, TokensOfQwen) {
  const std::string folder = std::string(INLAY_FIXTURES_DIR) + "/tokenizers/";
  if (!std::filesystem::exists(folder + "qwen2.5.tokenizer.json")) GTEST_SKIP() << "needs INLAY_FIXTURES: other projects' vocabularies";
  const auto tokenizer = read_tokenizer_json({read(folder + "qwen2.5.tokenizer.json"),
                                              read(folder + "qwen2.5.tokenizer_config.json")});
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  const ChatVocabulary vocabulary(**tokenizer, find_chat_format("<think><tool_call>").format);
  EXPECT_TRUE(vocabulary.format()->calls.begin[0].is_token);
  EXPECT_FALSE(vocabulary.format()->reasoning_begin.is_token);
  const auto pieces_of = [&](std::string_view text) {
    std::vector<int32_t> ids;
    EXPECT_TRUE((*tokenizer)->encode(text, {.add_special = false, .parse_special = true}, ids).ok());
    Pieces out;
    for (const int32_t id : ids) out.push_back(vocabulary.piece(id));
    return out;
  };
  const Pieces tail = pieces_of("<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n");
  EXPECT_EQ(parse(vocabulary.format(), nullptr, tail,
                  pieces_of("Grüße 👩🏽‍🚀\n</think>\n\nSo:\n<tool_call>\n"
                            "{\"name\": \"n\", \"arguments\": {\"a\": \"日本\"}}\n</tool_call><|im_end|>")).text(),
            "R Grüße 👩🏽‍🚀 | C So: | B n | A {\"a\": \"日本\"} | E");
}

}  // namespace
}  // namespace inlay
