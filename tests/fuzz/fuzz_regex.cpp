// A regular expression up to the first zero byte, then a text. Whatever they are: an error with a message, or pieces that
// together are the text, none of them empty or cutting a character.
#include <string>
#include <string_view>

#include "src/formats/text.h"
#include "src/tokenizer/regex.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace inlay;
  const std::string_view all(reinterpret_cast<const char*>(data), size);
  const size_t n = std::min(all.find('\0'), all.size());
  const auto regex = Regex::compile(all.substr(0, n));
  if (!regex.ok()) {
    FUZZ_CHECK(regex.status().code == Code::unsupported && is_valid_utf8(regex.status().message));
    return 0;
  }
  std::string storage;
  const std::string_view text = well_formed(all.substr(std::min(n + 1, all.size())), storage);
  const char* at = text.data();
  regex->split(text.data(), text.data() + text.size(), [&](const char* begin, const char* end, bool) {
    FUZZ_CHECK(begin == at && begin < end && !is_continuation(*begin));
    at = end;
  });
  FUZZ_CHECK(at == text.data() + text.size());
  return 0;
}
