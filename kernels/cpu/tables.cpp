#include "kernels/cpu/tables.h"

#include "kernels/cpu/float_ops.h"

namespace inlay::cpu {

size_t activation_row_bytes(ActivationForm form, int64_t n_cols) {
  if (form == ActivationForm::q8) return q8_activation_row_bytes(n_cols);
  return float_activation_row_bytes(form == ActivationForm::f32 ? 4 : 2, n_cols);
}

void add_quant_linear(Kernels& table, LinearFn (*quant_linear)(DType)) {
  for (size_t i = static_cast<size_t>(DType::q8_0); i < static_cast<size_t>(DType::count); ++i) {
    const DType type = static_cast<DType>(i);
    const QuantPacking& packing = quant_packing(type);
    table.linear[i] = {ActivationForm::q8, quant_linear(type), packing.tile_bytes, packing.pack, packing.unpack_row};
  }
}

}  // namespace inlay::cpu
