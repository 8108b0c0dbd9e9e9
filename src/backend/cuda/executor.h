// Runs the ops of a Plan on one GPU. A decode step replays a graph made once per number of rows; everything that
// varies lies in device memory, so a graph is never patched.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "kernels/cuda/cuda_kernels.h"
#include "kernels/cuda/moe_kernels.h"
#include "src/backend/backend.h"
#include "src/backend/cuda/context.h"
#include "src/backend/cuda/cuda_backend.h"
#include "src/backend/cuda/device.h"
#include "src/backend/cuda/device_weights.h"
#include "src/backend/cuda/logit_reader.h"
#include "src/backend/cuda/op_timer.h"
#include "src/backend/cuda/prefill.h"
#include "src/backend/cuda/step_arrays.h"
#include "src/backend/kv_form.h"
#include "src/backend/kv_memory.h"
#include "src/base/mutex.h"

namespace inlay {

// What a row of logits that a kernel has looked through says.
Status logit_status(cuda::RowError error, int32_t bad_token, int32_t n_vocab);

class CudaExecutor final : public Backend, private OpRunner {
 public:
  enum class Bf16 : uint8_t { as_f16, as_it_is };  // how matrices of BF16 are held: F16 has three bits more for what they are multiplied with
  CudaExecutor(const Plan& plan, const BackendConfig& config, int32_t device_index, Bf16 bf16);
  ~CudaExecutor() override;
  // weights: those that another one has uploaded, instead of the reader's.
  Status load(WeightReader& reader, const LoadProgress& progress, std::optional<DeviceWeights> weights = {});
  // After a load as F16: it would lose too much of the weights, which are on the device as they are. Then this one is of no use but for them.
  bool needs_bf16() const { return needs_bf16_; }
  DeviceWeights take_weights() { return std::move(weights_); }

  std::string description() const override { return description_; }
  const Plan& plan() const override { return stored_; }
  const BackendConfig& config() const override { return config_; }
  MemoryNeeds memory() const override { return needs(plan_, config_, device_index_); }
  BackendCounters counters() const override { return cuda_counters(); }
  std::string remark() const override { return remark_; }
  std::string load_times() const override { return load_times_; }
  Result<Ticket> begin(const StepBatch& batch, std::span<const StepUnit> units) override;
  Status advance(Ticket ticket, size_t n_units) override;
  Status wait(Ticket ticket, const StepResults& results) override;
  bool computes_by_itself() const override { return true; }
  Result<TicketProgress> poll(Ticket ticket) override;
  Status cancel(Ticket ticket) override;
  int32_t max_sequences_in_units() const override { return std::min(config_.max_sequences, kBuckets.back()); }
  int32_t max_sequences_ahead() const override { return std::min(config_.max_sequences, kBuckets[kAheadBuckets - 1]); }
  Result<Logits> logits(int32_t slot) override;
  Status duplicate_logits(int32_t from_slot, int32_t to_slot) override;
  Status duplicate_kv_block(int32_t kv_group, int32_t from_block, int32_t to_block) override;
  Status move_kv(const KvMove& move) override;
  bool cuts_change_bits() const override { return true; }
  bool asks_beside_singles() const override { return false; }  // one segment, whose kernels are others
  const KvMemory& kv_memory() const override { return kv_memory_; }
  KvForm kv_form() const override;
  Status copy_kv_to_host(const KvBlocks& blocks, std::byte* to) override;
  Status copy_kv_from_host(const KvBlocks& blocks, const std::byte* from) override;
  Status copy_logits_to_host(int32_t slot, std::byte* to) override;
  Status copy_logits_from_host(int32_t slot, const std::byte* from) override;
  Status wait_for_copies() override;
  Result<std::span<std::byte>> take_host_memory(uint64_t bytes) override;
  Result<double> measure_read_bandwidth() override;

  static MemoryNeeds needs(const Plan& plan, const BackendConfig& config, int32_t device_index);

 private:
  static constexpr std::array<int32_t, 9> kBuckets = {1, 2, 4, 8, 16, 32, 40, 48, 64};  // rows of a decode step that is a graph
  static constexpr int32_t kLeastSegmentRows = 32;
  // Single tokens that run together. Quantized products of more than 32 rows take longer than two of half as many; others, and experts, do not.
  static int32_t segment_rows(const Plan& plan);
  static constexpr BlockShape shape_of(size_t bucket) {
    return {.rows = kBuckets[bucket], .logit_rows = kBuckets[bucket], .sequences = kBuckets[bucket]};
  }
  static constexpr size_t kTokenBuckets = 4;  // that the token kernel has a form for: up to 8 rows
  static constexpr size_t kAheadBuckets = 5;  // that steps are begun ahead for
  static constexpr size_t kForms = 4;
  static size_t n_graph_buckets(const BackendConfig& config);  // that steps have graphs for
  // Draws that have room in the sampling scratch.
  static int32_t drawn_rows(const BackendConfig& config) { return std::max(config.n_logit_slots, kBuckets[n_graph_buckets(config) - 1]); }
  static int32_t prefill_rows(const BackendConfig& config) {
    return std::max({config.max_step_tokens, config.n_logit_slots, kBuckets.back()});
  }

  // Intermediates, rows are tokens.
  struct Buffers {
    DeviceBuffer hidden;         // (rows, d_model) f32
    DeviceBuffer qkv;            // (rows, d_q + 2 d_kv) f32
    DeviceBuffer heads;          // (rows, d_q) f32
    DeviceBuffer ffn;            // (rows, widest_ffn) f32
    DeviceBuffer routing;        // of a layer of experts
    DeviceBuffer expert_ffn;     // (places, d_ff_expert) f32
    DeviceBuffer expert_out;     // (places, d_model) f32
    DeviceBuffer shared_out;     // (rows, d_model) f32
    DeviceBuffer head_rows;      // (logit rows, d_model) f32
    DeviceBuffer logit_rows;     // (logit rows, n_vocab) f32
    DeviceBuffer slots;          // (logit slots, n_vocab) f32
    DeviceBuffer added;          // (rows, d_model) f32, what post norms take
    DeviceBuffer prepared;       // Activations of the rows, one form at a time
    DeviceBuffer rope;           // (tables, rows of a decode step, n_rot / 2) cosine and sine
    DeviceBuffer attention;      // scratch
    DeviceBuffer sample;         // scratch
    DeviceBuffer inv_freq;       // (tables, n_rot / 2)
    DeviceBuffer scores;         // of all rows of a step: tokens, RowScore, likeliest tokens
    DeviceBuffer drawn;          // (logit rows) tokens, for the step that follows
    DeviceBuffer masks;          // (logit rows, mask words) of masked draws
    DeviceBuffer token_phases;   // of the token kernel: for every block a table for each of kTokenBuckets
    DeviceBuffer token_values;   // hidden, qkv, heads, ffn of token_rows, each from a multiple of token_part on
    DeviceBuffer token_x;        // hidden, heads, ffn of several rows as products take them
    DeviceBuffer token_records;  // of its attention
    DeviceBuffer kv;             // as KvMemory has it
  };
  struct Size {
    DeviceBuffer Buffers::*buffer;
    uint64_t bytes;
    const char* what;
  };
  static std::vector<Size> sizes(const Plan& plan, const BackendConfig& config);
  static StepLimits limits(const Plan& plan, const BackendConfig& config);

  // One product of a set that reads the same rows.
  struct Product {
    PackedMatrix matrix{};
    const float* bias = nullptr;
    float* out = nullptr;
    const int32_t* out_rows = nullptr;  // on the device; null: rows stay where they are
    int64_t ld_out = 0;
    cuda::Epilogue epilogue = cuda::Epilogue::store;
    const char* what = "";
    const float* up_bias = nullptr;  // of gate_up
    float factor = 1, soft_cap = 0;
    float* const* mirrors = nullptr;  // on the device; of each row, or null
  };
  struct Rows {
    const float* x = nullptr;  // (rows, n_cols)
    WeightIndex norm = kNoWeight;
    const int32_t* map = nullptr;  // on the device: which rows of x; null: the first m
    int32_t m = 0;
  };

  Status take_buffers();
  Status prepare_steps(std::string& parts);
  Status open_prefill();
  Status take_prefill(PrefillProducts::Ways ways, const cublas::Api& api);
  Status warm_up_prompts();
  // self_check.cpp
  enum class Way : uint8_t { single_launches, one_launch, clusters, prompts };
  Status check_ways();
  Status check_one_launch();
  Status check_products();
  Result<std::vector<float>> checked_logits(const StepBatch& batch, Way way);
  Result<std::vector<float>> checked_projection(const Op& op, std::span<const float> x, int32_t m, Way way);
  void refuse(Way way);
  // steps.cpp
  struct Block;
  Status end_failed_step();
  Block* block_of(Ticket ticket);
  Status ended(Status status);
  Status check_behind(const Block& open, const StepBatch& batch) const;
  int32_t bucket_of(const StepBatch& batch) const;
  // How many draws have room in a step's lists and in the scratch; draw_rest() makes the others.
  size_t first_draws(std::span<const SampleRow> rows) const {
    return std::min(fitting_draws(rows, limits(plan_, config_).max_list), static_cast<size_t>(drawn_rows(config_)));
  }
  Status describe(const StepBatch& batch, std::span<const StepUnit> units);
  Status queue(size_t n_units);
  Status replay();
  Status launch_units(std::span<const StepUnit> units);
  Status run_segment(std::span<const StepUnit> units, const StepSegment& segment);
  Status finish(const StepResults& results);
  Status draw_masked();
  Status draw_rest(std::span<Draw> draws);
  Status send_masks(std::span<const SampleRow> rows);
  void read_results(std::span<const SampleRow> rows, std::span<Draw> draws);
  // scores.cpp
  Status read_rows(const StepResults& results);
  Status queue_row_logits(int32_t first_row, std::span<float> out);
  Status queue_scores(std::span<const AskedRows> ranges, const StepResults& results, std::span<cuda::RowScore> scores);
  Status logits_of_rows(int32_t first_row, int32_t n);
  static uint64_t score_bytes(uint64_t rows);
  // Steps that are graphs, for one block of their input; `ahead`: whose tokens are those that the step before has drawn;
  // `draws`: that end with draws.
  struct GraphStep {
    size_t bucket, block;
    bool ahead, draws;
  };
  static size_t n_blocks(const BackendConfig& config) { return config.run_ahead ? 2 : 1; }
  void use_block(size_t block);
  Status make_all_graphs();
  Status make_graphs(size_t bucket);
  Result<GraphExec> make_graph(const GraphStep& step);
  Result<GraphExec> build_graph(const GraphStep& step);
  bool is_inspected() const { return inspection_.tap || inspection_.time; }

  cuda::LaunchTarget target() { return chain_ ? cuda::LaunchTarget(*chain_) : cuda::LaunchTarget(stream_.get()); }
  Status run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) override;
  Status run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) override;
  Result<Tap> observe(const Op& op, const StepBatch& batch) override;
  Status begin_times(size_t n_moments) override { return timer_.begin(n_moments, stream_.get()); }
  Status note_moment(size_t k) override { return timer_.note(k, stream_.get()); }
  Result<double> microseconds_between(size_t from, size_t to) override { return timer_.microseconds(from, to); }
  Status launch_op(const Op& op);
  bool is_prefill(const Op& op) const;
  Status launch_prefill_op(const Op& op);
  Status embed(const Op& op, float* hidden, bool tagged);
  Status attn_in(const Op& op);
  Status attention(const Op& op);
  Status attention_of_rows(const Op& op, const RowRun& run);
  Status ffn_in(const Op& op);
  // Two matrices of a feed-forward network that every row goes through, into ffn.
  struct GateUp {
    WeightIndex gate = kNoWeight, up = kNoWeight, gate_bias = kNoWeight, up_bias = kNoWeight;
    int64_t d_ff = 0;
  };
  Status gate_and_up(const GateUp& matrices, const Rows& rows);
  Status moe_route(const Op& op);
  Status moe_in(const Op& op);
  Status moe_out(const Op& op);
  Result<Tap> observe_experts(const Op& op);
  static cuda::MoeShape moe_shape(const MoeSpec& moe, int32_t m);
  static uint64_t prepared_bytes(const Plan& plan, uint64_t rows);
  static void add_expert_sizes(const Plan& plan, uint64_t rows, std::vector<Size>& sizes);
  // For all places; x: a row of a step, or where `of_places` a place's.
  struct ExpertRows {
    const float* x;
    WeightIndex norm;
    bool of_places;
  };
  Status multiply_experts(std::span<const Product> products, const ExpertRows& rows);
  Status project(const Op& op, const float* x);
  Status shape_heads(const Op& op);
  Status head(const Op& op);
  Product logits_product(const PackedMatrix& matrix, float* out) const;
  Status sample();
  Status prompt_head(const Op& op);
  Status make_logits(const Op& op);
  Status scatter_logits();
  int32_t scored_rows() const { return limits(plan_, config_).max_logit_rows; }  // at once
  Status rope_tables();
  Status norm_width(const Op& op);
  Status add_normed(const float* post_norm);
  Status decode_attention(const Op& op);
  cuda::LinearArgs arguments(const Product& p, const Rows& rows);
  int32_t group_rows_of(std::span<const Product> products, int32_t m) const;
  Status prepare(const cuda::LinearArgs& args, const Rows& rows, cuda::ActivationForm form);
  Status multiply(std::span<const Product> products, const Rows& rows);
  Status launch_product(const cuda::LinearArgs& args, const char* what);
  Status make_token_step(size_t bucket);
  std::optional<cuda::TokenLaunch>& token_step(size_t bucket);
  std::string one_launch_remark() const;  // what the log says of it; may be empty
  std::byte* token_table(size_t bucket);
  Status record_layers(std::vector<cuda::TokenOp>& ops);
  void move_to_token_memory(std::vector<cuda::TokenOp>& ops);
  Status tag_token_memory();
  static int64_t token_part(int64_t n) { return (n + 63) / 64 * 64; }
  static int32_t token_rows(const BackendConfig& config);
  static uint64_t token_value_bytes(const ModelSpec& spec, int32_t n_rows);
  static uint64_t token_x_bytes(const ModelSpec& spec, int32_t n_rows);
  static int32_t most_token_ops(const Plan& plan);
  Status launch_decode_step(size_t bucket);
  Status try_decode_step(size_t bucket);
  Status launch_in_segments(int32_t n_rows);
  Status copy_kv(const KvBlocks& blocks, std::byte* host, cudaMemcpyKind kind);

  cuda::CacheView cache(int32_t layer);
  cuda::AttentionVariant variant(const Op& attention) const;
  // How a layer rotates heads; n_rot 0: not at all.
  struct LayerRope {
    const float* inv_freq = nullptr;
    const float2* turns = nullptr;  // of a decode step's rows
    int32_t n_rot = 0;
    float magnitude = 1;
  };
  LayerRope rope_of(int32_t layer);
  // The norms of single heads, if the model has these.
  const float* head_norm(const Op& attn_in, size_t at) const;
  int64_t d_qkv() const { return plan_.spec.d_q() + 2 * plan_.spec.d_kv(); }

  PrimaryContext context_;
  std::optional<ContextScope> closing_;  // while the members below are destroyed
  const Plan stored_;  // as the host knows it
  const Plan plan_;    // with the types that the weights are held in
  const BackendConfig config_;
  const KvMemory kv_memory_;
  const int32_t device_index_;
  const int32_t segment_rows_;
  std::string description_, remark_, load_times_;
  Stream stream_;
  Stream mask_stream_;  // masks come over while a step computes
  Event masks_are_there_;
  PinnedBuffer host_masks_;
  DeviceWeights weights_;
  std::optional<PrefillProducts> prefill_;  // where there is the mixed GEMM or cuBLASLt
  bool prefills_ = false;                   // the step at hand: every sequence has several tokens
  bool decodes_ = false;                    // the step at hand: every sequence has one token, and attention shapes its heads
  bool needs_bf16_ = false;
  bool is_running_ = false;                 // work was queued and not waited for: a step failed
  Buffers b_;
  // The layers and the head of a step of few rows as one launch, where the device can.
  std::array<std::array<std::optional<cuda::TokenLaunch>, kTokenBuckets>, 2> token_steps_;  // of a block's arrays
  bool one_launch_is_refused_ = false, one_launch_is_wrong_ = false;
  bool has_group_rows_ = true;  // products by clusters, where the device has them
  std::vector<cuda::TokenOp>* recorded_ = nullptr;  // instead of being launched, products and attention go here
  // A ticket's input and results. Engines that run ahead have a second one.
  struct Block {
    std::optional<StepBlock> step;
    Event ended;
    Event part_began, part_ended;              // what the last advance() has queued, of a batch that is timed
    PinnedBuffer host_results;                 // (logit rows) SampleRowResult, which the device writes
    cuda::SampleRowResult* results = nullptr;  // the device's address of them
    std::array<GraphExec, kAheadBuckets> ahead_graphs;
    Ticket ticket;  // none: free
    std::vector<LogitRow> logit_rows;
    std::vector<SampleRow> sample_rows;
    std::vector<AskedRows> asked_rows;
    RowValues asked = RowValues::hidden;
    std::span<const StepUnit> units;
    size_t n_queued = 0;  // of them
    size_t n_first = 0;   // draws that are made with the step
    BlockShape shape;
    int32_t bucket = -1;
    bool replays = false, takes_drawn = false;  // replays: as a graph
    bool is_masked = false;  // some draws are: wait() queues them all
    bool is_timed = false;
  };
  Status take_block(Block& block);
  std::array<Block, 2> blocks_;
  Block* block_ = nullptr;       // in use
  StepBlock* step_ = nullptr;    // the block's
  cuda::GraphChain* chain_ = nullptr;  // instead of being launched, a step's operations become its nodes
  bool takes_drawn_ = false;     // a graph is made of a step whose tokens the step before draws
  bool draws_ = true;            // unless a graph is made of a step that ends with its logits
  uint64_t n_tickets_ = 0;
  LogitReader logit_reader_;
  Mutex host_memory_mutex_;
  std::vector<PinnedBuffer> host_memory_ INLAY_GUARDED_BY(host_memory_mutex_);  // of copies
  std::array<GraphExec, kBuckets.size()> graphs_, graphs_without_draws_;
  int32_t m_ = 0;             // rows of the step at hand, padding included
  int32_t n_logit_rows_ = 0;  // likewise; also the draws
  std::vector<float> observed_;
  OpTimer timer_;
};

}  // namespace inlay
