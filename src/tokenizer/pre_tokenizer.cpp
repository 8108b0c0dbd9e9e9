#include "src/tokenizer/pre_tokenizer.h"

#include <algorithm>

#include "src/tokenizer/word_patterns.h"

namespace inlay {
namespace {

// Sources: the `pre_tokenizer` of the models' tokenizer.json; the names are those that GGUF converters write.
constexpr PreTokenizer kPreTokenizers[] = {
    {{"gpt-2", "phi-2", "mpt", "olmo", "jais", "jina-es", "jina-de", "jina-v2-es", "jina-v2-de", "gigachat", "a.x-4.0",
      "mellum", "trillion", "granite-docling", "exaone4"},
     {find_gpt2_word},
     false,
     false},
    {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2"},
     {find_word_3_digits},
     true,
     true},
    {{"dbrx", "smaug-bpe", "glm4"}, {find_word_3_digits}, false, false},
    {{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "hunyuan", "kormo", "grok-2", "solar-open"},
     {find_word_1_digit},
     false,
     false},
    {{"qwen35"}, {find_word_with_marks}, false, false},
    {{"starcoder", "refact", "command-r", "smollm", "codeshell", "exaone", "minerva-7b"},
     {find_number, find_gpt2_word},
     false,
     false},
    {{"deepseek-llm"},
     {find_line_end, find_spaced_cased_letters, find_spaced_signs, find_trailing_space, find_east_asian, find_numbers},
     false,
     false},
    {{"deepseek-coder"},
     {find_line_end, find_spaced_letters, find_spaced_marks, find_east_asian, find_number},
     false,
     false},
    {{"falcon"}, {find_punctuation_backtick, find_gpt2_word, find_three_digits}, false, false},
    {{"default"}, {find_punctuation, find_gpt2_word, find_numbers, find_three_digits}, false, false},
};

}  // namespace

const PreTokenizer* find_pre_tokenizer(std::string_view name) {
  if (name.empty()) return nullptr;  // unused entries of `names` are empty
  for (const PreTokenizer& row : kPreTokenizers)
    if (std::find(row.names.begin(), row.names.end(), name) != row.names.end()) return &row;
  return nullptr;
}

}  // namespace inlay
