// out[j][h] = sum over t of softmax_t(cap(scale * q[j][h] . k[t][h / group])) * v[t][h / group], t from
// first_key(j) to first_position + j, over the cache of kv_cache.h. cap(x) = softcap * tanh(x / softcap) or x; a sink adds
// exp of itself to what softmax divides by.
#pragma once

#include "kernels/common/op_args.h"

namespace inlay::ref {

void attention(const AttentionArgs& args, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
