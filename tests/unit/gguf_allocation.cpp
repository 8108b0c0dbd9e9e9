// Hostile counts and lengths must not make the reader ask for more memory than the file's size justifies. This program
// replaces operator new to count the bytes that are asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "src/formats/gguf.h"
#include "tests/unit/gguf_image.h"

namespace {

uint64_t asked_bytes = 0;  // since the last reset, freed or not; the tests have one thread

void* counted(std::size_t n) {
  asked_bytes += n;
  if (void* p = std::malloc(n == 0 ? 1 : n)) return p;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t n) { return counted(n); }
void* operator new[](std::size_t n) { return counted(n); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }

namespace inlay {
namespace {

using testing::GgufImage;
using Bytes = GgufImage::Bytes;

int32_t read_bytes(void* user, uint64_t offset, void* into, uint64_t n) {
  const auto& bytes = *static_cast<const Bytes*>(user);
  if (offset > bytes.size() || n > bytes.size() - offset) return 5;
  std::memcpy(into, bytes.data() + offset, n);
  return 0;
}

struct Cost {
  uint64_t asked;
  bool ok;
};

// `size` is what the source says it has, true or not.
Cost cost_through_callbacks(Bytes bytes, uint64_t size) {
  auto source = read_through(read_bytes, &bytes, size, "callback");
  asked_bytes = 0;
  const bool ok = read_gguf(std::move(source)).ok();
  return {asked_bytes, ok};
}

Cost cost_from_memory(const Bytes& bytes) {
  auto source = borrow_memory(bytes, "memory");
  asked_bytes = 0;
  const bool ok = read_gguf(std::move(source)).ok();
  return {asked_bytes, ok};
}

uint64_t limit(const Bytes& bytes) { return bytes.size() * 64 + (1 << 20); }

void expect_modest_refusal(const Bytes& bytes, const std::string& what) {
  const Cost memory = cost_from_memory(bytes), callback = cost_through_callbacks(bytes, bytes.size());
  EXPECT_FALSE(memory.ok) << what;
  EXPECT_FALSE(callback.ok) << what;
  EXPECT_LE(memory.asked, limit(bytes)) << what;
  EXPECT_LE(callback.asked, limit(bytes)) << what;
}

// The counter is alive, and the limit is one that a reader which trusts a count would break.
TEST(GgufAllocation, IsCounted) {
  asked_bytes = 0;
  { const std::vector<MetaEntry> trusting(100000); }
  EXPECT_GE(asked_bytes, 100000 * sizeof(MetaEntry));
  EXPECT_GT(asked_bytes, limit(testing::small_image().build()));
  const Cost valid = cost_from_memory(testing::small_image().build());
  EXPECT_TRUE(valid.ok);
  EXPECT_GT(valid.asked, testing::small_image().build().size() / 2) << "the header is copied";
}

TEST(GgufAllocation, IsBoundedForHugeCountsAndLengths) {
  const GgufImage image = testing::small_image();
  for (const char* field : {"n_tensors", "n_entries", "key:v.u8", "value:v.empty", "count:a.i32", "count:a.texts",
                            "elements:a.texts", "tensor:w.f32", "tensor:w.f32.dim0", "tensor:b.f16.dim0"}) {
    for (const uint64_t value : {UINT64_MAX, uint64_t{INT64_MAX}, uint64_t{1} << 62, uint64_t{1} << 40,
                                 uint64_t{1} << 32, uint64_t{100000000}, uint64_t{1000000}}) {
      Bytes bytes = image.build();
      std::memcpy(bytes.data() + image.at(field), &value, sizeof(value));
      expect_modest_refusal(bytes, std::string(field) + " = " + std::to_string(value));
    }
  }
}

// Counts that the file's size allows but its contents do not bear out.
TEST(GgufAllocation, IsBoundedForCountsThatThePaddingAllows) {
  GgufImage image = testing::small_image();
  Bytes bytes = image.build();
  bytes.resize(bytes.size() + (4 << 20));
  for (const char* field : {"n_tensors", "n_entries", "count:a.texts"}) {
    Bytes broken = bytes;
    const uint64_t count = (4 << 20) / 33;
    std::memcpy(broken.data() + image.at(field), &count, sizeof(count));
    expect_modest_refusal(broken, field);
  }
}

// A source that claims a vast size while its bytes end soon: no piece is asked for that the data before it does not
// justify.
TEST(GgufAllocation, IsBoundedForASizeThatIsNotTrue) {
  const GgufImage image = testing::small_image();
  for (const char* field : {"n_tensors", "n_entries", "value:v.empty", "count:a.i32", "count:a.texts"}) {
    Bytes bytes = image.build();
    bytes.resize(1 << 20);
    const uint64_t count = uint64_t{1} << 50;
    std::memcpy(bytes.data() + image.at(field), &count, sizeof(count));
    const Cost cost = cost_through_callbacks(bytes, uint64_t{1} << 60);
    EXPECT_FALSE(cost.ok) << field;
    EXPECT_LE(cost.asked, limit(bytes)) << field;
  }
}

// A file of 64 GiB on paper: only the first bytes are given, the rest is zeros.
class VastSource final : public ByteSource {
 public:
  explicit VastSource(Bytes bytes) : bytes_(std::move(bytes)) {}
  uint64_t size() const override { return uint64_t{1} << 36; }
  const std::byte* view(uint64_t, uint64_t) const override { return nullptr; }
  Status read(uint64_t offset, std::span<std::byte> into) const override {
    std::fill(into.begin(), into.end(), std::byte{0});
    if (offset < bytes_.size())
      std::memcpy(into.data(), bytes_.data() + offset, std::min(into.size(), bytes_.size() - offset));
    return {};
  }
  bool is_concurrent() const override { return true; }
  std::string_view name() const override { return "vast"; }

 private:
  Bytes bytes_;
};

TEST(GgufAllocation, IsBoundedByTheLargestHeaderInAVastFile) {
  GgufImage image = testing::small_image();
  image.text("long", "x");
  Bytes bytes = image.build();
  const auto cost = [&](const char* field, uint64_t value) {
    Bytes broken = bytes;
    std::memcpy(broken.data() + image.at(field), &value, sizeof(value));
    auto source = std::make_unique<VastSource>(broken);
    asked_bytes = 0;
    const Result<Checkpoint> c = read_gguf(std::move(source));
    return std::pair(asked_bytes, c.status().message);
  };
  for (const char* field : {"n_tensors", "n_entries"}) {
    const auto [asked, message] = cost(field, uint64_t{1} << 30);
    EXPECT_NE(message, "") << field;
    EXPECT_LE(asked, uint64_t{64} << 20) << field << ": " << message;
  }
  const auto [asked, message] = cost("value:long", uint64_t{1} << 35);
  EXPECT_NE(message.find("bytes a header may have"), std::string::npos) << message;
  EXPECT_LE(asked, uint64_t{64} << 20);
}

}  // namespace
}  // namespace inlay
