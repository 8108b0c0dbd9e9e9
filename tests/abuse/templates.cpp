// Mutated chat templates and conversations: a text, or an error, in bounded time.
#include <algorithm>
#include <filesystem>

#include "tests/abuse/host.h"

namespace inlay::abuse {

namespace {

namespace fs = std::filesystem;

// What templates are made of, to be put in anywhere.
// clang-format off
constexpr const char* kPieces[] = {
    "{{", "}}", "{%", "%}", "{%-", "-%}", "{#", "#}", "{% for m in messages %}", "{% endfor %}", "{% if ",
    "{% else %}", "{% endif %}", "{% set x = ", "{% macro f(a, b=1) %}", "{% endmacro %}", "{{ f(f) }}", "messages",
    "messages[0]", "loop.index", "| tojson", "| length", "| join(',')", "| replace('a', 'aa')", "| sort",
    "| map(attribute='role')", "namespace(a=1)", "range(1000000000)", "range(3)", "[1, 2][", "]", "(", ")", "'", "\"",
    " ~ ", " ** 9999", " * 1000000", " // 0", "% 0", "'a' * 99999999", " is defined", " not in ", "none", "true",
    ".x", "[::-1]", "[:-1]", "{% break %}", "{% raw %}", "{% filter upper %}", "{% call f() %}", "{% include 'x' %}",
    "raise_exception('x')", "strftime_now('%Y')", "caller()", "\xC3\xA9", "\xFF", "\n"};
// clang-format on

std::vector<fuzz::Input> templates;
std::vector<std::string> conversations;
inlay_engine* engine = nullptr;

bool read_seeds(Case& the_case) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(source_path("tests/data/templates"))) {
    if (entry.path().extension() == ".jinja") paths.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator(source_path("tests/fuzz/corpus/template")))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  for (const fs::path& path : paths) {
    fuzz::Input bytes = bytes_of_file(path);
    bytes.erase(std::ranges::find(bytes, 0), bytes.end());  // behind it a seed has a text
    templates.push_back(std::move(bytes));
  }
  conversations = {
      R"([{"role":"user","content":"hello <|im_end|>"}])",
      R"([{"role":"system","content":"Be brief."},{"role":"user","content":"caf\u00e9"},{"role":"assistant","content":"yes","tool_calls":[{"function":{"name":"f","arguments":{"a":[1,2.5,null,true]}}}]},{"role":"tool","content":"7"}])",
      R"({"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object"}}}],"documents":[{"title":"t","text":"x"}],"enable_thinking":true})",
      "[]",
      "{}",
      "",
      "[1",
      R"([{"role":5}])"};
  Host host(the_case);
  inlay_load_params params = sized<inlay_load_params>();
  params.device = INLAY_DEVICE_CPU;
  params.n_context = 64;
  params.n_threads = 1;
  engine = load_file(host, model_path("chat-bpe-qwen3-f32"), params);
  if (templates.size() < 20) the_case.say("no templates");
  return engine && templates.size() >= 20;
}

void free_engine() { lib.inlay_free(engine); }

fuzz::Input mutated(fuzz::Random& random) {
  fuzz::Input text = templates[random.below(templates.size())];
  for (size_t i = random.below(4); i > 0; --i) {
    if (random.one_in(3)) {
      fuzz::mutate(text, templates[random.below(templates.size())], random);
      continue;
    }
    const std::string piece = random.of(kPieces);
    const auto at = static_cast<std::ptrdiff_t>(random.below(text.size() + 1));
    const size_t n = random.one_in(30) ? 200 : 1;  // deep
    for (size_t k = 0; k < n; ++k) text.insert(text.begin() + at, piece.begin(), piece.end());
  }
  return text;
}

Outcome run(Case& the_case) {
  Host host(the_case);
  fuzz::Random& random = the_case.random;
  const fuzz::Input bytes = mutated(random);
  const std::string text(bytes.begin(), bytes.end());
  std::string conversation = conversations[random.below(conversations.size())];
  if (random.one_in(8)) {
    fuzz::Input mutable_bytes(conversation.begin(), conversation.end());
    fuzz::mutate(mutable_bytes, mutable_bytes, random);
    conversation.assign(mutable_bytes.begin(), mutable_bytes.end());
  }
  inlay_chat_params params = sized<inlay_chat_params>();
  params.flags = static_cast<inlay_chat_flags>(random.below(2));
  params.chat_template = text.data();
  params.template_len = text.size();
  inlay_error err;
  std::string rendered(4000, '\0');
  size_t needed = 0;
  inlay_status status = lib.inlay_chat_render(engine, conversation.data(), conversation.size(), &params, rendered.data(),
                                              rendered.size(), &needed, &err);
  const bool worked = host.check("inlay_chat_render", status, err);
  if (worked && needed > rendered.size()) the_case.violated("inlay_chat_render: wrote more than there is room");
  int32_t tokens[2000];
  status = lib.inlay_chat_tokenize(engine, conversation.data(), conversation.size(), &params, tokens, 2000, &needed, &err);
  const bool tokenized = host.check("inlay_chat_tokenize", status, err);
  if (worked && !tokenized && status != INLAY_BUFFER_TOO_SMALL)
    the_case.violated(std::string("rendered, but not tokenized: ") + err.message);
  return worked ? Outcome::accepted : Outcome::refused;
}

}  // namespace

const Generator kTemplates = {"templates", "mutated chat templates and conversations", 2000, 10, read_seeds, run,
                              free_engine};

}  // namespace inlay::abuse
