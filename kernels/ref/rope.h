// Rotary position embedding: the pair (x[i], x[i + n_rot/2]) of each head turns by position * inv_freq[i].
#pragma once

#include "kernels/common/op_args.h"

namespace inlay::ref {

void rope(const RopeArgs& args, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
