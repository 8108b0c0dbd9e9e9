// Text to token ids and back. Immutable after loading; every method may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/status.h"
#include "src/formats/metadata.h"

namespace inlay {

enum class TokenKind : uint8_t { normal, unknown, control, user_defined, unused, byte };

// Bytes [begin, end) of a text.
struct TextRange {
  size_t begin, end;
};

struct EncodeOptions {
  bool add_special = true;     // BOS/EOS as the model's metadata asks
  bool parse_special = false;  // control, unknown and end-of-generation tokens written in the text become their ids
  // With parse_special: where such a token may have no byte, in order and apart. The text is well-formed UTF-8 then,
  // and no range cuts a character.
  std::span<const TextRange> plain = {};
};

struct DecodeOptions {
  bool show_special = false;  // control and unknown tokens give their text instead of nothing
};

// What the files call a token: pad_token, or a name of the model's own; several where the name is of a list.
struct SpecialTokenName {
  std::string name;
  std::vector<std::string> texts;
  bool is_list = false;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Reads tokenizer.ggml.*: model "gpt2" (byte-level BPE), "llama" (SentencePiece-style), "t5" (Unigram) or "bert"
  // (WordPiece). "no_vocab" and "none" give null inside the Result. `n_rows`: of the model's logits; those without a
  // token of the file are unused tokens without text. `pre_tokenizer`, unless it is empty, stands for tokenizer.ggml.pre.
  static Result<std::unique_ptr<Tokenizer>> from_metadata(const Metadata& metadata, int32_t n_rows = 0,
                                                          std::string_view pre_tokenizer = {});

  // Appends ids to `out`. Ill-formed UTF-8 is taken as U+FFFD per maximal ill-formed part. User-defined tokens become their ids wherever they
  // stand in the text, whatever `options` says. An error is that of the thread's Pulse (src/base/pulse.h), which beats now and then in a long
  // text, or says that a tokenizer.json's normalizer makes it too long; `out` then has the ids of some of it.
  virtual Status encode(std::string_view text, const EncodeOptions& options, std::vector<int32_t>& out) const = 0;
  // Appends bytes to `out` (possibly an incomplete UTF-8 sequence at the end): the pieces one after the other, without
  // the space that encode() prefixed to the text. Ids out of range are an error, and `out` is unchanged then.
  virtual Status decode(std::span<const int32_t> ids, const DecodeOptions& options, std::string& out) const = 0;

  virtual int32_t n_tokens() const = 0;  // at least the model's rows; the file may have more tokens than those
  // The next four take ids in [0, n_tokens()).
  // The bytes that one token stands for, as decode gives them in the middle of a text (so SPM keeps its space);
  // a control token's own text; nothing for an unused one. Valid as long as the tokenizer.
  virtual std::string_view piece(int32_t id) const = 0;
  virtual TokenKind kind(int32_t id) const = 0;
  virtual float score(int32_t id) const = 0;                // 0 where the vocabulary has no scores
  virtual bool is_end_of_generation(int32_t id) const = 0;  // EOS, EOT and their kin
  // -1 where the vocabulary has none
  virtual int32_t bos() const = 0;
  virtual int32_t eos() const = 0;
  // All that have a name in the files; bos_token and eos_token among them where there are such tokens.
  virtual std::span<const SpecialTokenName> special_names() const = 0;
  virtual bool adds_bos() const = 0;
  virtual bool adds_eos() const = 0;
  // SPM drops the one space that it prefixes; true if the first piece of a text loses its leading space.
  virtual bool strips_leading_space() const = 0;
  // Lines for the log of the load: what was guessed, and what the files name that is no token.
  virtual std::span<const std::string> remarks() const = 0;
  virtual std::span<const std::string> warnings() const = 0;  // likewise: what may give other tokens than the model's
};

// Holds back an incomplete UTF-8 sequence at the end of a growing text, so that what leaves is always complete.
// Bytes that can never become valid leave as U+FFFD.
class Utf8Assembler {
 public:
  void append(std::string_view bytes, std::string& out);  // appends complete text to `out`
  void flush(std::string& out);                           // the held bytes, as U+FFFD
  void clear() { n_held_ = 0; }
  bool empty() const { return n_held_ == 0; }
  std::string_view held() const { return {held_, static_cast<size_t>(n_held_)}; }

 private:
  char held_[4] = {};
  int32_t n_held_ = 0;
};

}  // namespace inlay
