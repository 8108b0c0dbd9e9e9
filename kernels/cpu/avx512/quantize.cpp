#include "kernels/cpu/avx512/vec16.h"

#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/simd/quantize.h"

namespace inlay::cpu::avx512 {

void add_quantizers(Kernels& table) { table.quantizers = kQuantizers; }

}  // namespace inlay::cpu::avx512
