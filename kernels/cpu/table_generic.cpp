#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/tables.h"

namespace inlay::cpu {
namespace {

// No kernel of this table takes the bf16 form.
void prepare(ActivationForm form, const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end,
             float fine_above, void* out) {
  if (form == ActivationForm::q8) return generic::prepare_q8(x, n_cols, ld_x, m_begin, m_end, fine_above, out);
  generic::prepare_f32(x, n_cols, ld_x, m_begin, m_end, out);
}

Kernels make_table() {
  Kernels table = {};
  table.isa = Isa::generic;
  table.name = "generic";
  table.activation_row_bytes = activation_row_bytes;
  table.prepare = prepare;
  add_quant_linear(table, generic::quant_linear);
  generic::add_float_linear(table);
  generic::add_elementwise(table);
  generic::add_attention(table);
  generic::add_quantizers(table);
  return table;
}

}  // namespace

const Kernels& generic_table() {
  static const Kernels table = make_table();
  return table;
}

}  // namespace inlay::cpu
