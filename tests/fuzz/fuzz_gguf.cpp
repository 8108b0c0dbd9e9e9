// The bytes are a GGUF file. Whatever they are: an error with a message, or a checkpoint all of whose tensors and
// metadata can be read; and the same from memory as through callbacks.
#include <cstring>

#include "src/formats/gguf.h"
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

template <class T>
bool has_reason(const Result<T>& result) {
  return result.ok() || (result.status().code != Code::internal && !result.status().message.empty());
}

void use_metadata(const Metadata& metadata) {
  for (const MetaEntry& entry : metadata.entries()) {
    FUZZ_CHECK(is_valid_utf8(entry.key));
    FUZZ_CHECK(metadata.find(entry.key) == &entry.value);
    FUZZ_CHECK(has_reason(metadata.get_u64(entry.key)));
    FUZZ_CHECK(has_reason(metadata.get_f64(entry.key)));
    FUZZ_CHECK(has_reason(metadata.get_bool(entry.key)));
    FUZZ_CHECK(has_reason(metadata.i32_array(entry.key)));
    FUZZ_CHECK(has_reason(metadata.f32_array(entry.key)));
    const auto text = metadata.get_string(entry.key);
    if (text.ok()) FUZZ_CHECK(is_valid_utf8(quote(*text)));
    const auto texts = metadata.string_array(entry.key);
    if (!texts.ok()) continue;
    for (const std::string_view element : *texts) FUZZ_CHECK(is_valid_utf8(quote(element)));
  }
}

void use_tensors(const Checkpoint& a, const Checkpoint& b, const Bytes& file) {
  std::vector<std::byte> scratch;
  FUZZ_CHECK(a.tensors().size() == b.tensors().size());
  uint64_t n_bytes = 0;
  for (const TensorEntry& tensor : a.tensors()) {
    FUZZ_CHECK(is_valid_utf8(tensor.name) && tensor.rank >= 1 && tensor.rank <= 4 && tensor.dtype < DType::count);
    FUZZ_CHECK(tensor.n_bytes > 0 && tensor.offset + tensor.n_bytes <= file.size);
    const TensorEntry* twin = b.find(tensor.name);
    FUZZ_CHECK(twin != nullptr && twin->offset == tensor.offset && twin->shape == tensor.shape);
    const auto view = a.bytes(tensor, scratch);
    FUZZ_CHECK(view.ok() && *view == reinterpret_cast<const std::byte*>(file.data + tensor.offset));
    const auto copy = b.bytes(*twin, scratch);
    FUZZ_CHECK(copy.ok() && std::memcmp(*copy, *view, tensor.n_bytes) == 0);
    n_bytes += tensor.n_bytes;
  }
  FUZZ_CHECK(n_bytes == a.n_tensor_bytes() && n_bytes <= file.size);  // else two of them overlap
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Bytes file{data, size};
  const auto a = read_gguf(borrow_memory({reinterpret_cast<const std::byte*>(data), size}, "fuzz"));
  const auto b = read_gguf(read_through(Bytes::read, &file, size, "fuzz"));
  FUZZ_CHECK(a.ok() == b.ok());
  FUZZ_CHECK(a.status().message == b.status().message);
  if (!a.ok()) {
    FUZZ_CHECK(a.status().code == Code::format || a.status().code == Code::unsupported);
    FUZZ_CHECK(a.status().message.starts_with("fuzz: ") && is_valid_utf8(a.status().message));
    return 0;
  }
  use_metadata(a->metadata());
  use_metadata(b->metadata());
  use_tensors(*a, *b, file);
  return 0;
}
