#include "kernels/cpu/tables.h"

namespace inlay::cpu {
namespace {

void prepare(ActivationForm form, const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end,
             void* out) {
  if (form == ActivationForm::q8) return avx512::prepare_q8(x, n_cols, ld_x, m_begin, m_end, out);
}

Kernels make_table() {
  Kernels table = {};
  table.isa = Isa::avx512;
  table.name = "avx512-vnni";
  table.activation_row_bytes = activation_row_bytes;
  table.prepare = prepare;
  add_quant_linear(table, avx512::quant_linear);
  return table;
}

}  // namespace

const Kernels& avx512_table() {
  static const Kernels table = make_table();
  return table;
}

}  // namespace inlay::cpu
