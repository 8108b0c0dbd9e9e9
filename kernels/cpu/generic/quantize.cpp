#include "kernels/cpu/generic/vec16.h"

#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/simd/quantize.h"

namespace inlay::cpu::generic {

void add_quantizers(Kernels& table) { table.quantizers = kQuantizers; }

}  // namespace inlay::cpu::generic
