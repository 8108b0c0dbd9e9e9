// A GGUF model as several files.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "src/formats/checkpoint.h"
#include "src/formats/gguf.h"
#include "src/formats/gguf_writer.h"
#include "src/formats/metadata_builder.h"

namespace inlay::test {

// Writes the model at `source` as "STEM-00001-of-0000N.gguf" and so on; returns the first one's path.
inline std::string write_split(const std::string& source, const std::string& stem, size_t n_files) {
  const Result<Checkpoint> model = open_gguf(source);
  if (!model.ok()) {
    ADD_FAILURE() << model.status().message;
    return {};
  }
  std::string first;
  std::vector<std::byte> scratch;
  for (size_t file = 0; file < n_files; ++file) {
    std::vector<const TensorEntry*> own;
    std::vector<GgufTensor> tensors;
    for (size_t i = file; i < model->tensors().size(); i += n_files) {
      const TensorEntry& t = model->tensors()[i];
      own.push_back(&t);
      tensors.push_back({std::string(t.name), t.dtype, t.rank, t.shape});
    }
    MetadataBuilder metadata;
    if (file == 0) {
      for (const MetaEntry& entry : model->metadata().entries()) metadata.copy(entry);
    }
    metadata.u32("split.no", static_cast<uint32_t>(file));
    metadata.u32("split.count", static_cast<uint32_t>(n_files));
    char suffix[64];
    std::snprintf(suffix, sizeof suffix, "-%05zu-of-%05zu.gguf", file + 1, n_files);
    if (file == 0) first = stem + suffix;
    auto writer = GgufWriter::create(stem + suffix, metadata.build("split"), tensors);
    EXPECT_TRUE(writer.ok()) << writer.status().message;
    if (!writer.ok()) return {};
    for (const TensorEntry* t : own) {
      const Result<const std::byte*> bytes = model->bytes(*t, scratch);
      EXPECT_TRUE(bytes.ok() && writer->append({*bytes, static_cast<size_t>(t->n_bytes)}).ok());
    }
    const Status done = writer->finish();
    EXPECT_TRUE(done.ok()) << done.message;
  }
  return first;
}

}  // namespace inlay::test
