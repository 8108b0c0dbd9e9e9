// Where a decode step can be cut, so that a host can run it a piece at a time: into units of about the same work. A
// unit is a layer, the embedding with the first one, or a piece of the head that moves about as many bytes as a layer;
// the last piece draws, too.
#pragma once

#include <cstdint>
#include <vector>

#include "src/plan/plan.h"

namespace inlay {

// One of `count` pieces of work that can be cut between any two of its items.
struct WorkPiece {
  int32_t index = 0, count = 1;

  int64_t begin(int64_t n_items) const { return n_items * index / count; }
  int64_t end(int64_t n_items) const { return n_items * (index + 1) / count; }
  bool is_last() const { return index + 1 == count; }
};

struct StepUnit {
  int32_t first_op = 0, end_op = 0;  // of Plan::ops
  WorkPiece head;                    // of the head, if that is among them

  bool begins_step() const { return first_op == 0; }
};

std::vector<StepUnit> step_units(const Plan& plan);

}  // namespace inlay
