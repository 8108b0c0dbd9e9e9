// Which tokens begin, end and pad, as the keys of a GGUF file state it, and the ends that are guessed by their names where
// it states none.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/formats/metadata.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

// An array of all tokens that end generation, which the converter writes. Where a file has it, no other key and no name
// makes an end.
inline constexpr std::string_view kEndIdsKey = "tokenizer.inlay.end_token_ids";

struct SpecialId {
  int32_t id = -1;         // -1: none
  bool is_stated = false;  // the file has the key, whatever it says
};

// Roles beside bos, eos and unk: the name in templates, and NAME in tokenizer.ggml.NAME_token_id, which GGUF spells so.
inline constexpr std::pair<const char*, const char*> kGgufRoles[] = {
    {"pad_token", "padding"}, {"sep_token", "seperator"}, {"cls_token", "cls"}, {"mask_token", "mask"}};

// A remark on an id outside the vocabulary; `where`: what names it.
std::string no_such_token(std::string_view where, int64_t id, int32_t n_ids);

// What tokenizer.ggml.NAME_token_id says. A number that is none of the `n_ids` means none, and is remarked on.
Result<SpecialId> read_special_id(const Metadata& metadata, std::string_view name, int32_t n_ids,
                                  std::vector<std::string>& remarks);

// Names under which models end a turn or a text, each with the key that states it.
struct EndName {
  const char* key;  // tokenizer.ggml.KEY_token_id
  std::string_view text;
};
std::span<const EndName> gguf_end_names();

// Ids of tokens that are no text whatever type the file gives them: ends of turns that no text has (<|im_end|>), what else of that form the
// chat templates write, and BOS. They are to be control tokens; those that the file has as another type are remarked on, with the reason.
Result<std::vector<int32_t>> read_gguf_turn_tokens(const Metadata& metadata, std::span<const std::string_view> texts,
                                                   std::span<const TokenKind> kinds, std::vector<std::string>& remarks);
bool is_turn_mark(std::string_view text);  // a form that text does not have: <|im_start|>, <end_of_turn>

struct GgufEnds {
  std::vector<int32_t> ids;
  std::vector<int32_t> made_control;  // user-defined tokens whose names are those of turns' ends: their texts are no output
};

// `texts` and `kinds` by id; ids from texts.size() on have no token. What is guessed is remarked on.
Result<GgufEnds> read_gguf_ends(const Metadata& metadata, std::span<const std::string_view> texts,
                                std::span<const TokenKind> kinds, std::vector<std::string>& remarks);

}  // namespace inlay
