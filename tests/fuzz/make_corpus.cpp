// Writes the seeds of the fuzz targets: make_corpus CORPUS_FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>

#include "tests/fuzz/vocabularies.h"
#include "tests/unit/gguf_image.h"

namespace {

namespace fs = std::filesystem;
using inlay::MetaType;
using inlay::testing::GgufImage;
using inlay::testing::pattern;
using inlay::testing::small_image;
using Bytes = GgufImage::Bytes;

bool write(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.good()) std::fprintf(stderr, "cannot write %s\n", path.string().c_str());
  return out.good();
}

template <class T>
Bytes with(const GgufImage& image, const char* field, T value) {
  Bytes bytes = image.build();
  std::memcpy(bytes.data() + image.at(field), &value, sizeof(value));
  return bytes;
}

// "valid-" files must open, "refused-" files must not.
bool write_gguf(const fs::path& folder) {
  const GgufImage small = small_image();
  GgufImage wide(3, 64);
  wide.u32("general.alignment", 64).tensor("q4_k", {256, 1, 1, 2}, 12, pattern(288, 3));
  wide.tensor("bf16", {3, 5, 2}, 30, pattern(60, 7));
  Bytes cut = small.build();
  cut.resize(cut.size() - 20);
  return write(folder / "valid-version3.gguf", small.build()) &&
         write(folder / "valid-version2.gguf", small_image(2).build()) &&
         write(folder / "valid-alignment64.gguf", wide.build()) &&
         write(folder / "valid-empty.gguf", GgufImage().build()) &&
         write(folder / "valid-vocabulary-bpe.gguf", inlay::fuzz::bpe_vocabulary("gpt-2").build()) &&
         write(folder / "valid-vocabulary-spm.gguf", inlay::fuzz::spm_vocabulary().build()) &&
         write(folder / "refused-cut.gguf", cut) &&
         write(folder / "refused-nested-array.gguf", with(small, "element_type:a.texts", uint32_t{9})) &&
         write(folder / "refused-q2_k.gguf", with(small, "tensor:w.q8_0.type", uint32_t{10})) &&
         write(folder / "refused-huge-count.gguf", with(small, "count:a.texts", uint64_t{1} << 61)) &&
         write(folder / "refused-split.gguf", GgufImage()
                                                  .scalar("split.no", MetaType::u16, uint16_t{1})
                                                  .scalar("split.count", MetaType::u16, uint16_t{2})
                                                  .build());
}

bool write_tokenizer(const fs::path& folder) {
  const char* texts[] = {
      " the thing's  other\n\n\tthing 12345 don't ELSE'LL   ",
      "caf\xC3\xA9 \xE2\x82\xAC\xF0\x9F\x98\x80 \xE2\x96\x81 \xE4\xB8\xAD\xE6\x96\x87 \xD0\x9F\xD1\x80 e\xCC\x81",
      "<|begin|>aaaaaaa<user><us<|endoftext|> <s></s><unk><0x41>",
      "bad \xFF\xC0\x80 \xED\xA0\x80 \xF4\x90\x80\x80 \xE2\x82 \xF0\x9F\x98",
  };
  bool ok = true;
  for (size_t i = 0; i < std::size(texts); ++i)
    for (const unsigned options : {0x00u, 0x1Fu, 0x2Eu, 0x01u}) {
      Bytes bytes = {static_cast<std::byte>(options)};
      for (const char* c = texts[i]; *c; ++c) bytes.push_back(static_cast<std::byte>(*c));
      ok = ok && write(folder / ("text" + std::to_string(i) + "-" + std::to_string(options)), bytes);
    }
  const auto vocabulary = [&](const char* name, const GgufImage& image) {
    Bytes bytes = image.build();
    bytes.insert(bytes.begin(), std::byte{0x80});
    return write(folder / name, bytes);
  };
  return ok && vocabulary("vocabulary-bpe", inlay::fuzz::bpe_vocabulary("llama-bpe")) &&
         vocabulary("vocabulary-spm", inlay::fuzz::spm_vocabulary());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s CORPUS_FOLDER\n", argv[0]);
    return 2;
  }
  const fs::path folder = argv[1];
  fs::create_directories(folder / "gguf");
  fs::create_directories(folder / "tokenizer");
  return write_gguf(folder / "gguf") && write_tokenizer(folder / "tokenizer") ? 0 : 1;
}
