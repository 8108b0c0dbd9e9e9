// Layers grouped by their windows, and what a window saves.
#include "src/plan/kv_groups.h"

#include <gtest/gtest.h>

#include "src/plan/plan.h"

namespace inlay {
namespace {

TEST(KvGroups, LayersOfOneWindowAreOneGroup) {
  ModelSpec spec;
  for (const int32_t window : {512, 0, 512, 128, 0, 512}) spec.layers.push_back({.window = window});
  const KvGroups kv = group_kv_layers(spec);
  ASSERT_EQ(kv.groups.size(), 3u);
  const int32_t windows[] = {0, 128, 512}, sizes[] = {2, 1, 3};
  for (size_t g = 0; g < 3; ++g) {
    EXPECT_EQ(kv.groups[g].window, windows[g]);
    EXPECT_EQ(kv.groups[g].n_layers, sizes[g]);
  }
  const int32_t groups[] = {2, 0, 2, 1, 0, 2}, indices[] = {0, 0, 1, 0, 1, 2};
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(kv.layers[i].group, groups[i]) << i;
    EXPECT_EQ(kv.layers[i].index, indices[i]) << i;
  }
}

// Counted query by query.
TEST(KvGroups, CostOfAttentionEndsAtTheWindow) {
  for (const int32_t window : {0, 1, 5, 32, 100}) {
    Plan plan;
    plan.spec.n_layers = 1;
    plan.spec.n_heads = 3, plan.spec.n_kv_heads = 1, plan.spec.d_head = 8;
    plan.spec.layers = {{.window = window}};
    plan.kv = group_kv_layers(plan.spec);
    Op op{.kind = OpKind::attention, .weights = {}};
    op.weights.fill(kNoWeight);
    for (const int32_t past : {0, 3, 4, 31, 200}) {
      for (const int32_t n : {1, 4, 5, 6, 150}) {
        uint64_t attended = 0;
        for (int32_t p = past; p < past + n; ++p) attended += static_cast<uint64_t>(p + 1 - first_key(window, p));
        const uint64_t n_keys = static_cast<uint64_t>(past + n - first_key(window, past));
        const OpCost c = cost(plan, op, {.n_tokens = 2 * n, .n_past = past, .n_sequences = 2});
        EXPECT_EQ(c.flops, 2 * 4 * attended * 24) << window << " " << past << " " << n;
        EXPECT_EQ(c.kv_bytes, 2 * 2 * 2 * n_keys * 8) << window << " " << past << " " << n;
      }
    }
  }
}

TEST(KvGroups, BlocksOfAWindowAreEnoughWhereverAStepBegins) {
  for (const int32_t window : {1, 2, 31, 32, 33, 64, 100}) {
    for (const int32_t n : {1, 2, 31, 32, 33, 48}) {
      int32_t most = 0;
      for (int32_t first = 0; first < 200; ++first) {
        const int32_t first_kept = first_key(window, first - 1) / kKvBlockTokens;
        most = std::max(most, kv_blocks_for(first + n) - first_kept);
      }
      EXPECT_EQ(kv_blocks_of_window(window, n), most) << window << " " << n;
    }
  }
}

}  // namespace
}  // namespace inlay
