// A model as Hugging Face's tools save it: a folder with config.json and one or more safetensors files.
#pragma once

#include <string>

#include "src/formats/checkpoint.h"
#include "src/formats/json.h"
#include "src/formats/safetensors.h"

namespace inlay {

// Of a path that is such a folder, its config.json, or one of its safetensors files or their index: the folder.
// Empty for anything else.
Result<std::string> hf_folder_of(const std::string& path);

// Tensors keep the names of the files; metadata are those of a GGUF file of the same model, without a vocabulary.
Result<Checkpoint> open_hf_folder(const std::string& folder);

// A GGUF file or a Hugging Face folder, by any path that stands for it.
Result<Checkpoint> open_checkpoint(const std::string& path);

// F32, F16 or BF16; anything else is UNSUPPORTED.
Result<DType> hf_stored_type(const SafetensorsEntry& entry, const ByteSource& source);

// NOT_FOUND if there is no such file.
Result<JsonDocument> read_json_file(const std::string& path);
Result<std::string> read_text_file(const std::string& path);
bool file_exists(const std::string& path);

}  // namespace inlay
