// The Unicode normalization forms.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace inlay {

enum class NormalizationForm : uint8_t { nfc, nfd, nfkc, nfkd };

// The well-formed `text` in that form, appended to `out`. Time is linear in the text but for the sorting of long runs
// of combining marks.
void append_normalized(std::string_view text, NormalizationForm form, std::string& out);

}  // namespace inlay
