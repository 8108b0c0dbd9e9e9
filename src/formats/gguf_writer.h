// Writes a GGUF file, version 3: the header first, then the tensors' bytes in the order of their directory.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/formats/checkpoint.h"

namespace inlay {

struct GgufTensor {
  std::string name;
  DType dtype = DType::f32;
  int32_t rank = 0;
  std::array<int64_t, 4> shape{};  // outermost first

  uint64_t n_bytes() const;
};

// Until finish() the file is called "PATH.partial"; without it nothing stays behind.
class GgufWriter {
 public:
  static Result<GgufWriter> create(const std::string& path, const Metadata& metadata, std::vector<GgufTensor> tensors);
  GgufWriter(GgufWriter&&) = default;
  ~GgufWriter();

  // The next bytes of the tensors, which may begin and end anywhere in one, but not cross into the next.
  Status append(std::span<const std::byte> bytes);
  Status finish();  // all bytes must have been given

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  GgufWriter(std::string path, std::vector<GgufTensor> tensors)
      : path_(std::move(path)), tensors_(std::move(tensors)) {}
  Status write_header(const Metadata& metadata);
  Status write(const void* data, size_t n);
  Status failed(const char* action) const;
  std::string partial_path() const { return path_ + ".partial"; }

  std::string path_;
  std::vector<GgufTensor> tensors_;
  size_t at_tensor_ = 0;
  uint64_t n_appended_ = 0;  // of the tensor at hand
  std::unique_ptr<std::FILE, Close> file_;
};

}  // namespace inlay
