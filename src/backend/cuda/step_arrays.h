// A step's input in one block: the same layout in page-locked memory and on the device, so that one copy brings it
// over.
#pragma once

#include "kernels/cuda/cuda_kernels.h"
#include "src/backend/backend.h"
#include "src/backend/cuda/device.h"
#include "src/backend/cuda/step_parts.h"
#include "src/backend/prompt_tiles.h"

namespace inlay {

// Sizes of the block's arrays.
struct StepLimits {
  int32_t max_rows = 0;  // tokens of a step
  int32_t max_sequences = 0;
  int32_t max_blocks = 0;  // of one sequence in one KV group
  int32_t n_kv_groups = 1;
  int32_t max_logit_rows = 0;
  int32_t max_list = 0;  // bias and count entries of all draws of a step
  int32_t min_singles = 0;  // rows that decode that a segment has room for, whatever fill() is asked for
};

// How much of them a step uses, padding included. The fixed part of the block is laid out for it without gaps, so that
// one small copy brings it: the device's pointers are those of the shape, the same for the same shape.
//
// A copy and not reads of mapped host memory: block tables and positions are read again in every layer, each time
// across the bus. And what a copy ahead of the first kernel has brought, later kernels may read before their
// predecessors have ended.
struct BlockShape {
  int32_t rows = 0, logit_rows = 0, sequences = 0;
  bool operator==(const BlockShape&) const = default;
};

// Pointers into one copy of the block.
struct StepArrays {
  int32_t* tokens;                 // (rows)
  int32_t* positions;              // (rows), -1: padding
  int32_t* row_sequence;           // (rows)
  int32_t* logit_rows;             // (logit_rows) row of each wanted logit row, -1: padding
  int32_t* logit_slots;            // (logit_rows), -1: padding
  float** logit_mirrors;           // (logit_rows): memory of the host's that takes the logits, too, or null
  cuda::SampleRowParams* samples;  // (logit_rows)
  int32_t* block_tables;           // (KV groups, sequences, max_blocks)
  PromptTile* prompt_tiles;        // (max_prompt_tiles)
  int32_t* bias_tokens;            // (max_list), and so on: copied only when used
  float* bias_values;
  int32_t* count_tokens;
  int32_t* count_values;
};

class StepBlock {
 public:
  static Result<StepBlock> allocate(const StepLimits& limits);
  static uint64_t bytes(const StepLimits& limits);

  // Arranges both copies for the shape, which holds the batch, and fills the host's; rows and logit rows beyond the
  // batch become padding, likewise draws. most_singles: rows of a segment that decode, at least StepLimits::min_singles.
  Status fill(const StepBatch& batch, const BlockShape& shape, int32_t most_singles = INT32_MAX);
  std::span<const StepSegment> segments() const { return segments_; }  // of the last fill
  // What device() and what follows it say is of this segment alone, and counts rows from its first. After a fill, of all: then row numbers are
  // only right where there is one.
  void select(const StepSegment& segment);
  // After a fill, before its copy: a logit row's logits go to `to`, too, memory that the device writes.
  void mirror(size_t logit_row, float* to) { host_.logit_mirrors[logit_row] = to; }
  // The fixed part, which every step needs. As a node it serves every later step of the same shape.
  Status copy_fixed(cuda::LaunchTarget target);
  Status copy_lists(cudaStream_t stream);  // what the last fill put into the lists, if anything
  // One table alone, between steps; where it is on the device.
  Result<const int32_t*> copy_table(int32_t kv_group, std::span<const int32_t> table, cudaStream_t stream);
  const StepArrays& device() const { return device_; }
  const int32_t* block_tables(int32_t kv_group) const {
    return device_.block_tables + table_of(kv_group, 0);
  }  // on the device
  // Of the segments together all rows but padding.
  int32_t n_prompt_tiles() const { return n_prompt_tiles_; }
  int32_t max_prompt_keys() const { return max_prompt_keys_; }  // that a row of these tiles sees, windows apart
  std::span<const RowRun> single_rows() const { return single_rows_; }

 private:
  void arrange(const BlockShape& shape);
  int64_t table_of(int32_t kv_group, int32_t sequence) const {
    return (int64_t{kv_group} * shape_.sequences + sequence) * limits_.max_blocks;
  }
  void fill_tables(const StepBatch& batch);
  void fill_logits(const StepBatch& batch, int32_t n_logit_rows);
  void fill_tiles(const StepBatch& batch);
  Status fill_samples(const StepBatch& batch, int32_t n_logit_rows);
  Status fill_lists(const SampleRow& row, cuda::SampleRowParams& out);

  StepLimits limits_;
  BlockShape shape_;
  PinnedBuffer host_bytes_;
  DeviceBuffer device_bytes_;
  StepArrays host_{}, whole_{}, device_{};  // device_: of the segment that is selected
  uint64_t fixed_bytes_ = 0;
  int32_t n_bias_ = 0, n_counts_ = 0, n_tiles_ = 0, n_prompt_tiles_ = 0, max_prompt_keys_ = 0;
  std::vector<StepSegment> segments_;  // room for max_segments()
  std::vector<RowRun> single_rows_;    // of a segment of both kinds; room for max_sequences
};

}  // namespace inlay
