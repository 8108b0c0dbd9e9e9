// The part of a GGUF file before its tensor data: metadata and tensor directory, parsed and checked against the file.
#pragma once

#include <memory>
#include <vector>

#include "src/formats/checkpoint.h"

namespace inlay {

struct GgufHeader {
  std::shared_ptr<const std::vector<std::byte>> bytes;  // the header's own copy; all views point into it
  Metadata metadata;
  std::vector<TensorEntry> tensors;  // checked against the source: ranges inside it, none overlapping; names unchecked
};

Result<GgufHeader> read_gguf_header(const ByteSource& source);

}  // namespace inlay
