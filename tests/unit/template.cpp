// What the fixtures do not reach: places in errors, limits, sandbox, values without fixtures.
#include "src/template/template.h"

#include <gtest/gtest.h>

namespace inlay::tmpl {
namespace {

Result<std::string> render(std::string_view source, const Limits& limits = {}, const Map& context = {}) {
  auto parsed = Template::parse(source);
  if (!parsed.ok()) return parsed.status();
  std::tm now{};
  now.tm_year = 124, now.tm_mon = 0, now.tm_mday = 5, now.tm_wday = 5, now.tm_yday = 4;
  return parsed->render(context, now, limits);
}

std::string text(std::string_view source) {
  const auto out = render(source);
  return out.ok() ? *out : "error: " + out.status().message;
}

struct Failure {
  const char* source;
  Code code;
  const char* message;
};

void expect_failures(std::initializer_list<Failure> failures, const Limits& limits = {}) {
  for (const Failure& failure : failures) {
    const auto out = render(failure.source, limits);
    ASSERT_FALSE(out.ok()) << failure.source << " wrote " << *out;
    EXPECT_EQ(out.status().message, failure.message) << failure.source;
    EXPECT_EQ(out.status().code, failure.code) << failure.source;
  }
}

TEST(Template, SyntaxErrorsNameLineAndColumn) {
  expect_failures({
      {"a\n  {% if x %}", Code::format,
       "line 2, column 13: the template ends inside the block of line 2; 'elif' or 'else' or 'endif' is missing"},
      {"\xC3\xA9\xC3\xA9 {{ 1 + }}", Code::format, "line 1, column 11: found '}}' where an expression should be"},
      {"{{ 'a }}", Code::format, "line 1, column 4: the string literal has no end"},
      {"{{ a", Code::format, "line 1, column 5: the template ends inside {{"},
      {"x\r\ny {# z", Code::format, "line 2, column 3: the comment has no end"},
      {"{% raw %}", Code::format, "line 1, column 1: the raw block has no end"},
      {"{{ (1] }}", Code::format, "line 1, column 6: unexpected ']'"},
      {"{{ 1 ? 2 }}", Code::format, "line 1, column 6: unexpected character '?'"},
      {"{% endif %}", Code::format, "line 1, column 4: the tag 'endif' closes nothing"},
      {"{% for x in y %}{% endif %}", Code::format,
       "line 1, column 20: the tag 'endif' closes nothing; 'else' or 'endfor' should come first"},
      {"{% break %}", Code::format, "line 1, column 4: 'break' and 'continue' belong in a loop"},
      {"{% set none = 1 %}", Code::format, "line 1, column 8: cannot assign to 'none'"},
      {"{{ 1 is odd is even }}", Code::format, "line 1, column 13: tests cannot be chained with 'is'"},
      {"{{ '\\ud800' }}", Code::format, "line 1, column 4: a string escape names no character: U+D800"},
      {"\xFF", Code::format, "the template is not valid UTF-8"},
  });
}

// Python takes any value for these since 3.12, and only whole numbers before; so the fixtures, which are made with either, have none.
TEST(Template, AnythingCanBeTrue) {
  EXPECT_EQ(text("{{ [3, 1, 2]|sort(none) }}{{ [3, 1, 2]|sort(2.5) }}{{ [3, 1, 2]|sort('') }}{{ [3, 1, 2]|sort([0]) }}"), "[1, 2, 3][3, 2, 1][1, 2, 3][3, 2, 1]");
  EXPECT_EQ(text("{{ {'a': 1, 'b': 2}|dictsort(reverse='x') }}"), "[('b', 2), ('a', 1)]");
  EXPECT_EQ(text("{{ 'a\nb'.splitlines(none) }}{{ 'a\nb'.splitlines('x') }}"), "['a', 'b']['a\\n', 'b']");
}

TEST(Template, WhatIsLackingIsNamed) {
  expect_failures({
      {"\n{% include 'x' %}", Code::unsupported, "line 2, column 4: the tag 'include' is not supported"},
      {"{{ 1|random }}", Code::unsupported, "line 1, column 6: the filter 'random' is not supported"},
      {"{{ 1 is iterator }}", Code::unsupported, "line 1, column 9: the test 'iterator' is not supported"},
      {"{{ 'a'.encode() }}", Code::unsupported, "line 1, column 8: the attribute 'encode' of 'str' is not supported"},
      {"{{ strftime_now('%Q') }}", Code::unsupported, "line 1, column 4: strftime_now: the field %Q is not supported"},
      {"{{ 99999999999999999999 }}", Code::unsupported,
       "line 1, column 4: the integer 99999999999999999999 does not fit in 64 bits"},
      {"{{ 9223372036854775807 + 1 }}", Code::unsupported, "line 1, column 24: an integer does not fit in 64 bits"},
      {"{{ range }}", Code::unsupported, "line 1, column 1: a value of type 'function' has no text"},
  });
}

TEST(Template, ErrorsOfRenderingNameLineAndColumn) {
  expect_failures({
      {"a\n{{ 'b' + 1 }}", Code::invalid_argument, "line 2, column 8: can only concatenate str (not \"int\") to str"},
      {"{% macro m() %}\n{{ x.y }}{% endmacro %}\n{{ m() }}", Code::invalid_argument,
       "line 2, column 6: 'x' is undefined"},
      {"{% for a, b in [[1]] %}{% endfor %}", Code::invalid_argument,
       "line 1, column 8: 1 values where 2 are expected"},
      {"{{ raise_exception('no') }}", Code::invalid_argument,
       "line 1, column 4: the template refuses the conversation: no"},
      {"{% set x = 1 %}{% set x.y = 2 %}", Code::invalid_argument,
       "line 1, column 25: cannot assign attribute on non-namespace object"},
      {"{{ [].append(1) }}", Code::invalid_argument,
       "line 1, column 7: access to attribute 'append' of 'list' object is unsafe."},
      {"{{ {}.update({}) }}", Code::invalid_argument,
       "line 1, column 7: access to attribute 'update' of 'dict' object is unsafe."},
      {"{{ {}|tojson(1, 2, 3, 4, 5) }}", Code::invalid_argument,
       "line 1, column 7: tojson takes at most 4 argument(s), 5 given"},
      {"{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}", Code::invalid_argument,
       "line 1, column 34: macro 'm' takes not more than 1 argument(s)"},
      {"{% macro m(a) %}{% endmacro %}{{ m(b=2) }}", Code::invalid_argument,
       "line 1, column 34: macro 'm' takes no keyword argument 'b'"},
  });
}

// Each of these would run for hours, or take all memory, or all of the stack.
TEST(Template, RunawaysEnd) {
  const std::string steps = "the template takes more than 100000 steps; it seems to run away";
  const Limits limits = {.steps = 100000, .output_bytes = 10000, .range_items = 1000};
  const struct {
    const char* source;
    const char* message;
  } cases[] = {
      {"{% for a in range(1000) %}{% for b in range(1000) %}{% for c in range(1000) %}{% endfor %}{% endfor %}{% "
       "endfor %}",
       "steps"},
      {"{% set n = namespace(s='x') %}{% for a in range(1000) %}{% set n.s = n.s + n.s %}{% endfor %}", "steps"},
      {"{{ 'x' * 1000000000000 }}", "steps"},
      {"{{ 'ab' * 9223372036854775807 }}", "steps"},
      {"{{ [1, 2] * 9223372036854775807 }}", "steps"},
      {"{{ 'x'|center(1000000000000) }}", "steps"},
      {"{{ 'x'.zfill(1000000000000) }}", "steps"},
      {"{{ 'x'|indent(1000000000000) }}", "steps"},
      {"{{ '%99999d' % 1 }}", "a width above 10000"},
      {"{{ [[1]]|tojson(indent=1000) }}", "an indent above 100"},
      {"{{ ('x' * 100000)|replace('x', 'y' * 1000) }}", "steps"},
      {"{{ range(1000000000000) }}", "a range of more than 1000 items"},
      {"{% for a in range(1000) %}{% for b in range(1000) %}0123456789{% endfor %}{% endfor %}",
       "writes more than 10000 bytes"},
      {"{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "levels deep"},
      {"{% for a in [[]] recursive %}{{ loop([[]]) }}{% endfor %}", "levels deep"},
      {"{% set n = namespace(x=[]) %}{% for a in range(1000) %}{% set n.x = [n.x] %}{% endfor %}",
       "nested deeper than"},
      {"{% set n = namespace(x=[]) %}{% for a in range(1000) %}{% set n.x = {'a': n.x} %}{% endfor %}",
       "nested deeper than"},
      {"{% set n = namespace() %}{% set n.x = n %}{{ n }}", "levels deep"},
      // Shared parts double with every step: 2^60 items to compare, to write or to show.
      {"{% set n = namespace(x=[1], y=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] "
       "%}"
       "{% endfor %}{{ n.x == n.y }}",
       "steps"},
      {"{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x|tojson }}",
       "steps"},
      {"{% set n = namespace(x=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% endfor %}{{ n.x }}",
       "steps"},
      {"{% set n = namespace(x=[1], y=[1]) %}{% for a in range(60) %}{% set n.x = [n.x, n.x] %}{% set n.y = [n.y, n.y] "
       "%}"
       "{% endfor %}{{ n.x < n.y }}",
       "steps"},
  };
  for (const auto& [source, message] : cases) {
    const auto out = render(source, limits);
    ASSERT_FALSE(out.ok()) << source;
    EXPECT_NE(out.status().message.find(std::string_view(message) == "steps" ? steps : message), std::string::npos)
        << source << ": " << out.status().message;
    EXPECT_EQ(out.status().code, Code::unsupported) << source;
    EXPECT_TRUE(out.status().message.starts_with("line 1, column ")) << out.status().message;
  }
}

TEST(Template, DeepSourcesAreRefused) {
  const auto nested = [](const std::string& begin, const std::string& middle, const std::string& end, int n) {
    std::string out;
    for (int i = 0; i < n; ++i) out += begin;
    out += middle;
    for (int i = 0; i < n; ++i) out += end;
    return out;
  };
  const auto print = [](const std::string& inside) { return "{{ " + inside + " }}"; };
  for (const int n : {10, 100000}) {
    const std::string sources[] = {print(nested("(", "1", ")", n)),           print(nested("[", "1", "]", n)),
                                   print(nested("not ", "1", "", n)),         print(nested("- ", "1", "", n)),
                                   print(nested("", "1", " + 1", n)),         print(nested("", "''", "|string", n)),
                                   print(nested("1 if 0 else ", "1", "", n)), print(nested("", "''", ".upper()", n)),
                                   nested("{% if 1 %}", "", "{% endif %}", n)};
    for (const std::string& source : sources) {
      const auto out = render(source);
      EXPECT_EQ(out.ok(), n == 10) << source.substr(0, 40) << ": " << (out.ok() ? *out : out.status().message);
      EXPECT_EQ(out.status().code, n == 10 ? Code::ok : Code::unsupported);
    }
  }
}

// The default limits leave room for what conversations need.
TEST(Template, LongConversationsFit) {
  List messages;
  for (int i = 0; i < 2000; ++i) {
    Map message;
    message.set(Value(std::string("role")), Value(std::string(i % 2 ? "assistant" : "user")));
    message.set(Value(std::string("content")), Value(std::string(4000, 'x')));
    messages.items.push_back(std::move(message));
  }
  Map context;
  context.set(Value(std::string("messages")), std::move(messages));
  const auto out =
      render("{% for m in messages %}{{ '<' + m['role'] + '>' + m.content|trim + '\\n' }}{% endfor %}", {}, context);
  ASSERT_TRUE(out.ok()) << out.status().message;
  EXPECT_GT(out->size(), 8000000u);
}

TEST(Template, GeneratorsRunOutAndAreTrue) {
  EXPECT_EQ(text("{% set g = [1, 2]|select %}{{ g|list }}{{ g|list }}"), "[1, 2][]");
  EXPECT_EQ(text("{{ 'y' if []|select else 'n' }}"), "y");
  EXPECT_EQ(text("{{ [3, 4]|select|first }}{{ ([]|select)[0] is defined }}"), "3False");
  EXPECT_EQ(text("{{ [1]|select|length }}"), "error: line 1, column 15: object of type 'generator' has no len()");
}

TEST(Template, ScopesOfBlocks) {
  EXPECT_EQ(text("{% set x = 1 %}{% with x = 2 %}{{ x }}{% set x = 3 %}{{ x }}{% endwith %}{{ x }}"), "231");
  EXPECT_EQ(text("{% generation %}{% set x = 1 %}{% endgeneration %}[{{ x }}]"), "[]");
  EXPECT_EQ(text("{% for i in [1, 2] %}{{ x }}{% set x = i %}{% endfor %}[{{ i }}{{ loop }}]"), "[]");
  EXPECT_EQ(text("{% set x = 1 %}{% macro m() %}{% set x = 2 %}{% endmacro %}{{ m() }}{{ x }}"), "1");
  // A macro keeps the scope that it was made in, even beyond that scope's end.
  EXPECT_EQ(text("{% set n = namespace() %}{% for i in [7, 8] %}{% macro m() %}{{ i }}{% endmacro %}{% if loop.first %}"
                 "{% set n.m = m %}{% endif %}{% endfor %}{{ n.m() }}"),
            "7");
  EXPECT_EQ(text("{% set n = namespace() %}{% if true %}{% for i in [[1, []]] recursive %}{{ i }}{% set n.l = loop "
                 "%}{% endfor %}"
                 "{% endif %}{{ n.l([5]) }}"),
            "[1, []]5");
}

TEST(Template, TextOfNumbers) {
  EXPECT_EQ(text("{{ 1e16 }} {{ 1e15 }} {{ 0.0001 }} {{ 0.00001 }} {{ 1.0e-7 }} {{ -0.0 }} {{ 1/3 }}"),
            "1e+16 1000000000000000.0 0.0001 1e-05 1e-07 -0.0 0.3333333333333333");
  EXPECT_EQ(text("{{ 'inf'|float }} {{ '-inf'|float }} {{ 'nan'|float }}"), "inf -inf nan");
  EXPECT_EQ(text("{{ 7.5 // 2 }} {{ -7.5 // 2 }} {{ -7.5 % 2 }} {{ 7 % -3 }} {{ 2 ** -1 }}"), "3.0 -4.0 0.5 -2 0.5");
  EXPECT_EQ(text("{{ '%5.1f|%-4d|%+d|%x|%e|%s' % (3.14159, 7, 5, 255, 12345.678, none) }}"),
            "  3.1|7   |+5|ff|1.234568e+04|None");
}

// What Jinja2 3.1 on Python 3.11 gives.
TEST(Template, DigitsOfOtherScripts) {
  const std::pair<const char*, const char*> rows[] = {
      {"{{ '\xD9\xA3""'|int }}", "3"},
      {"{{ '\xE0\xA5\xA7""\xE0\xA5\xA8""'|int }}", "12"},
      {"{{ '-\xD9\xA3""\xD9\xA4""'|int }}", "-34"},
      {"{{ '1_\xD9\xA2""'|int }}", "12"},
      {"{{ '\xD9\xA3"".\xD9\xA5""'|float }}", "3.5"},
      {"{{ '\xEF\xBC\x93""'|int(0, 16) }}", "3"},
      {"{{ '\xC2\xB2""'|int(7) }}", "7"},
      {"{{ '\xF0\x9D\x9F\x97""\xF0\x9D\x9F\x98""'|int }}", "90"},
      {"{{ '\xD9\xA3""'.isdigit() }}", "True"},
      {"{{ '\xD9\xA3""a'.isdigit() }}", "False"},
      {"{{ '\xE0\xA5\xA7""'.isdecimal() }}", "True"},
      {"{{ '\xC3\xA9""'.isdigit() }}", "False"},
      {"{{ '\xDF\x89""'|int }}", "9"},
      {"{{ '\xC2\xB2""'.isdigit() }}", "True"},
      {"{{ '\xC2\xB2""'.isdecimal() }}", "False"},
      {"{{ '\xE0\xAF\xB0""'.isdigit() }}", "False"},
      {"{{ '\xE0\xAF\xB0""'.isnumeric() }}", "True"},
      {"{{ '\xE4\xB8\x89""'.isnumeric() }}", "True"},
      {"{{ '\xD9\xA3""'.isalnum() }}", "True"},
  };
  for (const auto& [source, want] : rows) EXPECT_EQ(text(source), want) << source;
}

TEST(Template, StrftimeOfSingleDigits) {
  EXPECT_EQ(text("{{ strftime_now('%-d %B %Y|%d|%e|%j|%F|%a %b|%-I') }}"),
            "5 January 2024|05| 5|005|2024-01-05|Fri Jan|12");
}

TEST(Template, MarkupEscapesWhatIsJoinedToIt) {
  EXPECT_EQ(text("{{ '<b>'|safe + '<' }}{{ '<' + '<b>'|safe }}{{ '<'|e|e }}"), "<b>&lt;&lt;<b>&lt;");
  EXPECT_EQ(text("{{ '<' ~ '<b>'|safe }}{{ ['<', '<b>'|safe]|join('&') }}"), "<<b><&<b>");  // these two do not
}

TEST(Template, BraceFormats) {
  const std::pair<const char*, const char*> cases[] = {  // as CPython writes them
      {"'{:>5}|{:<5}|{:^5}|{:*^6}'.format('a', 'b', 'c', 'd')", "    a|b    |  c  |**d***"},
      {"'{:5}|{:5}|{:05d}|{:+d}|{: d}|{:=+6}'.format('a', 7, -42, 3, 3, 5)", "a    |    7|-0042|+3| 3|+    5"},
      {"'{:.2f}|{:8.3f}|{:<8.1f}|{:e}|{:.1%}|{:,}'.format(2.5, 3.14159, 1, 12345.678, 0.256, 1234567)",
       "2.50|   3.142|1.0     |1.234568e+04|25.6%|1,234,567"},
      {"'{:x}|{:X}|{:o}|{:_}'.format(255, 255, 8, 1000)", "ff|FF|10|1_000"},
      {"'{0:>3}{name:<4}{0}'.format(1, name='x')", "  1x   1"},
      {"'{:.2}|{:06.2f}|{}'.format('abc', -1.5, 1.0)", "ab|-01.50|1.0"},
      {"'{:é>4}'.format('ö')", "éééö"}};
  for (const auto& [source, want] : cases) EXPECT_EQ(text(("{{ " + std::string(source) + " }}").c_str()), want) << source;
}

}  // namespace
}  // namespace inlay::tmpl
