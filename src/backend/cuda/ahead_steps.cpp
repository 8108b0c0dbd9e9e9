// Decode steps behind the one at hand, whose tokens are on the device before the host knows them: two blocks of input
// and results in turns. docs/design/run-ahead.md
#include <utility>

#include "src/backend/cuda/executor.h"

namespace inlay {

// Puts the step behind what the stream has.
Status CudaExecutor::begin_ahead(const StepBatch& next, size_t block) {
  const auto bucket = static_cast<size_t>(bucket_of(next));
  use_block(block);
  logit_reader_.forget(next.logit_rows);
  INLAY_TRY(step_->fill(next, shape_of(bucket)));
  logit_reader_.mirror(next.logit_rows, *step_);
  INLAY_TRY(launch_graph(block_->ahead_graphs[bucket].get(), stream_.get(), "launching a decode step"));
  INLAY_CUDA_TRY(cudaEventRecord(block_->ended.get(), stream_.get()), "running a step");
  INLAY_TRY(logit_reader_.send(next.logit_rows, stream_.get()));
  begun_ = block;
  return {};
}

Status CudaExecutor::execute_ahead(const StepBatch& batch, std::span<Draw> draws, const StepBatch& next) {
  INLAY_TRY(check_step(batch, draws));
  INLAY_TRY(validate(next, plan_, config_));
  const int32_t bucket = bucket_of(batch);
  begun_lazily_ = bucket < 0 || bucket_of(next) != bucket || first_draws(batch) != draws.size();
  if (begun_lazily_) return Backend::execute_ahead(batch, draws, next);
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_TRY(end_failed_step());
  logit_reader_.forget(batch.logit_rows);
  INLAY_TRY(replay(batch, static_cast<size_t>(bucket)));
  INLAY_CUDA_TRY(cudaEventRecord(block_->ended.get(), stream_.get()), "running a step");
  INLAY_TRY(logit_reader_.send(batch.logit_rows, stream_.get()));
  INLAY_TRY(begin_ahead(next, 1));
  INLAY_TRY(wait_for(blocks_[0].ended.get(), "running a step"));
  use_block(0);
  read_results(draws);
  is_running_ = false;
  return {};
}

Status CudaExecutor::finish_ahead(std::span<Draw> draws, const StepBatch* next) {
  if (begun_lazily_) {
    begun_lazily_ = next != nullptr;
    return Backend::finish_ahead(draws, next);
  }
  if (!begun_) return error(Code::internal, "no step was begun ahead");
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  const size_t block = *std::exchange(begun_, std::nullopt);
  is_running_ = true;
  if (next != nullptr) INLAY_TRY(begin_ahead(*next, 1 - block));
  INLAY_TRY(wait_for(blocks_[block].ended.get(), "running a step"));
  use_block(block);
  read_results(draws);
  is_running_ = false;
  return {};
}

Status CudaExecutor::drop_ahead() {
  begun_lazily_ = false;
  if (!begun_) return {};
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  return wait_for(blocks_[*std::exchange(begun_, std::nullopt)].ended.get(), "ending a step that nobody asked for");
}

}  // namespace inlay
