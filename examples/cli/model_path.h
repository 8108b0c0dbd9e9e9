// What a path that should be a model's is, before the library opens it.
#pragma once

#include <cstdint>
#include <string>

namespace inlay::cli {

// Ends the program where the path is a folder without a model of its own, and names the files in it that are models.
void check_path(const std::string& path);

// The longest context that the model was trained for; 0 if it cannot be read.
int32_t trained_context_of(const std::string& path);

}  // namespace inlay::cli
