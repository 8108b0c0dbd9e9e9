// out[i] = x[i] / sqrt(mean(x^2) + epsilon) * weight[i]. out may be x.
#pragma once

#include "kernels/common/op_args.h"

namespace inlay::ref {

void rms_norm(const RmsNormArgs& args, int64_t m_begin, int64_t m_end);

}  // namespace inlay::ref
