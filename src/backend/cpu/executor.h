// Runs the ops of a Plan with the CPU kernels. One method per op; what it cuts into parallel pieces is its own affair.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cpu/cpu_kernels.h"
#include "src/backend/cpu/packed_weights.h"
#include "src/backend/host_backend.h"
#include "src/backend/host_buffers.h"
#include "src/backend/kv_form.h"
#include "src/backend/kv_memory.h"
#include "src/base/thread_pool.h"

namespace inlay {

class CpuExecutor final : public HostBackend {
 public:
  CpuExecutor(Plan plan, const BackendConfig& config, const cpu::Kernels& kernels);
  Status load(WeightReader& reader, const LoadProgress& progress);

  std::string description() const override;
  const Plan& plan() const override { return plan_; }
  const BackendConfig& config() const override { return config_; }
  MemoryNeeds memory() const override;
  Status duplicate_logits(int32_t from, int32_t to) override {
    logits_->duplicate(from, to);
    return {};
  }
  Status move_kv(const KvMove& move) override;
  const KvMemory& kv_memory() const override { return memory_of_kv_; }
  KvForm kv_form() const override;
  Result<double> measure_read_bandwidth() override { return measure_host_read_bandwidth(config_.n_threads); }

  void take_pages();
  static KvMemory kv_memory_of(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels);
  static uint64_t prepared_bytes(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels);
  static uint64_t expert_row_bytes(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels) {
    return expert_areas(plan, config, kernels).n_bytes;
  }
  static uint64_t attention_workspace_bytes(const BackendConfig& config, const cpu::Kernels& kernels);  // of all threads
  static uint64_t attention_scratch_bytes(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels);

 private:
  static constexpr size_t kForms = 3;
  static constexpr int64_t kSerialRows = 2;  // so few rows of small work are not worth waking threads for
  struct FormAreas {
    std::array<uint64_t, kForms> at{};
    uint64_t n_bytes = 0;
  };
  static FormAreas expert_areas(const Plan& plan, const BackendConfig& config, const cpu::Kernels& kernels);

  // Tokens that go to one expert: their places follow one another.
  struct ExpertGroup {
    int32_t expert, first_place, n_places;
  };

  // One matrix of a set that reads the same activations and is computed in one parallel loop.
  struct Product {
    WeightIndex weight;
    const float* bias;
    float* out;
    int64_t ld_out;
    bool add;
  };

  std::byte* kv_cache() override { return kv_.data(); }
  std::span<float> logit_row(int32_t slot) override { return logits_->row(slot); }
  const float* hidden_row(int32_t row) const override { return a_.hidden + int64_t{row} * plan_.spec.d_model; }
  Status row_logits(int32_t first_row, std::span<float> out) override;
  Status score_rows(std::span<const float> logits, std::span<const int32_t> next, const StepResults& results) override;
  Status run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) override;
  Status run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) override;
  Result<Tap> observe(const Op& op, const StepBatch& batch) override;
  void embed(const Op& op, const StepBatch& batch);
  void attn_in(const Op& op, const StepBatch& batch);
  void shape_heads(const Op& op, const StepBatch& batch, int64_t m_begin, int64_t m_end);
  void append_kv(const Op& op, const StepBatch& batch);
  void attention(const Op& op, const StepBatch& batch);
  size_t attend_slices(const Op& op, const StepBatch& batch, size_t first);
  void ffn_in(const Op& op, const StepBatch& batch);
  // Into a_.gate, from rows of x that are still to be normed unless norm is null.
  struct GateUp {
    WeightIndex gate, up;
    const float *gate_bias = nullptr, *up_bias = nullptr;
    const float* norm = nullptr;
    int64_t d_ff = 0;
  };
  void gate_and_up(const GateUp& matrices, const float* x, int64_t m);
  void moe_route(const Op& op, const StepBatch& batch);
  void group_pairs(int64_t m);
  void prepare_places(std::span<const WeightIndex> weights, const float* x, int64_t m, bool x_of_place);
  cpu::LinearArgs args_of_expert(const Op& op, size_t weight_slot, size_t bias_slot, const ExpertGroup& group, float* out) const;
  void moe_in(const Op& op, const StepBatch& batch);
  void moe_out(const Op& op, const StepBatch& batch);
  void add_experts(int64_t row, int64_t first);
  Tap observe_experts(int64_t m);
  // All tiles of the experts that were chosen in one loop: body(group, first tile, end).
  template <class Body>
  void for_expert_tiles(int64_t n_tiles, const Body& body);
  void project(const Op& op, const float* x, int64_t m);
  void cap_logits(float* logits, int64_t m);

  const cpu::LinearKernel& kernel_of(WeightIndex i) const { return kernels_.linear[static_cast<size_t>(plan_.weights[i].dtype)]; }
  cpu::LinearArgs args_of(const Product& product, int64_t m) const;
  // Norm (unless norm_weight is null) and preparation of m rows for every form that the products need.
  void prepare(std::span<const Product> products, const float* x, const float* norm_weight, int64_t n_cols, int64_t m);
  void multiply(std::span<const Product> products, int64_t m, const WorkPiece& piece = {});
  template <class Work>
  void for_rows(int64_t m, const Work& work);
  AttentionArgs attention_args(const Op& op, const StepBatch& batch, const SequenceSlice& slice);

  const float* vector(const Op& op, size_t weight_slot) const { return weights_.vector(op.weights[weight_slot]); }
  const int32_t* block_table(const Op& op, const StepBatch& batch, const SequenceSlice& slice) const {
    return batch.block_table(slice, plan_.kv.layers[op.layer].group);
  }
  int64_t d_qkv() const { return plan_.spec.d_q() + 2 * plan_.spec.d_kv(); }
  std::byte* k_pool(int32_t layer) { return kv_.data() + memory_of_kv_.keys_at(layer); }
  std::byte* v_pool(int32_t layer) { return kv_.data() + memory_of_kv_.values_at(layer); }
  int64_t block_stride(int32_t layer) const { return static_cast<int64_t>(memory_of_kv_.block_stride(layer)); }
  std::byte* prepared(cpu::ActivationForm form) { return prepared_.data() + static_cast<size_t>(form) * prepared_stride_; }

  const Plan plan_;
  const BackendConfig config_;
  const cpu::Kernels& kernels_;
  const float fine_above_;  // which activations have 16 bits: Kernels::prepare
  ThreadPool pool_;
  PackedWeights weights_;
  HostActivations a_;
  std::optional<LogitSlots> logits_;
  const KvMemory memory_of_kv_;
  HostBuffer kv_;        // as memory_of_kv_ has it
  HostBuffer prepared_;  // one area per activation form
  uint64_t prepared_stride_ = 0;
  HostBuffer attention_scratch_, attention_workspace_;

  // Slices of one attention loop: their arguments, first work item and scratch offset.
  struct SliceWork {
    AttentionArgs args;
    int64_t first_item;
    uint64_t scratch_offset;
  };
  std::vector<SliceWork> slice_work_;  // capacity max_sequences

  // The pairs of a token and one of its experts in the order of their experts, and of their tokens within one.
  struct Routing {
    std::vector<int32_t> experts;      // (tokens, n_used)
    std::vector<int32_t> place_token;  // whose a place is
    std::vector<int32_t> pair_place;   // (tokens, n_used)
    std::vector<ExpertGroup> groups;   // of experts that were chosen
    std::vector<int32_t> counts;       // (n_experts)
  } routing_;
  HostBuffer expert_rows_;  // prepared activations of places, an area for each form
  FormAreas expert_areas_;
  std::vector<float> observed_;  // pairs in their order, for a tap
};

}  // namespace inlay
