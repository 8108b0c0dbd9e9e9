// The first steps of a load: the model as it is to be held, and its tokenizer. Weights are not read.
#pragma once

#include <memory>

#include "src/engine/options.h"
#include "src/formats/checkpoint.h"
#include "src/model/model.h"
#include "src/tokenizer/tokenizer.h"

namespace inlay {

Result<Model> settle_model(const Checkpoint& checkpoint, const EngineOptions& options);

// Null inside the Result if the model has none.
Result<std::unique_ptr<Tokenizer>> load_tokenizer(const Checkpoint& checkpoint, const ModelSpec& spec, const EngineOptions& options);

}  // namespace inlay
