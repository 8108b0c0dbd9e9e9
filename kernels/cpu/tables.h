// The table of each instruction set; dispatch.cpp picks one. table_<isa>.cpp lists what it consists of.
#pragma once

#include "kernels/cpu/cpu_kernels.h"
#include "kernels/cpu/quant_linear.h"

namespace inlay::cpu {

const Kernels& generic_table();
const Kernels& avx2_table();
const Kernels& avx512_table();
const Kernels& avx512_bf16_table();  // avx512's, with BF16 matrices multiplied by BF16 activations

// What all tables share.
size_t activation_row_bytes(ActivationForm form, int64_t n_cols);
void add_quant_linear(Kernels& table, LinearFn (*quant_linear)(DType));

}  // namespace inlay::cpu
