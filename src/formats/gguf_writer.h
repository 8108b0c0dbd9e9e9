// Writes a GGUF file, version 3: the header first, then the tensors' bytes in the order of their directory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/formats/checkpoint.h"
#include "src/formats/target_file.h"

namespace inlay {

struct GgufTensor {
  std::string name;
  DType dtype = DType::f32;
  int32_t rank = 0;
  std::array<int64_t, 4> shape{};  // outermost first

  uint64_t n_bytes() const;
};

// Without finish() nothing stays behind.
class GgufWriter {
 public:
  static Result<GgufWriter> create(const std::string& path, const Metadata& metadata, std::vector<GgufTensor> tensors);

  // The next bytes of the tensors, which may begin and end anywhere in one, but not cross into the next.
  Status append(std::span<const std::byte> bytes);
  Status finish();  // all bytes must have been given

 private:
  GgufWriter(std::unique_ptr<TargetFile> file, std::vector<GgufTensor> tensors)
      : file_(std::move(file)), tensors_(std::move(tensors)) {}
  Status write_header(const Metadata& metadata);

  std::unique_ptr<TargetFile> file_;
  std::vector<GgufTensor> tensors_;
  size_t at_tensor_ = 0;
  uint64_t n_appended_ = 0;  // of the tensor at hand
};

}  // namespace inlay
