"""Float64 evaluation of the tiny models' stored weights, written from the families' definitions.

A row is a position; a matrix is stored as (out, in) and applied as x @ W.T.
"""
import math

import numpy as np

from tiny_models import FAMILIES


def as_f32(value):
    """What a file keeps of a number."""
    return float(np.float32(value))


def rms_norm(x, weight, epsilon):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) * weight


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x / (1 + np.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * x * (1 + 0.044715 * x * x)))


def clamped_swiglu(gate, up):
    """gpt-oss: gate at most 7, up within 7 of 0, a steeper sigmoid, and up counted from 1."""
    gate, up = np.minimum(gate, 7), np.clip(up, -7, 7)
    return gate * sigmoid(1.702 * gate) * (up + 1)


def yarn_ramp(n_rot, base, original_context, truncates, fast=32.0, slow=1.0):
    """The share of interpolation of every pair: 0 for those that turn more than `fast` times within the original context, 1 for
    those that turn less than `slow` times."""
    def pair_of(turns):
        return n_rot * math.log(original_context / (turns * 2 * math.pi)) / (2 * math.log(base))
    first, last = pair_of(fast), pair_of(slow)
    if truncates:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(0, first), min(n_rot - 1, last)
    return np.clip((np.arange(n_rot // 2) - first) / max(0.001, last - first), 0, 1)


class Rope:
    """Angles by position and pair, and the factor of the rotated values."""

    def __init__(self, n_positions, n_rot, base, interleaved, scaling=None, truncates=True, factors=None, magnitude=1.0):
        self.n_rot, self.interleaved, self.magnitude = n_rot, interleaved, magnitude
        i = np.arange(n_rot // 2)
        theta = np.arange(n_positions)[:, None] * base ** (-2.0 * i / n_rot)[None]
        if factors is not None:
            theta = theta / factors[None]
        if scaling and scaling["type"] == "linear":
            theta = theta * (1 / scaling["factor"])
        elif scaling:
            ramp = yarn_ramp(n_rot, base, scaling["orig"], truncates)
            theta = theta * (1 / scaling["factor"]) * ramp + theta * (1 - ramp)
            self.magnitude *= 1 + 0.1 * math.log(scaling["factor"])
        self.theta = theta

    def turn(self, x):
        """x: (positions, heads, head size), of which the first n_rot dimensions turn."""
        n, out = self.n_rot, x.copy()
        cosine, sine = np.cos(self.theta)[:, None] * self.magnitude, np.sin(self.theta)[:, None] * self.magnitude
        if self.interleaved:
            first, second = slice(0, n, 2), slice(1, n, 2)
        else:
            first, second = slice(0, n // 2), slice(n // 2, n)
        a, b = x[..., first], x[..., second]
        out[..., first], out[..., second] = a * cosine - b * sine, a * sine + b * cosine
        return out


class Evaluation:
    """`otherwise` of a model replaces what its family says, to see what that makes of the logits."""

    def __init__(self, model, weights, n_tokens):
        self.model, self.weights, self.n = model, weights, n_tokens
        self.family = FAMILIES[model["arch"]] | model.get("otherwise", {})
        self.epsilon, self.scales = as_f32(model["eps"]), model.get("scales", {})
        self.margins = []  # how clearly each choice of experts was made
        self.rope, self.window_rope = self.make_rope(False), self.make_rope(True)

    def make_rope(self, of_windows):
        m, family, weights = self.model, self.family, self.weights
        base = as_f32(family.get("window_base", m["base"]) if of_windows else m["base"])
        interleaved, n_rot = family.get("interleaved", False), m.get("nrot", m["HD"])
        if of_windows and family.get("window_unscaled"):
            return Rope(self.n, n_rot, base, interleaved)
        factors, magnitude = weights.get("rope_freqs.weight"), 1.0
        if m.get("rope_factors"):
            factors, magnitude = weights["rope_factors_short.weight"], m["rope_factors"]["attn_factor"]
        truncates = family.get("yarn_truncates", True)
        return Rope(self.n, n_rot, base, interleaved, m.get("rope_scaling"), truncates, factors, magnitude)

    def linear(self, x, name):
        y = x @ self.weights[name + ".weight"].T
        return y + self.weights[name + ".bias"] if name + ".bias" in self.weights else y

    def norm(self, x, name):
        return rms_norm(x, self.weights[name + ".weight"], self.epsilon)

    def scale(self, name, usual=1.0):
        return as_f32(self.scales[name]) if name in self.scales else usual

    def queries_keys_values(self, x, block):
        m, n = self.model, self.n
        heads, kv_heads, head = m["NH"], m["KV"], m["HD"]
        if self.family.get("fused"):
            q, k, v = np.split(self.linear(x, block + "attn_qkv"), [heads * head, (heads + kv_heads) * head], -1)
        else:
            q, k, v = (self.linear(x, block + "attn_" + which) for which in "qkv")
        kind = self.family.get("qk_norm")
        if kind == "width":
            q, k = self.norm(q, block + "attn_q_norm"), self.norm(k, block + "attn_k_norm")
        q, k, v = q.reshape(n, heads, head), k.reshape(n, kv_heads, head), v.reshape(n, kv_heads, head)
        if kind == "head":
            q, k = self.norm(q, block + "attn_q_norm"), self.norm(k, block + "attn_k_norm")
        return q, k, v

    def attention(self, x, layer):
        m, family, n, block = self.model, self.family, self.n, "blk.%d." % layer
        q, k, v = self.queries_keys_values(x, block)
        period, no_rope = family.get("period", 1), family.get("no_rope", 0)
        windowed = bool(m.get("swa")) and (period == 1 or layer % period < period - 1)
        if no_rope == 0 or layer % no_rope < no_rope - 1:
            rope = self.window_rope if windowed else self.rope
            q, k = rope.turn(q), rope.turn(k)
        group = m["NH"] // m["KV"]
        k, v = np.repeat(k, group, 1), np.repeat(v, group, 1)
        scores = np.einsum("ihd,jhd->hij", q, k)
        scores = scores * self.scale("attention") if "attention" in self.scales else scores / math.sqrt(m["HD"])
        if m.get("attn_softcap"):
            scores = np.tanh(scores / m["attn_softcap"]) * m["attn_softcap"]
        i, j = np.arange(n)[:, None], np.arange(n)[None]
        hidden = j > i
        if windowed:
            hidden = hidden | (i - j >= m["swa"])
        scores = np.where(hidden[None], -np.inf, scores)
        if family.get("sinks"):  # a score of each head's own that takes its share and gives nothing
            sinks = np.broadcast_to(self.weights[block + "attn_sinks.weight"][:, None, None], (m["NH"], n, 1))
            shares = softmax(np.concatenate([scores, sinks], -1))[..., :-1]
        else:
            shares = softmax(scores)
        return self.linear(np.einsum("hij,jhd->ihd", shares, v).reshape(n, -1), block + "attn_output")

    def expert(self, x, block, e):
        def part(name, y):
            out = y @ self.weights[block + "ffn_%s_exps.weight" % name][e].T
            return out + self.weights[block + "ffn_%s_exps.bias" % name][e] if self.family.get("expert_bias") else out
        gate, up = part("gate", x), part("up", x)
        return part("down", clamped_swiglu(gate, up) if self.family.get("expert_bias") else silu(gate) * up)

    def experts(self, x, block):
        n_used = self.model["moe"][1]
        likely = softmax(self.linear(x, block + "ffn_gate_inp"))
        out = np.zeros_like(x)
        for t in range(self.n):
            order = np.argsort(-likely[t], kind="stable")
            last, next_one = likely[t, order[n_used - 1]], likely[t, order[n_used]]
            self.margins.append((last - next_one) / last)
            chosen = order[:n_used]
            shares = likely[t, chosen]
            if self.family.get("experts_normalized", True):
                shares = shares / shares.sum()
            for e, share in zip(chosen, shares):
                out[t] += share * self.expert(x[t], block, e)
        if self.model.get("shared"):
            inner = silu(self.linear(x, block + "ffn_gate_shexp")) * self.linear(x, block + "ffn_up_shexp")
            gate = sigmoid(x @ self.weights[block + "ffn_gate_inp_shexp.weight"])
            out = out + gate[:, None] * self.linear(inner, block + "ffn_down_shexp")
        return out

    def feed_forward(self, x, block):
        if self.model.get("moe"):
            return self.experts(x, block)
        if self.family.get("fused"):
            gate, up = np.split(self.linear(x, block + "ffn_up"), 2, -1)
        else:
            gate, up = self.linear(x, block + "ffn_gate"), self.linear(x, block + "ffn_up")
        activation = gelu if self.family.get("gelu") else silu
        return self.linear(activation(gate) * up, block + "ffn_down")

    def logits(self, tokens):
        m, family, weights = self.model, self.family, self.weights
        input_norms, post_norms = family.get("input_norms", True), family.get("post_norms")
        residual = self.scale("residual")
        x = weights["token_embd.weight"][tokens] * self.scale("embedding")
        if family.get("scaled_embedding"):
            x = x * math.sqrt(m["H"])
        for layer in range(m["L"]):
            block = "blk.%d." % layer
            y = self.attention(self.norm(x, block + "attn_norm") if input_norms else x, layer)
            x = x + residual * (self.norm(y, block + "post_attention_norm") if post_norms else y)
            y = self.norm(x, block + family.get("ffn_norm", "ffn_norm")) if input_norms else x
            y = self.feed_forward(y, block)
            x = x + residual * (self.norm(y, block + "post_ffw_norm") if post_norms else y)
        x = self.norm(x, "output_norm")
        y = x @ weights["token_embd.weight" if m.get("tied") else "output.weight"].T / self.scale("logit")
        if m.get("final_softcap"):
            y = np.tanh(y / m["final_softcap"]) * m["final_softcap"]
        return y


def logits(model, weights, tokens, margins=None):
    """(tokens, n_vocab) in float64; adds to `margins` the relative distance of the last chosen expert to the first refused."""
    evaluation = Evaluation(model, weights, len(tokens))
    out = evaluation.logits(tokens)
    if margins is not None:
        margins += evaluation.margins
    return out
