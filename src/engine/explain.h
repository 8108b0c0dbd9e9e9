// What a model file is, where it would run and why not elsewhere, and what memory that takes. Weights are not read.
#pragma once

#include <string>
#include <vector>

#include "src/engine/placement.h"

namespace inlay {

struct Explanation {
  struct Types {
    DType dtype;
    uint64_t n_tensors = 0, n_elements = 0, n_bytes = 0;
  };
  struct Device {
    std::string name;
    Status status;  // OK if it would run, otherwise what it lacks
    MemoryNeeds needs;
    uint64_t prefix_cache_host_bytes = 0;  // of the host's memory, beside these
    uint64_t free_bytes = 0;
  };
  struct Context {
    int32_t n_context = 0;
    MemoryNeeds needs;
  };

  std::string path;
  Status model;  // OK if the model is understood; otherwise the rest has its tensors alone
  ModelSpec spec;
  uint64_t n_params = 0;
  std::vector<Types> types;  // that occur, the largest first
  Status tokenizer, chat_template;
  int32_t n_tokens = 0;  // of the tokenizer, 0: there is none
  std::vector<Device> devices;

  // Of one sequence by its length, on the device that a load would take.
  std::string context_device;
  std::vector<Context> contexts;
  int32_t longest_context = 0;  // that fits into the free memory now, in steps of kContextStep

  int32_t n_runs() const;  // devices that would run it
};
inline constexpr int32_t kContextStep = 256;

// An error if the path has no model files or they cannot be read as such. A model that no device runs is none.
Result<Explanation> explain(const std::string& path, const EngineOptions& options);

// What the model has beyond the plainest decoder.
std::vector<std::string> features_of(const ModelSpec& spec);

std::string explanation_text(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation);  // the same facts

}  // namespace inlay
