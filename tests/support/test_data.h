// Where the tests' models and blocks lie: tests/data (see its README) and the trained model of examples/model.
#pragma once

#include <string>
#include <string_view>

namespace inlay::test {

// "tales" is the trained model; every other name is one of tests/data/models.
inline std::string model_file(std::string_view name) {
  if (name == "tales") return INLAY_SOURCE_DIR "/examples/model/tales.gguf";
  return std::string(INLAY_TEST_DATA_DIR "/models/").append(name) + ".gguf";
}

// The float64 evaluation of a model of tests/data/models.
inline std::string exact_logits_file(std::string_view name) {
  return std::string(INLAY_TEST_DATA_DIR "/models/").append(name) + ".exact";
}

// Blocks of a type, and beside them the values that they stand for: tests/data/quant.
inline std::string blocks_file(std::string_view type) { return std::string(INLAY_TEST_DATA_DIR "/quant/").append(type) + ".bin"; }
inline std::string values_file(std::string_view type) { return std::string(INLAY_TEST_DATA_DIR "/quant/").append(type) + ".f32"; }

}  // namespace inlay::test
