// gpt-oss: experts with biases, gate and up cut off, attention with sinks, a window in every second layer, and a YaRN
// whose ramp does not begin and end at whole pairs.
#include "src/model/arch_spec.h"

namespace inlay {

const ArchSpec kGptOss = {
    .name = "gpt-oss",
    .qkv_bias = Presence::optional,
    .output_bias = Presence::optional,
    .activation = Activation::clamped_swiglu,
    .attn_sinks = true,
    .yarn_truncates = false,
    .window = {.period = 2},
    .experts = Presence::required,
    .biased_experts = true,
    .ffn_norm_after_attention = true,
};

}  // namespace inlay
