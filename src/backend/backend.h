// What executes the Plan: one object per device and loaded model. It owns the weights in its own form, the KV pool and
// all intermediates, taken once; steps allocate nothing.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "src/backend/step_batch.h"
#include "src/base/status.h"
#include "src/plan/plan.h"
#include "src/plan/step_units.h"
#include "src/sampler/score.h"

namespace inlay {

// fp8 and int8: one byte a value and an F32 scale for every token and head, on GPUs.
enum class KvDType : uint8_t { f16, f32, fp8, int8 };

// A number of blocks for each KV group; a single number is that of every group.
class KvBlockCounts {
 public:
  KvBlockCounts(int32_t of_every_group) : counts_{of_every_group} {}
  explicit KvBlockCounts(std::vector<int32_t> of_groups) : counts_(std::move(of_groups)) {}
  int32_t operator[](size_t group) const { return counts_.size() == 1 ? counts_[0] : counts_[group]; }

 private:
  std::vector<int32_t> counts_;
};

struct BackendConfig {
  KvBlockCounts n_kv_blocks = 0;  // of kKvBlockTokens positions, in each layer of the group
  int32_t max_step_tokens = 512;  // tokens of one StepBatch
  int32_t max_sequences = 1;      // slices of one StepBatch
  int32_t n_logit_slots = 1;      // logit rows kept, and at most written or sampled in one step
  int32_t n_context = 0;          // longest sequence
  int32_t n_threads = 1;
  KvDType kv_dtype = KvDType::f16;
  bool allow_token_kernel =
      true;                      // cuda: all layers of a step of one row in one launch, where there is a kernel for it
  bool allow_cublas = true;      // cuda: products of many rows by cuBLASLt where the machine has it
  bool allow_mixed_gemm = true;  // cuda: products of many rows and quantized weights without dequantizing, on sm_90
  bool always_group_rows = false;  // cuda: products of 9 to 32 rows by clusters, on sm_90, even where they do not pay
  bool take_pages_later = false;   // cpu: the workspace's, at their first use and not while weights are read
  bool exact_activations = false;  // cpu: 16 bits for all activations of quantized products
  bool run_ahead = false;          // two tickets will be open at once; then there are two logit slots for a sequence
};

// Bytes by purpose.
struct MemoryNeeds {
  uint64_t weights = 0;
  uint64_t kv = 0;
  uint64_t workspace = 0;
  uint64_t total() const { return weights + kv + workspace; }
};

// What was asked of the device since the process began, by all engines together; host backends count nothing.
struct BackendCounters {
  uint64_t n_allocations = 0, n_frees = 0;                // device memory
  uint64_t n_pinned_allocations = 0, n_pinned_frees = 0;  // page-locked host memory
  uint64_t n_host_waits = 0;                              // the host stood still until the device was done
  uint64_t n_graph_launches = 0;
};

// After each op: what it left behind. values: (n_rows, n_cols), valid during the call.
struct Tap {
  int32_t op_index;
  const Op* op;
  const char* what;
  const float* values;
  int64_t n_rows, n_cols;
};

// How long an op took on the device, from the beginning of the step's first op.
struct OpTime {
  int32_t op_index = 0;
  double begin_us = 0, us = 0;
};

// What has become of a ticket's queued units.
struct TicketProgress {
  bool is_done = false;
  double seconds = 0;  // that the device took for those queued by the last advance(), once they are done; 0: not known
};

// For finding the first op that differs between two backends, and for profiles; never set in normal use.
struct Inspection {
  int32_t tap_op = -1;  // the only op index that is tapped; -1: all are
  std::function<void(const Tap&)> tap;
  std::function<void(const OpTime&)> time;  // after the last op, once for each that was run, in their order
  std::function<Status()> fault;            // what a wait of a host backend that has computed comes to, as of a device that fails
  // A host backend then passes for a device: it computes by itself, poll() is what this says, and single tokens and asked rows are kept apart.
  std::function<TicketProgress()> progress;
  std::function<void(std::span<const StepUnit>)> launch;  // of a host backend: these are queued
};

class KvMemory;
struct KvForm;

// Told during loading: bytes of weights done and in all. False cancels.
using LoadProgress = std::function<bool(uint64_t done, uint64_t total)>;

// A step that a backend has taken. Numbers are never used again.
struct Ticket {
  uint64_t number = 0;  // 0: none
  explicit operator bool() const { return number != 0; }
  bool operator==(const Ticket&) const = default;
};
inline constexpr size_t kMostTickets = 2;

// Where a step's results go.
struct StepResults {
  std::span<Draw> draws = {};         // of each sample row
  std::span<float> rows = {};         // RowValues::hidden: (asked rows, d_model); logits: (asked rows, n_vocab)
  std::span<TokenScore> scores = {};  // RowValues::scores: (asked rows)
  std::span<TokenLogprob> top = {};   // likewise: (asked rows, n_top), the likeliest tokens as score_row() gives them
  int32_t n_top = 0;

  // Of n of the asked rows.
  StepResults part(size_t first, size_t n, size_t row_width) const;
};

// Steps run as tickets: docs/design/step-contract.md. One at a time and in the order of begin(); a second one may be open whose tokens the
// first one draws. A ticket ends when its last unit has been waited for, when it is cancelled, and with any error of its own.
class Backend {
 public:
  virtual ~Backend() = default;

  virtual std::string description() const = 0;
  virtual const Plan& plan() const = 0;
  virtual const BackendConfig& config() const = 0;
  virtual MemoryNeeds memory() const = 0;
  virtual BackendCounters counters() const { return {}; }
  virtual std::string remark() const {
    return {};
  }  // how it runs where there is a choice, for the log; empty: nothing to say
  virtual std::string load_times() const {
    return {};
  }  // LoadTimes::text() of its parts, for the log; empty: not measured

  // Checks and copies the batch; nothing is queued. What `units` and the batch's sample rows and asked rows point to stays until the ticket
  // has ended. units: parts of step_units(plan()), or joined ones, from the first to the last that this step has;
  // several only for a step of single tokens or of prompts, not of both.
  virtual Result<Ticket> begin(const StepBatch& batch, std::span<const StepUnit> units) = 0;
  // Queues the next n_units units. A ticket whose units are not all queued ends before another one's are.
  virtual Status advance(Ticket ticket, size_t n_units) = 0;
  // Until what was queued is done; on the CPU it is done here. With the last unit the results are written and the ticket has ended. Until
  // then the logits are those of before.
  virtual Status wait(Ticket ticket, const StepResults& results) = 0;
  // Whether what is queued goes on while the host does something else; if not, wait() computes it.
  virtual bool computes_by_itself() const { return false; }
  // Of a ticket whose batch is timed, without waiting: what is done only waits to be collected by wait().
  virtual Result<TicketProgress> poll(Ticket ticket) = 0;
  // What it was to compute is not used; waits until the device is done with it.
  virtual Status cancel(Ticket ticket) = 0;

  // Whether single tokens of a step in which rows are asked for keep the bits that they have in others.
  virtual bool asks_beside_singles() const { return true; }
  // Sequences of a step that has several units, and of one that is begun while another is open.
  virtual int32_t max_sequences_in_units() const { return config().max_sequences; }
  virtual int32_t max_sequences_ahead() const { return config().max_sequences; }

  // Logits last written to a slot, (n_vocab): in memory of the backend, there until the slot is written again.
  struct Logits {
    std::span<const float> values;
    bool are_checked = false;  // the device has seen that none is a NaN or +infinity, and one is finite
  };
  virtual Result<Logits> logits(int32_t slot) = 0;
  Status copy_logits(int32_t slot, std::span<float> out);

  virtual Status duplicate_logits(int32_t from_slot, int32_t to_slot) = 0;
  virtual Status duplicate_kv_block(int32_t kv_group, int32_t from_block, int32_t to_block) = 0;
  // What a group's layers have cached of a sequence at positions first + distance to end goes `distance` positions to the
  // front. Keys are turned to where they are `turn` positions further to the front.
  struct KvMove {
    int32_t kv_group = 0;
    std::span<const int32_t> table;  // of the sequence in this group
    int32_t first = 0, distance = 0, end = 0, turn = 0;
  };
  virtual Status move_kv(const KvMove& move) = 0;

  // Whether the bits of a prompt's rows depend on how it was cut into steps.
  virtual bool cuts_change_bits() const { return false; }
  virtual const KvMemory& kv_memory() const = 0;
  virtual KvForm kv_form() const = 0;

  // Blocks of a group in the host's memory: block after block as KvMemory::block_bytes_of() counts, in a block layer after layer, of each layer
  // the keys and then the values.
  struct KvBlocks {
    int32_t kv_group = 0;
    std::span<const int32_t> blocks;
  };
  // Copies are in the order of steps: what is begun behind one sees what it did, and they wait for nothing. The host's memory is of
  // take_host_memory(), and the host leaves it alone until wait_for_copies(). Any thread, for blocks and slots that no step under way writes.
  virtual Status copy_kv_to_host(const KvBlocks& blocks, std::byte* to) = 0;
  virtual Status copy_kv_from_host(const KvBlocks& blocks, const std::byte* from) = 0;
  virtual Status copy_logits_to_host(int32_t slot, std::byte* to) = 0;
  virtual Status copy_logits_from_host(int32_t slot, const std::byte* from) = 0;
  // Until all that was queued is done.
  virtual Status wait_for_copies() = 0;
  // There as long as the backend. Any thread, beside any call.
  virtual Result<std::span<std::byte>> take_host_memory(uint64_t bytes) = 0;

  // Bytes a second of the memory that weights and cache lie in, read once through by all that computes; best of
  // several.
  virtual Result<double> measure_read_bandwidth() = 0;

  void set_inspection(Inspection inspection) { inspection_ = std::move(inspection); }

 protected:
  Inspection inspection_;
};

// Callbacks that end with the step, whatever it comes to.
class InspectionScope {
 public:
  InspectionScope(Backend& backend, Inspection inspection) : backend_(backend) {
    backend_.set_inspection(std::move(inspection));
  }
  ~InspectionScope() { backend_.set_inspection({}); }
  InspectionScope(const InspectionScope&) = delete;
  InspectionScope& operator=(const InspectionScope&) = delete;

 private:
  Backend& backend_;
};

// Refuses a batch that does not fit the plan and the configuration: every index, count and position is checked.
Status validate(const StepBatch& batch, const Plan& plan, const BackendConfig& config);

// The loop over the ops of a step's units: dispatch, taps, times.
class OpRunner {
 public:
  virtual ~OpRunner() = default;

 protected:
  Status run_units(const Plan& plan, std::span<const StepUnit> units, const StepBatch& batch, std::span<Draw> draws, const Inspection& inspection);

  virtual Status run_op(const Op& op, const StepBatch& batch, std::span<Draw> draws) = 0;
  // A part of the head. The logits go to their slots with the last one.
  virtual Status run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) = 0;
  // What the op left behind, for taps; values null if there is nothing to show.
  virtual Result<Tap> observe(const Op& op, const StepBatch& batch) = 0;

  // Moment 0 is before the first op, moment k after the k-th that is run. Here the host's clock; a device has its own.
  virtual Status begin_times(size_t n_moments);
  virtual Status note_moment(size_t k);
  virtual Result<double> microseconds_between(size_t from, size_t to);  // after the last op

 private:
  Status tap(int32_t index, const Op& op, const StepBatch& batch, const Inspection& inspection);
  Status report_times(std::span<const int32_t> ops, const std::function<void(const OpTime&)>& report);

  std::vector<std::chrono::steady_clock::time_point> moments_;
};

// A large buffer of the host's memory, read by n_threads at once.
Result<double> measure_host_read_bandwidth(int32_t n_threads);

}  // namespace inlay
