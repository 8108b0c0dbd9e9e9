"""The table of the tiny models: families, models and greedy generations.

Fields of a model: arch, recipe (type of the matrices, a name of MIXES, or types by tensor), seed, L layers, H width, FF width of
the feed-forward, NH heads, KV heads of keys and values, HD head size, V vocabulary, base of RoPE, eps of the norms. Optional:
tied, n (tokens of the text), ctx (context length), nrot (rotated dimensions), swa (window), moe (experts, used, width), shared
(width of a shared expert), biases (all that the family may have), rope_freqs, rope_factors, rope_scaling, attn_softcap,
final_softcap, scales (Granite's), tokenizer, corpus, pre, chat_template, alignment. `libllama` holds the fields that libllama
takes to be otherwise, and `libllama_why` says so.
"""

# What distinguishes the families. period: the last of every so many layers has no window; no_rope: the last of every so many
# has no RoPE. Where experts_normalized is false, the weights of the chosen experts keep their softmax over all.
FAMILIES = {
    "llama": {"interleaved": True},
    "qwen2": {"qkv_bias": True},
    "qwen2moe": {"qkv_bias": True, "expert_width_key": True, "experts_normalized": False},
    "qwen3": {"qk_norm": "head"},
    "qwen3moe": {"qk_norm": "head", "expert_width_key": True},
    "gemma2": {"gelu": True, "post_norms": True, "scaled_embedding": True, "period": 2},
    "gemma3": {"gelu": True, "post_norms": True, "scaled_embedding": True, "period": 6, "qk_norm": "head", "window_base": 10000.0,
               "window_unscaled": True},
    "phi3": {"fused": True},
    "gpt-oss": {"qkv_bias": True, "output_bias": True, "sinks": True, "period": 2, "expert_bias": True, "expert_width_key": True,
                "ffn_norm": "post_attention_norm", "yarn_truncates": False},
    "granite": {"interleaved": True},
    "olmo2": {"qk_norm": "width", "input_norms": False, "post_norms": True, "period": 4, "window_unscaled": True},
    "smollm3": {"interleaved": True, "no_rope": 4},
}

# (usual type, of attn_v and ffn_down, of the embeddings, of the output), as usual quantization recipes.
MIXES = {
    "Q4_K_M": ("Q4_K", "Q6_K", "Q4_K", "Q6_K"), "Q5_K_M": ("Q5_K", "Q6_K", "Q5_K", "Q6_K"),
    "Q3_K_M": ("Q3_K", "Q5_K", "Q3_K", "Q6_K"), "Q2_K_M": ("Q2_K", "Q3_K", "Q2_K", "Q6_K"),
    "IQ4_XS_M": ("IQ4_XS", "Q5_K", "IQ4_XS", "Q6_K"), "Q4_0_M": ("Q4_0", "Q4_1", "Q4_0", "Q6_K"),
}
# By the tensor's name without its block.
ZOO = {"default": "Q8_0", "token_embd": "Q5_K", "attn_q": "IQ4_NL", "attn_k": "Q5_0", "attn_v": "Q5_1", "attn_output": "Q4_1",
       "ffn_gate": "IQ3_S", "ffn_up": "MXFP4", "ffn_down": "Q2_K", "output": "Q8_0"}
MXFP4_EXPERTS = {"default": "Q8_0", "ffn_gate_exps": "MXFP4", "ffn_up_exps": "MXFP4", "ffn_down_exps": "MXFP4"}

CORPUS = ("the quick brown fox jumps over the lazy dog and the dog sleeps while the fox runs away from the other animals in the forest "
          "there is a small house near the river where an old man reads the news and writes letters to the king about the weather "
          "and the state of the roads what is the answer to this question the answer is here and there and everywhere")
CHATML = ("{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
          "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
INST = ("{{ bos_token }}{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content | trim }} [/INST]"
        "{% else %} {{ m.content | trim }}{{ eos_token }}{% endif %}{% endfor %}")


def model(name, arch, recipe, seed, **fields):
    usual = dict(name=name, arch=arch, recipe=recipe, seed=seed, L=2, H=64, FF=96, NH=4, KV=2, HD=16, V=160, base=10000.0, eps=1e-5)
    return usual | fields


WIDE = dict(L=1, H=256, FF=256, NH=4, KV=2, HD=64, V=160)  # for blocks of 256
QWEN = dict(eps=1e-6, base=1000000.0)
SMALL = dict(H=32, FF=16, V=64, n=16)  # families of which one small model is enough
YARN = {"type": "yarn", "factor": 4.0, "orig": 64}

MODELS = [
    model("llama-f32", "llama", "F32", 101, L=3),
    model("llama-f16", "llama", "F16", 102, HD=32, tied=True),
    model("llama-bf16", "llama", "BF16", 103),
    model("llama-mha-ropefreqs-f32", "llama", "F32", 104, KV=4, HD=32, rope_freqs=True, base=500000.0, tied=True),
    model("llama-linear-rope-f32", "llama", "F32", 105, KV=1, rope_scaling={"type": "linear", "factor": 4.0}),
    model("llama-q4_k_m", "llama", "Q4_K_M", 106, **dict(WIDE, L=2)),
    model("llama-q5_k_m", "llama", "Q5_K_M", 107, **WIDE),
    model("llama-q6_k", "llama", "Q6_K", 108, **WIDE),
    model("llama-q3_k_m", "llama", "Q3_K_M", 109, **WIDE),
    model("llama-q2_k_m", "llama", "Q2_K_M", 129, **WIDE),
    model("llama-q8_0", "llama", "Q8_0", 110, H=96, FF=224, HD=32),
    model("llama-q4_0", "llama", "Q4_0_M", 111, **dict(WIDE, FF=288)),
    model("llama-iq4_xs", "llama", "IQ4_XS_M", 112, **WIDE),
    model("llama-zoo", "llama", ZOO, 130, **WIDE),
    model("llama-moe-f32", "llama", "F32", 1113, FF=48, moe=(4, 2, 48)),
    model("llama-moe-q4_k_m", "llama", "Q4_K_M", 1114, **dict(WIDE, FF=256, moe=(3, 2, 256))),
    model("qwen2-f32", "qwen2", "F32", 115, tied=True, **QWEN),
    model("qwen2-q4_k_m", "qwen2", "Q4_K_M", 116, **dict(WIDE, NH=8, KV=2, HD=32, **QWEN)),
    model("qwen2-yarn-f32", "qwen2", "F32", 117, rope_scaling=YARN, ctx=256, **QWEN),
    model("qwen3-f32", "qwen3", "F32", 118, tied=True, HD=32, **QWEN),
    model("qwen3-q8_0", "qwen3", "Q8_0", 119, H=96, FF=224, NH=4, KV=1, HD=32, **QWEN),
    model("qwen3moe-f32", "qwen3moe", "F32", 38120, HD=32, moe=(6, 3, 32), **QWEN),
    model("qwen3moe-q4_k_m", "qwen3moe", "Q4_K_M", 1121, **dict(WIDE, moe=(4, 2, 256), **QWEN)),
    model("gemma2-f32", "gemma2", "F32", 122, L=2, tied=True, eps=1e-6, swa=5, attn_softcap=50.0, final_softcap=30.0, HD=32, n=16),
    model("gemma3-f32", "gemma3", "F32", 123, L=6, H=48, FF=64, tied=True, eps=1e-6, base=1000000.0, swa=4, KV=1, n=16),
    model("phi3-f32", "phi3", "F32", 124, KV=4),
    model("phi3-longrope-f32", "phi3", "F32", 125, KV=2, rope_factors={"orig": 4096, "attn_factor": 1.1902380714}, ctx=131072),
    model("chat-bpe-qwen3-f32", "qwen3", "F32", 221126, V=320, tied=True, HD=32, tokenizer="bpe", corpus=CORPUS, chat_template=CHATML,
          **QWEN),
    model("chat-spm-llama-f32", "llama", "F32", 14127, V=352, tokenizer="spm", corpus=CORPUS, chat_template=INST),
    model("chat-bpe-llama-q8_0", "llama", "Q8_0", 98128, V=320, H=96, FF=256, NH=3, KV=1, HD=32, tokenizer="bpe", pre="llama-bpe",
          corpus=CORPUS, chat_template=CHATML, alignment=64),
    model("llama-window-biases-f32", "llama", "F32", 140, biases=True, swa=5, libllama={"swa": 0},
          libllama_why="it ignores the window", **SMALL),
    model("qwen2moe-f32", "qwen2moe", "F32", 2141, NH=2, KV=1, moe=(4, 2, 16), shared=24, **dict(SMALL, FF=48), **QWEN),
    model("gemma3-linear-f32", "gemma3", "F32", 142, L=6, NH=2, KV=1, tied=True, swa=4, rope_scaling={"type": "linear", "factor": 8.0},
          **dict(QWEN, **SMALL)),
    model("phi3-partial-window-f32", "phi3", "F32", 143, NH=2, KV=1, nrot=12, tied=True, swa=5, libllama={"swa": 0},
          libllama_why="it ignores the window", **dict(SMALL, FF=32)),
    model("gpt-oss-f32", "gpt-oss", "F32", 1144, moe=(4, 2, 16), swa=5, base=150000.0, rope_scaling=YARN,
          libllama={"otherwise": {"yarn_truncates": True}}, libllama_why="its YaRN rounds the ends of the ramp to whole pairs", **SMALL),
    model("gpt-oss-mxfp4", "gpt-oss", MXFP4_EXPERTS, 14145, L=4, moe=(4, 2, 32), swa=5, base=150000.0, rope_scaling=YARN,
          libllama={"otherwise": {"yarn_truncates": True}}, libllama_why="its YaRN rounds the ends of the ramp to whole pairs",
          **dict(SMALL, FF=32)),
    model("granite-f32", "granite", "F32", 146, biases=True, tied=True,
          scales={"embedding": 6.0, "residual": 0.4, "attention": 0.11, "logit": 3.0}, **SMALL),
    model("olmo2-f32", "olmo2", "F32", 147, NH=2, KV=2, base=500000.0, **SMALL),
    model("olmo3-f32", "olmo2", "F32", 148, L=4, NH=2, KV=1, base=500000.0, swa=5, rope_scaling=YARN, **SMALL),
    model("smollm3-f32", "smollm3", "F32", 149, L=5, NH=2, KV=1, tied=True, base=5000000.0, **SMALL),
]
BY_NAME = {m["name"]: m for m in MODELS}

SHORT_CHAT = [{"role": "system", "content": "You are small."},
              {"role": "user", "content": "What is the weather near the river? \u00e9\U0001F600"}]
BLANKS_CHAT = [{"role": "user", "content": "  the old man reads the news  "}]


def chatml(messages):
    return "".join("<|im_start|>%s\n%s<|im_end|>\n" % (m["role"], m["content"]) for m in messages) + "<|im_start|>assistant\n"


GENERATIONS = [
    {"name": "bpe-chat", "model": "chat-bpe-qwen3-f32", "messages": SHORT_CHAT, "prompt": chatml(SHORT_CHAT), "add_special": False,
     "n": 20},
    {"name": "bpe-plain", "model": "chat-bpe-qwen3-f32", "prompt": "the quick brown", "add_special": True, "n": 20},
    {"name": "spm-chat", "model": "chat-spm-llama-f32", "messages": BLANKS_CHAT, "prompt": "<s>[INST] the old man reads the news [/INST]",
     "add_special": False, "n": 20},
    {"name": "spm-plain", "model": "chat-spm-llama-f32", "prompt": "the quick brown", "add_special": True, "n": 20},
    {"name": "bpe-q8-chat", "model": "chat-bpe-llama-q8_0", "messages": SHORT_CHAT, "prompt": chatml(SHORT_CHAT), "add_special": False,
     "n": 8},
]
