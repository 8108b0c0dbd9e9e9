// Hugging Face folders with FP8, GPTQ, AWQ and compressed-tensors matrices, against folders of the same weights in F32.
#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/ref/dequantize.h"
#include "src/engine/convert.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/packed_folder.h"

namespace inlay::golden {
namespace {

using nlohmann::json;
using test::HfTensor;
using test::KnownKind;
using test::TemporaryFolder;

json config_with(const json& quantization) {
  json config = test::small_config("llama");
  config["hidden_size"] = 64, config["intermediate_size"] = 96, config["head_dim"] = 32;
  if (!quantization.is_null()) config["quantization_config"] = quantization;
  return config;
}

// The parts of one matrix, and what it is in F32.
struct Made {
  std::vector<HfTensor> packed;
  HfTensor plain;
};
using Maker = std::function<Made(const std::string& stem, int64_t rows, int64_t cols)>;

struct Folders {
  TemporaryFolder packed, plain;
};

void write(Folders& folders, const json& quantization, const Maker& make) {
  std::vector<HfTensor> packed, plain;
  for (HfTensor& t : test::small_tensors("llama")) {
    for (int64_t& d : t.shape) d = d == 32 ? 64 : d == 48 ? 96 : d == 16 ? 32 : d;
    if (t.name.find("_proj.weight") == t.name.npos) {
      packed.push_back(t), plain.push_back(t);
      continue;
    }
    Made made = make(t.name.substr(0, t.name.size() - std::string(".weight").size()), t.shape[0], t.shape[1]);
    packed.insert(packed.end(), made.packed.begin(), made.packed.end());
    plain.push_back(std::move(made.plain));
  }
  folders.packed.write("config.json", config_with(quantization).dump());
  folders.packed.write("model.safetensors", test::safetensors_of(packed));
  folders.plain.write("config.json", config_with(nullptr).dump());
  folders.plain.write("model.safetensors", test::safetensors_of(plain));
}

const std::vector<int32_t> kTokens = {1, 2, 3, 19, 7, 7, 12, 4, 0, 18, 5, 6};

std::vector<float> values_of(const Checkpoint& checkpoint, const TensorEntry& tensor) {
  std::vector<std::byte> scratch;
  const auto bytes = checkpoint.bytes(tensor, scratch);
  EXPECT_TRUE(bytes.ok()) << bytes.status().message;
  std::vector<float> out(static_cast<size_t>(tensor.shape[0] * tensor.shape[1]));
  ref::dequantize_row(tensor.dtype, *bytes, static_cast<int64_t>(out.size()), out.data());
  return out;
}

// The largest NMSE of a matrix; 1e9 where one cannot be read.
double farthest_matrix(const Folders& folders, DType expected) {
  const auto packed = open_checkpoint(folders.packed.path()), plain = open_checkpoint(folders.plain.path());
  EXPECT_TRUE(packed.ok()) << packed.status().message;
  if (!packed.ok() || !plain.ok()) return 1e9;
  double farthest = 0;
  for (const TensorEntry& want : plain->tensors()) {
    if (want.name.find("_proj.weight") == want.name.npos) continue;
    const TensorEntry* got = packed->find(want.name);
    if (!got) return 1e9;
    EXPECT_EQ(traits(got->dtype).name, std::string(traits(expected).name)) << want.name;
    EXPECT_EQ(got->shape, want.shape);
    farthest = std::max(farthest, test::nmse(values_of(*packed, *got), values_of(*plain, want)));
  }
  return farthest;
}

struct Case {
  const char* name;
  json quantization;
  Maker make;
  DType held;
  double limit;  // of the NMSE of weights: 0 where the type holds them exactly
};

Maker of_known(const KnownKind& kind, const std::function<std::vector<HfTensor>(const test::KnownMatrix&)>& pack) {
  return [kind, pack](const std::string& stem, int64_t rows, int64_t cols) {
    const test::KnownMatrix m = test::known_matrix(stem, rows, cols, kind);
    return Made{pack(m), test::dequantized(m)};
  };
}

Maker of_gptq(const KnownKind& kind, int zero_offset = 1) {
  return of_known(kind, [=](const test::KnownMatrix& m) { return test::gptq(m, zero_offset); });
}

Maker of_packed(const KnownKind& kind) {
  return of_known(kind,
                  [=](const test::KnownMatrix& m) { return test::pack_quantized(m, kind.symmetric, kind.shuffled); });
}

// Scales: one a block of the matrix; shape by `by_row`: (rows, 1), else (row blocks, column blocks), or () for one
// alone.
Maker of_fp8(const char* scale_name, int64_t block_rows, int64_t block_cols, float unit = 1.0f / 1024) {
  return [=](const std::string& stem, int64_t rows, int64_t cols) {
    const test::Fp8Matrix m = test::fp8_matrix(stem, rows, cols, block_rows, block_cols, unit);
    std::vector<int64_t> shape = {(rows + m.block_rows - 1) / m.block_rows, m.n_block_cols()};
    if (block_rows == 0 && block_cols == 0) shape = {};
    return Made{test::fp8(m, scale_name, shape), test::dequantized(m)};
  };
}

json gptq_config(int bits, int group, const char* form = nullptr) {
  json out = {{"quant_method", "gptq"}, {"bits", bits}, {"group_size", group}};
  if (form) out["checkpoint_format"] = form;
  return out;
}

json compressed(const char* form) { return {{"quant_method", "compressed-tensors"}, {"format", form}}; }

std::vector<Case> cases() {
  const json awq = {
      {"quant_method", "awq"}, {"bits", 4}, {"group_size", 32}, {"version", "gemm"}, {"zero_point", true}};
  const json blocks = {{"quant_method", "fp8"}, {"fmt", "e4m3"}, {"weight_block_size", {48, 32}}};
  const double q4_1 = 1e-6, half = 1e-7, bf16 = 5e-6, e4m3 = 2.4e-7;
  const auto awq_maker = of_known({.symmetric = false}, [](const test::KnownMatrix& m) { return test::awq(m); });
  return {
      {"gptq_4", gptq_config(4, 32), of_gptq({}), DType::q4_0, 0},
      {"gptq_4_one_group", gptq_config(4, -1), of_gptq({.group = 0}), DType::q4_0, 0},
      {"gptq_4_asymmetric", gptq_config(4, 32), of_gptq({.symmetric = false}), DType::q4_1, q4_1},
      {"gptq_4_version_2", gptq_config(4, 32, "gptq_v2"), of_gptq({.symmetric = false}, 0), DType::q4_1, q4_1},
      {"gptq_4_small_groups", gptq_config(4, 16), of_gptq({.group = 16}), DType::f16, half},
      {"gptq_4_shuffled", gptq_config(4, 32), of_gptq({.symmetric = false, .shuffled = true}), DType::f16, half},
      {"gptq_8", gptq_config(8, 32), of_gptq({.bits = 8}), DType::q8_0, 0},
      {"gptq_8_asymmetric", gptq_config(8, 32), of_gptq({.bits = 8, .symmetric = false}), DType::f16, half},
      {"awq", awq, awq_maker, DType::q4_1, q4_1},
      {"packed_4", compressed("pack-quantized"), of_packed({}), DType::q4_0, 0},
      {"packed_4_asymmetric", compressed("pack-quantized"), of_packed({.symmetric = false}), DType::q4_1, q4_1},
      {"packed_4_shuffled", compressed("pack-quantized"), of_packed({.shuffled = true}), DType::bf16, bf16},
      {"packed_8_rows", compressed("pack-quantized"), of_packed({.bits = 8, .group = 0}), DType::q8_0, 0},
      {"int_8", compressed("int-quantized"), of_known({.bits = 8, .group = 0}, test::int_quantized), DType::q8_0, 0},
      {"fp8_one_scale", {{"quant_method", "fp8"}}, of_fp8(".weight_scale", 0, 0), DType::f8_e4m3, e4m3},
      {"fp8_rows", compressed("float-quantized"), of_fp8(".weight_scale", 1, 0), DType::f8_e4m3, e4m3},
      {"fp8_blocks", blocks, of_fp8(".weight_scale_inv", 48, 32), DType::f8_e4m3, e4m3},
      {"fp8_tiny_scales", {{"quant_method", "fbgemm_fp8"}}, of_fp8(".weight_scale", 1, 0, 1e-6f), DType::bf16, bf16},
  };
}

class PackedFolders : public ::testing::TestWithParam<Case> {};

TEST_P(PackedFolders, HoldTheWeightsOfTheirDefinition) {
  const Case& c = GetParam();
  Folders folders;
  write(folders, c.quantization, c.make);
  const double weights = farthest_matrix(folders, c.held);
  EXPECT_LE(weights, c.limit);
  const std::vector<float> expected = file_logits(folders.plain.path(), kReference, kTokens);
  const double of_logits = test::nmse(file_logits(folders.packed.path(), kReference, kTokens), expected);
  std::printf("%-20s held as %-8s NMSE of weights %.1e, of logits %.1e\n", c.name, traits(c.held).name, weights,
              of_logits);
  EXPECT_LE(of_logits, std::max(1e-12, 20 * c.limit));
  for (const Target& target : all_targets()) {
    if (!can_run(target.on)) continue;
    EXPECT_LE(test::nmse(file_logits(folders.packed.path(), target, kTokens), expected), 2e-3) << target.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, PackedFolders, ::testing::ValuesIn(cases()),
                         [](const auto& p) { return std::string(p.param.name); });

// Negative controls: what a reader with a wrong idea of the format would see is far from the weights.
TEST(PackedFolders, WrongConventionsAreSeen) {
  struct Wrong {
    const char* what;
    json quantization;
    Maker make;
    DType held;
  };
  const json awq = {{"quant_method", "awq"}, {"bits", 4}, {"group_size", 32}};
  const KnownKind asymmetric = {.symmetric = false};
  const auto plain_order = [](const test::KnownMatrix& m) { return test::awq(m, {0, 1, 2, 3, 4, 5, 6, 7}); };
  const auto plain_index = [](const test::KnownMatrix& m) {
    test::KnownMatrix sorted = m;
    std::sort(sorted.group_of.begin(), sorted.group_of.end());
    return test::gptq(sorted, 1);
  };
  for (const Wrong& w :
       {Wrong{"zero points of version 2 read as of 1", gptq_config(4, 32), of_gptq(asymmetric, 0), DType::q4_1},
        {"zero points of version 1 read as of 2", gptq_config(4, 32, "gptq_v2"), of_gptq(asymmetric, 1), DType::q4_1},
        {"AWQ without its order", awq, of_known(asymmetric, plain_order), DType::q4_1},
        {"groups taken in order", gptq_config(4, 32), of_known({.symmetric = false, .shuffled = true}, plain_index),
         DType::q4_1}}) {
    SCOPED_TRACE(w.what);
    Folders folders;
    write(folders, w.quantization, w.make);
    EXPECT_GT(farthest_matrix(folders, w.held), 1e-3);
  }
}

TEST(PackedFolders, ZeroPointsInTheMiddleAreSymmetricThoughWrittenOut) {
  Folders folders;
  const auto pack = [](const test::KnownMatrix& m) { return test::pack_quantized(m, false, false); };
  write(folders, compressed("pack-quantized"), of_known({}, pack));
  EXPECT_EQ(farthest_matrix(folders, DType::q4_0), 0);
}

TEST(PackedFolders, AreQuantizedOnRequestAndConverted) {
  for (const Case& c : cases()) {
    if (c.held == DType::q4_0 || c.held == DType::q4_1) continue;
    SCOPED_TRACE(c.name);
    Folders folders;
    write(folders, c.quantization, c.make);
    const std::string made = folders.packed.path("made.gguf");
    for (const ConvertType type : {ConvertType::q4_0, ConvertType::q8_0}) {
      const Status status = convert_to_gguf(folders.packed.path(), made, {.type = type, .n_threads = 2});
      ASSERT_TRUE(status.ok()) << status.message;
      const std::vector<float> expected = file_logits(made, kReference, kTokens);
      EXPECT_EQ(file_logits(folders.packed.path(), kReference, kTokens, [&](Model& m) { m.hold_as(recipe_of(type)); }),
                expected);
      EXPECT_LT(test::nmse(expected, file_logits(folders.plain.path(), kReference, kTokens)),
                type == ConvertType::q8_0 ? 3e-3 : 0.3);
    }
  }
}

struct Corruption {
  const char* expected;
  json quantization;
  Maker make;
};

// Changes the tensor whose name ends so.
Maker changed(const Maker& make, const std::string& suffix, const std::function<void(HfTensor&)>& change) {
  return [=](const std::string& stem, int64_t rows, int64_t cols) {
    Made made = make(stem, rows, cols);
    for (HfTensor& t : made.packed) {
      if (t.name.ends_with(suffix)) change(t);
    }
    return made;
  };
}

TEST(PackedFolders, WrongPartsAreNamed) {
  const json gptq = gptq_config(4, 32), packed = compressed("pack-quantized"), fp8 = {{"quant_method", "fp8"}};
  const auto rename = [](HfTensor& t) { t.name += "_"; };
  const auto flatten = [](HfTensor& t) { t.shape = {t.shape[0] * t.shape[1]}; };
  const auto as_floats = [](HfTensor& t) { t.dtype = "F32"; };
  const auto last_group = [](HfTensor& t) { t.data[4] = 9; };
  const auto negative_shape = [](HfTensor& t) { t.data[15] = '\x80'; };
  const auto more_columns = [](HfTensor& t) { t.data[9] = 1; };
  const auto transposed = [](HfTensor& t) { std::swap(t.shape[0], t.shape[1]); };
  const Maker gptq_4 = of_gptq({}), packed_4 = of_packed({.symmetric = false}), rows = of_fp8(".weight_scale", 1, 0);
  for (const Corruption& c : {
           Corruption{"q_proj.qweight' has no 'model.layers.0.", gptq, changed(gptq_4, ".scales", rename)},
           {"q_proj.qweight' has no 'model.layers.0.", gptq, changed(gptq_4, ".qzeros", rename)},
           {"q_proj.scales' is F16 [128], expected F16, BF16 or F32 [2, 64]", gptq,
            changed(gptq_4, ".scales", flatten)},
           {"q_proj.qzeros' is F32 [2, 8], expected I32 [2, 8]", gptq, changed(gptq_4, ".qzeros", as_floats)},
           {"q_proj.qweight' is F32 [8, 64], expected I32 [inputs * bits / 32, outputs]", gptq,
            changed(gptq_4, ".qweight", as_floats)},
           {"q_proj.g_idx': element 1 is 9, expected 0 to 1", gptq, changed(gptq_4, ".g_idx", last_group)},
           {"q_proj.scales' is F16 [2, 64], expected F16, BF16 or F32 [4, 64]", gptq_config(4, 16), gptq_4},
           {"q_proj.weight_shape': element 1 is -", packed, changed(packed_4, ".weight_shape", negative_shape)},
           {"q_proj.weight_packed' is I32 [64, 8], expected I32 [64, 40] (4 bits) or [64, 80] (8 bits)", packed,
            changed(packed_4, ".weight_shape", more_columns)},
           {"q_proj.weight_packed' has no 'model.layers.0.self_attn.q_proj.weight_shape' beside it", packed,
            changed(packed_4, ".weight_shape", rename)},
           {"k_proj.weight_zero_point' is I32 [2, 4], expected I32 [4, 2]", packed,
            changed(packed_4, "k_proj.weight_zero_point", transposed)},
           {"q_proj.weight' has no 'model.layers.0.self_attn.q_proj.weight_scale' beside it", fp8,
            changed(rows, ".weight_scale", rename)},
           {"q_proj.weight_scale' is F32 [1, 64], expected F16, BF16 or F32 [1], [64, 1] or [1, 1]", fp8,
            changed(rows, ".weight_scale", transposed)},
       }) {
    SCOPED_TRACE(c.expected);
    Folders folders;
    write(folders, c.quantization, c.make);
    const auto opened = open_checkpoint(folders.packed.path());
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.status().code, Code::format);
    EXPECT_NE(opened.status().message.find(c.expected), std::string::npos) << opened.status().message;
    EXPECT_NE(opened.status().message.find("model.safetensors"), std::string::npos) << opened.status().message;
  }
}

TEST(PackedFolders, UnknownFormatsAreRefusedByKey) {
  const std::pair<json, const char*> wrong[] = {
      {{{"quant_method", "bitsandbytes"}}, "quantization_config.quant_method is 'bitsandbytes', expected awq, "},
      {gptq_config(3, 128), "quantization_config.bits is 3, expected 4 or 8"},
      {gptq_config(4, 0), "quantization_config.group_size is 0, expected -1 or at least 1"},
      {gptq_config(4, 128, "marlin"), "quantization_config.checkpoint_format is 'marlin', expected gptq or gptq_v2"},
      {{{"quant_method", "awq"}, {"bits", 8}}, "quantization_config.bits is 8, expected 4"},
      {{{"quant_method", "awq"}, {"bits", 4}, {"version", "gemv"}},
       "quantization_config.version is 'gemv', expected gemm"},
      {{{"quant_method", "fp8"}, {"fmt", "e5m2"}}, "quantization_config.fmt is 'e5m2', expected e4m3"},
      {{{"quant_method", "fp8"}, {"weight_block_size", {128}}}, "weight_block_size"},
      {compressed("nvfp4-pack-quantized"),
       "quantization_config.format is 'nvfp4-pack-quantized', expected pack-quantized"},
      {{{"quant_method", "compressed-tensors"}, {"sparsity_config", {{"format", "sparse-24-bitmask"}}}},
       "quantization_config.sparsity_config.format is 'sparse-24-bitmask', expected dense"},
  };
  for (const auto& [quantization, expected] : wrong) {
    Folders folders;
    write(folders, quantization, of_gptq({}));
    const auto opened = open_checkpoint(folders.packed.path());
    ASSERT_FALSE(opened.ok()) << expected;
    EXPECT_NE(opened.status().message.find(expected), std::string::npos) << opened.status().message;
  }
}

}  // namespace
}  // namespace inlay::golden
