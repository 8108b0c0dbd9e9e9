// How much of its thread's stack a call of every public function takes.
#include <filesystem>
#include <map>

#include "tests/capi/function_calls.h"

namespace inlay::test {
namespace {

// A template, a pattern and values that nest as deep as they may.
std::vector<std::string> deep_forms() {
  const auto times = [](size_t n, const std::string& text) {
    std::string out;
    for (size_t i = 0; i < n; ++i) out += text;
    return out;
  };
  return {
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{% endif %}x{% endmacro %}{{ f(90) }}",
      "{% macro f(n) %}{% if n > 0 %}{{ f(n - 1) }}{% endif %}x{% endmacro %}{{ f(5000) }}",
      "{{ " + times(150, "(") + "1" + times(150, ")") + " }}",
      "{{ " + times(5000, "[") + "1" + times(5000, "]") + " }}",
      "{{ " + times(190, "not ") + "x }}{{ " + times(90, "-") + "1 }}",
      "{{ " + times(190, "x[") + "1" + times(190, "]") + " }}",
      times(150, "{% if true %}") + "x" + times(150, "{% endif %}"),
      "{% set n = namespace(x=[]) %}{% for a in range(190) %}{% set n.x = [n.x, {'a': n.x}] if a < 9 else [n.x] %}{% endfor %}"
      "{{ n.x|string|length }} {{ n.x|tojson|length }} {{ n.x == n.x }}",
      "{% for a in [[]] recursive %}{{ loop([[]]) }}{% endfor %}",
  };
}

std::string rendered_with_talk(const World& world, const std::string& form, const std::string& talk) {
  std::string out;
  const inlay_chat_params params = written_by(form.c_str());
  const auto render = [&](char* buf, size_t cap, size_t* needed, inlay_error* err) {
    return CALL(inlay_chat_render, world.engine.get(), talk.c_str(), SIZE_MAX, &params, buf, cap, needed, err);
  };
  out += text_of(render);
  Tokens tokens(4096);
  size_t n = 0;
  inlay_error err;
  CALL(inlay_chat_tokenize, world.engine.get(), talk.c_str(), SIZE_MAX, &params, tokens.data(), tokens.size(), &n, &err);
  return out;
}

// What the header says of a call's need.
constexpr size_t kStackOfACall = size_t{96} << 10, kStackOfAStep = size_t{48} << 10;

TEST(HostStack, CallsTakeWhatTheHeaderSays) {
  std::map<std::string, size_t> most;
  Report into;
  into.stack = &most;
  observed({"the default", {}, "C"}, table(), into);
  report = &into;
  for (const auto& entry : std::filesystem::directory_iterator(INLAY_SOURCE_DIR "/tests/data/models")) {
    if (entry.path().extension() != ".gguf") continue;
    const World world(entry.path().stem().string(), 1);
    ASSERT_NE(world.engine, nullptr) << entry.path();
    generated(world, true);
  }
  generated(World(kModel, 1, INLAY_WEIGHT_FP8), true);
  const World world;
  for (const std::string& form : deep_forms()) {
    rendered_with_talk(world, form, kTalk);
    EXPECT_LE(most["inlay_chat_render"], kStackOfACall) << form.substr(0, 200);
  }
  const std::string nested = "{\"messages\": " + std::string(60, '[') + std::string(60, ']') + "}";
  rendered_with_talk(world, "{{ messages }} {{ messages|tojson }}", nested);
  report = nullptr;
  for (const Row& row : table()) EXPECT_TRUE(most.contains(row.name)) << row.name;
  for (const auto& [name, bytes] : most) {
    const bool is_step = name == "inlay_prefill" || name == "inlay_decode_step" || name == "inlay_decode_slice";
    EXPECT_LE(bytes, is_step ? kStackOfAStep : kStackOfACall) << name;
    RecordProperty(name, static_cast<int>(bytes));
  }
}

void takes_much() {
  volatile char frame[100 << 10];
  for (volatile char& byte : frame) byte = 1;
}

TEST(HostStack, ACallThatTakesMuchIsNoticed) {
  std::map<std::string, size_t> most;
  Report into;
  into.stack = &most;
  observed({"the default", {}, "C"}, {{"takes_much", [](const World&) { return CALL(takes_much), std::string(); }}}, into);
  EXPECT_GT(most["takes_much"], kStackOfACall);
  EXPECT_LT(most["takes_much"], kStackOfACall + (8 << 10));
}

}  // namespace
}  // namespace inlay::test
