// Tickets of backends whose work is done by the thread that waits.
#pragma once

#include <array>
#include <vector>

#include "src/backend/kv_memory.h"
#include "src/backend/step_lists.h"
#include "src/base/alloc.h"
#include "src/base/mutex.h"

namespace inlay {

class HostBackend : public Backend, protected OpRunner {
 public:
  Result<Ticket> begin(const StepBatch& batch, std::span<const StepUnit> units) final;
  Status advance(Ticket ticket, size_t n_units) final;
  Status wait(Ticket ticket, const StepResults& results) final;
  bool computes_by_itself() const final { return inspection_.progress != nullptr; }
  bool asks_beside_singles() const final { return inspection_.progress == nullptr; }
  Result<TicketProgress> poll(Ticket ticket) final;
  Status cancel(Ticket ticket) final;
  Result<Logits> logits(int32_t slot) final { return Logits{logit_row(slot)}; }
  Status duplicate_kv_block(int32_t kv_group, int32_t from, int32_t to) final;
  Status copy_kv_to_host(const KvBlocks& blocks, std::byte* to) final;
  Status copy_kv_from_host(const KvBlocks& blocks, const std::byte* from) final;
  Status copy_logits_to_host(int32_t slot, std::byte* to) final;
  Status copy_logits_from_host(int32_t slot, const std::byte* from) final;
  Status wait_for_copies() final { return {}; }
  Result<std::span<std::byte>> take_host_memory(uint64_t bytes) final;

 protected:
  void take_lists(const Plan& plan, const BackendConfig& config);  // once, before the first step

  virtual std::byte* kv_cache() = 0;                        // as kv_memory() has it
  virtual std::span<float> logit_row(int32_t slot) = 0;     // (n_vocab)
  // Of rows of the step at hand, whose layers have run.
  virtual const float* hidden_row(int32_t row) const = 0;                  // (d_model)
  virtual Status row_logits(int32_t first_row, std::span<float> out) = 0;  // (rows, n_vocab)
  // Of at most kRowsAtOnce rows, from their logits, (rows, n_vocab).
  virtual Status score_rows(std::span<const float> logits, std::span<const int32_t> next, const StepResults& results);
  static constexpr size_t kRowsAtOnce = 16;

 private:
  struct Step {
    Ticket ticket;
    StepLists lists;
    std::span<const StepUnit> units;
    size_t n_queued = 0, n_done = 0;
  };
  Step* find(Ticket ticket);
  Status run_queued(Step& step, const StepResults& results);
  Status read_rows(const StepBatch& batch, const StepResults& results);

  std::array<Step, kMostTickets> steps_;
  std::vector<int32_t> drawn_;  // by the ticket that ended last
  uint64_t n_tickets_ = 0;
  Mutex host_memory_mutex_;
  std::vector<HostBuffer> host_memory_ INLAY_GUARDED_BY(host_memory_mutex_);
};

Status unknown_ticket();

}  // namespace inlay
