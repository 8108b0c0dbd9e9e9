// The arrays behind a StepBatch, made once for the largest step; filling them allocates nothing.
#pragma once

#include <vector>

#include "src/backend/backend.h"

namespace inlay {

struct StepLists {
  StepLists() = default;
  StepLists(const Plan& plan, const BackendConfig& config);

  void clear();
  void assign(const StepBatch& batch);  // a copy, but for what its sample rows and asked rows point to
  StepBatch batch() const;

  std::vector<int32_t> tokens, positions, block_tables;
  std::vector<SequenceSlice> sequences;
  std::vector<LogitRow> logit_rows;
  std::vector<SampleRow> sample_rows;
  std::vector<AskedRows> asked_rows;
  RowValues asked = RowValues::hidden;
  bool takes_drawn = false, is_timed = false;
};

}  // namespace inlay
