// The negative control of the replay: a target whose property is false for some mutations of the GGUF corpus, but for
// no file of it. The replay must fail.
#include "src/formats/gguf.h"
#include "tests/fuzz/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace inlay;
  const auto c = read_gguf(borrow_memory({reinterpret_cast<const std::byte*>(data), size}, "fuzz"));
  FUZZ_CHECK(c.ok() || c.status().message.find("overlap") == std::string::npos);
  return 0;
}
