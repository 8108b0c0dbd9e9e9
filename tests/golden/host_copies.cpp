// Keys, values and logits that go to the host and come back, to other blocks and slots: src/backend/kv_form.h, Backend::copy_kv_to_host.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/common/half.h"
#include "src/backend/kv_form.h"
#include "src/backend/kv_memory.h"
#include "tests/golden/loaded_model.h"
#include "tests/support/compare.h"
#include "tests/support/test_data.h"

namespace inlay::golden {
namespace {

constexpr int32_t kContext = 160, kTokens = 137, kBlocks = 2 * kv_blocks_for(kContext);

class HostCopies : public testing::TestWithParam<std::tuple<const char*, Target>> {
 protected:
  void SetUp() override {
    const auto& [model, target] = GetParam();
    if (!can_run(target.on)) GTEST_SKIP() << INLAY_NEEDS_GPU;
    backend_ = load(target);
    other_ = load(target);
    ASSERT_TRUE(backend_ && other_);
    for (int32_t i = 0; i < kTokens + 1; ++i) tokens_.push_back(3 + i * 37 % 150);
  }

  std::unique_ptr<Backend> load(const Target& target) {
    auto backend = load_backend(test::model_file(std::get<0>(GetParam())), target,
                                {.n_kv_blocks = kBlocks, .max_step_tokens = kTokens, .max_sequences = 1, .n_logit_slots = 2, .n_context = kContext, .n_threads = 2});
    EXPECT_TRUE(backend.ok()) << backend.status().message;
    return backend.ok() ? *std::move(backend) : nullptr;
  }
  static size_t n_groups(const Backend& backend) { return backend.plan().kv.groups.size(); }

  // Tokens [first, end) of the sequence whose blocks are every `stride`-th one from the first on; the logits of the last into the slot.
  void run(Backend& backend, int32_t first, int32_t end, int32_t stride, int32_t slot) {
    std::vector<int32_t> positions, tables;
    for (int32_t p = first; p < end; ++p) positions.push_back(p);
    for (size_t g = 0; g < n_groups(backend); ++g) {
      for (const int32_t block : table(end, stride)) tables.push_back(block);
    }
    const SequenceSlice slice{.first_token = 0, .n_tokens = end - first, .first_position = first, .first_block = 0};
    const LogitRow row{end - first - 1, slot};
    const std::span<const int32_t> tokens = std::span(tokens_).subspan(static_cast<size_t>(first), static_cast<size_t>(end - first));
    const Status status = run_step(backend, {tokens, positions, {&slice, 1}, tables, {&row, 1}, {}}, {});
    ASSERT_TRUE(status.ok()) << status.message;
  }
  static std::vector<int32_t> table(int32_t end, int32_t stride) {
    std::vector<int32_t> out;
    for (int32_t b = 0; b < kv_blocks_for(end); ++b) out.push_back(b * stride);
    return out;
  }
  std::vector<float> row_of_slot(Backend& backend, int32_t slot) {
    std::vector<float> out(static_cast<size_t>(backend.plan().spec.n_vocab));
    EXPECT_TRUE(backend.copy_logits(slot, out).ok());
    return out;
  }

  std::unique_ptr<Backend> backend_, other_;
  std::vector<int32_t> tokens_;
};

TEST_P(HostCopies, ComeBackToOtherBlocksOfAnotherEngine) {
  run(*backend_, 0, kTokens, 1, 0);
  for (size_t g = 0; g < n_groups(*backend_); ++g) {
    const auto group = static_cast<int32_t>(g);
    const std::vector<int32_t> from = table(kTokens, 1), to = table(kTokens, 2);
    const uint64_t bytes = backend_->kv_memory().block_bytes_of(group) * from.size();
    const auto out = backend_->take_host_memory(bytes), in = other_->take_host_memory(bytes);
    ASSERT_TRUE(out.ok() && in.ok());
    ASSERT_TRUE(backend_->copy_kv_to_host({group, from}, out->data()).ok());
    ASSERT_TRUE(backend_->wait_for_copies().ok());
    std::ranges::copy(*out, in->begin());
    ASSERT_TRUE(other_->copy_kv_from_host({group, to}, in->data()).ok());
  }
  const uint64_t row = static_cast<uint64_t>(backend_->plan().spec.n_vocab) * sizeof(float);
  const auto out = backend_->take_host_memory(row), in = other_->take_host_memory(row);
  ASSERT_TRUE(out.ok() && in.ok());
  ASSERT_TRUE(backend_->copy_logits_to_host(0, out->data()).ok());
  ASSERT_TRUE(backend_->wait_for_copies().ok());
  std::ranges::copy(*out, in->begin());
  ASSERT_TRUE(other_->copy_logits_from_host(1, in->data()).ok());
  EXPECT_TRUE(test::same_bits(row_of_slot(*backend_, 0), row_of_slot(*other_, 1)));

  run(*backend_, kTokens, kTokens + 1, 1, 0);
  run(*other_, kTokens, kTokens + 1, 2, 0);
  EXPECT_TRUE(test::same_bits(row_of_slot(*backend_, 0), row_of_slot(*other_, 0)));
  tokens_[kTokens] += 1;
  run(*other_, kTokens, kTokens + 1, 2, 0);
  EXPECT_FALSE(test::same_bits(row_of_slot(*backend_, 0), row_of_slot(*other_, 0))) << "negative control";
}

// Through rows, a part of a block at a time: what positions hold is the same again, the rest is zero.
TEST_P(HostCopies, RowsAndBlocksSayTheSame) {
  run(*backend_, 0, kTokens, 1, 0);
  const KvForm form = backend_->kv_form();
  const KvMemory& memory = backend_->kv_memory();
  const int32_t block = 3;  // full
  const auto out = backend_->take_host_memory(memory.block_bytes_of(0));
  ASSERT_TRUE(out.ok());
  ASSERT_TRUE(backend_->copy_kv_to_host({0, {&block, 1}}, out->data()).ok());
  ASSERT_TRUE(backend_->wait_for_copies().ok());
  const KvBlockPart all{.n_pools = memory.n_pools(0), .block_bytes = memory.block_bytes(), .first = 0, .end = kKvBlockTokens};
  const uint64_t position_bytes = form.row_bytes() * static_cast<uint64_t>(all.n_pools);
  std::vector<std::byte> rows(position_bytes * kKvBlockTokens), again(rows.size()), made(out->size(), std::byte{7});
  kv_block_to_rows(form, all, out->data(), rows.data());
  EXPECT_TRUE(std::ranges::any_of(rows, [](std::byte b) { return b != std::byte{0}; }));
  kv_rows_to_block(form, all, rows.data(), made.data());
  EXPECT_TRUE(std::ranges::equal(made, *out)) << "what fills heads up is zero in a cache, too";

  KvBlockPart part = all;
  part.first = 5, part.end = 18;
  kv_rows_to_block(form, part, rows.data() + 5 * position_bytes, made.data());
  kv_block_to_rows(form, all, made.data(), again.data());
  const auto begin = static_cast<std::ptrdiff_t>(5 * position_bytes), end = static_cast<std::ptrdiff_t>(18 * position_bytes);
  EXPECT_TRUE(std::equal(rows.begin() + begin, rows.begin() + end, again.begin() + begin));
  EXPECT_TRUE(std::all_of(again.begin(), again.begin() + begin, [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_TRUE(std::all_of(again.begin() + end, again.end(), [](std::byte b) { return b == std::byte{0}; }));
}

// Rows are the same everywhere: those that one backend has computed are read by another, where both have the same type.
TEST_P(HostCopies, RowsHaveHeadsInOrder) {
  const KvForm form = backend_->kv_form();
  const auto reference = load(kReference);
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(form.n_heads, reference->kv_form().n_heads);
  EXPECT_EQ(form.d_head, reference->kv_form().d_head);
  run(*backend_, 0, kTokens, 1, 0);
  run(*reference, 0, kTokens, 1, 0);
  const auto rows_of = [&](Backend& backend) {
    const int32_t block = 2;
    const KvBlockPart part{.n_pools = backend.kv_memory().n_pools(0), .block_bytes = backend.kv_memory().block_bytes(), .first = 0, .end = kKvBlockTokens};
    std::vector<std::byte> rows(backend.kv_form().row_bytes() * static_cast<uint64_t>(part.n_pools) * kKvBlockTokens);
    const auto out = backend.take_host_memory(backend.kv_memory().block_bytes_of(0));
    if (!out.ok() || !backend.copy_kv_to_host({0, {&block, 1}}, out->data()).ok() || !backend.wait_for_copies().ok()) return std::vector<float>();
    kv_block_to_rows(backend.kv_form(), part, out->data(), rows.data());
    std::vector<float> values(rows.size() / static_cast<size_t>(backend.kv_form().element));
    for (size_t i = 0; i < values.size(); ++i) {
      if (backend.kv_form().element == 4) {
        std::memcpy(&values[i], rows.data() + 4 * i, 4);
      } else {
        uint16_t half;
        std::memcpy(&half, rows.data() + 2 * i, 2);
        values[i] = float_from_f16(half);
      }
    }
    return values;
  };
  const std::vector<float> own = rows_of(*backend_), exact = rows_of(*reference);
  ASSERT_EQ(own.size(), exact.size());
  ASSERT_FALSE(own.empty());
  double error = 0, size = 0;
  for (size_t i = 0; i < own.size(); ++i) error += std::abs(own[i] - exact[i]), size += std::abs(exact[i]);
  EXPECT_LT(error, 0.05 * size);
}

INSTANTIATE_TEST_SUITE_P(, HostCopies, testing::Combine(testing::Values("chat-bpe-qwen3-f32", "gemma3-f32"), testing::ValuesIn(all_targets())), model_on_target);

}  // namespace
}  // namespace inlay::golden
