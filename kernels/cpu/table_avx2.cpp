#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/tables.h"

namespace inlay::cpu {
namespace {

// No kernel of this table takes the bf16 form.
void prepare(ActivationForm form, const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end,
             float fine_above, void* out) {
  if (form == ActivationForm::q8) return avx2::prepare_q8(x, n_cols, ld_x, m_begin, m_end, fine_above, out);
  avx2::prepare_f32(x, n_cols, ld_x, m_begin, m_end, out);
}

Kernels make_table() {
  Kernels table = {};
  table.isa = Isa::avx2;
  table.name = "avx2";
  table.activation_row_bytes = activation_row_bytes;
  table.prepare = prepare;
  add_quant_linear(table, avx2::quant_linear);
  avx2::add_float_linear(table);
  avx2::add_elementwise(table);
  avx2::add_attention(table);
  avx2::add_quantizers(table);
  return table;
}

}  // namespace

const Kernels& avx2_table() {
  static const Kernels table = make_table();
  return table;
}

}  // namespace inlay::cpu
