// What each op of the Plan launches.
#include "src/backend/cuda/executor.h"

namespace inlay {

Status CudaExecutor::run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) {
  (void)batch, (void)draws;  // both are on the device
  return launch_op(op);
}

Status CudaExecutor::launch_op(const Op& op) {
  if (is_prefill(op)) return launch_prefill_op(op);
  switch (op.kind) {
    case OpKind::embed:
      return embed(op, b_.hidden.as<float>(), false);
    case OpKind::attn_in:
      return attn_in(op);
    case OpKind::attention:
      return attention(op);
    case OpKind::attn_out:
      return project(op, b_.heads.as<float>());
    case OpKind::ffn_in:
      return ffn_in(op);
    case OpKind::ffn_out:
      return project(op, b_.ffn.as<float>());
    case OpKind::moe_route:
      return moe_route(op);
    case OpKind::moe_in:
      return moe_in(op);
    case OpKind::moe_out:
      return moe_out(op);
    case OpKind::head:
      return head(op);
    case OpKind::sample:
      return block_->is_masked ? Status() : sample();
    case OpKind::count:
      break;
  }
  return error(Code::internal, "op kind %d", static_cast<int>(op.kind));
}

bool CudaExecutor::is_prefill(const Op& op) const {
  return prefills_ && prefill_->takes(op, op.kind == OpKind::head ? n_logit_rows_ : m_);
}

Status CudaExecutor::launch_prefill_op(const Op& op) {
  float *hidden = b_.hidden.as<float>(), *heads = b_.heads.as<float>(), *ffn = b_.ffn.as<float>();
  switch (op.kind) {
    case OpKind::attn_in:
      INLAY_TRY(prefill_->attn_in(op, hidden, b_.qkv.as<float>(), m_));
      INLAY_TRY(norm_width(op));
      return shape_heads(op);
    case OpKind::attn_out:
      return prefill_->project(op, heads, hidden, m_);
    case OpKind::ffn_in:
      return prefill_->ffn_in(op, hidden, ffn, static_cast<bool>(inspection_.tap), m_);
    case OpKind::ffn_out:
      return prefill_->project(op, ffn, hidden, m_);
    case OpKind::head:
      return head(op);
    default:
      return error(Code::internal, "op kind %d has no products", static_cast<int>(op.kind));
  }
}

cuda::LinearArgs CudaExecutor::arguments(const Product& p, const Rows& rows) {
  return {.weights = p.matrix.data,
          .norm_weight = weights_.vector(rows.norm),
          .raw_row = rows.map,
          .epsilon = plan_.spec.norm_epsilon,
          .bias = p.bias,
          .out = p.out,
          .out_rows = p.out_rows,
          .n_rows = p.matrix.n_rows,
          .n_cols = p.matrix.n_cols,
          .ld_out = p.ld_out,
          .m = rows.m,
          .dtype = p.matrix.dtype,
          .epilogue = p.epilogue,
          .activation = plan_.spec.activation,
          .up_bias = p.up_bias,
          .factor = p.factor,
          .soft_cap = p.soft_cap,
          .mirrors = p.mirrors};
}

// From how many weights on products by clusters are faster than those that share nothing between CTAs, as measured on
// an H100 with 9 to 32 rows.
static constexpr int64_t kFewestGroupWeights = 2'000'000;

// How many rows of x the products whose x is planes want together, all of them, or 0: each of them by itself.
int32_t CudaExecutor::group_rows_of(std::span<const Product> products, int32_t m) const {
  if (!has_group_rows_ || m < cuda::kFewestGroupRows || m > cuda::kMostGroupRows) return 0;
  const auto has_planes = [](const Product& p) {
    return cuda::activation_form(p.matrix.dtype) == cuda::ActivationForm::planes;
  };
  int64_t n_weights = 0;
  for (const Product& p : products) {
    if (has_planes(p)) n_weights += p.matrix.n_rows * p.matrix.n_cols;
  }
  if (!config_.always_group_rows && n_weights < kFewestGroupWeights) return 0;
  int32_t rows = 0;
  for (const Product& p : products) {
    if (has_planes(p) && (rows = cuda::group_rows(p.matrix.dtype, m)) == 0) return 0;
  }
  return rows;
}

// As args.x says.
Status CudaExecutor::prepare(const cuda::LinearArgs& args, const Rows& rows, cuda::ActivationForm form) {
  return cuda_status(cuda::launch_activations({.x = rows.x,
                                               .norm_weight = args.norm_weight,
                                               .rows = rows.map,
                                               .out = args.x,
                                               .n_rows = rows.m,
                                               .n_cols = args.n_cols,
                                               .epsilon = args.epsilon,
                                               .form = form},
                                              target()),
                     "preparing activations");
}

// A single row goes to the products as it is, and several do within one launch; else several are prepared once for each
// form that the products want. Of products by clusters two neighbours may be one launch.
Status CudaExecutor::multiply(std::span<const Product> products, const Rows& rows) {
  const int32_t group_rows = group_rows_of(products, rows.m);
  for (size_t i_form = 0; i_form < kForms; ++i_form) {
    const auto form = static_cast<cuda::ActivationForm>(i_form);
    const auto has_form = [&](const Product& p) { return cuda::activation_form(p.matrix.dtype) == form; };
    const auto arguments_of = [&](const Product& p) {
      cuda::LinearArgs args = arguments(p, rows);
      args.x = cuda::activations_at(b_.prepared.data(), rows.m, p.matrix.n_cols);
      if (form == cuda::ActivationForm::planes) args.x.group_rows = group_rows;
      return args;
    };
    bool is_prepared = false;
    for (size_t i = 0; i < products.size(); ++i) {
      const Product& p = products[i];
      if (!has_form(p)) continue;
      cuda::LinearArgs args = arguments_of(p);
      if ((rows.m == 1 || recorded_ != nullptr) && cuda::linear_takes_raw(p.matrix.dtype, p.matrix.n_cols)) {
        args.raw = rows.x;
      } else if (!is_prepared) {
        INLAY_TRY(prepare(args, rows, form));
        is_prepared = true;
      }
      const Product* next = i + 1 < products.size() ? &products[i + 1] : nullptr;
      if (args.x.group_rows != 0 && next != nullptr && has_form(*next) && next->epilogue == cuda::Epilogue::store) {
        INLAY_CUDA_TRY(cuda::launch_linear_pair(args, arguments_of(*next), target()), p.what);
        ++i;
      } else {
        INLAY_TRY(launch_product(args, p.what));
      }
    }
  }
  return {};
}

Status CudaExecutor::launch_product(const cuda::LinearArgs& args, const char* what) {
  if (recorded_ == nullptr) return cuda_status(cuda::launch_linear(args, target()), what);
  recorded_->push_back({.kind = cuda::TokenOp::Kind::linear, .linear = args});
  return {};
}

Status CudaExecutor::embed(const Op& op, float* hidden, bool tagged) {
  if (decodes_) INLAY_TRY(rope_tables());
  const WeightIndex table = op.weights[slot::embed_table];
  return cuda_status(cuda::launch_embed({.table = weights_.matrix(table).data,
                                         .tokens = takes_drawn_ ? b_.drawn.as<int32_t>() : step_->device().tokens,
                                         .positions = step_->device().positions,
                                         .hidden = hidden,
                                         .n_vocab = plan_.spec.n_vocab,
                                         .d_model = plan_.spec.d_model,
                                         .m = m_,
                                         .dtype = plan_.weights[table].dtype,
                                         .tagged = tagged,
                                         .factor = plan_.spec.embedding_scale},
                                        target()),
                     "embedding tokens");
}

cuda::CacheView CudaExecutor::cache(int32_t layer) {
  const StepArrays& step = step_->device();
  return {.k_pool = b_.kv.data() + kv_memory_.keys_at(layer),
          .v_pool = b_.kv.data() + kv_memory_.values_at(layer),
          .block_tables = step_->block_tables(plan_.kv.layers[static_cast<size_t>(layer)].group),
          .row_sequence = step.row_sequence,
          .positions = step.positions,
          .max_blocks = kv_blocks_for(config_.n_context),
          .block_tokens = kKvBlockTokens,
          .n_kv_heads = plan_.spec.n_kv_heads,
          .d_head = plan_.spec.d_head,
          .kv_type = config_.kv_dtype == KvDType::fp8    ? cuda::KvType::fp8_e4m3
                     : config_.kv_dtype == KvDType::int8 ? cuda::KvType::int8
                                                         : cuda::KvType::f16};
}

Status CudaExecutor::attn_in(const Op& op) {
  const QkvRuns runs = weights_.qkv(plan_, op);
  std::array<Product, 3> products;
  for (size_t i = 0; i < runs.n; ++i) {
    const QkvRun& run = runs.runs[i];
    products[i] = {.matrix = run.matrix,
                   .bias = run.bias,
                   .out = b_.qkv.as<float>() + run.first_row,
                   .ld_out = d_qkv(),
                   .what = "queries, keys and values"};
  }
  INLAY_TRY(multiply(std::span(products).first(runs.n),
                     {.x = b_.hidden.as<float>(), .norm = op.weights[slot::norm], .m = m_}));
  INLAY_TRY(norm_width(op));
  return decodes_ ? Status() : shape_heads(op);  // a decode step's attention shapes the heads
}

// Of all queries of a row together, and of all keys.
Status CudaExecutor::norm_width(const Op& op) {
  const ModelSpec& s = plan_.spec;
  if (s.qk_norm != QkNorm::width) return {};
  return cuda_status(cuda::launch_norm_width({.qkv = b_.qkv.as<float>(),
                                              .q_norm = weights_.vector(op.weights[slot::q_norm]),
                                              .k_norm = weights_.vector(op.weights[slot::k_norm]),
                                              .m = m_,
                                              .n_q = static_cast<int32_t>(s.d_q()),
                                              .n_k = static_cast<int32_t>(s.d_kv()),
                                              .epsilon = s.norm_epsilon},
                                             target()),
                     "norms of queries and keys");
}

const float* CudaExecutor::head_norm(const Op& attn_in, size_t at) const {
  return plan_.spec.qk_norm == QkNorm::head ? weights_.vector(attn_in.weights[at]) : nullptr;
}

CudaExecutor::LayerRope CudaExecutor::rope_of(int32_t layer) {
  const int32_t rope = plan_.spec.layers[static_cast<size_t>(layer)].rope;
  if (rope < 0) return {};
  const int32_t n_rot = plan_.spec.n_rot();
  return {.inv_freq = b_.inv_freq.as<float>() + int64_t{rope} * (n_rot / 2),
          .turns = b_.rope.as<float2>() + int64_t{rope} * kBuckets.back() * (n_rot / 2),
          .n_rot = n_rot,
          .magnitude = plan_.ropes[static_cast<size_t>(rope)].magnitude};
}

Status CudaExecutor::rope_tables() {
  const int64_t half = plan_.spec.n_rot() / 2;
  for (size_t i = 0; i < plan_.ropes.size(); ++i) {
    const auto table = static_cast<int64_t>(i);
    INLAY_CUDA_TRY(cuda::launch_rope_table({.positions = step_->device().positions,
                                            .inv_freq = b_.inv_freq.as<float>() + table * half,
                                            .table = b_.rope.as<float2>() + table * kBuckets.back() * half,
                                            .m = m_,
                                            .n_rot = plan_.spec.n_rot(),
                                            .magnitude = plan_.ropes[i].magnitude},
                                           target()),
                   "RoPE angles");
  }
  return {};
}

Status CudaExecutor::shape_heads(const Op& op) {
  const LayerRope rope = rope_of(op.layer);
  return cuda_status(cuda::launch_shape_heads({.qkv = b_.qkv.as<float>(),
                                               .q_norm = head_norm(op, slot::q_norm),
                                               .k_norm = head_norm(op, slot::k_norm),
                                               .inv_freq = rope.inv_freq,
                                               .cache = cache(op.layer),
                                               .m = m_,
                                               .n_heads = plan_.spec.n_heads,
                                               .n_rot = rope.n_rot,
                                               .magnitude = rope.magnitude,
                                               .epsilon = plan_.spec.norm_epsilon},
                                              target()),
                     "shaping heads");
}

cuda::AttentionVariant CudaExecutor::variant(const Op& attention) const {
  return {.window = plan_.spec.layers[attention.layer].window,
          .soft_cap = plan_.spec.attn_softcap,
          .sinks = weights_.vector(attention.weights[slot::sinks])};
}

// Rows of prompts by tiles; single tokens, and the padding of a step that has nothing else, one by one. A text of one token has no later ones.
Status CudaExecutor::attention(const Op& op) {
  if (decodes_) return decode_attention(op);
  if (step_->n_prompt_tiles() == 0) return attention_of_rows(op, {0, m_});
  INLAY_CUDA_TRY(cuda::launch_prefill_attention({.qkv = b_.qkv.as<float>(),
                                                 .out = b_.heads.as<float>(),
                                                 .cache = cache(op.layer),
                                                 .tiles = step_->device().prompt_tiles,
                                                 .scratch = b_.attention.data(),
                                                 .n_tiles = step_->n_prompt_tiles(),
                                                 .m = m_,
                                                 .n_heads = plan_.spec.n_heads,
                                                 .max_context = config_.n_context,
                                                 .scale = plan_.spec.attention_scale,
                                                 .max_keys = step_->max_prompt_keys(),
                                                 .both_ways = !plan_.spec.causal,
                                                 .variant = variant(op)},
                                                target()),
                 "attention of prompts");
  for (const RowRun& run : step_->single_rows()) INLAY_TRY(attention_of_rows(op, run));
  return {};
}

Status CudaExecutor::decode_attention(const Op& op) {
  const ModelSpec& s = plan_.spec;
  const LayerRope rope = rope_of(op.layer);
  const Op& attn_in = *(&op - 1);  // an attention follows its attn_in, which has the norms of the heads: plan.cpp
  const cuda::DecodeAttentionArgs args{.qkv = b_.qkv.as<float>(),
                                       .q_norm = head_norm(attn_in, slot::q_norm),
                                       .k_norm = head_norm(attn_in, slot::k_norm),
                                       .rope = rope.turns,
                                       .out = b_.heads.as<float>(),
                                       .cache = cache(op.layer),
                                       .scratch = b_.attention.data(),
                                       .m = m_,
                                       .n_heads = s.n_heads,
                                       .n_rot = rope.n_rot,
                                       .max_context = config_.n_context,
                                       .scale = s.attention_scale,
                                       .epsilon = s.norm_epsilon,
                                       .variant = variant(op)};
  if (recorded_ == nullptr) return cuda_status(cuda::launch_decode_attention(args, target()), "attention");
  recorded_->push_back({.kind = cuda::TokenOp::Kind::attention, .attention = args});
  return {};
}

Status CudaExecutor::attention_of_rows(const Op& op, const RowRun& run) {
  cuda::CacheView rows = cache(op.layer);
  rows.row_sequence += run.first_row;
  rows.positions += run.first_row;
  return cuda_status(cuda::launch_attention({.qkv = b_.qkv.as<float>() + run.first_row * d_qkv(),
                                             .out = b_.heads.as<float>() + run.first_row * plan_.spec.d_q(),
                                             .cache = rows,
                                             .scratch = b_.attention.data(),
                                             .m = run.n_rows,
                                             .n_heads = plan_.spec.n_heads,
                                             .max_context = config_.n_context,
                                             .scale = plan_.spec.attention_scale,
                                             .variant = variant(op)},
                                            target()),
                     "attention");
}

Status CudaExecutor::ffn_in(const Op& op) {
  return gate_and_up({.gate = op.weights[slot::gate],
                      .up = op.weights[slot::up],
                      .gate_bias = op.weights[slot::gate_bias],
                      .up_bias = op.weights[slot::up_bias],
                      .d_ff = plan_.spec.d_ff},
                     {.x = b_.hidden.as<float>(), .norm = op.weights[slot::norm], .m = m_});
}

Status CudaExecutor::gate_and_up(const GateUp& matrices, const Rows& rows) {
  const int64_t d_ff = matrices.d_ff;
  float* ffn = b_.ffn.as<float>();
  const float *gate_bias = weights_.vector(matrices.gate_bias), *up_bias = weights_.vector(matrices.up_bias);
  if (weights_.is_interleaved(matrices.gate)) {
    const Product products[] = {{.matrix = weights_.matrix(matrices.gate),
                                 .bias = gate_bias,
                                 .out = ffn,
                                 .ld_out = d_ff,
                                 .epilogue = cuda::Epilogue::gate_up,
                                 .what = "gate and up",
                                 .up_bias = up_bias}};
    return multiply(products, rows);
  }
  // Of two types: up finds gate's results where its own go. They may want x in two forms: one after the other.
  const Product gates[] = {
      {.matrix = weights_.matrix(matrices.gate), .bias = gate_bias, .out = ffn, .ld_out = d_ff, .what = "gate"}};
  INLAY_TRY(multiply(gates, rows));
  const Product ups[] = {{.matrix = weights_.matrix(matrices.up),
                          .bias = up_bias,
                          .out = ffn,
                          .ld_out = d_ff,
                          .epilogue = cuda::Epilogue::up,
                          .what = "up"}};
  return multiply(ups, rows);
}

Status CudaExecutor::project(const Op& op, const float* x) {
  const float* post_norm = weights_.vector(op.weights[slot::post_norm]);
  const Product products[] = {{.matrix = weights_.matrix(op.weights[slot::projection]),
                               .bias = weights_.vector(op.weights[slot::bias]),
                               .out = post_norm ? b_.added.as<float>() : b_.hidden.as<float>(),
                               .ld_out = plan_.spec.d_model,
                               .epilogue = post_norm ? cuda::Epilogue::store : cuda::Epilogue::add,
                               .what = "projection",
                               .factor = post_norm ? 1.0f : plan_.spec.residual_scale}};
  INLAY_TRY(multiply(products, {.x = x, .m = m_}));
  return post_norm ? add_normed(post_norm) : Status();
}

Status CudaExecutor::add_normed(const float* post_norm) {
  return cuda_status(cuda::launch_norm_rows({.x = b_.hidden.as<float>(),
                                             .addend = b_.added.as<float>(),
                                             .n_rows = m_,
                                             .n_cols = plan_.spec.d_model,
                                             .epsilon = plan_.spec.norm_epsilon,
                                             .factor = 1.0f,
                                             .form = cuda::ActivationForm::f16,
                                             .addend_norm = post_norm,
                                             .addend_factor = plan_.spec.residual_scale},
                                            target()),
                     "adding normed rows");
}

CudaExecutor::Product CudaExecutor::logits_product(const PackedMatrix& matrix, float* out) const {
  return {.matrix = matrix,
          .out = out,
          .ld_out = plan_.spec.n_vocab,
          .what = "logits",
          .factor = plan_.spec.logit_scale,
          .soft_cap = plan_.spec.logit_softcap};
}

// Logits go to their slots; where they pass by on the way, as cuBLASLt and taps want it, prompt_head.
Status CudaExecutor::head(const Op& op) {
  if (n_logit_rows_ == 0) return {};
  if (is_prefill(op) || inspection_.tap) return prompt_head(op);
  Product product = logits_product(weights_.matrix(op.weights[slot::head]), b_.slots.as<float>());
  product.out_rows = step_->device().logit_slots;
  product.mirrors = step_->device().logit_mirrors;
  return multiply({&product, 1}, {.x = b_.hidden.as<float>(),
                             .norm = op.weights[slot::norm],
                             .map = step_->device().logit_rows,
                             .m = n_logit_rows_});
}

Status CudaExecutor::prompt_head(const Op& op) {
  INLAY_CUDA_TRY(cuda::launch_gather({.hidden = b_.hidden.as<float>(),
                                      .rows = step_->device().logit_rows,
                                      .out = b_.head_rows.as<float>(),
                                      .d_model = plan_.spec.d_model,
                                      .n = n_logit_rows_},
                                     target()),
                 "gathering rows");
  INLAY_TRY(make_logits(op));
  return scatter_logits();
}

// logit_rows of head_rows.
Status CudaExecutor::make_logits(const Op& op) {
  if (is_prefill(op)) {
    float* logits = b_.logit_rows.as<float>();
    INLAY_TRY(prefill_->head(op, b_.head_rows.as<float>(), logits, n_logit_rows_));
    if (const float cap = plan_.spec.logit_softcap; cap != 0) {
      INLAY_CUDA_TRY(cuda::launch_soft_cap({.x = logits, .n = n_logit_rows_ * int64_t{plan_.spec.n_vocab}, .cap = cap}, target()),
                     "soft cap of logits");
    }
  } else {
    const Product product = logits_product(weights_.matrix(op.weights[slot::head]), b_.logit_rows.as<float>());
    INLAY_TRY(multiply({&product, 1}, {.x = b_.head_rows.as<float>(), .norm = op.weights[slot::norm], .m = n_logit_rows_}));
  }
  return {};
}

// Rows of the head's matrix that are whole tiles of it. The slots keep the logits of the step before until all are
// there.
Status CudaExecutor::run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) {
  if (piece.count == 1) return run_op(op, batch, {});
  if (n_logit_rows_ == 0) return {};
  PackedMatrix matrix = weights_.matrix(op.weights[slot::head]);
  const int64_t n_tiles = (matrix.n_rows + cuda::kTileRows - 1) / cuda::kTileRows;
  const int64_t first_tile = piece.begin(n_tiles), first_row = first_tile * cuda::kTileRows;
  const size_t tile_bytes = cuda::packed_bytes(matrix.dtype, cuda::kTileRows, matrix.n_cols);
  matrix.data = static_cast<const std::byte*>(matrix.data) + static_cast<size_t>(first_tile) * tile_bytes;
  matrix.n_rows = std::min(piece.end(n_tiles) * cuda::kTileRows, matrix.n_rows) - first_row;
  if (matrix.n_rows > 0) {
    const Product product = logits_product(matrix, b_.logit_rows.as<float>() + first_row);
    INLAY_TRY(multiply({&product, 1}, {.x = b_.hidden.as<float>(),
                                  .norm = op.weights[slot::norm],
                                  .map = step_->device().logit_rows,
                                  .m = n_logit_rows_}));
  }
  return piece.is_last() ? scatter_logits() : Status();
}

Status CudaExecutor::scatter_logits() {
  return cuda_status(cuda::launch_scatter({.rows = b_.logit_rows.as<float>(),
                                           .slots = step_->device().logit_slots,
                                           .slot_logits = b_.slots.as<float>(),
                                           .n_vocab = plan_.spec.n_vocab,
                                           .n = n_logit_rows_},
                                          target()),
                     "storing logits");
}

Status CudaExecutor::sample() {
  if (n_logit_rows_ == 0 || !draws_) return {};
  const StepArrays& step = step_->device();
  return cuda_status(cuda::launch_sample({.slot_logits = b_.slots.as<float>(),
                                          .rows = step.samples,
                                          .bias_tokens = step.bias_tokens,
                                          .bias_values = step.bias_values,
                                          .count_tokens = step.count_tokens,
                                          .count_values = step.count_values,
                                          .results = block_->results,
                                          .scratch = b_.sample.data(),
                                          .n_vocab = plan_.spec.n_vocab,
                                          .n = std::min(n_logit_rows_, drawn_rows(config_)),
                                          .tokens = config_.run_ahead ? b_.drawn.as<int32_t>() : nullptr,
                                          .masks = b_.masks.as<uint32_t>()},
                                         target()),
                     "sampling");
}

// Brings what the op left behind to the host. Only inspection comes here.
Result<Tap> CudaExecutor::observe(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  Tap tap{.what = "hidden", .n_rows = m_, .n_cols = s.d_model};
  const float* from = b_.hidden.as<float>();
  switch (op.kind) {
    case OpKind::attn_in:
      tap.what = "qkv", from = b_.qkv.as<float>(), tap.n_cols = d_qkv();
      break;
    case OpKind::attention:
      tap.what = "heads", from = b_.heads.as<float>(), tap.n_cols = s.d_q();
      break;
    case OpKind::ffn_in:
      tap.what = "ffn", from = b_.ffn.as<float>(), tap.n_cols = s.d_ff;
      break;
    case OpKind::moe_route:
    case OpKind::moe_in:
      return observe_experts(op);
    case OpKind::head:
      tap.what = "logits", from = b_.logit_rows.as<float>(), tap.n_cols = s.n_vocab;
      tap.n_rows = static_cast<int64_t>(batch.logit_rows.size());
      break;
    case OpKind::sample:
      tap.n_rows = 0;
      break;
    default:
      break;
  }
  if (tap.n_rows == 0) return Tap{};
  observed_.resize(static_cast<size_t>(tap.n_rows * tap.n_cols));
  INLAY_CUDA_TRY(
      cudaMemcpyAsync(observed_.data(), from, observed_.size() * sizeof(float), cudaMemcpyDeviceToHost, stream_.get()),
      "reading an op's values");
  INLAY_TRY(wait_for(stream_.get(), "reading an op's values"));
  tap.values = observed_.data();
  return tap;
}

}  // namespace inlay
