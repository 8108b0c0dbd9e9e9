// Grammars as llama.cpp writes them (GBNF), and single regular expressions.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "src/base/status.h"
#include "src/constraint/grammar.h"

namespace inlay::constraint {

// The token of a text, or -1.
using TokenOfText = std::function<int32_t(std::string_view)>;

struct GbnfLimits {
  size_t text_bytes = size_t{16} << 20;
  uint64_t steps = uint64_t{1} << 22;
  size_t bytes = size_t{64} << 20;
};

// The grammar of the rule root. Terminals of tokens: <[id]>, <text>, and both with ! in front for all tokens but that one and
// those that end a text. Errors name line and byte. Code::format: no grammar, or a rule that is missing or there twice;
// Code::unsupported: a limit. A rule that begins with itself is refused by Grammar::finish.
Result<Grammar> compile_gbnf(std::string_view text, const TokenOfText& token_of, const GbnfLimits& limits = {});

// All texts that match as a whole; ^ and $ are the text's begin and end.
Result<Grammar> compile_regex(std::string_view pattern, const GbnfLimits& limits = {});

}  // namespace inlay::constraint
