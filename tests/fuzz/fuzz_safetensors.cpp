// The bytes are a safetensors file. Whatever they are: an error with a message, or tensors that cover all bytes behind
// the header once; and the same from memory as through callbacks.
#include <cstring>

#include "src/formats/safetensors.h"
#include "src/formats/text.h"
#include "tests/fuzz/check.h"

namespace {

using namespace inlay;

struct Bytes {
  const uint8_t* data;
  size_t size;

  static int32_t read(void* user, uint64_t offset, void* into, uint64_t n) {
    const auto& self = *static_cast<const Bytes*>(user);
    FUZZ_CHECK(offset <= self.size && n <= self.size - offset);
    std::memcpy(into, self.data + offset, n);
    return 0;
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes file{data, size};
  const auto a = read_safetensors(*borrow_memory({reinterpret_cast<const std::byte*>(data), size}, "fuzz"));
  const auto b = read_safetensors(*read_through(Bytes::read, &file, size, "fuzz"));
  FUZZ_CHECK(a.ok() == b.ok());
  FUZZ_CHECK(a.status().message == b.status().message);
  if (!a.ok()) {
    FUZZ_CHECK(a.status().code == Code::format || a.status().code == Code::unsupported);
    FUZZ_CHECK(a.status().message.starts_with("fuzz: ") && is_valid_utf8(a.status().message));
    return 0;
  }
  FUZZ_CHECK(a->size() == b->size());
  uint64_t n_bytes = 0;
  for (const SafetensorsEntry& entry : *a) {
    FUZZ_CHECK(is_valid_utf8(entry.name) && !entry.name.empty());
    for (const int64_t dim : entry.shape) FUZZ_CHECK(dim >= 0);
    FUZZ_CHECK(entry.offset >= 8 && entry.offset <= size && entry.n_bytes <= size - entry.offset);
    n_bytes += entry.n_bytes;
  }
  uint64_t header = 0;
  std::memcpy(&header, data, sizeof header);
  FUZZ_CHECK(n_bytes == size - 8 - header);
  return 0;
}
