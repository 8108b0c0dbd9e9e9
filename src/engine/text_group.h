// Texts that run together, each in a session of its own: for embeddings and scores.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "src/engine/engine.h"

namespace inlay {

// That a text has tokens, that the model has these, and that they fit into the context. Errors begin with "the text".
Status check_text(const Engine& engine, std::span<const int32_t> text);
// What is wrong with "the text", or of it, which is number i of a call's.
Status of_text(size_t i, Status status);
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
  int32_t n_tokens(size_t i) const { return runs_[i].n_tokens; }   // of a text in this step
  int32_t first_position() const { return first_; }                // of each text's part
  bool ends(size_t i) const;                                       // with this step

  // What is wanted of a text's rows in this step, which are counted from its part's first one: nothing until it is asked for.
  void ask(size_t i, AskedRows rows);
  size_t n_asked() const { return n_asked_; }  // rows
  Status run(RowValues asked, const StepResults& results) { return engine_.run_layers(runs_, asked, results); }

 private:
  Engine& engine_;
  const int32_t most_tokens_;
  std::vector<std::shared_ptr<Session>> sessions_;
  std::vector<Engine::LayersRun> runs_;  // of this step
  std::vector<AskedRows> asked_;         // of each run
  size_t n_asked_ = 0;
  int32_t first_ = 0;
};

}  // namespace inlay
