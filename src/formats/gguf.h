// GGUF, versions 2 and 3, little-endian. Format: the GGUF specification in the ggml repository's docs/gguf.md.
#pragma once

#include <memory>
#include <string>

#include "src/formats/checkpoint.h"

namespace inlay {

// Opens a file, or all files of a split model given any one of them (`NAME-00001-of-00003.gguf`, keys split.*).
// Every count, size, offset and alignment is checked against the file before it is used; messages name the field or
// tensor.
Result<Checkpoint> open_gguf(const std::string& path);

// Reads one complete (unsplit) GGUF from a source.
Result<Checkpoint> read_gguf(std::unique_ptr<ByteSource> source);

}  // namespace inlay
