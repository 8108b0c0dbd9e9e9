#include "kernels/cpu/avx2/vec16.h"

#include "kernels/cpu/float_ops.h"
#include "kernels/cpu/simd/attention.h"

namespace inlay::cpu::avx2 {

void add_attention(Kernels& table) {
  table.kv_block_bytes = kv_block_bytes;
  table.kv_append = kv_append;
  table.kv_move = kv_move;
  table.attention_items = attention_items;
  table.attention_scratch_bytes = attention_scratch_bytes;
  table.attention_workspace_bytes = attention_workspace_bytes;
  table.attention = attention;
  table.attention_merge = attention_merge;
}

}  // namespace inlay::cpu::avx2
