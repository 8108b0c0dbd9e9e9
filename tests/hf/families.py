"""Small models of every family: the configurations that transformers makes them from.

Each case: the prefix of the classes in transformers (Llama: LlamaConfig, LlamaForCausalLM), the configuration's arguments,
and `without`, arguments that take the case's speciality away: logits without it must differ, or the case would not
test it. Windows are shorter than the prompt, and contexts that RoPE is stretched from too.
"""
import dataclasses

N_VOCAB = 384
N_PROMPT = 100


@dataclasses.dataclass
class Case:
    name: str
    classes: str
    config: dict
    without: dict = None
    n_context: int = 256
    n_prompt: int = N_PROMPT


COMMON = {"vocab_size": N_VOCAB, "hidden_size": 128, "intermediate_size": 192, "num_hidden_layers": 3, "num_attention_heads": 4,
          "num_key_value_heads": 2, "max_position_embeddings": 256, "rms_norm_eps": 1e-5, "bos_token_id": 1, "eos_token_id": 2,
          "pad_token_id": 0, "tie_word_embeddings": False}
WINDOWS = {"sliding_window": 24, "num_hidden_layers": 4,
           "layer_types": ["sliding_attention", "full_attention", "sliding_attention", "full_attention"]}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
N_LONGROPE = 16  # factors: half of a head
LONGROPE = {"type": "longrope", "short_factor": [1.0 + 0.05 * i for i in range(N_LONGROPE)],
            "long_factor": [1.5 + 0.5 * i for i in range(N_LONGROPE)]}
PHI3 = {"max_position_embeddings": 256, "original_max_position_embeddings": 64}
EXPERTS = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 96, "decoder_sparse_step": 1, "mlp_only_layers": []}


def case(name, classes, special=None, without=None, **fields):
    return Case(name, classes, COMMON | (special or {}), without, **fields)


CASES = [
    case("llama", "Llama"),
    case("llama-tied-mha", "Llama", {"tie_word_embeddings": True, "num_key_value_heads": 4, "head_dim": 64}),
    case("llama-linear", "Llama", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, {"rope_scaling": None}),
    case("llama-llama3", "Llama", {"rope_scaling": LLAMA3}, {"rope_scaling": None}),
    case("llama-yarn", "Llama", {"rope_scaling": YARN}, {"rope_scaling": None}),
    case("mistral", "Mistral", {"sliding_window": None, "head_dim": 32}),
    case("mistral-window", "Mistral", {"sliding_window": 24, "head_dim": 32}, {"sliding_window": None}),
    case("qwen2", "Qwen2"),
    case("qwen2-yarn", "Qwen2", {"rope_scaling": YARN}, {"rope_scaling": None}),
    case("qwen3", "Qwen3", {"head_dim": 32}),
    case("qwen3-wide-head", "Qwen3", {"head_dim": 128, "hidden_size": 64, "tie_word_embeddings": True}),
    case("gemma2", "Gemma2", WINDOWS | {"head_dim": 64, "query_pre_attn_scalar": 48, "attn_logit_softcapping": 5.0,
                                        "final_logit_softcapping": 3.0, "tie_word_embeddings": True},
         {"attn_logit_softcapping": None}),
    case("gemma2-window", "Gemma2", WINDOWS | {"head_dim": 64, "query_pre_attn_scalar": 64, "attn_logit_softcapping": 50.0,
                                               "final_logit_softcapping": 30.0, "tie_word_embeddings": True},
         {"sliding_window": 4096}),
    case("gemma3", "Gemma3", WINDOWS | {"head_dim": 64, "query_pre_attn_scalar": 48, "tie_word_embeddings": True,
                                        "rope_theta": 1000000.0, "rope_local_base_freq": 100.0, "sliding_window_pattern": 2},
         {"sliding_window": 4096}),
    case("phi3", "Phi3", PHI3),
    case("phi3-window", "Phi3", PHI3 | {"sliding_window": 24}, {"sliding_window": None}),
    case("phi3-longrope-long", "Phi3", PHI3 | {"rope_scaling": LONGROPE}, {"rope_scaling": None}),
    case("phi3-longrope-short", "Phi3", PHI3 | {"rope_scaling": LONGROPE}, {"rope_scaling": None}, n_context=64, n_prompt=32),
    case("smollm3", "SmolLM3", {"num_hidden_layers": 4, "no_rope_layers": [1, 0, 1, 0], "use_sliding_window": False},
         {"no_rope_layers": [1, 1, 1, 1]}),
    case("granite", "Granite", {"embedding_multiplier": 6.0, "logits_scaling": 4.0, "residual_multiplier": 0.4,
                                "attention_multiplier": 0.05}, {"residual_multiplier": 1.0}),
    case("olmo2", "Olmo2"),
    case("mixtral", "Mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 32, "sliding_window": None}),
    case("qwen2_moe", "Qwen2Moe", EXPERTS | {"shared_expert_intermediate_size": 160, "norm_topk_prob": False},
         {"norm_topk_prob": True}),
    case("qwen3_moe", "Qwen3Moe", EXPERTS | {"head_dim": 32, "norm_topk_prob": True}, {"norm_topk_prob": False}),
    case("gpt_oss", "GptOss", WINDOWS | {"head_dim": 64, "num_local_experts": 4, "num_experts_per_tok": 2,
                                         "rope_scaling": YARN | {"beta_fast": 32.0, "beta_slow": 1.0, "truncate": False}},
         {"sliding_window": 4096}),
]

# Classes whose names are not the prefix and Config or ForCausalLM.
CONFIG_NAMES = {"Gemma3": "Gemma3TextConfig"}
