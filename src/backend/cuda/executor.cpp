#include "src/backend/cuda/executor.h"

#include <algorithm>
#include <numeric>

#include "src/backend/host_buffers.h"
#include "src/base/environment.h"
#include "src/base/load_times.h"
#include "src/base/thread.h"

namespace inlay {
namespace {

constexpr const char* kWithoutCublas = "prompts run on the engine's own products, without cuBLASLt: ";
constexpr const char* kNeedsBf16 = "BF16 weights are multiplied with activations of BF16, because F16 could not hold them";
constexpr const char* kMixedGemm = "prompts multiply quantized weights as they are packed, by the mixed GEMM";

uint64_t u(int64_t v) { return static_cast<uint64_t>(v); }

Result<cublas::Api> cublas_of(const BackendConfig& config, std::string* name = nullptr) {
  if (!config.allow_cublas) return error(Code::not_found, "the load options refuse it");
  return Cublas::open_library(environment().cublas_directory, name);
}

bool has_mixed_gemm(const BackendConfig& config, int32_t device_index) {
  return config.allow_mixed_gemm && cuda::has_mixed_gemm(device_index);
}

bool is_of_layer(const Op& op) {
  return op.kind != OpKind::embed && op.kind != OpKind::head && op.kind != OpKind::sample;
}

// Which layers have operations on types of weights as no layer before.
std::vector<bool> first_layers_of_kinds(const Plan& plan) {
  std::vector<std::string> kinds(static_cast<size_t>(plan.spec.n_layers));
  for (const Op& op : plan.ops) {
    if (!is_of_layer(op)) continue;
    std::string& kind = kinds[op.layer];
    kind += static_cast<char>(op.kind);
    for (const WeightIndex w : op.weights) kind += w == kNoWeight ? '-' : static_cast<char>(plan.weights[w].dtype);
  }
  std::vector<bool> out;
  for (auto at = kinds.begin(); at != kinds.end(); ++at) out.push_back(std::find(kinds.begin(), at, *at) == at);
  return out;
}

// A sequence of n tokens from position 0 on.
class MadeUpPrompt {
 public:
  MadeUpPrompt(int32_t n, const Plan& plan, const BackendConfig& config)
      : tokens_(static_cast<size_t>(n)), positions_(tokens_.size()), sequence_{.n_tokens = n} {
    std::iota(positions_.begin(), positions_.end(), 0);
    for (size_t group = 0; group < plan.kv.groups.size(); ++group) {
      const int32_t last = config.n_kv_blocks[group] - 1;
      for (int32_t i = 0; i < sequence_.n_blocks(); ++i) tables_.push_back(std::min(i, last));
    }
  }
  StepBatch batch() const {
    return {.tokens = tokens_,
            .positions = positions_,
            .sequences = {&sequence_, 1},
            .block_tables = tables_,
            .logit_rows = {&last_, 1}};
  }

 private:
  std::vector<int32_t> tokens_, positions_, tables_;
  const SequenceSlice sequence_;
  const LogitRow last_{.token = sequence_.n_tokens - 1, .slot = 0};
};

uint64_t mask_bytes(uint64_t n_rows, int32_t n_vocab) { return n_rows * mask_words(n_vocab) * sizeof(uint32_t); }

KvMemory kv_memory_of(const Plan& plan, const BackendConfig& config) {
  return {plan, config, kv_block_bytes(plan.spec, config.kv_dtype) / 2, KvOrder::pools};
}

}  // namespace

// ---- memory

std::vector<CudaExecutor::Size> CudaExecutor::sizes(const Plan& plan, const BackendConfig& config) {
  const ModelSpec& s = plan.spec;
  const uint64_t rows = u(std::max(config.max_step_tokens, kBuckets.back())), f = sizeof(float);
  const uint64_t logit_rows = u(std::max(config.n_logit_slots, kBuckets.back())), vocab = u(s.n_vocab);
  std::vector<Size> sizes = {
      {&Buffers::hidden, f * rows * u(s.d_model), "hidden states"},
      {&Buffers::qkv, f * rows * u(s.d_q() + 2 * s.d_kv()), "queries, keys and values"},
      {&Buffers::heads, f * rows * u(s.d_q()), "attention heads"},
      {&Buffers::ffn, f * rows * u(s.widest_ffn()), "feed-forward activations"},
      {&Buffers::head_rows, f * logit_rows * u(s.d_model), "final hidden states"},
      {&Buffers::logit_rows, f * logit_rows * vocab, "logits of a step"},
      {&Buffers::slots, f * u(config.n_logit_slots) * vocab, "logits"},
      {&Buffers::added, s.post_norms ? f * rows * u(s.d_model) : 0, "results before their norm"},
      {&Buffers::prepared, prepared_bytes(plan, std::max(rows, logit_rows)), "prepared activations"},
      {&Buffers::rope, f * u(kBuckets.back()) * u(s.n_rot()) * plan.ropes.size(), "RoPE angles"},
      {&Buffers::attention,
       cuda::attention_scratch_bytes(static_cast<int32_t>(rows), s.n_heads, s.n_kv_heads, s.d_head, config.n_context),
       "attention scratch"},
      {&Buffers::sample, cuda::sample_scratch_bytes(drawn_rows(config), s.n_vocab), "sampling scratch"},
      {&Buffers::scores, score_bytes(rows), "scores"},
      {&Buffers::inv_freq, f * u(s.n_rot()) / 2 * plan.ropes.size(), "RoPE frequencies"},
      {&Buffers::drawn, config.run_ahead ? sizeof(int32_t) * logit_rows : 0, "drawn tokens"},
      {&Buffers::masks, mask_bytes(logit_rows, s.n_vocab), "masks of draws"},
      {&Buffers::token_phases, n_blocks(config) * kTokenBuckets * cuda::token_table_bytes(most_token_ops(plan)),
       "phases of a token"},
      {&Buffers::token_values, token_value_bytes(s, token_rows(config)), "values of a token"},
      {&Buffers::token_x, token_x_bytes(s, token_rows(config)), "prepared values of a token"},
      {&Buffers::token_records,
       cuda::attention_scratch_bytes(token_rows(config), s.n_heads, s.n_kv_heads, s.d_head, config.n_context),
       "records of a token"},
      {&Buffers::kv, kv_memory_of(plan, config).bytes(), "KV cache"}};
  if (s.moe.n_experts > 0) add_expert_sizes(plan, rows, sizes);
  return sizes;
}

StepLimits CudaExecutor::limits(const Plan& plan, const BackendConfig& config) {
  const int32_t logit_rows = std::max(config.n_logit_slots, kBuckets.back());
  // A draw may penalise a whole context, and DRY may bias one. Where that would be much memory for all draws, draw_rest()
  // draws in turns.
  constexpr int64_t kSmallList = 65536;
  const int64_t of_draw = int64_t{kMaxBias} + config.n_context, n_draws = config.n_logit_slots;
  const int64_t list = std::min(of_draw * n_draws, std::max(of_draw + kMaxBias * n_draws, kSmallList));
  return {.max_rows = std::max(config.max_step_tokens, kBuckets.back()),
          .max_sequences = std::max(config.max_sequences, kBuckets.back()),
          .max_blocks = kv_blocks_for(config.n_context),
          .n_kv_groups = static_cast<int32_t>(plan.kv.groups.size()),
          .max_logit_rows = logit_rows,
          .max_list = static_cast<int32_t>(std::min<int64_t>(list, INT32_MAX / 8)),
          .min_singles = kLeastSegmentRows};
}

int32_t CudaExecutor::segment_rows(const Plan& plan) {
  const auto is_quantized = [&](const Weight& weight) { return weight.n_rows > 1 && traits(weight.dtype).block_elements > 1; };
  const bool cuts = plan.spec.moe.n_experts == 0 && std::ranges::any_of(plan.weights, is_quantized);
  return cuts ? kLeastSegmentRows : kBuckets.back();
}

size_t CudaExecutor::n_graph_buckets(const BackendConfig& config) {
  const auto found = std::ranges::find_if(kBuckets, [&](int32_t rows) { return rows >= config.max_sequences; });
  return static_cast<size_t>(std::min(found, kBuckets.end() - 1) - kBuckets.begin()) + 1;
}

MemoryNeeds CudaExecutor::needs(const Plan& plan, const BackendConfig& config, int32_t device_index) {
  MemoryNeeds needs;
  needs.weights = DeviceWeights::bytes(plan);
  needs.workspace =
      n_blocks(config) * StepBlock::bytes(limits(plan, config)) + DeviceWeights::staging_bytes(plan, config.n_threads);
  for (const Size& size : sizes(plan, config)) (size.buffer == &Buffers::kv ? needs.kv : needs.workspace) += size.bytes;
  PrefillProducts::Ways ways{.device_index = device_index, .mixed_gemm = has_mixed_gemm(config, device_index)};
  ways.cublas = PrefillProducts::wants_cublas(plan, ways.mixed_gemm) && cublas_of(config).ok();
  needs.workspace += PrefillProducts::bytes(plan, prefill_rows(config), ways);
  return needs;
}

CudaExecutor::CudaExecutor(const Plan& plan, const BackendConfig& config, int32_t device_index, Bf16 bf16)
    : stored_(plan), plan_(bf16 == Bf16::as_f16 ? with_f16(plan) : plan), config_(config), kv_memory_(kv_memory_of(plan_, config_)), device_index_(device_index), segment_rows_(segment_rows(plan_)) {}

CudaExecutor::~CudaExecutor() {
  if (!stream_) return;  // there is nothing on the device
  closing_.emplace(context_);
  for (const Stream* stream : {&mask_stream_, &stream_}) drain(stream->get());  // nothing may still use the memory that goes
}

Status CudaExecutor::load(WeightReader& reader, const LoadProgress& progress, std::optional<DeviceWeights> weights) {
  LoadTimes times;
  INLAY_ASSIGN(context_, PrimaryContext::of(device_index_));
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_ASSIGN(const CudaDevice device, describe_cuda_device(device_index_));
  description_ = device.name + " (" + device.features + ")";
  INLAY_ASSIGN(stream_, make_stream());
  INLAY_ASSIGN(mask_stream_, make_stream());
  INLAY_ASSIGN(masks_are_there_, make_event());
  INLAY_ASSIGN(host_masks_, PinnedBuffer::allocate(mask_bytes(u(limits(plan_, config_).max_logit_rows), plan_.spec.n_vocab), "masks of draws"));
  times.mark("device");
  const bool uploads = !weights;
  if (weights) {
    weights_ = *std::move(weights);
    weights_.use_types_of(plan_);
  } else {
    INLAY_ASSIGN(weights_, DeviceWeights::allocate(plan_));
  }
  INLAY_TRY(take_buffers());
  times.mark("buffers");
  // On zeros, beside the weights; where the system gives no thread, after them.
  std::string parts;
  Task<Status> prepared("inlay-kernels", [&] { return prepare_steps(parts); });
  Status uploaded = uploads ? weights_.upload(stored_, reader, config_.n_threads, progress) : Status();
  times.mark("weights");
  Status status = prepared.get();
  INLAY_TRY(std::move(uploaded));
  INLAY_TRY(std::move(status));
  if (uploads) {
    INLAY_ASSIGN(const bool is_f16, weights_.make_f16(stored_));
    needs_bf16_ = !is_f16;
    if (needs_bf16_) return {};
    times.mark("BF16 as F16");
  } else {
    remark_ += (remark_.empty() ? "" : "; ") + std::string(kNeedsBf16);
  }
  if (prefill_) INLAY_TRY(prefill_->settle_factors());
  times.mark("rest of the kernels", parts);
  INLAY_TRY(check_ways());
  times.mark("check of the ways");
  if (const std::string remark = one_launch_remark(); !remark.empty())
    remark_ += (remark_.empty() ? "" : "; ") + remark;
  load_times_ = times.text();
  return {};
}

Status CudaExecutor::take_buffers() {
  for (const Size& size : sizes(plan_, config_)) {
    INLAY_ASSIGN(b_.*size.buffer, DeviceBuffer::allocate(size.bytes, size.what));
  }
  for (size_t i = 0; i < n_blocks(config_); ++i) INLAY_TRY(take_block(blocks_[i]));
  use_block(0);
  logit_reader_ = LogitReader(b_.slots.as<float>(), config_.n_logit_slots, plan_.spec.n_vocab);
  for (size_t i = 0; i < plan_.ropes.size(); ++i) {
    const std::vector<float>& inv_freq = plan_.ropes[i].inv_freq;
    INLAY_CUDA_TRY(cudaMemcpyAsync(b_.inv_freq.as<float>() + i * inv_freq.size(), inv_freq.data(),
                                   inv_freq.size() * sizeof(float), cudaMemcpyHostToDevice, stream_.get()),
                   "copying RoPE frequencies");
  }
  return {};
}

Status CudaExecutor::take_block(Block& block) {
  const StepLimits most = limits(plan_, config_);
  INLAY_ASSIGN(block.step, StepBlock::allocate(most));
  INLAY_ASSIGN(block.ended, make_event());
  INLAY_ASSIGN(block.part_began, make_timing_event());
  INLAY_ASSIGN(block.part_ended, make_timing_event());
  INLAY_ASSIGN(block.host_results,
               PinnedBuffer::allocate(u(most.max_logit_rows) * sizeof(cuda::SampleRowResult), "drawn tokens"));
  void* results = nullptr;
  INLAY_CUDA_TRY(cudaHostGetDevicePointer(&results, block.host_results.data(), 0), "mapping drawn tokens");
  block.results = static_cast<cuda::SampleRowResult*>(results);
  block.logit_rows.reserve(u(most.max_logit_rows));
  block.sample_rows.reserve(u(most.max_logit_rows));
  block.asked_rows.reserve(u(most.max_sequences));
  return {};
}

void CudaExecutor::use_block(size_t block) {
  block_ = &blocks_[block];
  step_ = &*block_->step;
}

// What steps need besides weights: kernels that are loaded, on the device and of cuBLASLt, and graphs.
Status CudaExecutor::prepare_steps(std::string& parts) {
  LoadTimes times;
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_TRY(open_prefill());
  times.mark("cuBLASLt");
  INLAY_TRY(make_all_graphs());
  times.mark("graphs");
  parts = times.text();
  return {};
}

// Without cuBLASLt, or with one that does not know the device, our own kernels compute its products: not an error, but
// worth a line in the log.
Status CudaExecutor::open_prefill() {
  PrefillProducts::Ways ways{.device_index = device_index_, .mixed_gemm = has_mixed_gemm(config_, device_index_)};
  std::string without;
  if (PrefillProducts::wants_cublas(plan_, ways.mixed_gemm)) {
    std::string name;
    const Result<cublas::Api> api = cublas_of(config_, &name);
    Status status = api.status();
    if (api.ok()) {
      ways.cublas = true;
      status = take_prefill(ways, *api);
      if (status.ok() && prefill_) remark_ = "prompts run on cuBLASLt " + prefill_->version() + " (" + name + ")";
      if (status.code != Code::unsupported) return status;
      status.message += " (" + name + ")";
      ways.cublas = false;
    }
    without = kWithoutCublas + status.message;
  }
  INLAY_TRY(take_prefill(ways, {}));
  if (!prefill_) INLAY_TRY(warm_up_prompts());
  remark_ = prefill_ ? kMixedGemm : "";
  if (!without.empty()) remark_ += (remark_.empty() ? "" : "; ") + without;
  return {};
}

// prefill_, ready for use, if the plan has products for it. Not there after an error.
Status CudaExecutor::take_prefill(PrefillProducts::Ways ways, const cublas::Api& api) {
  if (PrefillProducts::bytes(plan_, prefill_rows(config_), ways) == 0) return {};
  INLAY_ASSIGN(PrefillProducts products,
               PrefillProducts::create(plan_, weights_, ways, api, prefill_rows(config_), stream_.get()));
  prefill_.emplace(std::move(products));
  Status status = prefill_->load_kernels();
  if (status.ok()) status = warm_up_prompts();
  if (!status.ok()) {
    INLAY_TRY(wait_for(stream_.get(), "warming up"));
    prefill_.reset();
  }
  return status;
}

// So that no prompt waits until kernels are loaded: of each kind of layer the first, and the head, with as many rows as
// each kernel is for. What the weights are does not matter.
Status CudaExecutor::warm_up_prompts() {
  const std::vector<bool> runs = first_layers_of_kinds(plan_);
  int32_t before = 0;
  for (const int32_t wanted : {12, 24, 48, config_.max_step_tokens}) {
    const int32_t n = std::min({wanted, config_.max_step_tokens, config_.n_context});
    if (n <= before) continue;
    before = n;
    m_ = n, n_logit_rows_ = n < config_.max_step_tokens ? 1 : std::min(n, config_.n_logit_slots);
    const MadeUpPrompt prompt(n, plan_, config_);
    INLAY_TRY(step_->fill(prompt.batch(), {.rows = m_, .logit_rows = n_logit_rows_, .sequences = 1}));
    INLAY_TRY(step_->copy_fixed(stream_.get()));
    prefills_ = prefill_.has_value();
    if (prefills_) prefill_->begin_step();
    Status status;
    for (const Op& op : plan_.ops) {
      if (status.ok() && op.kind != OpKind::sample && (!is_of_layer(op) || runs[op.layer])) status = launch_op(op);
    }
    prefills_ = false;
    INLAY_TRY(std::move(status));
    INLAY_TRY(wait_for(stream_.get(), "warming up"));  // the next prompt is described in the same memory
  }
  return {};
}

// ---- graphs

Status CudaExecutor::make_all_graphs() {
  for (size_t bucket = 0; bucket < n_graph_buckets(config_); ++bucket) INLAY_TRY(make_graphs(bucket));
  return {};
}

// A decode step of the bucket, and where the engine runs ahead those that follow another one.
Status CudaExecutor::make_graphs(size_t bucket) {
  INLAY_ASSIGN(graphs_without_draws_[bucket], make_graph({.bucket = bucket, .block = 0, .ahead = false, .draws = false}));
  INLAY_ASSIGN(graphs_[bucket], make_graph({.bucket = bucket, .block = 0, .ahead = false, .draws = true}));
  for (size_t i = 0; i < blocks_.size() && config_.run_ahead && bucket < kAheadBuckets; ++i) {
    INLAY_ASSIGN(blocks_[i].ahead_graphs[bucket],
                 make_graph({.bucket = bucket, .block = i, .ahead = true, .draws = true}));
  }
  use_block(0);
  return {};
}

Result<GraphExec> CudaExecutor::make_graph(const GraphStep& step) {
  decodes_ = true;
  takes_drawn_ = step.ahead, draws_ = step.draws;
  Result<GraphExec> graph = build_graph(step);
  decodes_ = takes_drawn_ = false, draws_ = true;
  return graph;
}

// Runs the step once on padding alone, so that every kernel is loaded.
Result<GraphExec> CudaExecutor::build_graph(const GraphStep& step) {
  const size_t bucket = step.bucket;
  use_block(step.block);
  m_ = n_logit_rows_ = kBuckets[bucket];
  INLAY_TRY(step_->fill({}, shape_of(bucket)));
  INLAY_TRY(step_->copy_fixed(stream_.get()));
  if (bucket < kTokenBuckets) INLAY_TRY(make_token_step(bucket));
  INLAY_TRY(try_decode_step(bucket));
  INLAY_TRY(wait_for(stream_.get(), "warming up"));
  cuda::GraphChain chain;
  INLAY_CUDA_TRY(cudaGraphCreate(&chain.graph, 0), "building a decode step's graph");
  const Graph owner(chain.graph);
  chain_ = &chain;
  Status status = step_->copy_fixed(target());
  if (status.ok()) status = launch_decode_step(bucket);
  chain_ = nullptr;
  INLAY_TRY(std::move(status));
  cudaGraphExec_t executable = nullptr;
  INLAY_CUDA_TRY(cudaGraphInstantiate(&executable, chain.graph, 0), "instantiating a decode step's graph");
  return GraphExec(executable);
}

Result<double> CudaExecutor::measure_read_bandwidth() {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  return measure_device_read_bandwidth(stream_.get());
}

// ---- logits and blocks

Result<Backend::Logits> CudaExecutor::logits(int32_t slot) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  return logit_reader_.read(slot, stream_.get());
}

Status CudaExecutor::duplicate_logits(int32_t from_slot, int32_t to_slot) {
  const uint64_t n = u(plan_.spec.n_vocab);
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  logit_reader_.forget(to_slot);
  return cuda_status(cudaMemcpyAsync(b_.slots.as<float>() + u(to_slot) * n, b_.slots.as<float>() + u(from_slot) * n,
                                     n * sizeof(float), cudaMemcpyDeviceToDevice, stream_.get()),
                     "copying logits");
}

Status CudaExecutor::duplicate_kv_block(int32_t kv_group, int32_t from_block, int32_t to_block) {
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  return cuda_status(cuda::launch_copy_block({.pools = b_.kv.data() + kv_memory_.pools_at(kv_group),
                                              .pool_bytes = kv_memory_.between_pools(kv_group),
                                              .block_bytes = kv_memory_.block_bytes(),
                                              .n_pools = kv_memory_.n_pools(kv_group),
                                              .from = from_block,
                                              .to = to_block},
                                             stream_.get()),
                     "copying a block of the KV cache");
}

Status CudaExecutor::move_kv(const KvMove& move) {
  const ModelSpec& s = plan_.spec;
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_ASSIGN(const int32_t* table, step_->copy_table(move.kv_group, move.table, stream_.get()));
  std::vector<int32_t> layers;  // of the group
  for (int32_t l = 0; l < s.n_layers; ++l) {
    if (plan_.kv.layers[static_cast<size_t>(l)].group == move.kv_group) layers.push_back(l);
  }
  for (size_t i = 0, n = 0; i < layers.size(); i += n) {  // as many as have the same RoPE
    const auto rope = [&](size_t at) { return s.layers[static_cast<size_t>(layers[at])].rope; };
    for (n = 1; i + n < layers.size() && rope(i + n) == rope(i);) ++n;
    const LayerRope turns = rope_of(layers[i]);
    INLAY_CUDA_TRY(cuda::launch_move_kv({.pools = b_.kv.data() + kv_memory_.keys_at(layers[i]),
                                         .pool_bytes = kv_memory_.between_pools(move.kv_group),
                                         .block_table = table,
                                         .inv_freq = turns.inv_freq,
                                         .n_layers = static_cast<int32_t>(n),
                                         .n_kv_heads = s.n_kv_heads,
                                         .d_head = s.d_head,
                                         .block_tokens = kKvBlockTokens,
                                         .n_rot = turns.n_rot,
                                         .first = move.first,
                                         .distance = move.distance,
                                         .end = move.end,
                                         .turn = move.turn,
                                         .kv_type = cache(layers[i]).kv_type},
                                        stream_.get()),
                   "moving a part of the KV cache");
  }
  return wait_for(stream_.get(), "moving a part of the KV cache");
}

}  // namespace inlay
