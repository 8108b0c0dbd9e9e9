// Text that the trained model of examples/model has not seen, and how well a backend predicts it.
#pragma once

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "src/tokenizer/tokenizer.h"
#include "tests/golden/loaded_model.h"

namespace inlay::golden {

inline const std::string kTalesModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
inline const std::string kTalesData = INLAY_SOURCE_DIR "/tests/golden/data/tales/";

inline std::string read_tales_text(const std::string& name) {
  std::ifstream file(kTalesData + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

using Documents = std::vector<std::vector<int32_t>>;

inline Documents tales_documents(const std::string& file, const Tokenizer& tokenizer) {
  const std::string text = read_tales_text(file);
  Documents out;
  for (size_t at = 0; at < text.size();) {
    const size_t next = std::min(text.find("<|begin|>", at + 1), text.size());
    (void)tokenizer.encode(text.substr(at, next - at - 1), {.add_special = false, .parse_special = true}, out.emplace_back());
    at = next;
  }
  return out;
}

// Negative logarithm of the probability of `token`.
inline double surprise(std::span<const float> logits, int32_t token) {
  const double top = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (const float l : logits) sum += std::exp(l - top);
  return top + std::log(sum) - logits[static_cast<size_t>(token)];
}

// The sum over a document's tokens but the first.
inline double surprise_of_document(Backend& backend, std::span<const int32_t> ids) {
  const auto logits = logits_of(backend, ids);
  EXPECT_TRUE(logits.ok()) << logits.status().message;
  if (!logits.ok()) return NAN;
  const auto n_vocab = static_cast<size_t>(backend.plan().spec.n_vocab);
  double nats = 0;
  for (size_t i = 1; i < ids.size(); ++i)
    nats += surprise(std::span(*logits).subspan((i - 1) * n_vocab, n_vocab), ids[i]);
  return nats;
}

}  // namespace inlay::golden
