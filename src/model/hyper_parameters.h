// Reads and checks the sizes of a model from its metadata.
#pragma once

#include "src/formats/checkpoint.h"
#include "src/model/arch_spec.h"
#include "src/model/model_spec.h"

namespace inlay {

inline constexpr uint64_t kMaxLayers = 1024, kMaxHead = 256, kMaxExperts = 512;

// All but what only tensors tell: n_vocab, tied embeddings, which optional weights exist, frequency factors.
Result<ModelSpec> read_hyper_parameters(const Metadata& metadata, const ArchSpec& arch);

}  // namespace inlay
