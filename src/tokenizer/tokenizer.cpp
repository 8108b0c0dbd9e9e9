#include "src/tokenizer/tokenizer.h"

#include "src/formats/text.h"
#include "src/tokenizer/bpe_tokenizer.h"
#include "src/tokenizer/gguf_special_tokens.h"
#include "src/tokenizer/gguf_text_models.h"
#include "src/tokenizer/json_tokenizer.h"
#include "src/tokenizer/spm_tokenizer.h"

namespace inlay {
namespace {

// Of a file that was converted from a Hugging Face folder: the folder's own files, for what tokenizer.ggml.* cannot say.
constexpr std::string_view kTokenizerFile = "tokenizer.huggingface.json", kConfigFile = "tokenizer.inlay.config";

Result<std::unique_ptr<Tokenizer>> read_files_inside(const Metadata& metadata, int32_t n_rows) {
  TokenizerFiles files;
  INLAY_ASSIGN(files.tokenizer, metadata.get_string(kTokenizerFile));
  INLAY_ASSIGN(files.config, metadata.get_string(kConfigFile));
  INLAY_ASSIGN(const std::vector<int32_t> ends, metadata.i32_array(kEndIdsKey));
  files.end_ids.assign(ends.begin(), ends.end());
  files.end_ids_name = kEndIdsKey;
  files.name = kTokenizerFile;
  files.n_rows = n_rows;
  return read_tokenizer_json(std::move(files));
}

}  // namespace

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_metadata(const Metadata& metadata, int32_t n_rows,
                                                            std::string_view pre_tokenizer) {
  if (metadata.find(kTokenizerFile) && metadata.find(kConfigFile)) {
    if (pre_tokenizer.empty()) return read_files_inside(metadata, n_rows);
    return error(Code::invalid_argument, "pre_tokenizer is %s, but the file holds %s, which says how text is split",
                 quote(pre_tokenizer).c_str(), kTokenizerFile.data());
  }
  constexpr std::string_view kModelKey = "tokenizer.ggml.model";
  INLAY_ASSIGN(const std::string_view model, metadata.get_string(kModelKey));
  if (model == "gpt2") return BpeTokenizer::create(metadata, n_rows, pre_tokenizer);
  if (!pre_tokenizer.empty()) {
    return error(Code::invalid_argument, "pre_tokenizer is %s, but %s is %s: only byte-level BPE (gpt2) has one to name",
                 quote(pre_tokenizer).c_str(), kModelKey.data(), quote(model).c_str());
  }
  if (model == "llama") return SpmTokenizer::create(metadata, n_rows);
  if (model == "t5") return read_gguf_unigram(metadata, n_rows);
  if (model == "bert") return read_gguf_word_piece(metadata, n_rows);
  if (model == "no_vocab" || model == "none") return std::unique_ptr<Tokenizer>();
  return error(Code::unsupported, "%s is %s, a tokenizer that is not known here (bert, gpt2, llama, t5)", kModelKey.data(),
               quote(model).c_str());
}

}  // namespace inlay
