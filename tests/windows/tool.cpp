// The tool as Windows starts it: Ctrl-C at its console, pipes that end, words that are no ASCII. docs/platforms.md names the tests of Linux
// that promise the same.
#include <chrono>
#include <cstring>
#include <filesystem>
#include <regex>

#include "tests/support/temporary_folder.h"
#include "tests/windows/started_tool.h"

namespace inlay::test {
namespace {

using Words = std::vector<std::wstring>;
using Clock = std::chrono::steady_clock;

const std::wstring kRandom = *wide_path(INLAY_TEST_DATA_DIR "/models/chat-bpe-qwen3-f32.gguf");  // its greedy text never ends
const std::wstring kTales = *wide_path(INLAY_SOURCE_DIR "/examples/model/tales.gguf");

const Words kEndless = {L"run", kRandom, L"-n", L"0", L"--temp", L"0", L"--device", L"reference", L"--raw", L"--prompt", L"a"};

double seconds_since(Clock::time_point then) { return std::chrono::duration<double>(Clock::now() - then).count(); }

bool ends_with(const std::string& text, const std::string& end) { return text.size() >= end.size() && text.substr(text.size() - end.size()) == end; }

// ---- Ctrl-C

TEST(Interrupt, CtrlCEndsTheTextInGoodOrder) {
  Console console;
  ASSERT_TRUE(console);
  StartedTool tool(kEndless, &console);
  ASSERT_TRUE(tool);
  ASSERT_EQ(tool.read(1).size(), 1u) << tool.end().said;  // it writes
  ASSERT_TRUE(console.press_ctrl_c(tool.id()));
  const Ended ended = tool.end();
  EXPECT_EQ(ended.code, 130u) << ended.said;
  EXPECT_TRUE(ends_with(ended.said, "interrupted\n")) << ended.said;
  EXPECT_TRUE(ends_with(ended.out, "\n"));
  std::smatch n_tokens;
  ASSERT_TRUE(std::regex_search(ended.said, n_tokens, std::regex("text: ([0-9]+) tokens?"))) << ended.said;
  EXPECT_LT(std::stoi(n_tokens[1]), 4000);
}

TEST(Interrupt, NobodyPressesTheControl) {
  Words words = kEndless;
  words[3] = L"8";
  Console console;
  StartedTool tool(words, &console);
  ASSERT_TRUE(tool);
  const Ended ended = tool.end();
  EXPECT_EQ(ended.code, 0u) << ended.said;
  EXPECT_EQ(ended.said.find("interrupted"), std::string::npos) << ended.said;
}

TEST(Interrupt, CtrlCInALongPromptWaitsForNothing) {
  std::wstring prompt;
  for (int i = 0; i < 60; ++i) prompt += L"The man had a room. ";
  const Words words = {L"run", kTales, L"--device", L"reference", L"--raw", L"--echo", L"-p", prompt, L"-n", L"1", L"-t", L"1"};
  for (int i = 0; i < 10; ++i) {  // on a busy machine the event may come when the prompt has been run, or its sender may wait for a processor
    const auto begun = Clock::now();
    ASSERT_EQ(StartedTool(words).end().code, 0u);
    const double whole = seconds_since(begun);
    Console console;
    StartedTool tool(words, &console);
    ASSERT_EQ(tool.read(prompt.size()).size(), prompt.size());  // which is written before it runs
    Sleep(static_cast<DWORD>(whole * 1000 / 20));
    const auto sent = Clock::now();
    ASSERT_TRUE(console.press_ctrl_c(tool.id()));
    const Ended ended = tool.end();
    const double waited = seconds_since(sent);
    ASSERT_TRUE(ended.code == 0 || ended.code == 130) << ended.code;
    if (ended.code == 0 || !ended.out.empty()) continue;  // too late: the text has begun
    ASSERT_EQ(ended.said, "\n");
    if (waited < whole / 5) return;
  }
  FAIL() << "no try ended at once";
}

std::vector<std::string> files_of(const TemporaryFolder& folder) {
  std::vector<std::string> out;
  for (const auto& file : std::filesystem::directory_iterator(folder.path())) out.push_back(file.path().filename().string());
  return out;
}

// Presses as soon as there is something to leave behind.
Ended convert(const TemporaryFolder& folder, bool press) {
  Console console;
  StartedTool tool({L"convert", kTales, *wide_path(folder.path("out.gguf")), L"--type", L"q4_k_m", L"--threads", L"1"}, &console);
  while (tool.is_running() && files_of(folder).empty()) {
  }
  if (press) console.press_ctrl_c(tool.id());
  return tool.end();
}

TEST(Interrupt, AConversionThatIsStoppedLeavesNothing) {
  for (int i = 0; i < 8; ++i) {  // it may be done before the event comes
    const TemporaryFolder folder;
    const Ended ended = convert(folder, true);
    if (ended.code == 0) continue;
    EXPECT_EQ(ended.code, 130u) << ended.said;
    EXPECT_EQ(files_of(folder), std::vector<std::string>());
    return;
  }
  FAIL() << "each conversion was done before Ctrl-C came";
}

TEST(Interrupt, AConversionThatIsNotStoppedIsTheControl) {
  const TemporaryFolder folder;
  EXPECT_EQ(convert(folder, false).code, 0u);
  EXPECT_EQ(files_of(folder), std::vector<std::string>{"out.gguf"});
}

TEST(Interrupt, AClosedConsoleEndsTheTextAtOnce) {
  Console console;
  StartedTool tool(kEndless, &console);
  ASSERT_EQ(tool.read(1).size(), 1u);
  console.close();
  if (GetProcAddress(GetModuleHandleW(L"ntdll.dll"), "wine_get_version")) GTEST_SKIP() << "needs the system itself: Wine tells no program that its console closes";
  const Ended ended = tool.end(false);
  EXPECT_EQ(ended.code, 143u) << ended.said;
  EXPECT_EQ(ended.said.find("interrupted"), std::string::npos) << ended.said;
}

// ---- pipes

TEST(Pipes, AReaderThatLeavesEndsTheTool) {
  StartedTool tool(kEndless);
  ASSERT_EQ(tool.read(1).size(), 1u);
  tool.let_go_of_output();
  const Ended ended = tool.end();
  EXPECT_EQ(ended.code, 1u);
  EXPECT_NE(ended.said.find("inlay: cannot write to the standard output"), std::string::npos) << ended.said;
}

TEST(Pipes, AReaderThatStaysIsTheControl) {
  Words words = kEndless;
  words[3] = L"8";
  const Ended ended = StartedTool(words).end();
  EXPECT_EQ(ended.code, 0u);
  EXPECT_EQ(ended.said.find("cannot write"), std::string::npos) << ended.said;
}

TEST(Pipes, AnInputThatEndsIsThePrompt) {
  const Words plain = {L"run", kRandom, L"-n", L"12", L"--temp", L"0", L"--device", L"reference", L"--raw"};
  const auto with = [&](Words words) {
    words.insert(words.begin(), plain.begin(), plain.end());
    return words;
  };
  const Ended first = StartedTool(with({L"--prompt", L"the f\u00f6x\n"})).end();
  ASSERT_EQ(first.code, 0u) << first.said;
  for (const Words& source : {Words{}, Words{L"--file", L"-"}}) {
    StartedTool tool(with(source));
    tool.write("the f\u00f6x\n");  // in two parts: no part is the whole
    const Ended ended = tool.end();
    EXPECT_EQ(ended.code, 0u) << ended.said;
    EXPECT_EQ(ended.out, first.out);
  }
  StartedTool other(with({}));
  other.write("the fox\n");
  EXPECT_NE(other.end().out, first.out) << "the control";
}

// ---- words of the command line

const struct {
  const char* what;
  const wchar_t* wide;
  const char* utf8;
} kTexts[] = {
    {"Latin", L"1,5 \u00c4rger", "1,5 \xC3\x84rger"},
    {"Cyrillic and Chinese", L"\u0436 \u6c34", "\xD0\xB6 \xE6\xB0\xB4"},
    {"beyond 16 bits", L"\xD83D\xDE00", "\xF0\x9F\x98\x80"},
    {"quotation marks and slashes", L"a\\\"b c\\\\", "a\\\"b c\\\\"},
    {"half a pair", L"a\xD83D z", "a\xEF\xBF\xBD z"},
};

TEST(CommandLine, APromptArrivesWhole) {
  for (const auto& text : kTexts) {
    const Ended ended =
        StartedTool({L"run", kRandom, L"--device", L"reference", L"--raw", L"--echo", L"-n", L"1", L"--temp", L"0", L"-p", text.wide}).end();
    EXPECT_EQ(ended.code, 0u) << ended.said;
    EXPECT_EQ(ended.out.substr(0, std::strlen(text.utf8)), text.utf8) << text.what;
  }
}

TEST(CommandLine, TokensAreThoseOfTheBytes) {
  for (const auto& text : kTexts) {
    const Ended given = StartedTool({L"tokenize", kRandom, text.wide, L"--ids"}).end();
    StartedTool by_pipe({L"tokenize", kRandom, L"--file", L"-", L"--ids"});
    by_pipe.write(text.utf8);
    const Ended piped = by_pipe.end();
    EXPECT_EQ(given.code, 0u) << given.said;
    EXPECT_FALSE(given.out.empty());
    EXPECT_EQ(given.out, piped.out) << text.what << piped.said;
  }
  EXPECT_NE(StartedTool({L"tokenize", kRandom, kTexts[0].wide, L"--ids"}).end().out, StartedTool({L"tokenize", kRandom, L"1,5 Arger", L"--ids"}).end().out);
}

TEST(CommandLine, APathArrivesWhole) {
  const TemporaryFolder folder;
  for (const auto& text : kTexts) {
    if (std::wstring(text.wide).find(L'"') != std::wstring::npos || std::string(text.utf8).find("\xEF\xBF\xBD") != std::string::npos) continue;
    const std::wstring path = *wide_path(folder.path()) + L"\\" + text.wide + L".gguf";
    Ended ended = StartedTool({L"info", path}).end();
    EXPECT_NE(ended.code, 0u);
    EXPECT_NE(ended.said.find(std::string(text.utf8) + ".gguf"), std::string::npos) << ended.said;
    ASSERT_TRUE(CopyFileW(kRandom.c_str(), path.c_str(), TRUE));
    ended = StartedTool({L"info", path}).end();
    EXPECT_EQ(ended.code, 0u) << ended.said;
    EXPECT_TRUE(DeleteFileW(path.c_str()));
  }
}

}  // namespace
}  // namespace inlay::test
