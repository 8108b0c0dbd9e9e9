// The patterns that split text into words, each as a matcher that finds its first match; see pre_tokenizer.h.
#pragma once

#include "src/tokenizer/pre_tokenizer.h"

namespace inlay {

// 's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
TextSpan find_gpt2_word(const char* begin, const char* end);

// (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,k}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+
TextSpan find_word_3_digits(const char* begin, const char* end);    // k = 3
TextSpan find_word_1_digit(const char* begin, const char* end);     // k = 1
TextSpan find_word_with_marks(const char* begin, const char* end);  // k = 1, and [\p{L}\p{M}] in place of \p{L}

TextSpan find_number(const char* begin, const char* end);                // \p{N}
TextSpan find_numbers(const char* begin, const char* end);               // \p{N}+
TextSpan find_three_digits(const char* begin, const char* end);          // [0-9][0-9][0-9]
TextSpan find_line_end(const char* begin, const char* end);              // [\r\n]
TextSpan find_spaced_letters(const char* begin, const char* end);        // \s?\p{L}+
TextSpan find_spaced_marks(const char* begin, const char* end);          // \s?\p{P}+
TextSpan find_trailing_space(const char* begin, const char* end);        // \s+$
TextSpan find_punctuation(const char* begin, const char* end);           // [\p{P}\$\+<=>\^~\|]+
TextSpan find_punctuation_backtick(const char* begin, const char* end);  // [\p{P}\$\+<=>\^~\|`]+

// Sets of code points that the DeepSeek models list one by one
TextSpan find_spaced_cased_letters(const char* begin, const char* end);  // \s?[A-Za-z...]+
TextSpan find_spaced_signs(const char* begin, const char* end);          // \s?[!-/:-~...]+
TextSpan find_east_asian(const char* begin, const char* end);            // [\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+

}  // namespace inlay
