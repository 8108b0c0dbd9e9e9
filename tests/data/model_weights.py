"""Draws the weights of a tiny model from its seed and writes its GGUF file.

Weights are Gaussian, of a size that keeps every layer's contribution visible in the logits. The order of the draws is part of
the models: a new kind of tensor is drawn where no older model has one.
"""
import math

import numpy as np

from gguf_file import TYPES, GgufFile
from tiny_models import FAMILIES, MIXES
from tiny_tokenizer import add_tokenizer


def types_of(model):
    """Every type that a matrix of the model may have."""
    recipe = model["recipe"]
    return set(recipe.values()) if isinstance(recipe, dict) else set(MIXES.get(recipe, (recipe,)))


class Writer:
    def __init__(self, model):
        recipe = model["recipe"]
        self.model, self.family = model, FAMILIES[model["arch"]]
        self.random = np.random.default_rng(model["seed"])
        self.gguf = GgufFile(model["arch"], model.get("alignment", 32))
        self.by_tensor = recipe if isinstance(recipe, dict) else {}
        usual = self.by_tensor.get("default", recipe)
        self.usual, self.finer, self.embedding, self.output = (usual,) * 4 if self.by_tensor else MIXES.get(recipe, (recipe,) * 4)

    def has(self, trait):
        """Of the family's traits, those that are biases are also had by a model with all biases."""
        return self.family.get(trait, False) or (self.model.get("biases", False) and trait in ("qkv_bias", "output_bias", "mlp_bias"))

    # ---- tensors

    def put(self, name, values, type_name="F32"):
        values = np.asarray(values, np.float32)
        if values.ndim > 1 and name.endswith(".weight"):
            type_name = self.by_tensor.get(name.split(".")[-2], type_name)
        if values.shape[-1] % TYPES[type_name][1]:  # rows that are not whole blocks
            type_name = "Q8_0" if values.shape[-1] % 32 == 0 else "F16"
        self.gguf.tensor(name, values, type_name)

    def draw(self, name, shape, deviation, type_name="F32", mean=0.0):
        self.put(name, self.random.normal(mean, deviation, shape), type_name)

    def matrix(self, name, n_out, n_in, fine=False):
        self.draw(name + ".weight", (n_out, n_in), 1 / math.sqrt(n_in), self.finer if fine else self.usual)

    def norm(self, name, width):
        self.draw(name + ".weight", (width,), 0.1, mean=1.0)

    def bias(self, name, width):
        self.draw(name + ".bias", (width,), 0.1)

    def tensors(self):
        m = self.model
        width, tied = m["H"], m.get("tied")
        size = 1.0 if not tied else (1.0 if self.has("scaled_embedding") else 2.0) / math.sqrt(width)
        self.draw("token_embd.weight", (m["V"], width), size, self.output if tied else self.embedding)
        self.norm("output_norm", width)
        if not tied:
            self.draw("output.weight", (m["V"], width), 1.5 / math.sqrt(width), self.output)
        pairs = m.get("nrot", m["HD"]) // 2
        if m.get("rope_freqs"):
            self.put("rope_freqs.weight", 1 + 7 * self.random.random(pairs))
        if m.get("rope_factors"):
            self.put("rope_factors_short.weight", 1 + self.random.random(pairs))
            self.put("rope_factors_long.weight", 2 + 20 * self.random.random(pairs))
        for layer in range(m["L"]):
            self.attention("blk.%d." % layer)
            self.feed_forward("blk.%d." % layer)

    def attention(self, block):
        m, width, head = self.model, self.model["H"], self.model["HD"]
        n_q, n_kv = m["NH"] * head, m["KV"] * head
        if self.family.get("input_norms", True):
            self.norm(block + "attn_norm", width)
        if self.has("fused"):
            self.matrix(block + "attn_qkv", n_q + 2 * n_kv, width)
        else:
            self.matrix(block + "attn_q", n_q, width)
            self.matrix(block + "attn_k", n_kv, width)
            self.matrix(block + "attn_v", n_kv, width, fine=True)
        self.matrix(block + "attn_output", width, n_q)
        if self.has("qkv_bias"):
            for name, size in (("attn_q", n_q), ("attn_k", n_kv), ("attn_v", n_kv)):
                self.bias(block + name, size)
        if self.has("output_bias"):
            self.bias(block + "attn_output", width)
        if self.has("sinks"):
            self.draw(block + "attn_sinks.weight", (m["NH"],), 1.0)
        if self.has("qk_norm"):
            whole = self.has("qk_norm") == "width"
            self.norm(block + "attn_q_norm", n_q if whole else head)
            self.norm(block + "attn_k_norm", n_kv if whole else head)

    def feed_forward(self, block):
        m, width, inner = self.model, self.model["H"], self.model["FF"]
        if self.has("post_norms"):
            self.norm(block + "post_attention_norm", width)
            self.norm(block + "post_ffw_norm", width)
        if self.family.get("input_norms", True):
            self.norm(block + self.family.get("ffn_norm", "ffn_norm"), width)
        if m.get("moe"):
            self.experts(block)
            return
        if self.has("fused"):
            self.matrix(block + "ffn_up", 2 * inner, width)
        else:
            self.matrix(block + "ffn_gate", inner, width)
            self.matrix(block + "ffn_up", inner, width)
        self.matrix(block + "ffn_down", width, inner, fine=True)
        if self.has("mlp_bias"):
            for name, size in (("ffn_gate", inner), ("ffn_up", inner), ("ffn_down", width)):
                self.bias(block + name, size)

    def experts(self, block):
        m, width = self.model, self.model["H"]
        n, _, inner = m["moe"]
        self.draw(block + "ffn_gate_inp.weight", (n, width), 2 / math.sqrt(width))
        self.draw(block + "ffn_gate_exps.weight", (n, inner, width), 1 / math.sqrt(width), self.usual)
        self.draw(block + "ffn_up_exps.weight", (n, inner, width), 1 / math.sqrt(width), self.usual)
        self.draw(block + "ffn_down_exps.weight", (n, width, inner), 1 / math.sqrt(inner), self.finer)
        if self.has("expert_bias"):
            self.draw(block + "ffn_gate_inp.bias", (n,), 0.3)
            for name, size in (("gate", inner), ("up", inner), ("down", width)):
                self.draw(block + "ffn_%s_exps.bias" % name, (n, size), 0.1)
        if m.get("shared"):
            self.draw(block + "ffn_gate_inp_shexp.weight", (width,), 1 / math.sqrt(width))
            self.matrix(block + "ffn_gate_shexp", m["shared"], width)
            self.matrix(block + "ffn_up_shexp", m["shared"], width)
            self.matrix(block + "ffn_down_shexp", width, m["shared"], fine=True)

    # ---- keys

    def metadata(self):
        m, gguf = self.model, self.gguf
        gguf.string("general.architecture", m["arch"])
        gguf.string("general.name", m["name"])
        gguf.u32("general.alignment", gguf.alignment)
        for key, value in (("block_count", m["L"]), ("context_length", m.get("ctx", 4096)), ("embedding_length", m["H"]),
                           ("feed_forward_length", m["FF"]), ("attention.head_count", m["NH"]), ("attention.head_count_kv", m["KV"]),
                           ("attention.key_length", m["HD"]), ("attention.value_length", m["HD"]),
                           ("rope.dimension_count", m.get("nrot", m["HD"])), ("vocab_size", m["V"])):
            gguf.u32("." + key, value)
        gguf.f32(".rope.freq_base", m["base"])
        gguf.f32(".attention.layer_norm_rms_epsilon", m["eps"])
        self.keys_of_experts()
        if m.get("swa"):
            gguf.u32(".attention.sliding_window", m["swa"])
        if m.get("attn_softcap"):
            gguf.f32(".attn_logit_softcapping", m["attn_softcap"])
            gguf.f32(".final_logit_softcapping", m["final_softcap"])
        self.keys_of_rope()
        for name, key in (("embedding", "embedding_scale"), ("residual", "residual_scale"), ("attention", "attention.scale"),
                          ("logit", "logit_scale")):
            if m.get("scales"):
                gguf.f32("." + key, m["scales"][name])
        add_tokenizer(gguf, m)

    def keys_of_experts(self):
        m, gguf = self.model, self.gguf
        if not m.get("moe"):
            return
        n, used, inner = m["moe"]
        gguf.u32(".expert_count", n)
        gguf.u32(".expert_used_count", used)
        if self.has("expert_width_key"):
            gguf.u32(".expert_feed_forward_length", inner)
        if m.get("shared"):
            gguf.u32(".expert_shared_feed_forward_length", m["shared"])

    def keys_of_rope(self):
        scaling, factors, gguf = self.model.get("rope_scaling"), self.model.get("rope_factors"), self.gguf
        if scaling:
            gguf.string(".rope.scaling.type", scaling["type"])
            gguf.f32(".rope.scaling.factor", scaling["factor"])
            if scaling.get("orig"):
                gguf.u32(".rope.scaling.original_context_length", scaling["orig"])
        if factors:
            gguf.u32(".rope.scaling.original_context_length", factors["orig"])
            gguf.f32(".rope.scaling.attn_factor", factors["attn_factor"])


def build(model):
    """(bytes of the GGUF file, its stored tensors as float64 arrays with the output dimension first)."""
    writer = Writer(model)
    writer.tensors()
    writer.metadata()
    return writer.gguf.bytes(), writer.gguf.stored
