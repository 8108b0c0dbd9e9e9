// The trained model quantized to each type: what a weight takes, and how well held-out text is predicted. Prints the
// table of docs/quantization.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "src/formats/gguf.h"
#include "src/model/recipe.h"
#include "tests/golden/held_out.h"

namespace inlay::golden {
namespace {

struct Row {
  std::string type;
  double bits = 0, nats = 0;  // a weight; a token
};

// In steps of so many nats a token the order of two types is chance.
constexpr double kNoise = 0.0005;

// Fewer bits never predict better, but for noise.
bool is_monotone(std::vector<Row> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.bits > b.bits; });
  for (size_t i = 1; i < rows.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (rows[j].bits > rows[i].bits && !(rows[i].nats > rows[j].nats - kNoise)) return false;
    }
  }
  return true;
}

Row measure(const std::string& type, const std::function<void(Model&)>& hold, const Documents& documents) {
  const Target cpu{"cpu", Runs::cpu, cpu::best_isa()};
  const BackendConfig config = {.n_kv_blocks = 512 / kKvBlockTokens + 1,
                                .max_step_tokens = 512,
                                .max_sequences = 1,
                                .n_logit_slots = 512,
                                .n_context = 512,
                                .n_threads = 2};
  const auto backend = load_backend(kTalesModel, cpu, config, hold);
  EXPECT_TRUE(backend.ok()) << backend.status().message;
  Row row{.type = type};
  if (!backend.ok()) return row;
  double n_bytes = 0, n_weights = 0, n_tokens = 0;
  for (const Weight& w : (*backend)->plan().weights) {
    n_bytes += static_cast<double>(w.n_bytes());
    n_weights += static_cast<double>(w.n_rows * w.n_cols);
  }
  row.bits = 8 * n_bytes / n_weights;
  for (const std::vector<int32_t>& ids : documents) {
    row.nats += surprise_of_document(**backend, ids);
    n_tokens += static_cast<double>(ids.size() - 1);
  }
  row.nats /= n_tokens;
  return row;
}

TEST(QuantizationTable, FewerBitsPredictWorse) {
  const auto checkpoint = open_gguf(kTalesModel);
  ASSERT_TRUE(checkpoint.ok()) << checkpoint.status().message;
  const auto tokenizer = Tokenizer::from_metadata(checkpoint->metadata());
  ASSERT_TRUE(tokenizer.ok()) << tokenizer.status().message;
  const Documents documents = tales_documents("heldout.txt", **tokenizer);

  std::vector<Row> rows;
  for (int t = 0; t < static_cast<int>(ConvertType::count); ++t) {
    const Recipe& recipe = recipe_of(static_cast<ConvertType>(t));
    rows.push_back(measure(
        recipe.name, [&](Model& m) { m.hold_as(recipe); }, documents));
  }
  rows.push_back(measure(
      "FP8", [](Model& m) { m.hold_as_f8(); }, documents));
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.bits > b.bits; });
  const double exact = rows[0].nats;
  std::printf("| type | bits a weight | perplexity | more than F32 |\n|---|---:|---:|---:|\n");
  for (const Row& row : rows) {
    std::printf("| %s | %.2f | %.5f | %.3f %% |\n", row.type.c_str(), row.bits, std::exp(row.nats),
                100 * (std::exp(row.nats - exact) - 1));
  }
  EXPECT_EQ(rows[0].type, "F32");
  EXPECT_TRUE(is_monotone(rows));
  // Negative control: the same numbers the other way round.
  std::vector<Row> reversed = rows;
  for (size_t i = 0; i < rows.size(); ++i) reversed[i].nats = rows[rows.size() - 1 - i].nats;
  EXPECT_FALSE(is_monotone(reversed));
}

}  // namespace
}  // namespace inlay::golden
