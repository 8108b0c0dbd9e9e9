#include "src/tokenizer/tokenizer.h"

#include "src/formats/text.h"
#include "src/tokenizer/bpe_tokenizer.h"
#include "src/tokenizer/gguf_text_models.h"
#include "src/tokenizer/spm_tokenizer.h"

namespace inlay {

Result<std::unique_ptr<Tokenizer>> Tokenizer::from_metadata(const Metadata& metadata, int32_t n_rows) {
  constexpr std::string_view kModelKey = "tokenizer.ggml.model";
  INLAY_ASSIGN(const std::string_view model, metadata.get_string(kModelKey));
  if (model == "gpt2") return BpeTokenizer::create(metadata, n_rows);
  if (model == "llama") return SpmTokenizer::create(metadata, n_rows);
  if (model == "t5") return read_gguf_unigram(metadata, n_rows);
  if (model == "bert") return read_gguf_word_piece(metadata, n_rows);
  if (model == "no_vocab" || model == "none") return std::unique_ptr<Tokenizer>();
  return error(Code::unsupported, "%s is %s, a tokenizer that is not known here (bert, gpt2, llama, t5)", kModelKey.data(),
               quote(model).c_str());
}

}  // namespace inlay
