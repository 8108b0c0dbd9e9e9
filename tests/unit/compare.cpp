// The comparison of two engines names the op at which they begin to differ: a model against itself on another device,
// and against copies in which one byte of one weight is damaged.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>

#include "src/engine/inspect.h"
#include "tests/support/devices.h"

namespace inlay {
namespace {

const std::string kModel = INLAY_SOURCE_DIR "/examples/model/tales.gguf";
constexpr double kLimit = 1e-3;

std::vector<std::byte> model_bytes() {
  std::ifstream file(kModel, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::byte> bytes(text.size());
  std::memcpy(bytes.data(), text.data(), text.size());
  return bytes;
}

Result<std::shared_ptr<Engine>> load(const std::vector<std::byte>& bytes, DeviceKind device) {
  return Engine::load(borrow_memory(bytes, "the model"),
                      {.device = device, .n_context = 64, .max_sessions = 1, .n_threads = 2});
}

std::vector<int32_t> some_tokens(int32_t n) {
  std::vector<int32_t> out{2043};
  for (int32_t i = 1; i < n; ++i) out.push_back(100 + (i * 37) % 1500);
  return out;
}

// Overwrites the most significant byte of the first number in a weight of one layer: of a value, or of a Q8_0 block's
// scale.
void damage(std::vector<std::byte>& bytes, const Plan& plan, OpKind kind, int32_t layer, size_t slot,
            std::byte to = std::byte{0x60}) {
  const auto checkpoint = read_gguf(borrow_memory(bytes, "the model"));
  ASSERT_TRUE(checkpoint.ok());
  for (const Op& op : plan.ops) {
    if (op.kind != kind || op.layer != layer) continue;
    const TensorEntry* tensor = checkpoint->find(plan.weight(op, slot)->name);
    ASSERT_TRUE(tensor);
    ASSERT_TRUE(tensor->dtype == DType::f32 || tensor->dtype == DType::f16 || tensor->dtype == DType::q8_0 ||
                tensor->dtype == DType::bf16);
    bytes[tensor->offset + (tensor->dtype == DType::f32 ? 3 : 1)] = to;
  }
}

class Compare : public testing::TestWithParam<DeviceKind> {
 protected:
  void SetUp() override {
    INLAY_SKIP_WITHOUT(GetParam());
    bytes_ = model_bytes();
    const auto reference = load(bytes_, DeviceKind::reference), other = load(bytes_, GetParam());
    ASSERT_TRUE(reference.ok() && other.ok()) << other.status().message;
    reference_ = *reference, other_ = *other;
  }

  std::vector<std::byte> bytes_;
  std::shared_ptr<Engine> reference_, other_;
};

TEST_P(Compare, AModelOnTwoDevicesAgrees) {
  const auto c = compare_engines(*reference_, *other_, some_tokens(12));
  ASSERT_TRUE(c.ok()) << c.status().message;
  EXPECT_EQ(c->first_over(kLimit), -1) << comparison_table(*c, kLimit);
  ASSERT_EQ(c->ops.size(), 2 * (reference_->plan().ops.size() - 1)) << "both steps, all ops but the draw";
  EXPECT_EQ(c->ops.front().n_rows, 11);
  EXPECT_EQ(c->ops.back().n_rows, 1);
  double worst = 0;
  for (const OpDifference& d : c->ops) {
    EXPECT_GT(d.cosine, 0.999);
    worst = std::max(worst, d.nmse);
  }
  EXPECT_GT(worst, 0) << "negative control: two devices are not bit-equal";
  EXPECT_NE(c->first_over(worst / 2), -1);
}

TEST_P(Compare, ADamagedWeightIsFoundAtItsOp) {
  struct Case {
    OpKind kind;
    size_t slot;
  };
  const auto tokens = some_tokens(12);
  for (const Case& c : {Case{OpKind::attn_in, slot::v}, Case{OpKind::attn_out, slot::projection},
                        Case{OpKind::ffn_in, slot::up}, Case{OpKind::ffn_out, slot::projection}}) {
    std::vector<std::byte> copy = bytes_;
    damage(copy, reference_->plan(), c.kind, 1, c.slot);
    const auto damaged = load(copy, GetParam());
    ASSERT_TRUE(damaged.ok()) << damaged.status().message;
    const auto found = compare_engines(*reference_, **damaged, tokens);
    ASSERT_TRUE(found.ok()) << found.status().message;
    const int32_t first = found->first_over(kLimit);
    const std::string table = comparison_table(*found, kLimit);
    ASSERT_GE(first, 0) << table;
    const OpDifference& d = found->ops[static_cast<size_t>(first)];
    EXPECT_STREQ(d.step, "prompt");
    EXPECT_EQ(d.kind, c.kind) << table;
    EXPECT_EQ(d.layer, 1) << table;
    EXPECT_NE(table.find(std::string("first above 0.001: prompt, op ") + std::to_string(d.op_index) + ", " +
                         op_name(c.kind) + " of layer 1"),
              std::string::npos)
        << table;
  }
}

// Values that are no numbers are over every limit, and take no number's place.
TEST_P(Compare, NotANumberIsFound) {
  std::vector<std::byte> copy = bytes_;
  damage(copy, reference_->plan(), OpKind::ffn_in, 1, slot::norm, std::byte{0x7F});
  const auto damaged = load(copy, GetParam());
  ASSERT_TRUE(damaged.ok()) << damaged.status().message;
  const auto found = compare_engines(*reference_, **damaged, some_tokens(3));
  ASSERT_TRUE(found.ok());
  const int32_t first = found->first_over(1e30);
  ASSERT_GE(first, 0) << comparison_table(*found, 1e30);
  EXPECT_EQ(found->ops[static_cast<size_t>(first)].layer, 1);
}

TEST_P(Compare, OneTokenIsADecodeStepAlone) {
  const auto c = compare_engines(*reference_, *other_, some_tokens(1));
  ASSERT_TRUE(c.ok()) << c.status().message;
  ASSERT_EQ(c->ops.size(), reference_->plan().ops.size() - 1);
  EXPECT_STREQ(c->ops.front().step, "decode");
  EXPECT_EQ(compare_engines(*reference_, *other_, {}).status().code, Code::invalid_argument);
  EXPECT_EQ(compare_engines(*reference_, *other_, std::vector<int32_t>{1, 1 << 30}).status().code, Code::invalid_argument);
  EXPECT_EQ(compare_engines(*reference_, *other_, some_tokens(65)).status().code, Code::context_full);
  EXPECT_TRUE(compare_engines(*reference_, *other_, some_tokens(64)).ok());
}

INSTANTIATE_TEST_SUITE_P(Devices, Compare, testing::Values(DeviceKind::cpu, DeviceKind::cuda),
                         [](const auto& test) { return std::string(test.param == DeviceKind::cpu ? "cpu" : "cuda"); });

}  // namespace
}  // namespace inlay
