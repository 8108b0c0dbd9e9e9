// What a tokenizer.json and its tokenizer_config.json say, ready for use.
#pragma once

#include <memory>
#include <vector>

#include "src/tokenizer/added_token_matcher.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/normalizer.h"
#include "src/tokenizer/text_models.h"
#include "src/tokenizer/text_splitter.h"
#include "src/tokenizer/vocabulary.h"

namespace inlay {

// The tokens' texts as the model meets them, in bytes where words are bytes.
struct ModelTexts {
  explicit ModelTexts(Vocabulary v) : texts(std::move(v)), table(texts) {}
  const Vocabulary texts;
  const TokenTable table;
};

struct JsonPipeline {
  AddedTokenMatcher raw_added;  // looked for in the text as it comes
  Normalizer normalizer;
  AddedTokenMatcher normalized_added;  // looked for after that
  TextSplitter splitter;
  std::unique_ptr<const ModelTexts> texts;
  std::unique_ptr<const TextModel> model;
  std::vector<int32_t> before, after;  // what the file adds around a text
};

Result<JsonPipeline> read_json_pipeline(TokenizerFiles files, Vocabulary& vocabulary);

}  // namespace inlay
