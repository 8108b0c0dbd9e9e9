#include "src/backend/cpu/executor.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "src/backend/kv_move.h"

namespace inlay {
namespace {

uint64_t align(uint64_t n) { return (n + HostBuffer::kAlignment - 1) / HostBuffer::kAlignment * HostBuffer::kAlignment; }

// Columns of the widest matrix: what one prepared row must hold.
int64_t widest_input(const Plan& plan) {
  int64_t n = 0;
  for (const Weight& w : plan.weights) {
    if (w.n_rows > 1) n = std::max(n, w.n_cols);
  }
  return n;
}

uint64_t prepared_stride(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels) {
  uint64_t row = 0;
  for (const auto form : {cpu::ActivationForm::f32, cpu::ActivationForm::bf16, cpu::ActivationForm::q8}) {
    row = std::max<uint64_t>(row, kernels.activation_row_bytes(form, widest_input(plan)));
  }
  return align(row * static_cast<uint64_t>(std::max(config.max_step_tokens, config.n_logit_slots)));
}

// Without a window, of which any scratch memory is large enough for layers with one.
AttentionArgs attention_shape(const ModelSpec& s, int64_t m, int64_t first_position) {
  AttentionArgs args{};
  args.m = m;
  args.first_position = first_position;
  args.n_heads = s.n_heads;
  args.n_kv_heads = s.n_kv_heads;
  args.d_head = s.d_head;
  args.block_tokens = kKvBlockTokens;
  args.ld_q = s.d_q() + 2 * s.d_kv();
  args.ld_out = s.d_q();
  args.scale = s.attention_scale;
  args.softcap = s.attn_softcap;
  return args;
}

}  // namespace

KvMemory CpuExecutor::kv_memory_of(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels) {
  return {plan, config, kernels.kv_block_bytes(plan.spec.n_kv_heads, plan.spec.d_head, kKvBlockTokens), KvOrder::blocks};
}

// As kernels/cpu/simd/attention.h lays it out: of each head the keys turned, 32 positions of an element beside each other, then the values, each
// filled up to a multiple of 16.
KvForm CpuExecutor::kv_form() const {
  const auto head = static_cast<int64_t>(memory_of_kv_.block_bytes()) / plan_.spec.n_kv_heads;
  return {.n_heads = plan_.spec.n_kv_heads,
          .d_head = plan_.spec.d_head,
          .element = 2,
          .head = head,
          .keys = {.position = 2, .element = 2 * kKvBlockTokens},
          .values = {.position = head / kKvBlockTokens, .element = 2}};
}

uint64_t CpuExecutor::prepared_bytes(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels) {
  return kForms * prepared_stride(plan, config, kernels);
}

// Enough for the longest single slice and for one token of every sequence at the end of its context; steps that need more
// are done in several loops.
uint64_t CpuExecutor::attention_scratch_bytes(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels) {
  const int64_t last = config.n_context - 1;
  uint64_t one_slice = 0;
  for (int64_t m = 1; m <= config.max_step_tokens; ++m) {
    const int64_t first = std::max<int64_t>(0, last + 1 - m);
    one_slice = std::max<uint64_t>(one_slice, kernels.attention_scratch_bytes(attention_shape(plan.spec, m, first)));
  }
  const uint64_t one_token = align(kernels.attention_scratch_bytes(attention_shape(plan.spec, 1, last)));
  return std::max(align(one_slice), one_token * static_cast<uint64_t>(config.max_sequences));
}

uint64_t CpuExecutor::attention_workspace_bytes(const BackendConfig& config, const cpu::Kernels& kernels) {
  return static_cast<uint64_t>(config.n_threads) * align(kernels.attention_workspace_bytes());
}

CpuExecutor::CpuExecutor(Plan plan, const BackendConfig& config, const cpu::Kernels& kernels)
    : plan_(std::move(plan)),
      config_(config),
      kernels_(kernels),
      fine_above_(config.exact_activations ? cpu::kAllFine : cpu::kUsualFine),
      pool_(config.n_threads),
      memory_of_kv_(kv_memory_of(plan_, config_, kernels)) {
  slice_work_.reserve(static_cast<size_t>(config.max_sequences));
  take_lists(plan_, config_);
}

Status CpuExecutor::load(WeightReader& reader, const LoadProgress& progress) {
  INLAY_TRY(pool_.status());
  prepared_stride_ = prepared_stride(plan_, config_, kernels_);
  INLAY_ASSIGN(a_, HostActivations::allocate(plan_.spec, config_));
  INLAY_ASSIGN(logits_, LogitSlots::allocate(plan_.spec.n_vocab, config_.n_logit_slots));
  INLAY_ASSIGN(kv_, HostBuffer::allocate(memory_of_kv_.bytes(), "KV cache"));
  INLAY_ASSIGN(prepared_, HostBuffer::allocate(kForms * prepared_stride_, "prepared activations"));
  expert_areas_ = expert_areas(plan_, config_, kernels_);
  INLAY_ASSIGN(expert_rows_, HostBuffer::allocate(expert_areas_.n_bytes, "activations of experts"));
  const auto n_routed = static_cast<size_t>(plan_.spec.moe.n_used * config_.max_step_tokens);
  for (std::vector<int32_t>* list : {&routing_.experts, &routing_.place_token, &routing_.pair_place}) list->resize(n_routed);
  routing_.counts.resize(static_cast<size_t>(plan_.spec.moe.n_experts));
  routing_.groups.reserve(routing_.counts.size());
  INLAY_ASSIGN(attention_scratch_, HostBuffer::allocate(attention_scratch_bytes(plan_, config_, kernels_), "attention scratch"));
  INLAY_ASSIGN(attention_workspace_, HostBuffer::allocate(attention_workspace_bytes(config_, kernels_), "attention workspace"));
  std::optional<Task<bool>> pages;
  if (!config_.take_pages_later) pages.emplace("inlay-pages", [this] { return take_pages(), true; });
  INLAY_ASSIGN(weights_, PackedWeights::load(plan_, reader, kernels_, pool_, progress));
  if (pages) (void)pages->get();
  return {};
}

// Of what the first prompt uses, beside the reading of weights: the workspace, and the first block of the cache.
void CpuExecutor::take_pages() {
  for (HostBuffer* buffer : {&a_.storage, &prepared_, &expert_rows_, &attention_scratch_, &attention_workspace_})
    buffer->take_pages();
  logits_->take_pages();
  for (int32_t layer = 0; layer < plan_.spec.n_layers; ++layer) {
    const uint64_t at = memory_of_kv_.keys_at(layer);
    kv_.take_pages(at, std::min(at + 2 * memory_of_kv_.block_bytes(), kv_.size()));
  }
}

std::string CpuExecutor::description() const {
  return std::string("CPU (") + kernels_.name + ", " + std::to_string(pool_.size()) + " threads)";
}

MemoryNeeds CpuExecutor::memory() const {
  return {.weights = PackedWeights::bytes(plan_, kernels_),
          .kv = kv_.size(),
          .workspace = a_.storage.size() + LogitSlots::bytes(plan_.spec.n_vocab, config_.n_logit_slots) + prepared_.size() +
                       expert_rows_.size() + attention_scratch_.size() + attention_workspace_.size()};
}

Status CpuExecutor::run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) {
  const auto m = static_cast<int64_t>(batch.tokens.size());
  switch (op.kind) {
    case OpKind::embed: embed(op, batch); return {};
    case OpKind::attn_in: attn_in(op, batch); return {};
    case OpKind::attention: attention(op, batch); return {};
    case OpKind::attn_out: project(op, a_.heads, m); return {};
    case OpKind::ffn_in: ffn_in(op, batch); return {};
    case OpKind::ffn_out: project(op, a_.gate, m); return {};
    case OpKind::moe_route: moe_route(op, batch); return {};
    case OpKind::moe_in: moe_in(op, batch); return {};
    case OpKind::moe_out: moe_out(op, batch); return {};
    case OpKind::head: return run_head_piece(op, batch, {});
    case OpKind::sample: return logits_->sample(batch.sample_rows, draws);
    case OpKind::count: break;
  }
  return error(Code::internal, "op kind %d", static_cast<int>(op.kind));
}

// ---- matrix products

cpu::LinearArgs CpuExecutor::args_of(const Product& product, int64_t m) const {
  const Weight& w = plan_.weights[product.weight];
  const cpu::ActivationForm form = kernel_of(product.weight).form;
  return {.weights = weights_.matrix(product.weight),
          .activations = prepared_.data() + static_cast<size_t>(form) * prepared_stride_,
          .out = product.out,
          .bias = product.bias,
          .n_rows = w.n_rows,
          .n_cols = w.n_cols,
          .m = m,
          .ld_out = product.ld_out,
          .add_to_out = product.add};
}

// Small work on rows of activations.
template <class Work>
void CpuExecutor::for_rows(int64_t m, const Work& work) {
  if (m <= kSerialRows) {
    work(0, m, 0);
  } else {
    pool_.parallel_for(m, std::max<int64_t>(1, m / (4 * pool_.size())), work);
  }
}

void CpuExecutor::prepare(std::span<const Product> products, const float* x, const float* norm_weight, int64_t n_cols, int64_t m) {
  std::array<bool, kForms> wanted{};
  for (const Product& p : products) wanted[static_cast<size_t>(kernel_of(p.weight).form)] = true;
  const float* input = norm_weight ? a_.normed : x;
  const auto rows = [&](int64_t begin, int64_t end, int) {
    if (norm_weight) {
      kernels_.rms_norm({.x = x,
                         .weight = norm_weight,
                         .out = a_.normed,
                         .n = n_cols,
                         .ld_x = n_cols,
                         .ld_out = n_cols,
                         .epsilon = plan_.spec.norm_epsilon},
                        begin, end);
    }
    for (size_t form = 0; form < kForms; ++form) {
      const auto f = static_cast<cpu::ActivationForm>(form);
      if (wanted[form]) kernels_.prepare(f, input, n_cols, n_cols, begin, end, fine_above_, prepared(f));
    }
  };
  for_rows(m, rows);
}

// All tiles of all products in one loop, or a piece of them.
void CpuExecutor::multiply(std::span<const Product> products, int64_t m, const WorkPiece& piece) {
  int64_t total = 0;
  for (const Product& p : products) total += cpu::n_tiles(plan_.weights[p.weight].n_rows);
  const int64_t from = piece.begin(total), n = piece.end(total) - from;
  const int64_t grain = std::max<int64_t>(1, n / (8 * pool_.size()));
  pool_.parallel_for(n, grain, [&](int64_t begin, int64_t end, int) {
    int64_t first = 0;
    begin += from, end += from;
    for (const Product& p : products) {
      const int64_t tiles = cpu::n_tiles(plan_.weights[p.weight].n_rows);
      const int64_t b = std::max(begin, first), e = std::min(end, first + tiles);
      if (b < e) kernel_of(p.weight).run(args_of(p, m), b - first, e - first, 0, m);
      first += tiles;
    }
  });
}

// ---- ops

void CpuExecutor::embed(const Op& op, const StepBatch& batch) {
  const WeightIndex table = op.weights[slot::embed_table];
  const int64_t d = plan_.spec.d_model;
  for (size_t t = 0; t < batch.tokens.size(); ++t) {
    float* row = a_.hidden + static_cast<int64_t>(t) * d;
    kernel_of(table).unpack_row(weights_.matrix(table), d, batch.tokens[t], row);
    if (plan_.spec.embedding_scale != 1) kernels_.soft_cap(row, d, plan_.spec.embedding_scale, 0);
  }
}

void CpuExecutor::attn_in(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  const auto m = static_cast<int64_t>(batch.tokens.size());
  float* q = a_.qkv;
  float* k = q + s.d_q();
  float* v = k + s.d_kv();
  const Product products[] = {{op.weights[slot::q], vector(op, slot::q_bias), q, d_qkv(), false},
                              {op.weights[slot::k], vector(op, slot::k_bias), k, d_qkv(), false},
                              {op.weights[slot::v], vector(op, slot::v_bias), v, d_qkv(), false}};
  prepare(products, a_.hidden, vector(op, slot::norm), s.d_model, m);
  multiply(products, m);
  for_rows(m, [&](int64_t begin, int64_t end, int) { shape_heads(op, batch, begin, end); });
  append_kv(op, batch);
}

// qk-norm and RoPE of rows [m_begin, m_end).
void CpuExecutor::shape_heads(const Op& op, const StepBatch& batch, int64_t m_begin, int64_t m_end) {
  const ModelSpec& s = plan_.spec;
  const struct {
    float* x;
    int64_t n_heads;
    const float* norm;
  } parts[] = {{a_.qkv, s.n_heads, vector(op, slot::q_norm)}, {a_.qkv + s.d_q(), s.n_kv_heads, vector(op, slot::k_norm)}};
  const int8_t rope = s.layers[op.layer].rope;
  for (const auto& part : parts) {
    const bool wide = s.qk_norm == QkNorm::width;
    const int64_t width = wide ? part.n_heads * s.d_head : s.d_head;
    for (int64_t j = m_begin; part.norm && j < m_end; ++j) {
      float* row = part.x + j * d_qkv();
      kernels_.rms_norm(
          {.x = row, .weight = part.norm, .out = row, .n = width, .ld_x = width, .ld_out = width, .epsilon = s.norm_epsilon}, 0,
          wide ? 1 : part.n_heads);
    }
    if (rope < 0) continue;
    const RopeTable& table = plan_.ropes[static_cast<size_t>(rope)];
    kernels_.rope({.x = part.x,
                   .positions = batch.positions.data(),
                   .inv_freq = table.inv_freq.data(),
                   .n_heads = part.n_heads,
                   .d_head = s.d_head,
                   .n_rot = s.n_rot(),
                   .ld_x = d_qkv(),
                   .magnitude = table.magnitude},
                  m_begin, m_end);
  }
}

void CpuExecutor::append_kv(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  for (const SequenceSlice& slice : batch.sequences) {
    const float* k = a_.qkv + s.d_q() + slice.first_token * d_qkv();
    const KvAppendArgs args{.k = k,
                            .v = k + s.d_kv(),
                            .k_pool = k_pool(op.layer),
                            .v_pool = v_pool(op.layer),
                            .positions = batch.positions.data() + slice.first_token,
                            .block_table = block_table(op, batch, slice),
                            .block_stride = block_stride(op.layer),
                            .m = slice.n_tokens,
                            .n_kv_heads = s.n_kv_heads,
                            .d_head = s.d_head,
                            .block_tokens = kKvBlockTokens,
                            .ld = d_qkv()};
    if (slice.n_tokens <= kSerialRows) {
      kernels_.kv_append(args, 0, slice.n_tokens);
    } else {
      pool_.parallel_for(slice.n_tokens, kKvBlockTokens,
                         [&](int64_t begin, int64_t end, int) { kernels_.kv_append(args, begin, end); });
    }
  }
}

Status CpuExecutor::move_kv(const KvMove& move) {
  const HostKvMove moves(plan_, memory_of_kv_, kv_.data(), move);
  const int64_t n_heads = plan_.spec.n_kv_heads;
  pool_.parallel_for(static_cast<int64_t>(moves.layers().size()) * n_heads, 1, [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      kernels_.kv_move(moves.layers()[static_cast<size_t>(i / n_heads)], i % n_heads, i % n_heads + 1);
    }
  });
  return {};
}

AttentionArgs CpuExecutor::attention_args(const Op& op, const StepBatch& batch, const SequenceSlice& slice) {
  AttentionArgs args = attention_shape(plan_.spec, slice.n_tokens, slice.first_position);
  args.q = a_.qkv + slice.first_token * d_qkv();
  args.out = a_.heads + slice.first_token * plan_.spec.d_q();
  args.k_pool = k_pool(op.layer);
  args.v_pool = v_pool(op.layer);
  args.block_table = block_table(op, batch, slice);
  args.block_stride = block_stride(op.layer);
  args.window = plan_.spec.layers[op.layer].window;
  args.both_ways = !plan_.spec.causal;
  args.sinks = vector(op, slot::sinks);
  return args;
}

void CpuExecutor::attention(const Op& op, const StepBatch& batch) {
  for (size_t first = 0; first < batch.sequences.size();) first += attend_slices(op, batch, first);
}

// One loop over the work of as many slices as the scratch holds; says how many.
size_t CpuExecutor::attend_slices(const Op& op, const StepBatch& batch, size_t first) {
  slice_work_.clear();
  int64_t n_items = 0;
  uint64_t scratch = 0;
  for (size_t i = first; i < batch.sequences.size(); ++i) {
    const AttentionArgs args = attention_args(op, batch, batch.sequences[i]);
    const uint64_t needed = align(kernels_.attention_scratch_bytes(args));
    if (i > first && scratch + needed > attention_scratch_.size()) break;
    slice_work_.push_back({args, n_items, scratch});
    n_items += kernels_.attention_items(args);
    scratch += needed;
  }
  pool_.parallel_for(n_items, 1, [&](int64_t begin, int64_t end, int thread) {
    std::byte* workspace = attention_workspace_.data() +
                           static_cast<uint64_t>(thread) * align(kernels_.attention_workspace_bytes());
    auto work = std::upper_bound(slice_work_.begin(), slice_work_.end(), begin,
                                 [](int64_t item, const SliceWork& w) { return item < w.first_item; }) - 1;
    for (; work != slice_work_.end() && work->first_item < end; ++work) {
      const int64_t b = std::max<int64_t>(begin - work->first_item, 0);
      const int64_t e = std::min(end - work->first_item, kernels_.attention_items(work->args));
      kernels_.attention(work->args, b, e, attention_scratch_.data() + work->scratch_offset, workspace);
    }
  });
  if (scratch == 0) return slice_work_.size();  // no slice's keys were split
  const auto merge = [&](int64_t begin, int64_t end, int) {
    for (int64_t i = begin; i < end; ++i) {
      const SliceWork& work = slice_work_[static_cast<size_t>(i)];
      kernels_.attention_merge(work.args, 0, work.args.m, attention_scratch_.data() + work.scratch_offset);
    }
  };
  pool_.parallel_for(static_cast<int64_t>(slice_work_.size()), 1, merge);
  return slice_work_.size();
}

void CpuExecutor::ffn_in(const Op& op, const StepBatch& batch) {
  gate_and_up({.gate = op.weights[slot::gate],
               .up = op.weights[slot::up],
               .gate_bias = vector(op, slot::gate_bias),
               .up_bias = vector(op, slot::up_bias),
               .norm = vector(op, slot::norm),
               .d_ff = plan_.spec.d_ff},
              a_.hidden, static_cast<int64_t>(batch.tokens.size()));
}

// Gate, up and activation of the same rows are one piece of work, so that the activation needs no barrier of its own.
void CpuExecutor::gate_and_up(const GateUp& matrices, const float* x, int64_t m) {
  const int64_t d_ff = matrices.d_ff;
  const Product products[] = {{matrices.gate, matrices.gate_bias, a_.gate, d_ff, false},
                              {matrices.up, matrices.up_bias, a_.up, d_ff, false}};
  prepare(products, x, matrices.norm, plan_.spec.d_model, m);
  const auto activate = kernels_.gated[static_cast<size_t>(plan_.spec.activation)];
  const int64_t tiles = cpu::n_tiles(d_ff);
  pool_.parallel_for(tiles, std::max<int64_t>(1, tiles / (8 * pool_.size())), [&](int64_t begin, int64_t end, int) {
    for (const Product& p : products) kernel_of(p.weight).run(args_of(p, m), begin, end, 0, m);
    const int64_t row = begin * cpu::kTileRows;
    activate(a_.gate + row, a_.up + row, std::min(end * cpu::kTileRows, d_ff) - row, d_ff, 0, m);
  });
}

// attn_out and ffn_out: a projection, perhaps normalised, joins the residual stream.
void CpuExecutor::project(const Op& op, const float* x, int64_t m) {
  const ModelSpec& s = plan_.spec;
  const int64_t d = s.d_model;
  const bool plain = !s.post_norms && s.residual_scale == 1;
  const WeightIndex i = op.weights[slot::projection];
  const Product products[] = {{i, vector(op, slot::bias), plain ? a_.hidden : a_.normed, d, plain}};
  prepare(products, x, nullptr, plan_.weights[i].n_cols, m);
  multiply(products, m);
  if (plain) return;
  const auto join = [&](int64_t begin, int64_t end, int) {
    if (s.post_norms) {
      kernels_.rms_norm({.x = a_.normed,
                         .weight = vector(op, slot::post_norm),
                         .out = a_.normed,
                         .n = d,
                         .ld_x = d,
                         .ld_out = d,
                         .epsilon = s.norm_epsilon},
                        begin, end);
    }
    kernels_.add_scaled(a_.normed + begin * d, (end - begin) * d, s.residual_scale, a_.hidden + begin * d);
  };
  for_rows(m, join);
}

Status CpuExecutor::run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) {
  const auto m = static_cast<int64_t>(batch.logit_rows.size());
  if (m == 0) return {};
  const int64_t d = plan_.spec.d_model, n_vocab = plan_.spec.n_vocab;
  for (int64_t i = 0; i < m; ++i) {
    const float* from = a_.hidden + int64_t{batch.logit_rows[static_cast<size_t>(i)].token} * d;
    std::copy(from, from + d, a_.head_rows + i * d);
  }
  const Product products[] = {{op.weights[slot::head], nullptr, a_.logit_rows, n_vocab, false}};
  prepare(products, a_.head_rows, vector(op, slot::norm), d, m);
  multiply(products, m, piece);
  if (!piece.is_last()) return {};
  cap_logits(a_.logit_rows, m);
  for (int64_t i = 0; i < m; ++i) {
    const float* row = a_.logit_rows + i * n_vocab;
    std::copy(row, row + n_vocab, logits_->row(batch.logit_rows[static_cast<size_t>(i)].slot).begin());
  }
  return {};
}

// From the hidden states of the step before; as many rows as a step has at once.
Status CpuExecutor::row_logits(int32_t first_row, std::span<float> out) {
  const int64_t d = plan_.spec.d_model, n_vocab = plan_.spec.n_vocab, m = static_cast<int64_t>(out.size()) / n_vocab;
  const Op& op = plan_.head_op();
  const Product products[] = {{op.weights[slot::head], nullptr, out.data(), n_vocab, false}};
  prepare(products, a_.hidden + first_row * d, vector(op, slot::norm), d, m);
  multiply(products, m);
  cap_logits(out.data(), m);
  return {};
}

Status CpuExecutor::score_rows(std::span<const float> logits, std::span<const int32_t> next, const StepResults& results) {
  const size_t n_vocab = logits.size() / next.size();
  std::array<Status, kRowsAtOnce> statuses;
  pool_.parallel_for(static_cast<int64_t>(next.size()), 1, [&](int64_t begin, int64_t end, int) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const StepResults one = results.part(i, 1, n_vocab);
      Result<TokenScore> score = score_row(logits.subspan(i * n_vocab, n_vocab), next[i], one.top);
      statuses[i] = score.status();
      if (score.ok()) one.scores[0] = *score;
    }
  });
  for (Status& status : statuses) INLAY_TRY(std::move(status));
  return {};
}

void CpuExecutor::cap_logits(float* logits, int64_t m) {
  const ModelSpec& s = plan_.spec;
  if (s.logit_scale == 1 && s.logit_softcap == 0) return;
  constexpr int64_t kGrain = 4096;
  pool_.parallel_for(m * s.n_vocab, kGrain, [&](int64_t begin, int64_t end, int) {
    kernels_.soft_cap(logits + begin, end - begin, s.logit_scale, s.logit_softcap);
  });
}

Result<Tap> CpuExecutor::observe(const Op& op, const StepBatch& batch) {
  const ModelSpec& s = plan_.spec;
  const auto m = static_cast<int64_t>(batch.tokens.size());
  switch (op.kind) {
    case OpKind::attn_in: return Tap{0, nullptr, "qkv", a_.qkv, m, d_qkv()};
    case OpKind::attention: return Tap{0, nullptr, "heads", a_.heads, m, s.d_q()};
    case OpKind::ffn_in: return Tap{0, nullptr, "ffn", a_.gate, m, s.d_ff};
    case OpKind::moe_route: return Tap{0, nullptr, "router", a_.router_logits, m, s.moe.n_experts};
    case OpKind::moe_in: return observe_experts(m);
    case OpKind::head:
      if (batch.logit_rows.empty()) return Tap{};
      return Tap{0, nullptr, "logits", a_.logit_rows, static_cast<int64_t>(batch.logit_rows.size()), s.n_vocab};
    case OpKind::sample: return Tap{};
    default: return Tap{0, nullptr, "hidden", a_.hidden, m, s.d_model};
  }
}

}  // namespace inlay
