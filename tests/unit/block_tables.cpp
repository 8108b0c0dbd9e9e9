// Block tables of several KV groups: what a backend accepts, and where it keeps the blocks.
#include <gtest/gtest.h>

#include <algorithm>

#include "src/backend/kv_memory.h"

namespace inlay {
namespace {

Plan plan_of(std::initializer_list<int32_t> windows) {
  Plan plan;
  plan.spec.n_vocab = 100;
  plan.spec.n_layers = static_cast<int32_t>(windows.size());
  for (const int32_t window : windows) plan.spec.layers.push_back({.window = window});
  plan.kv = group_kv_layers(plan.spec);
  return plan;
}

const BackendConfig kConfig{.n_kv_blocks = KvBlockCounts({4, 2}),
                            .max_step_tokens = 64,
                            .max_sequences = 2,
                            .n_logit_slots = 2,
                            .n_context = 128};

// A step of one token at position 100, of layers of all keys and of a window of 40: they see positions 61 to 100, so
// the first block of the window's table is gone.
struct OneToken {
  std::vector<int32_t> tokens = {7}, positions = {100}, tables = {3, 1, 2, 0, kNoKvBlock, 1, 0, 1};
  SequenceSlice slice = {.first_token = 0, .n_tokens = 1, .first_position = 100, .first_block = 0};

  Status check() const {
    return validate({.tokens = tokens, .positions = positions, .sequences = {&slice, 1}, .block_tables = tables},
                    plan_of({40, 0, 40}), kConfig);
  }
};

TEST(BlockTables, WhatNoQuerySeesMayBeGone) {
  EXPECT_TRUE(OneToken().check().ok()) << OneToken().check().message;
  OneToken still_there;
  still_there.tables[4] = 0;
  EXPECT_TRUE(still_there.check().ok());
}

TEST(BlockTables, EveryBlockThatAQuerySeesIsChecked) {
  const struct {
    size_t entry;
    int32_t block;
  } wrong[] = {{0, kNoKvBlock}, {3, kNoKvBlock}, {3, 4}, {5, kNoKvBlock}, {7, kNoKvBlock}, {7, 2}, {4, 2}, {4, -2}};
  for (const auto& w : wrong) {
    OneToken step;
    step.tables[w.entry] = w.block;
    EXPECT_EQ(step.check().code, Code::internal) << "entry " << w.entry << ", block " << w.block;
  }
  OneToken of_one_group;
  of_one_group.tables.resize(4);
  EXPECT_EQ(of_one_group.check().code, Code::internal);
  OneToken behind;
  behind.slice.first_block = 1;
  EXPECT_EQ(behind.check().code, Code::internal);
}

TEST(KvMemory, PoolsFollowOneAnother) {
  constexpr uint64_t kBlock = 96;  // not a multiple of the pools' alignment
  const Plan plan = plan_of({40, 0, 40});
  const KvMemory memory(plan, kConfig, kBlock, KvOrder::pools);
  EXPECT_EQ(memory.between_pools(0), 4 * kBlock);
  EXPECT_EQ(memory.between_pools(1), 2 * kBlock);
  EXPECT_EQ(memory.n_pools(0), 2);
  EXPECT_EQ(memory.n_pools(1), 4);
  EXPECT_EQ(memory.bytes(), 2 * 4 * kBlock + 4 * 2 * kBlock);
  const uint64_t of_whole = 2 * 4 * kBlock, pool = 2 * kBlock;
  EXPECT_EQ(memory.keys_at(1), 0u);
  EXPECT_EQ(memory.values_at(1), 4 * kBlock);
  EXPECT_EQ(memory.keys_at(0), of_whole);
  EXPECT_EQ(memory.values_at(0), of_whole + pool);
  EXPECT_EQ(memory.keys_at(2), of_whole + 2 * pool);
  EXPECT_EQ(memory.values_at(2), of_whole + 3 * pool);
  for (const int32_t layer : {0, 1, 2}) EXPECT_EQ(memory.block_stride(layer), kBlock);
}

TEST(KvMemory, BlocksFollowOneAnother) {
  constexpr uint64_t kBlock = 96, kHeld = 128;
  const Plan plan = plan_of({40, 0, 40});
  const KvMemory memory(plan, kConfig, kBlock, KvOrder::blocks);
  EXPECT_EQ(memory.block_stride(1), 2 * kHeld);
  EXPECT_EQ(memory.block_stride(0), 4 * kHeld);
  EXPECT_EQ(memory.block_stride(2), 4 * kHeld);
  const uint64_t of_whole = 4 * 2 * kHeld;
  EXPECT_EQ(memory.bytes(), of_whole + 2 * 4 * kHeld);
  EXPECT_EQ(memory.keys_at(1), 0u);
  EXPECT_EQ(memory.values_at(1), kHeld);
  EXPECT_EQ(memory.keys_at(0), of_whole);
  EXPECT_EQ(memory.values_at(0), of_whole + kHeld);
  EXPECT_EQ(memory.keys_at(2), of_whole + 2 * kHeld);
  EXPECT_EQ(memory.values_at(2), of_whole + 3 * kHeld);
}

TEST(KvMemory, ABlockIsCopiedInAllLayersOfItsGroup) {
  constexpr uint64_t kBlock = 64;
  const Plan plan = plan_of({40, 0, 40});
  const KvMemory memory(plan, kConfig, kBlock, KvOrder::blocks);
  std::vector<std::byte> cache(memory.bytes());
  for (size_t i = 0; i < cache.size(); ++i) cache[i] = static_cast<std::byte>(i / kBlock);  // each block its own number
  const std::vector<std::byte> before = cache;
  copy_kv_block(memory, cache.data(), 1, 0, 1);
  const uint64_t stride = memory.block_stride(0), to = memory.pools_at(1) + stride;
  ASSERT_EQ(stride, 4 * kBlock);
  for (size_t i = 0; i < cache.size(); ++i) {
    const bool copied = i >= to && i < to + stride;
    ASSERT_EQ(cache[i], copied ? before[i - stride] : before[i]) << "byte " << i;
  }
}

}  // namespace
}  // namespace inlay
