// Regular expressions: what they match, what they refuse, that time stays linear; and every match against a
// backtracking matcher that shares nothing with the automata but the parser.
#include "src/tokenizer/regex.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "src/tokenizer/pre_tokenizer.h"
#include "src/tokenizer/regex_syntax.h"
#include "tests/support/processor_time.h"

namespace inlay {
namespace {

using Pieces = std::vector<std::string>;  // matches in brackets

Pieces split(const std::string& pattern, const std::string& text) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.ok()) << regex.status().message;
  Pieces out;
  if (regex.ok())
    regex->split(text.data(), text.data() + text.size(), [&](const char* begin, const char* end, bool matched) {
      out.push_back(matched ? "[" + std::string(begin, end) + "]" : std::string(begin, end));
    });
  return out;
}

TEST(Regex, Matching) {
  EXPECT_EQ(split("a|ab", "abab"), (Pieces{"[a]", "b", "[a]", "b"}));
  EXPECT_EQ(split("ab|a", "aba"), (Pieces{"[ab]", "[a]"}));
  EXPECT_EQ(split("a+?", "aa"), (Pieces{"[a]", "[a]"}));
  EXPECT_EQ(split("(?:ab){2,3}", "ababababab"), (Pieces{"[ababab]", "[abab]"}));
  EXPECT_EQ(split("x{,2}y", "xxxy"), (Pieces{"x", "[xxy]"}));
  EXPECT_EQ(split("a{2}{", "aa{"), (Pieces{"[aa{]"}));
  EXPECT_EQ(split("[^\\s\\p{L}]+", "ab 1!? c"), (Pieces{"ab ", "[1!?]", " c"}));
  EXPECT_EQ(split("[a-z&&[^aeiou]]+", "hello"), (Pieces{"[h]", "e", "[ll]", "o"}));
  EXPECT_EQ(split("\\p{Han}+|\\p{^L}|\\pN", "\u6F22a1"), (Pieces{"[\u6F22]", "a", "[1]"}));
  EXPECT_EQ(split("[[:digit:]\\-]+", "a1-2"), (Pieces{"a", "[1-2]"}));
  EXPECT_EQ(split("\\x41\\u00e9\\x{1F600}\\t", "A\u00E9\U0001F600\t"), (Pieces{"[A\u00E9\U0001F600\t]"}));
  EXPECT_EQ(split(".+", "ab\nc"), (Pieces{"[ab]", "\n", "[c]"}));
  EXPECT_EQ(split("(?s:.)+", "ab\nc"), (Pieces{"[ab\nc]"}));
}

TEST(Regex, LookingAround) {
  EXPECT_EQ(split("\\s+(?!\\S)|\\s+", "a   b  "), (Pieces{"a", "[  ]", "[ ]", "b", "[  ]"}));
  EXPECT_EQ(split("(?=(\\d{3})+(?!\\d))", "x1234567y"), (Pieces{"x1", "234", "567y"}));
  EXPECT_EQ(split("\\d{1,3}(?=(?:\\d{3})*\\b)", "1234567 12"), (Pieces{"[1]", "[234]", "[567]", " ", "[12]"}));
  EXPECT_EQ(split("(?<=a)b|(?<!a)c", "abcac"), (Pieces{"a", "[b]", "[c]", "ac"}));
  EXPECT_EQ(split("\\bb|a\\B|^c$", "b ab bb\nc\ncc"), (Pieces{"[b]", " ", "[a]", "b ", "[b]", "b\n", "[c]", "\ncc"}));
  EXPECT_EQ(split("a++b|a?+c", "aabac"), (Pieces{"[aab]", "[ac]"}));
  EXPECT_EQ(split("a*+a", "aaa"), (Pieces{"aaa"}));
}

TEST(Regex, IgnoringCase) {
  EXPECT_EQ(split("(?i:'s|K)k", "'Sk'\u017FkKkkK\u212Ak"), (Pieces{"['Sk]", "['\u017Fk]", "[Kk]", "kK", "[\u212Ak]"}));
  EXPECT_EQ(split("(?i)\u00E9(?-i)a", "\u00C9a\u00E9A"), (Pieces{"[\u00C9a]", "\u00E9A"}));
}

TEST(Regex, WhatIsNotKnownIsNamed) {
  const std::pair<const char*, const char*> rows[] = {{"(a)\\1", "the escape \\1"},
                                                      {"(?>a)", "a group of an unknown kind"},
                                                      {"\\p{Klingon}", "'Klingon'"},
                                                      {"(?<=ab)c", "looks behind"},
                                                      {"(ab)++", "possessive"},
                                                      {"a{1001}", "more than 1000"},
                                                      {"a{3,2}", "wrong order"},
                                                      {"[z-a]", "range"},
                                                      {"[a", "closing bracket"},
                                                      {"(a", "closing parenthesis"},
                                                      {"a)", "opening one"},
                                                      {"*a", "after nothing"},
                                                      {"\\", "ends in a backslash"},
                                                      {"\\x{110000}", "no code point"},
                                                      {"[[:nonsense:]]", "[: :]"},
                                                      {"(?:a{1000}){1000}", "too many"},
                                                      {"(?:.?){30}(?:a|b){900}{900}", "too many"},
                                                      {"(?:a?){1000}{9}", "too many states"},
                                                      {"a***", "more than 2 quantifiers"},
                                                      {"\xFF", "UTF-8"}};
  for (const auto& [pattern, reason] : rows) {
    const auto regex = Regex::compile(pattern);
    EXPECT_EQ(regex.status().code, Code::unsupported) << pattern;
    EXPECT_NE(regex.status().message.find(reason), std::string::npos) << pattern << ": " << regex.status().message;
  }
  std::string many;
  for (char c = 'a'; c <= 'z'; ++c) many += std::string("(?<=") + c + ")?";
  EXPECT_NE(Regex::compile(many).status().message.find("conditions"), std::string::npos);
  EXPECT_TRUE(Regex::compile(std::string(100, '^')).ok());
  EXPECT_FALSE(Regex::compile(std::string(200, '(') + std::string(200, ')')).ok());
  EXPECT_FALSE(Regex::compile(std::string(100'000, 'a')).ok());
}

TEST(Regex, RepetitionsOfNothing) {
  EXPECT_EQ(split("(?:(?:(?:){1000}{1000}){1000}{1000}){1000}{1000}a", "ba"), (Pieces{"b", "[a]"}));
  std::string empties;
  for (int i = 0; i < 10'000; ++i) empties += "(?:)";
  const auto regex = Regex::compile("(?:(?:a" + empties + "){1000}){19}");
  EXPECT_NE(regex.status().message.find("too many repetitions"), std::string::npos) << regex.status().message;
  EXPECT_FALSE(Regex::compile("a" + std::string(60'000, '*')).ok());
  EXPECT_TRUE(Regex::compile("a*{2}").ok());
}

// Where backtracking takes exponential or quadratic time.
TEST(Regex, LinearTime) {
  const double start = test::processor_seconds();
  const std::string many(1 << 20, 'a');
  for (const char* pattern :
       {"(a*)*b|a", "a*b|a", "(?:a|aa)+$|c", "(?=a*b)a|a", "a(?!a*c)", "(a?){30}a{30}c", "\\s+$"}) {
    size_t n = 0;
    const auto regex = Regex::compile(pattern);
    ASSERT_TRUE(regex.ok()) << regex.status().message;
    regex->split(many.data(), many.data() + many.size(),
                 [&](const char* begin, const char* end, bool) { n += static_cast<size_t>(end - begin); });
    EXPECT_EQ(n, many.size()) << pattern;
  }
  const double seconds = test::processor_seconds() - start;
  EXPECT_LT(seconds, 20.0);
}

// Every pre-tokenizer's patterns compile, fast.
TEST(Regex, PreTokenizers) {
  const double start = test::processor_seconds();
  const char* names[] = {"gpt-2",
                         "jina-v1-en",
                         "llama-bpe",
                         "dbrx",
                         "qwen2",
                         "qwen35",
                         "starcoder",
                         "deepseek-llm",
                         "deepseek-coder",
                         "deepseek-v3",
                         "spark2_5",
                         "youtu",
                         "falcon",
                         "default",
                         "tekken",
                         "gpt-4o",
                         "granite-embed-multi-97m",
                         "tiny_aya",
                         "kimi-k2",
                         "superbpe",
                         "bailingmoe",
                         "seed-coder",
                         "ufakzeka",
                         "afmoe",
                         "laguna",
                         "exaone-moe",
                         "minicpm5",
                         "jais-2",
                         "chameleon",
                         "poro-chat",
                         "viking"};
  for (const char* name : names) {
    const PreTokenizer* rules = find_pre_tokenizer(name);
    ASSERT_NE(rules, nullptr) << name;
    const auto splitter = WordSplitter::compile(*rules);
    ASSERT_TRUE(splitter.ok()) << name << ": " << splitter.status().message;
    const std::string text = "It's  12345 \u6F22\u5B57 Caf\u00E9!\n\n x  ";
    std::string joined;
    const auto add = [&](const char* begin, const char* end) { joined.append(begin, end); };
    splitter->split(text.data(), text.data() + text.size(), add);
    EXPECT_EQ(joined, text) << name;
  }
  const double seconds = test::processor_seconds() - start;
  EXPECT_LT(seconds, 10.0);
}

// Tries every way in the order of preference. `done` says whether the rest matches.
class Backtracker {
 public:
  Backtracker(const RegexTree& tree, std::vector<uint32_t> text) : tree_(tree), text_(std::move(text)) {}

  // The end of the match at `at`, -1 if there is none.
  int match(size_t at) {
    int end = -1;
    run(tree_.root, at, [&](size_t stop) {
      end = static_cast<int>(stop);
      return true;
    });
    return end;
  }

 private:
  using Done = std::function<bool(size_t)>;

  bool run(const RegexNode& node, size_t at, const Done& done) {
    switch (node.kind) {
      case RegexKind::empty:
        return done(at);
      case RegexKind::set:
        return at < text_.size() && tree_.sets[node.set].contains(text_[at]) && done(at + 1);
      case RegexKind::next_in:
        return (at < text_.size() ? tree_.sets[node.set].contains(text_[at]) : node.at_edge) && done(at);
      case RegexKind::previous_in:
        return (at > 0 ? tree_.sets[node.set].contains(text_[at - 1]) : node.at_edge) && done(at);
      case RegexKind::look_ahead:
        return run(node.children[0], at, [](size_t) { return true; }) != node.negated && done(at);
      case RegexKind::sequence:
        return sequence(node, 0, at, done);
      case RegexKind::choice:
        for (const RegexNode& branch : node.children)
          if (run(branch, at, done)) return true;
        return false;
      case RegexKind::repeat:
        return repeat(node, 0, at, done);
    }
    return false;
  }

  bool sequence(const RegexNode& node, size_t i, size_t at, const Done& done) {
    if (i == node.children.size()) return done(at);
    return run(node.children[i], at, [&](size_t next) { return sequence(node, i + 1, next, done); });
  }

  bool repeat(const RegexNode& node, uint32_t n, size_t at, const Done& done) {
    const auto again = [&] {
      return n < node.max && run(node.children[0], at, [&](size_t next) {
               return (next > at || n < node.min) && repeat(node, n + 1, next, done);
             });
    };
    if (n < node.min) return again();
    return node.greedy ? again() || done(at) : done(at) || again();
  }

  const RegexTree& tree_;
  const std::vector<uint32_t> text_;
};

TEST(Regex, AgreesWithBacktracking) {
  const char* patterns[] = {"a*?b|ab?|(?:ab)+?c",
                            "(?:a|ab)(?:c|bcd)(d*)",
                            "a(?=b*c)|b(?!b*c)",
                            "(?<=a)b+|(?<!b)a|c",
                            "\\bab\\b|\\Bb|c+",
                            "a{2,3}?b?|c{1,2}b",
                            "(?:a|b|ab)*?c|b+(?=a)",
                            "a|(?=c)|b$|^c",
                            "a++b|[ab]?+c",
                            "\\s+(?!\\S)|\\s+|[^\\s]?b+",
                            "(?:ab|a)(?:bc|c)?|(?=(?:ab)+c)"};
  std::mt19937 random(1);
  int n_matches = 0;
  for (const char* pattern : patterns) {
    const auto regex = Regex::compile(pattern);
    const auto tree = parse_regex(pattern);
    ASSERT_TRUE(regex.ok() && tree.ok()) << pattern;
    for (int i = 0; i < 400; ++i) {
      std::string text;
      for (size_t n = random() % 24; n > 0; --n) text += "aaabbbccd  \n"[random() % 12];
      Backtracker reference(*tree, std::vector<uint32_t>(text.begin(), text.end()));
      size_t at = 0, last_end = SIZE_MAX;
      std::vector<std::pair<size_t, size_t>> expected, found;
      while (at < text.size()) {
        const int end = reference.match(at);
        if (end < 0 || (static_cast<size_t>(end) == at && at == last_end)) {
          ++at;
          continue;
        }
        last_end = static_cast<size_t>(end);
        if (last_end > at) expected.push_back({at, last_end});
        at = std::max(last_end, at + (last_end == at));
      }
      regex->split(text.data(), text.data() + text.size(), [&](const char* begin, const char* end, bool matched) {
        if (matched) found.push_back({begin - text.data(), end - text.data()});
      });
      EXPECT_EQ(found, expected) << pattern << " on " << text;
      n_matches += static_cast<int>(found.size());
    }
  }
  EXPECT_GT(n_matches, 10'000);
}

}  // namespace
}  // namespace inlay
