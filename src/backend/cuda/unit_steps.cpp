// A decode step a part at a time: each op launched by itself, with the shape that the whole step's graph would have.
// The token kernel is left out, because nothing can stop inside of it; its bits are those of the launches.
#include "src/backend/cuda/executor.h"

namespace inlay {

Status CudaExecutor::execute_units(const StepBatch& batch, std::span<const StepUnit> units, std::span<Draw> draws) {
  INLAY_TRY(check_step(batch, draws));
  if (batch.tokens.size() != batch.sequences.size() ||
      batch.tokens.size() > static_cast<size_t>(max_sequences_in_units())) {
    return error(Code::internal, "a step in units has %zu tokens of %zu sequences, expected one of each of at most %d",
                 batch.tokens.size(), batch.sequences.size(), max_sequences_in_units());
  }
  const ContextScope scope(context_);
  INLAY_TRY(scope.status());
  INLAY_TRY(end_failed_step());
  const size_t n = first_draws(batch);
  StepBatch first = batch;
  first.sample_rows = batch.sample_rows.first(n);
  if (units.front().begins_step()) INLAY_TRY(describe_units(first));
  const bool ends = units.back().end_op == static_cast<int32_t>(plan_.ops.size());
  if (ends) logit_reader_.forget(batch.logit_rows);
  decodes_ = true;
  Status status = run_units(plan_, units, first, draws.first(n));
  decodes_ = false;
  INLAY_TRY(std::move(status));
  if (ends) {
    INLAY_TRY(finish_step(first, draws.first(n)));
    INLAY_TRY(draw_rest(batch.sample_rows.subspan(n), draws.subspan(n)));
  } else {
    INLAY_TRY(wait_for(stream_.get(), "running a part of a step"));
  }
  is_running_ = false;
  return {};
}

// The memory keeps the description, and the members the shape, until the step's last unit.
Status CudaExecutor::describe_units(const StepBatch& batch) {
  const int32_t bucket = bucket_of(batch);
  BlockShape shape = {.rows = static_cast<int32_t>(batch.tokens.size()),
                      .logit_rows = static_cast<int32_t>(std::max(batch.logit_rows.size(), batch.sample_rows.size())),
                      .sequences = static_cast<int32_t>(batch.sequences.size())};
  if (bucket >= 0) shape = shape_of(static_cast<size_t>(bucket));
  m_ = shape.rows;
  n_logit_rows_ = shape.logit_rows;
  INLAY_TRY(step_->fill(batch, shape));
  INLAY_TRY(step_->copy_fixed(stream_.get()));
  return step_->copy_lists(stream_.get());
}

// Rows of the head's matrix that are whole tiles of it. The slots keep the logits of the step before until all are
// there.
Status CudaExecutor::run_head_piece(const Op& op, const StepBatch& batch, const WorkPiece& piece) {
  (void)batch;
  if (n_logit_rows_ == 0) return {};
  PackedMatrix matrix = weights_.matrix(op.weights[slot::head]);
  const int64_t n_tiles = (matrix.n_rows + cuda::kTileRows - 1) / cuda::kTileRows;
  const int64_t first_tile = piece.begin(n_tiles), first_row = first_tile * cuda::kTileRows;
  const size_t tile_bytes = cuda::packed_bytes(matrix.dtype, cuda::kTileRows, matrix.n_cols);
  matrix.data = static_cast<const std::byte*>(matrix.data) + static_cast<size_t>(first_tile) * tile_bytes;
  matrix.n_rows = std::min(piece.end(n_tiles) * cuda::kTileRows, matrix.n_rows) - first_row;
  const Product products[] = {{.matrix = matrix,
                               .out = b_.logit_rows.as<float>() + first_row,
                               .ld_out = plan_.spec.n_vocab,
                               .what = "a part of the logits",
                               .factor = plan_.spec.logit_scale,
                               .soft_cap = plan_.spec.logit_softcap}};
  if (matrix.n_rows > 0) {
    INLAY_TRY(multiply(products, {.x = b_.hidden.as<float>(),
                                  .norm = op.weights[slot::norm],
                                  .map = step_->device().logit_rows,
                                  .m = n_logit_rows_}));
  }
  return piece.is_last() ? scatter_logits() : Status();
}

}  // namespace inlay
