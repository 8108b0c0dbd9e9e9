// The bytes are a tokenizer.json. Whatever they are: an error with a message, or a tokenizer whose ids are in range and
// whose decoding takes all of them.
#include <array>
#include <string>
#include <string_view>

#include "src/formats/text.h"
#include "src/tokenizer/json_tokenizer.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace inlay;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto tokenizer = read_tokenizer_json({.tokenizer = text, .config = {}, .end_ids = {}, .name = "fuzz"});
  if (!tokenizer.ok()) {
    FUZZ_CHECK(tokenizer.status().code == Code::format || tokenizer.status().code == Code::unsupported);
    FUZZ_CHECK(!tokenizer.status().message.empty() && is_valid_utf8(tokenizer.status().message));
    return 0;
  }
  const Tokenizer& t = **tokenizer;
  FUZZ_CHECK(t.n_tokens() > 0 && t.bos() < t.n_tokens() && t.eos() < t.n_tokens());
  for (const std::string_view part :
       {"", " the hello's\n\n  123 caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80\xFF", "<s>[MASK]  <unk>aaaaa e\xCC\x81\xEF\xAC\x81"})
    for (const bool special : {false, true}) {
      std::vector<int32_t> ids = {-7}, again;
      const EncodeOptions options{.add_special = special, .parse_special = special};
      (void)t.encode(part, options, ids);
      FUZZ_CHECK(!ids.empty() && ids[0] == -7);
      ids.erase(ids.begin());
      (void)t.encode(part, options, again);
      FUZZ_CHECK(ids == again);
      for (const int32_t id : ids) FUZZ_CHECK(id >= 0 && id < t.n_tokens());
      std::string out;
      FUZZ_CHECK(t.decode(ids, {.show_special = special}, out).ok());
    }
  std::string out;
  for (int32_t id = 0; id < t.n_tokens(); ++id) FUZZ_CHECK(t.decode(std::array{id}, {.show_special = true}, out).ok());
  FUZZ_CHECK(!t.decode(std::array{t.n_tokens()}, {}, out).ok());
  return 0;
}
