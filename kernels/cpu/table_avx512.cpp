#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/tables.h"

namespace inlay::cpu {
namespace {

// No kernel of this table takes the bf16 form.
void prepare(ActivationForm form, const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin, int64_t m_end,
             float fine_above, void* out) {
  if (form == ActivationForm::q8) return avx512::prepare_q8(x, n_cols, ld_x, m_begin, m_end, fine_above, out);
  avx512::prepare_f32(x, n_cols, ld_x, m_begin, m_end, out);
}

void prepare_with_bf16(ActivationForm form, const float* x, int64_t n_cols, int64_t ld_x, int64_t m_begin,
                       int64_t m_end, float fine_above, void* out) {
  if (form == ActivationForm::bf16) return avx512bf16::prepare_bf16(x, n_cols, ld_x, m_begin, m_end, out);
  prepare(form, x, n_cols, ld_x, m_begin, m_end, fine_above, out);
}

Kernels make_table() {
  Kernels table = {};
  table.isa = Isa::avx512;
  table.name = "avx512-vnni";
  table.activation_row_bytes = activation_row_bytes;
  table.prepare = prepare;
  add_quant_linear(table, avx512::quant_linear);
  avx512::add_float_linear(table);
  avx512::add_elementwise(table);
  avx512::add_attention(table);
  avx512::add_quantizers(table);
  return table;
}

Kernels make_bf16_table() {
  Kernels table = make_table();
  table.name = "avx512-vnni-bf16";
  table.prepare = prepare_with_bf16;
  avx512bf16::add_float_linear(table);
  return table;
}

}  // namespace

const Kernels& avx512_table() {
  static const Kernels table = make_table();
  return table;
}

const Kernels& avx512_bf16_table() {
  static const Kernels table = make_bf16_table();
  return table;
}

}  // namespace inlay::cpu
