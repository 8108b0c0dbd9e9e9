// The alphabet in which byte-level BPE vocabularies write bytes: printable Latin-1 characters stand for themselves, the
// other 68 bytes, in order, for U+0100 and up. Source: the GPT-2 release's encoder.
#pragma once

#include <string>
#include <string_view>

namespace inlay {

// Appends the bytes that `text` stands for; false, with `out` unchanged, if a character is not of the alphabet.
bool append_bytes_of(std::string_view text, std::string& out);

}  // namespace inlay
