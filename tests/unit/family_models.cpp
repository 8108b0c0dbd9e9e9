// Every family has a tiny model in tests/data/models, which the golden tests evaluate.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "src/formats/gguf.h"
#include "src/model/arch_spec.h"
#include "src/model/model.h"

namespace inlay {
namespace {

std::string models_folder() { return INLAY_TEST_DATA_DIR "/models/"; }

// The file of the first model of a family; empty if there is none.
std::string model_of(const nlohmann::json& index, std::string_view arch) {
  for (const auto& entry : index["models"]) {
    if (entry["arch"] == arch) return models_folder() + entry["file"].get<std::string>();
  }
  return "";
}

TEST(FamilyModels, EveryFamilyHasOne) {
  const auto index = nlohmann::json::parse(std::ifstream(models_folder() + "index.json"));
  ASSERT_GT(all_archs().size(), 1u);
  for (const ArchSpec* arch : all_archs()) {
    SCOPED_TRACE(arch->name);
    const std::string path = model_of(index, arch->name);
    ASSERT_FALSE(path.empty()) << "no model of this family in " << models_folder() << "index.json";
    const auto checkpoint = open_gguf(path);
    ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
    const auto model = Model::from_checkpoint(*checkpoint);
    ASSERT_TRUE(model.ok()) << model.status().message;
    EXPECT_EQ(model->spec().arch, arch->name);
  }
  EXPECT_EQ(model_of(index, "a family without a model"), "") << "negative control";
}

}  // namespace
}  // namespace inlay
