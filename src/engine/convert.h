// Writes a model as a GGUF file with weights of another type.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "src/base/status.h"
#include "src/engine/options.h"
#include "src/model/recipe.h"

namespace inlay {

struct ConvertOptions {
  ConvertType type = ConvertType::f16;
  int32_t n_threads = 0;  // 0: all cores
  // Bytes of the source that are done, of all; false stops with CANCELLED.
  std::function<bool(uint64_t n_done, uint64_t n_total)> progress;
  LogSink log;  // warnings
};

// `from`: a path as open_checkpoint takes. Which matrix gets which type: type_by. `to` is a TargetFile.
Status convert_to_gguf(const std::string& from, const std::string& to, const ConvertOptions& options);

}  // namespace inlay
