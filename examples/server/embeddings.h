// /v1/embeddings: texts or token ids become vectors of length 1.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "examples/server/model.h"
#include "examples/server/refusal.h"

namespace inlay::server {

// What a body asks for, by requests, which share steps with the answers that are drawn and put none of them out. A few at a time, so that who asks
// for thousands of texts lets others in between. What is under way ends with the object.
class Embeddings {
 public:
  explicit Embeddings(const Model& model);  // from then on its time counts
  ~Embeddings() { inlay_queue_free(queue_); }
  Embeddings(const Embeddings&) = delete;
  Embeddings& operator=(const Embeddings&) = delete;

  // The first and the last take time, and memory that a thread then keeps; the second waits, until `has_left`.
  std::optional<Refusal> read(std::string_view body);
  std::optional<Refusal> compute(const std::atomic<bool>& has_left);
  std::string json() const;

  struct Input {
    std::string text;
    std::vector<int32_t> tokens;  // none: it is a text
  };

 private:
  std::optional<Refusal> submit(size_t i);
  std::optional<Refusal> collect();
  std::optional<Refusal> take(const inlay_request_event& end, const char* message);
  Refusal refused() const;

  const Model& model_;
  std::chrono::steady_clock::time_point end_;
  std::vector<Input> inputs_;
  bool is_base64_ = false;
  inlay_queue* queue_ = nullptr;
  inlay_error error_ = {};
  std::vector<float> values_;  // text after text
  uint64_t n_tokens_ = 0;
  size_t n_done_ = 0;
};

}  // namespace inlay::server
