// Where decode steps can be cut: every op is in one unit, every item of the head in one piece.
#include "src/plan/step_units.h"

#include <gtest/gtest.h>

namespace inlay {
namespace {

// A decoder of layers with one matrix each; the head's matrix is of the bytes that are asked for.
Plan plan_of(int32_t n_layers, int64_t layer_rows, int64_t head_rows) {
  Plan plan;
  plan.spec.n_layers = n_layers;
  plan.spec.d_model = 32;
  plan.weights = {{.dtype = DType::f16, .n_rows = layer_rows, .n_cols = 32},
                  {.dtype = DType::f16, .n_rows = head_rows, .n_cols = 32}};
  const auto add = [&](OpKind kind, int32_t layer, WeightIndex weight) {
    Op op{.kind = kind, .layer = static_cast<uint16_t>(layer)};
    op.weights.fill(kNoWeight);
    op.weights[1] = weight;
    plan.ops.push_back(op);
  };
  add(OpKind::embed, 0, kNoWeight);
  for (int32_t layer = 0; layer < n_layers; ++layer) {
    add(OpKind::attn_in, layer, 0);
    for (const OpKind kind : {OpKind::attn_out, OpKind::ffn_in, OpKind::ffn_out}) add(kind, layer, kNoWeight);
  }
  add(OpKind::head, 0, 1);
  add(OpKind::sample, 0, kNoWeight);
  return plan;
}

int32_t n_pieces(const Plan& plan) { return static_cast<int32_t>(step_units(plan).size()) - plan.spec.n_layers; }

TEST(StepUnits, EveryOpIsInOneUnit) {
  for (const int32_t n_layers : {1, 2, 7}) {
    const Plan plan = plan_of(n_layers, 64, 200);
    const std::vector<StepUnit> units = step_units(plan);
    ASSERT_EQ(units.size(), static_cast<size_t>(n_layers) + 4);
    EXPECT_TRUE(units[0].begins_step());
    for (size_t i = 0; i < static_cast<size_t>(n_layers); ++i) {
      EXPECT_EQ(units[i].first_op, i == 0 ? 0 : units[i - 1].end_op) << "unit " << i;
      for (int32_t op = units[i].first_op; op < units[i].end_op; ++op) {
        EXPECT_EQ(plan.ops[static_cast<size_t>(op)].layer, i) << "op " << op;
      }
      EXPECT_EQ(units[i].begins_step(), i == 0);
    }
    const auto n_ops = static_cast<int32_t>(plan.ops.size());
    for (int32_t piece = 0; piece < 4; ++piece) {
      const StepUnit& unit = units[static_cast<size_t>(n_layers + piece)];
      EXPECT_EQ(unit.first_op, n_ops - 2);
      EXPECT_EQ(unit.end_op, piece == 3 ? n_ops : n_ops - 1) << "the last piece draws";
      EXPECT_EQ(unit.head.index, piece);
      EXPECT_EQ(unit.head.count, 4);
    }
  }
}

TEST(StepUnits, TheHeadIsCutByItsBytes) {
  EXPECT_EQ(n_pieces(plan_of(2, 100, 1)), 1);
  EXPECT_EQ(n_pieces(plan_of(2, 100, 100)), 1);
  EXPECT_EQ(n_pieces(plan_of(2, 100, 101)), 2);
  EXPECT_EQ(n_pieces(plan_of(2, 100, 700)), 7);
  EXPECT_EQ(n_pieces(plan_of(2, 1, 100000)), 64) << "no more";
}

TEST(StepUnits, PiecesAreOfEverySizeAndCoverAll) {
  for (const int64_t n_items : {0, 1, 5, 64, 9496}) {
    for (const int32_t count : {1, 2, 7, 64}) {
      int64_t at = 0;
      for (int32_t i = 0; i < count; ++i) {
        const WorkPiece piece{i, count};
        EXPECT_EQ(piece.begin(n_items), at);
        at = piece.end(n_items);
        EXPECT_LE(at - piece.begin(n_items), n_items / count + 1);
        EXPECT_EQ(piece.is_last(), i == count - 1);
      }
      EXPECT_EQ(at, n_items);
    }
  }
}

}  // namespace
}  // namespace inlay
