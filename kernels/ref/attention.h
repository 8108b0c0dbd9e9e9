// out[j][h] = sum over t <= first_position + j of softmax_t(scale * q[j][h] . k[t][h / group]) * v[t][h / group],
// over the cache of kv_cache.h.
#pragma once

#include "kernels/common/op_args.h"

namespace inlay::ref {

void attention(const AttentionArgs& args, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
