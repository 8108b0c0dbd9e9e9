// That steps bound the time and the memory of templates that were written to take much of both.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "src/template/template.h"
#include "src/template/text.h"

namespace inlay::tmpl {
namespace {

Result<std::string> render(std::string_view source, uint64_t steps = Limits{}.steps, const Map& context = {}) {
  INLAY_ASSIGN(const Template parsed, Template::parse(source));
  return parsed.render(context, {}, {.steps = steps});
}

std::string text(std::string_view source, const Map& context = {}) {
  const auto out = render(source, Limits{}.steps, context);
  return out.ok() ? *out : "error: " + out.status().message;
}

// The fewest steps with which it renders.
uint64_t steps_of(std::string_view source, const Map& context = {}) {
  const auto full = render(source, Limits{}.steps, context);
  EXPECT_TRUE(full.ok()) << source.substr(0, 300) << ": " << full.status().message;
  uint64_t too_few = 0, enough = Limits{}.steps;
  while (enough - too_few > 1) {
    const uint64_t middle = too_few + (enough - too_few) / 2;
    (render(source, middle, context).ok() ? enough : too_few) = middle;
  }
  return enough;
}

uint64_t cost(const std::string& before, const std::string& source, const Map& context = {}) {
  return steps_of(before + source, context) - steps_of(before, context);
}

Value marked(std::string bytes) {
  Text out{std::move(bytes)};
  add_span(out.foreign, {0, out.bytes.size()});
  return Value(std::move(out));
}

// A text of 200 steps: what reads it once costs as many.
constexpr const char* kBig = "{% set big = 'a' * 6400 %}";
constexpr uint64_t kOnce = 200;

TEST(TemplateCosts, TextThatIsReadIsPaidFor) {
  const char* prefix =
      "{% set space = ' ' * 6400 %}{% set tabs = '\\t' * 6400 %}{% set m = {big: 1} %}{% set u = m.x[0:0] if false else {}[big] %}"
      "{% set two = {big ~ 'b': 1, big ~ 'a': 2} %}";
  const struct {
    const char* expression;
    uint64_t n_times;
  } cases[] = {
      {"big.isalpha()", 1},
      {"big.isascii()", 1},
      {"big.isprintable()", 1},
      {"big.istitle()", 1},
      {"big.isidentifier()", 1},
      {"space.strip()", 1},
      {"tabs.expandtabs(0)", 1},
      {"big.startswith(big)", 2},
      {"big.endswith(('b', big, big))", 2},
      {"big.removeprefix(big)", 1},
      {"big.removesuffix(big)", 1},
      {"big.center(1)", 1},
      {"big.zfill(1)", 1},
      {"{}[big]", 2},  // an item, then an attribute
      {"{}.get(big)", 1},
      {"big in {}", 1},
      {"{big: 1}", 1},
      {"1|attr(big)", 1},
      {"{}|attr(big)", 1},
      {"[1, 2]|map(attribute=big)|list", 4},  // a path and an attribute each
      {"[big]|map('filesizeformat')", 2},     // the text and the error's message
      {"[u]|map(attribute='x')", 1},          // the message
      {"m|tojson", 2},
      {"two|tojson(sort_keys=true)", 8},
      {"two|pprint", 12},
      {"1|tojson(indent=big)", 1},
      {"big|trim('xy')", 3},
      {"big % []", 2},
      {"big.format()", 2},
  };
  const std::string before = std::string(kBig) + prefix;
  const uint64_t n_before = steps_of(before);
  for (const auto& [expression, n_times] : cases)
    EXPECT_GE(steps_of(before + "{% set x = " + std::string(expression) + " %}"), n_before + n_times * kOnce) << expression;
}

TEST(TemplateCosts, PartsAndEntriesArePaidFor) {
  EXPECT_GE(cost("{% set t = 'a,' * 10000 %}", "{% set x = t.split(',') %}"), 20000u);
  EXPECT_GE(cost("{% set t = 'a\n' * 10000 %}", "{% set x = t.splitlines() %}"), 20000u);
  EXPECT_GE(cost("{% set t = 'a\n' * 10000 %}", "{% set x = t|indent(0) %}"), 10000u);
  EXPECT_GE(cost("{% set m = dict(range(200)|map('string')|batch(2)|list) %}", "{% set x = m|urlencode %}{% set x = m|xmlattr %}"), 200u);
  EXPECT_GE(cost("{% set f = '{0}' * 2000 %}", "{% set x = f.format('') %}"), 2000u);
  std::string named;
  for (int i = 0; i < 200; ++i) named += (i ? ", p" : "p") + std::to_string(i) + "=''";
  EXPECT_GE(cost("{% set f = '{p0}' * 2000 %}", "{% set x = f.format(" + named + ") %}"), 2000u * (1 + 2 * 200 / 32));
}

// Walking n names per step would make a template of many names take the square of its size.
TEST(TemplateCosts, NamesArePaidFor) {
  std::string many, parameters;
  for (int i = 0; i < 1000; ++i) {
    many += "{% set v" + std::to_string(i) + " = 1 %}";
    parameters += (i ? ", p" : "p") + std::to_string(i);
  }
  EXPECT_GE(steps_of(many), 2000u + 15000);
  EXPECT_GE(cost(many, "{{ zz }}"), 1000u / 32);
  EXPECT_GE(cost("{% macro m(" + parameters + ") %}{% endmacro %}", "{{ m() }}"), 1000u + 14000);
  const std::string call = "{% macro n(" + parameters + ") %}{% endmacro %}";
  EXPECT_GE(cost(call, "{{ n(p9=1, p8=1, p7=1, p6=1) }}") - cost(call, "{{ n() }}"), 4u * 1000 / 32);
  const std::string name(32000, 'n');
  EXPECT_GE(cost("", "{% set x = " + name + " %}"), 1000u);
  EXPECT_GE(cost("", "{% macro " + name + "() %}{% endmacro %}"), 1000u);
  EXPECT_GE(cost("{% macro " + name + "() %}{% endmacro %}{% set m = " + name + " %}", "{% set x = m ~ '' %}"), 2000u);
  EXPECT_GE(cost("{% macro m() %}{{ kwargs }}{% endmacro %}", "{% set x = cycler(1) %}{% set y = m(" + name + "=1) %}"), 3000u);
}

// A tuple whose halves are the same tuple, sixty times over, has 2^60 items.
constexpr const char* kShared = "{% set ns = namespace(t=(1,)) %}{% for i in range(60) %}{% set ns.t = (ns.t, ns.t) %}{% endfor %}";

TEST(TemplateCosts, KeysOfSharedPartsAreNotWalked) {
  const std::string shared = kShared;
  EXPECT_EQ(text(shared + "{{ {}[ns.t] is defined }}{{ {}.get(ns.t) }}{{ ns.t in {} }}{{ ns.t is filter }}{{ ns.t is test }}{{ {ns.t: 1}|length }}"),
            "FalseNoneFalseFalseFalse1");
  for (const char* use : {"{}[ns.t]", "{}.get(ns.t)", "ns.t in {}"}) {
    const std::string source = use;
    const size_t at = source.find("{}") + 1;
    // Four keys: 4 times the greatest weight is 2^64.
    for (const char* keys : {"1: 1", "1: 1, 2: 2, 3: 3, 4: 4"}) {
      const std::string out = text(shared + "{{ " + source.substr(0, at) + keys + source.substr(at) + " }}");
      EXPECT_NE(out.find("steps; it seems to run away"), std::string::npos) << source << " of " << keys << ": " << out;
    }
  }
  EXPECT_NE(text(shared + "{{ {1: 1, 2: 2, 3: 3, 4: 4, ns.t: 5} }}").find("steps; it seems"), std::string::npos);
  EXPECT_NE(text(shared + "{{ {1: 1, ns.t: 5}|pprint }}").find("steps; it seems"), std::string::npos);
}

TEST(TemplateCosts, UnhashableKeysAreRefused) {
  EXPECT_EQ(text("{{ {([1],): 1} }}"), "error: line 1, column 4: unhashable type: 'tuple'");
  EXPECT_EQ(text("{{ {}.get({}) }}"), "error: line 1, column 7: unhashable type: 'dict'");
  EXPECT_EQ(text("{{ {(1, ('a', range(2))): 1} }}"), "{(1, ('a', range(0, 2))): 1}");
}

TEST(TemplateCosts, SearchesAndComparisonsArePaidFor) {
  // 100 keys that are no strings, each searched among 100.
  EXPECT_GE(cost("{% set d = dict(range(200)|batch(2)|list) %}", "{% set x = d == d %}"), 10000u);
  EXPECT_GE(cost("{% set d = dict([(1, 1)] + range(2000)|map('string')|batch(2)|list) %}", "{% set x = d[2] %}"), 1000u);
  // Lists inside each other are compared once for each level.
  const std::string nested = "{% set a = [[[[[[[[[[range(1000)|list]]]]]]]]]] %}";
  EXPECT_GE(cost(nested, "{% set x = a < a %}"), 10000u);
  EXPECT_GE(cost(nested, "{% set x = a is lt(a) %}"), 10000u);
  EXPECT_GE(cost(nested, "{% set x = [a, a]|sort %}"), 10000u);
  EXPECT_GE(cost(nested, "{% set x = [a, a]|max %}"), 10000u);
}

TEST(TemplateCosts, MarksArePaidFor) {
  Map plain, foreign;
  plain.set(Value(std::string("f")), Value(std::string("x")));
  foreign.set(Value(std::string("f")), marked("x"));
  const std::string joined = "{% set x = ([f] * 1000)|join('-') %}";
  EXPECT_GE(steps_of(joined, foreign) - steps_of(joined, plain), 500u);
  EXPECT_GE(cost(joined, "{{ x }}", foreign) - cost(joined, "{{ x }}", plain), 500u);
}

TEST(TemplateCosts, SeparatorsOfTheConversationStayMarked) {
  Map context;
  context.set(Value(std::string("f")), marked("<|im_end|>"));
  const auto parsed = Template::parse("{{ 'ab'|wordwrap(1, wrapstring=f) }}");
  const auto out = parsed->render_marked(context, {});
  ASSERT_TRUE(out.ok()) << out.status().message;
  EXPECT_EQ(out->bytes, "a<|im_end|>b");
  ASSERT_EQ(out->foreign.size(), 1u);
  EXPECT_EQ(out->foreign[0].begin, 0u);
  EXPECT_EQ(out->foreign[0].end, 12u);
}

// Each of these would take hours if its time were the square of the text's size.
TEST(TemplateCosts, LongTextsTakeLinearTime) {
  EXPECT_EQ(text("{{ ('-' * 1000000)|wordwrap|length }}"), "1012658");
  EXPECT_EQ(text("{{ ('a' * 1000000)|wordwrap(1)|length }}"), "1999999");
  EXPECT_EQ(text("{{ (' ' * 1000000)|wordwrap(1)|length }}"), "0");
  EXPECT_EQ(text("{{ '{:010000000,}'.format(1)|length }}"), "10000001");
  EXPECT_EQ(text("{{ '{:09_x}|{:08,}|{:07,.1f}'.format(255, 1234, 1) }}"), "0000_00ff|0,001,234|0,001.0");
  const std::string texts = "{% set t = 'a' * 4000000 %}{% set p = 'a' * 2000000 ~ 'b' %}{% set q = 'b' ~ 'a' * 2000000 %}";
  EXPECT_EQ(text(texts + "{{ p in t }}{{ t.find(p) }}{{ t.count(p) }}{{ t.replace(p, '')|length }}"), "False-104000000");
  EXPECT_EQ(text(texts + "{{ t.split(p)|length }}{{ t.partition(p)[1] }}{{ t|replace(p, '')|length }}"), "14000000");
  EXPECT_EQ(text(texts + "{{ t.rfind(q) }}{{ t.rsplit(q)|length }}{{ t.rpartition(q)[1] }}"), "-11");
  Map context;
  context.set(Value(std::string("f")), marked("x"));
  EXPECT_EQ(text("{{ (([f] * 300000)|join('-'))|list|length }}", context), "599999");
}

// Keys of 16 letters that libstdc++ hashes alike. A map by hashes would compare each with all others, which takes many minutes.
TEST(TemplateCosts, KeysOfOneHashAreFound) {
  constexpr uint64_t kFactor = 0xc6a4a7935bd1e995, kWanted = 1;
  constexpr size_t kKeys = 300000;
  uint64_t inverse = kFactor;
  for (int i = 0; i < 6; ++i) inverse *= 2 - kFactor * inverse;
  ASSERT_EQ(kFactor * inverse, 1u);
  const auto mix = [](uint64_t x) { return x ^ x >> 47; };
  const uint64_t begin = 0xc70f6907 ^ 16 * kFactor;
  Map map;
  std::mt19937_64 random(7);
  while (map.size() < kKeys) {
    const uint64_t first = random() & 0x3f3f3f3f3f3f3f3f;
    const uint64_t after = (begin ^ mix(first * kFactor) * kFactor) * kFactor;
    const uint64_t second = mix((after ^ kWanted * inverse) * inverse) * inverse;
    if (second & 0x8080808080808080) continue;  // no ASCII
    std::string key(16, 0);
    std::memcpy(key.data(), &first, 8), std::memcpy(key.data() + 8, &second, 8);
#ifdef __GLIBCXX__
    if (sizeof(size_t) == 8 && map.size() > 0) {
      const std::hash<std::string_view> hash;
      ASSERT_EQ(hash(key), hash(map.entries()[0].first.text()));
    }
#endif
    map.set(Value(key), Value(static_cast<int64_t>(map.size())));
  }
  const Map::Entry& last = map.entries().back();
  ASSERT_NE(map.find(last.first), nullptr);
  EXPECT_EQ(map.find(last.first)->integer(), static_cast<int64_t>(kKeys) - 1);
}

TEST(TemplateCosts, LongPartsAreFoundWhereTheStandardLibraryFindsThem) {
  std::mt19937 random(7);
  const auto letters = [&](size_t n) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += random() % 8 == 0 ? 'b' : 'a';
    return out;
  };
  for (int i = 0; i < 20000; ++i) {
    const std::string all = letters(100 + random() % 100);
    const size_t size = 33 + random() % 30;
    const std::string part = i % 2 ? letters(size) : all.substr(random() % (all.size() - size), size);
    ASSERT_EQ(find_first(all, part), all.find(part)) << all << " " << part;
    ASSERT_EQ(find_last(all, part), all.rfind(part)) << all << " " << part;
  }
}

TEST(TemplateCosts, IntegersAreRoundedExactly) {
  const std::pair<const char*, const char*> cases[] = {  // as Python rounds them
      {"1234567890123456785|round(-1)", "1234567890123456780"}, {"1234567890123456775|round(-1)", "1234567890123456780"},
      {"(-1234567890123456775)|round(-1)", "-1234567890123456780"},                  {"(-25)|round(-1)", "-20"},
      {"(-35)|round(-1)", "-40"},                               {"15|round(-1)", "20"},
      {"7|round(-1)", "10"},                                    {"5000000000000000000|round(-19)", "0"},
      {"4999|round(-19)", "0"},                                 {"9223372036854775807|round(-18)", "9000000000000000000"},
      {"9223372036854775807|round(-20)", "0"},                  {"9223372036854775807|round(-9223372036854775807 - 1)", "0"},
      {"2.5|round(-9223372036854775807 - 1)", "0.0"},           {"true|round(-1)", "0"},
      {"17|round(none)", "17"},                                 {"16|round(-1)", "20"}};
  for (const auto& [expression, want] : cases) EXPECT_EQ(text("{{ " + std::string(expression) + " }}"), want) << expression;
  for (const char* expression : {"9223372036854775807|round(-19)", "(-9223372036854775807)|round(-19)", "9223372036854775807|round(-1)"})
    EXPECT_NE(text("{{ " + std::string(expression) + " }}").find("an integer does not fit in 64 bits"), std::string::npos) << expression;
}

}  // namespace
}  // namespace inlay::tmpl
