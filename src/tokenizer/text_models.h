// The models of a tokenizer.json: from a word to the ids of its tokens.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/tokenizer/bpe_model.h"

namespace inlay {

class TextModel {
 public:
  virtual ~TextModel() = default;
  virtual void append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const = 0;
};

class BpeTextModel final : public TextModel {
 public:
  // `cut_sign`, if not empty: no token has it after anything else, so that words may be cut before it.
  BpeTextModel(const TokenTable& table, size_t n_tokens, bool whole_word_first, BpeModel model, std::string cut_sign)
      : words_(table, n_tokens, whole_word_first), model_(std::move(model)), cut_sign_(std::move(cut_sign)) {}

  void append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;

 private:
  const WholeWords words_;
  const BpeModel model_;
  const std::string cut_sign_;
};

// The way through the word whose tokens' scores add up to the most.
class UnigramModel final : public TextModel {
 public:
  struct Rules {
    int32_t unknown = -1;
    bool byte_tokens = false;  // what is unknown becomes tokens <0xAB> of its bytes where all are there
  };
  UnigramModel(const Vocabulary& texts, std::vector<double> scores, const TokenTable& table, Rules rules);

  void append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;

 private:
  struct Node {
    uint32_t first_child = 0;
    uint16_t n_children = 0;
    unsigned char label = 0;
    int32_t id = -1;
  };
  struct Place {  // in a word: how the best way there ends
    double score = 0;
    uint32_t from = UINT32_MAX;
    int32_t id = -1;
  };
  void build(const Vocabulary& texts);
  const Node* child(const Node& node, unsigned char label) const;
  size_t reach(std::string_view word, uint32_t from, std::vector<Place>& places) const;  // the bytes that it looked at
  void append_unknown(std::string_view text, std::vector<int32_t>& out) const;
  void append_part(std::string_view word, EncodingPulse& pulse, std::vector<int32_t>& out) const;

  const std::vector<double> scores_;
  const Rules rules_;
  double unknown_score_ = 0;
  std::array<int32_t, 256> byte_ids_{};
  std::vector<Node> nodes_;
};

// The longest token at the word's beginning, then the longest that continues it, and so on.
class WordPieceModel final : public TextModel {
 public:
  struct Rules {
    int32_t unknown = -1;
    std::string prefix = "##";  // of tokens that continue a word
    size_t max_characters = 100;
  };
  WordPieceModel(const TokenTable& table, Rules rules) : table_(table), rules_(std::move(rules)) {}

  void append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;

 private:
  const TokenTable& table_;
  const Rules rules_;
};

class WordLevelModel final : public TextModel {
 public:
  WordLevelModel(const TokenTable& table, int32_t unknown) : table_(table), unknown_(unknown) {}

  void append(std::string_view word, MergeScratch& scratch, std::vector<int32_t>& out) const override;

 private:
  const TokenTable& table_;
  const int32_t unknown_;
};

}  // namespace inlay
