// Tickets of backends whose work is done by the thread that waits.
#pragma once

#include <array>
#include <vector>

#include "src/backend/step_lists.h"

namespace inlay {

class HostBackend : public Backend, protected OpRunner {
 public:
  Result<Ticket> begin(const StepBatch& batch, std::span<const StepUnit> units) final;
  Status advance(Ticket ticket, size_t n_units) final;
  Status wait(Ticket ticket, const StepResults& results) final;
  Status cancel(Ticket ticket) final;

 protected:
  void take_lists(const Plan& plan, const BackendConfig& config);  // once, before the first step

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
};

Status unknown_ticket();

}  // namespace inlay
