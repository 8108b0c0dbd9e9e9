// Parts of weights: the same bytes as the whole, from every kind of source and by several threads.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "src/formats/gguf.h"
#include "src/model/model.h"
#include "tests/unit/llama_image.h"

namespace inlay::testing {
namespace {

constexpr LlamaSizes kSizes{
    .d_model = 32, .d_ff = 48, .n_heads = 4, .n_kv_heads = 2, .d_head = 16, .n_rot = 12, .n_vocab = 40};

// Cuts every weight at random places and compares with read().
void expect_parts_are_the_whole(const Checkpoint& checkpoint, const Model& model, uint32_t seed) {
  WeightReader reader(checkpoint, model);
  std::mt19937 random(seed);
  ReadScratch scratch;
  for (const Weight& w : model.weights()) {
    const auto whole = reader.read(w);
    ASSERT_TRUE(whole.ok()) << whole.status().message;
    std::vector<std::byte> parts(w.n_bytes());
    for (uint64_t at = 0; at < parts.size();) {
      const uint64_t n = std::min<uint64_t>(1 + random() % 500, parts.size() - at);
      const Status status = reader.read_range(w, at, {parts.data() + at, n}, scratch);
      ASSERT_TRUE(status.ok()) << w.name << ": " << status.message;
      at += n;
    }
    EXPECT_EQ(std::memcmp(parts.data(), *whole, parts.size()), 0) << w.name;
  }
}

class OnDisk {
 public:
  explicit OnDisk(const GgufImage::Bytes& bytes)
      : path_((std::filesystem::temp_directory_path() /
               ("inlay-parts-" + std::to_string(std::random_device{}()) + ".gguf"))
                  .string()) {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~OnDisk() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

int32_t read_bytes(void* user, uint64_t offset, void* into, uint64_t n) {
  std::memcpy(into, static_cast<const GgufImage::Bytes*>(user)->data() + offset, n);
  return 0;
}

TEST(WeightReader, PartsAreTheWholeFromEverySource) {
  GgufImage::Bytes bytes = llama_image(kSizes);
  const OnDisk file(bytes);
  struct Case {
    const char* name;
    Result<Checkpoint> checkpoint;
    bool concurrent;
  };
  Case cases[] = {{"file", open_gguf(file.path()), true},
                  {"memory", read_gguf(borrow_memory(bytes, "image")), true},
                  {"callback", read_gguf(read_through(read_bytes, &bytes, bytes.size(), "reader")), false}};
  for (Case& c : cases) {
    SCOPED_TRACE(c.name);
    ASSERT_TRUE(c.checkpoint.ok()) << c.checkpoint.status().message;
    EXPECT_EQ(c.checkpoint->is_concurrent(), c.concurrent);
    const auto model = Model::from_checkpoint(*c.checkpoint);
    ASSERT_TRUE(model.ok()) << model.status().message;
    ASSERT_TRUE(model->find(WeightRole::attn_q, 0)->unpermute) << "rows are reordered";
    expect_parts_are_the_whole(*c.checkpoint, *model, 1);
  }
}

TEST(WeightReader, ThreadsReadOneFileAtOnce) {
  const OnDisk file(llama_image(kSizes));
  const auto checkpoint = open_gguf(file.path());
  ASSERT_TRUE(checkpoint.ok());
  const auto model = Model::from_checkpoint(*checkpoint);
  ASSERT_TRUE(model.ok());
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t) threads.emplace_back([&, t] { expect_parts_are_the_whole(*checkpoint, *model, t); });
  for (std::thread& t : threads) t.join();
}

TEST(WeightReader, BeyondTheWeightIsRefused) {
  const GgufImage::Bytes bytes = llama_image(kSizes);
  const auto checkpoint = read_gguf(borrow_memory(bytes, "image"));
  const auto model = Model::from_checkpoint(*checkpoint);
  const WeightReader reader(*checkpoint, *model);
  std::vector<std::byte> into(16);
  ReadScratch scratch;
  for (const WeightRole role : {WeightRole::ffn_gate, WeightRole::attn_q}) {
    const Weight& w = *model->find(role, 0);
    EXPECT_TRUE(reader.read_range(w, w.n_bytes() - 16, into, scratch).ok());
    EXPECT_EQ(reader.read_range(w, w.n_bytes() - 15, into, scratch).code, Code::invalid_argument);
    EXPECT_EQ(reader.read_range(w, w.n_bytes(), into, scratch).code, Code::invalid_argument);
    EXPECT_EQ(reader.read_range(w, UINT64_MAX, into, scratch).code, Code::invalid_argument);
  }
}

#ifndef _WIN32
TEST(WeightReader, AFileThatWasCutOffSinceIsAnError) {
  const OnDisk file(llama_image(kSizes));
  const auto checkpoint = open_gguf(file.path());
  const auto model = Model::from_checkpoint(*checkpoint);
  ASSERT_TRUE(model.ok());
  const WeightReader reader(*checkpoint, *model);
  const Weight& last = *model->find(WeightRole::ffn_down, 0);
  std::vector<std::byte> into(last.n_bytes());
  ReadScratch scratch;
  ASSERT_TRUE(reader.read_range(last, 0, into, scratch).ok());
  std::filesystem::resize_file(file.path(), std::filesystem::file_size(file.path()) - 64);
  const Status status = reader.read_range(last, 0, into, scratch);
  EXPECT_EQ(status.code, Code::io);
  EXPECT_NE(status.message.find("it ends at byte"), std::string::npos) << status.message;
}
#endif

}  // namespace
}  // namespace inlay::testing
