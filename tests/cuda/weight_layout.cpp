// Where weights stand in device memory and the pieces that they come in. Needs no GPU.
#include "src/backend/cuda/weight_layout.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/cuda/cuda_backend.h"

namespace inlay {
namespace {

// A plan of two layers; the types of q, k, v, gate and up are those of each layer.
struct Shape {
  int64_t d_model = 256, d_q = 512, d_kv = 128, d_ff = 1000, n_vocab = 777;
  bool biases = true;
  DType q = DType::q4_k, k = DType::q4_k, v = DType::q4_k, gate = DType::q4_k, up = DType::q4_k;
};

Plan make_plan(const Shape& s) {
  Plan plan;
  const auto add = [&](WeightRole role, DType dtype, int64_t n_rows, int64_t n_cols) {
    plan.weights.push_back({.role = role,
                            .name = "w" + std::to_string(plan.weights.size()),
                            .dtype = dtype,
                            .n_rows = n_rows,
                            .n_cols = n_cols});
    return static_cast<WeightIndex>(plan.weights.size() - 1);
  };
  const auto begin = [&](OpKind kind) -> Op& {
    Op op{.kind = kind};
    op.weights.fill(kNoWeight);
    plan.ops.push_back(op);
    return plan.ops.back();
  };
  const WeightIndex table = add(WeightRole::token_embd, DType::q6_k, s.n_vocab, s.d_model);
  begin(OpKind::embed).weights[slot::embed_table] = table;
  for (int layer = 0; layer < 2; ++layer) {
    Op& in = begin(OpKind::attn_in);
    in.weights[slot::norm] = add(WeightRole::attn_norm, DType::f32, 1, s.d_model);
    in.weights[slot::q] = add(WeightRole::attn_q, s.q, s.d_q, s.d_model);
    in.weights[slot::k] = add(WeightRole::attn_k, s.k, s.d_kv, s.d_model);
    in.weights[slot::v] = add(WeightRole::attn_v, s.v, s.d_kv, s.d_model);
    if (s.biases) {
      in.weights[slot::q_bias] = add(WeightRole::attn_q_bias, DType::f32, 1, s.d_q);
      in.weights[slot::k_bias] = add(WeightRole::attn_k_bias, DType::f32, 1, s.d_kv);
      in.weights[slot::v_bias] = add(WeightRole::attn_v_bias, DType::f32, 1, s.d_kv);
    }
    begin(OpKind::attn_out).weights[slot::projection] = add(WeightRole::attn_output, DType::f16, s.d_model, s.d_q);
    Op& ffn = begin(OpKind::ffn_in);
    ffn.weights[slot::norm] = add(WeightRole::ffn_norm, DType::f32, 1, s.d_model);
    ffn.weights[slot::gate] = add(WeightRole::ffn_gate, s.gate, s.d_ff, s.d_model);
    ffn.weights[slot::up] = add(WeightRole::ffn_up, s.up, s.d_ff, s.d_model);
    begin(OpKind::ffn_out).weights[slot::projection] = add(WeightRole::ffn_down, DType::bf16, s.d_model, s.d_ff);
  }
  Op& head = begin(OpKind::head);
  head.weights[slot::norm] = add(WeightRole::output_norm, DType::f32, 1, s.d_model);
  head.weights[slot::head] = table;  // shared
  return plan;
}

const Op& first(const Plan& plan, OpKind kind) {
  return *std::find_if(plan.ops.begin(), plan.ops.end(), [&](const Op& op) { return op.kind == kind; });
}

// What each weight takes; up takes nothing where it is interleaved.
uint64_t held(const Plan& plan, const WeightLayout& layout, WeightIndex i) {
  const Weight& w = plan.weights[i];
  if (w.n_rows == 1) return static_cast<uint64_t>(w.n_cols) * sizeof(float);
  if (w.role == WeightRole::ffn_up && layout.is_interleaved(static_cast<WeightIndex>(i - 1))) return 0;
  return cuda::packed_bytes(w.dtype, layout.is_interleaved(i) ? 2 * w.n_rows : w.n_rows, w.n_cols);
}

const Shape kShapes[] = {{},
                         {.v = DType::q6_k},
                         {.k = DType::q6_k},
                         {.d_q = 24, .d_kv = 8, .biases = false},
                         {.up = DType::q6_k},
                         {.d_ff = 24, .gate = DType::f32, .up = DType::f32}};

TEST(WeightLayout, TilesFollowEachOther) {
  for (size_t type = 0; type < static_cast<size_t>(DType::count); ++type) {
    const auto dtype = static_cast<DType>(type);
    for (const int64_t n_cols : {256, 1536, 4096 + 256}) {
      const size_t tile = cuda::packed_bytes(dtype, cuda::kTileRows, n_cols);
      EXPECT_EQ(tile % 128, 0u) << traits(dtype).name;
      for (const int64_t n_rows : {1, 15, 16, 17, 1000}) {
        const auto n_tiles = static_cast<size_t>((n_rows + cuda::kTileRows - 1) / cuda::kTileRows);
        EXPECT_EQ(cuda::packed_bytes(dtype, n_rows, n_cols), n_tiles * tile)
            << traits(dtype).name << ", " << n_rows << " rows";
      }
    }
  }
}

TEST(WeightTypes, AllOfFilesHaveKernels) {
  for (int type = 0; type < static_cast<int>(DType::count); ++type) {
    const auto dtype = static_cast<DType>(type);
    EXPECT_TRUE(check_cuda_types(make_plan({.v = dtype})).ok()) << traits(dtype).name;
    const DType form = cuda::packed_form(dtype);
    EXPECT_EQ(cuda::packed_form(form), form) << traits(dtype).name;
    EXPECT_EQ(cuda::packed_bytes(dtype, 100, 512), cuda::packed_bytes(form, 100, 512)) << traits(dtype).name;
    EXPECT_GE(cuda::packed_bytes(dtype, 16, 256), 16 * row_bytes(dtype, 256)) << traits(dtype).name;
  }
}

// The first number that no type has, and one far from all.
TEST(WeightTypes, OneWithoutKernelsIsRefusedByTypeAndTensor) {
  for (const int number : {static_cast<int>(DType::count), 200}) {
    const auto dtype = static_cast<DType>(number);
    const Plan plan = make_plan({.v = dtype});
    const WeightIndex v = first(plan, OpKind::attn_in).weights[slot::v];
    const Status status = check_cuda_types(plan);
    EXPECT_EQ(status.code, Code::unsupported);
    EXPECT_NE(status.message.find("type " + std::to_string(number)), std::string::npos) << status.message;
    EXPECT_NE(status.message.find("'" + plan.weights[v].name + "'"), std::string::npos) << status.message;
    EXPECT_EQ(cuda_memory_needs(plan, {}, 0).status().code, Code::unsupported) << "a device is chosen by this";

    uint8_t bytes[512] = {};
    EXPECT_EQ(cuda::packed_bytes(dtype, 16, 256), 0u);
    EXPECT_FALSE(cuda::linear_takes_raw(dtype, 256));
    EXPECT_EQ(cuda::launch_repack({bytes, nullptr, bytes, 16, 256, dtype, cuda::RowOrder::plain}, nullptr),
              cudaErrorInvalidValue);
    EXPECT_EQ(cuda::launch_dequantize({bytes, bytes, 16, 256, dtype, 1.0f}, nullptr), cudaErrorInvalidValue);
    cuda::LinearArgs linear{};
    linear.n_rows = linear.ld_out = 16, linear.n_cols = 256, linear.m = 1, linear.dtype = dtype;
    EXPECT_EQ(cuda::launch_linear(linear, nullptr), cudaErrorInvalidValue);
    cuda::EmbedArgs embed{};
    embed.m = 1, embed.d_model = 256, embed.dtype = dtype;
    EXPECT_EQ(cuda::launch_embed(embed, nullptr), cudaErrorInvalidValue);
  }
}

TEST(WeightLayout, WeightsOverlapNowhere) {
  for (const Shape& shape : kShapes) {
    const Plan plan = make_plan(shape);
    const WeightLayout layout(plan);
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (WeightIndex i = 0; i < plan.weights.size(); ++i) {
      if (const uint64_t n = held(plan, layout, i)) ranges.emplace_back(layout.offset(i), layout.offset(i) + n);
      EXPECT_EQ(plan.weights[i].n_rows == 1, layout.offset(i) < layout.n_vector_bytes()) << "vectors stand first";
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); ++i) EXPECT_LE(ranges[i - 1].second, ranges[i].first);
    EXPECT_LE(ranges.back().second, layout.n_bytes());
  }
}

TEST(WeightLayout, QueriesKeysAndValuesStandTogether) {
  for (const Shape& shape : kShapes) {
    const Plan plan = make_plan(shape);
    const WeightLayout layout(plan);
    const Op& in = first(plan, OpKind::attn_in);
    for (const size_t part : {slot::q, slot::k}) {
      const WeightIndex i = in.weights[part];
      EXPECT_EQ(layout.offset(in.weights[part + 1]), layout.offset(i) + held(plan, layout, i));
      if (!shape.biases) continue;
      const WeightIndex bias = in.weights[part - slot::q + slot::q_bias];
      const uint64_t padded = static_cast<uint64_t>((plan.weights[bias].n_cols + 15) / 16 * 16);
      EXPECT_EQ(layout.offset(in.weights[part - slot::q + slot::q_bias + 1]),
                layout.offset(bias) + padded * sizeof(float));
    }
  }
}

TEST(WeightLayout, PartsOfOneTypeAreJoined) {
  const auto joined = [](const Shape& shape, size_t part) {
    const Plan plan = make_plan(shape);
    return joined_parts(plan, first(plan, OpKind::attn_in), part);
  };
  EXPECT_EQ(joined({}, slot::q), 3u);
  EXPECT_EQ(joined({}, slot::k), 2u);
  EXPECT_EQ(joined({.v = DType::q6_k}, slot::q), 2u);
  EXPECT_EQ(joined({.v = DType::q6_k}, slot::v), 1u);
  EXPECT_EQ(joined({.k = DType::q6_k}, slot::q), 1u);
  EXPECT_EQ(joined({.k = DType::q6_k}, slot::k), 1u);
  EXPECT_EQ(joined({.d_q = 24}, slot::q), 1u) << "24 rows leave a tile half full";
  EXPECT_EQ(joined({.d_kv = 24}, slot::q), 2u);
}

TEST(WeightLayout, GateAndUpAreInterleavedIfTheirTypesAgree) {
  for (const DType up : {DType::q4_k, DType::q6_k}) {
    const Plan plan = make_plan({.up = up});
    const WeightLayout layout(plan);
    const Op& ffn = first(plan, OpKind::ffn_in);
    const WeightIndex gate_index = ffn.weights[slot::gate], up_index = ffn.weights[slot::up];
    EXPECT_EQ(layout.is_interleaved(gate_index), up == DType::q4_k);
    EXPECT_EQ(layout.offset(gate_index) == layout.offset(up_index), up == DType::q4_k);
    EXPECT_FALSE(layout.is_interleaved(up_index));
  }
}

// Every row of the file is in one piece, every byte of a packed matrix is written by one.
TEST(WeightLayout, PiecesCoverEveryMatrixOnce) {
  for (const Shape& shape : kShapes) {
    const Plan plan = make_plan(shape);
    const WeightLayout layout(plan);
    for (const uint64_t limit : {1u, 30000u, 1u << 20}) {
      std::vector<int64_t> rows(plan.weights.size(), 0);
      std::vector<uint64_t> packed(plan.weights.size(), 0);
      for (const WeightPiece& p : layout.pieces(plan, limit)) {
        const Weight& w = plan.weights[p.weight];
        const bool interleaved = p.up != kNoWeight;
        const int64_t all_rows = interleaved ? 2 * p.n_rows : p.n_rows;
        ASSERT_GT(p.n_rows, 0);
        EXPECT_EQ(p.first_row, rows[p.weight]) << w.name;
        EXPECT_EQ(p.packed_at, layout.offset(p.weight) + packed[p.weight]) << w.name;
        EXPECT_EQ(p.n_bytes, row_bytes(w.dtype, static_cast<uint64_t>(w.n_cols)) * static_cast<uint64_t>(p.n_rows));
        EXPECT_TRUE(p.staged_bytes() <= limit || all_rows <= cuda::kTileRows) << w.name << ": " << p.staged_bytes();
        rows[p.weight] += p.n_rows;
        packed[p.weight] += cuda::packed_bytes(w.dtype, all_rows, w.n_cols);
        if (interleaved) rows[p.up] += p.n_rows;
        EXPECT_EQ(p.file_bytes(), p.n_bytes * (interleaved ? 2 : 1));
      }
      for (WeightIndex i = 0; i < plan.weights.size(); ++i) {
        const Weight& w = plan.weights[i];
        EXPECT_EQ(rows[i], w.n_rows > 1 ? w.n_rows : 0) << w.name << ", pieces of " << limit;
        EXPECT_EQ(packed[i], w.n_rows > 1 ? held(plan, layout, i) : 0) << w.name << ", pieces of " << limit;
      }
    }
  }
}

}  // namespace
}  // namespace inlay
