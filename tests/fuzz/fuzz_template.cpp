// A template, then (behind a zero byte) the text of a message: it renders or fails with a place, the same way twice,
// within its limits.
#include <string>

#include "src/formats/text.h"
#include "src/template/template.h"
#include "src/tokenizer/utf8.h"
#include "tests/fuzz/check.h"

namespace {

using namespace inlay;

constexpr tmpl::Limits kLimits = {.steps = 20000, .output_bytes = 1 << 16, .range_items = 1000};

tmpl::Value text(std::string_view bytes) { return tmpl::Value(std::string(bytes)); }

tmpl::Map conversation(std::string_view content) {
  tmpl::List messages, parts;
  for (const char* role : {"system", "user", "assistant", "tool"}) {
    tmpl::Map message;
    message.set(text("role"), text(role));
    message.set(text("content"), text(content));
    messages.items.emplace_back(std::move(message));
  }
  for (const int64_t number : {-1, 0, 7}) parts.items.emplace_back(number);
  tmpl::Map context;
  context.set(text("messages"), std::move(messages));
  context.set(text("numbers"), std::move(parts));
  context.set(text("tools"), tmpl::Value());
  context.set(text("add_generation_prompt"), true);
  context.set(text("bos_token"), text("<s>"));
  return context;
}

void check_failure(const Status& status) {
  FUZZ_CHECK(status.code == Code::format || status.code == Code::unsupported || status.code == Code::invalid_argument);
  FUZZ_CHECK(status.message.starts_with("line ") || status.message == "the template is not valid UTF-8");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view source = input.substr(0, input.find('\0'));
  std::string storage;
  const std::string_view content = well_formed(input.substr(std::min(size, source.size() + 1)), storage);
  const auto parsed = tmpl::Template::parse(source);
  if (!parsed.ok()) {
    check_failure(parsed.status());
    return 0;
  }
  const tmpl::Map context = conversation(content);
  const auto out = parsed->render(context, {}, kLimits), again = parsed->render(context, {}, kLimits);
  FUZZ_CHECK(out.ok() == again.ok());
  if (out.ok()) {
    FUZZ_CHECK(*out == *again && out->size() <= kLimits.output_bytes && is_valid_utf8(*out));
  } else {
    check_failure(out.status());
    FUZZ_CHECK(out.status().message == again.status().message);
  }
  return 0;
}
