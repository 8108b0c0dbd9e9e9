// Texts that run together, each in a session of its own: for embeddings and scores.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/engine/engine.h"

namespace inlay {

// That each text has tokens, that the model has these, and that they fit into the context. Errors name the text.
Status check_texts(const Engine& engine, std::span<const std::span<const int32_t>> texts);

class TextGroup {
 public:
  // A step runs at most `most_tokens`, which is at most prefill_chunk().
  TextGroup(Engine& engine, int32_t most_tokens) : engine_(engine), most_tokens_(most_tokens) {}

  // Takes texts from the front while they have room in one step and sessions are free; the first always.
  Status take(std::span<const std::span<const int32_t>> texts);
  void keep(size_t n) { sessions_.resize(n); }  // the first n
  size_t size() const { return sessions_.size(); }

  // Goes to the first or next step; false: all tokens were run. All texts run in one step but for a single long one, which
  // takes several.
  bool next_step();
  std::span<Session* const> sessions() const { return pointers_; }
  std::span<const int32_t> n_tokens() const { return n_tokens_; }  // of each session in this step
  int32_t first_position() const { return first_; }                // of each session's part

 private:
  Engine& engine_;
  const int32_t most_tokens_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Session*> pointers_;
  std::vector<int32_t> n_tokens_;
  int32_t first_ = 0;
};

}  // namespace inlay
