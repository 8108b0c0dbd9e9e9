// Files that hold no model but are often found under a model's name, told by their first bytes.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace inlay {

// As many of a file's first bytes as tell what it is.
inline constexpr size_t kTellingBytes = 512;

enum class ExpectedFile { gguf, safetensors, text };

// "it is a ...", with what to do about it; empty where the bytes tell nothing.
std::string what_else(std::span<const std::byte> first, ExpectedFile expected);

// Of a file in a format that begins with a magic: that many of its first bytes, as text where they are letters, in
// hexadecimal where not.
std::string shown_magic(std::span<const std::byte> magic);

}  // namespace inlay
