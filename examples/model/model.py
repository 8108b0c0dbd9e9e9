"""The tales model in PyTorch: a small Llama, its files in the Hugging Face layout, and generation of text."""
import dataclasses
import json
import os

import torch
import torch.nn.functional as F
from torch import nn

import safetensors_file


@dataclasses.dataclass
class Config:
    vocab_size: int = 2048
    hidden_size: int = 192
    intermediate_size: int = 512
    num_hidden_layers: int = 6
    num_attention_heads: int = 6
    num_key_value_heads: int = 2
    head_dim: int = 32
    max_position_embeddings: int = 512
    rms_norm_eps: float = 1e-5
    rope_theta: float = 10000.0


class RmsNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        wide = x if x.dtype == torch.float64 else x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return wide.to(x.dtype) * self.weight


def rotary_tables(config, length, device, dtype):
    """cos and sin, [length, head_dim / 2], computed in float64."""
    half = config.head_dim // 2
    frequency = config.rope_theta ** (-torch.arange(half, dtype=torch.float64, device=device) / half)
    angle = torch.arange(length, dtype=torch.float64, device=device)[:, None] * frequency
    return angle.cos().to(dtype), angle.sin().to(dtype)


def rotate(x, cos, sin):
    """Rotary embedding over the two halves of each head (the Hugging Face order); x is [batch, heads, length, dim]."""
    a, b = x.chunk(2, -1)
    return torch.cat((a * cos - b * sin, b * cos + a * sin), -1).to(x.dtype)


def attend(q, k, v):
    """Causal attention written out, for float64 and for PyTorch versions without the fused one."""
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    future = torch.ones(scores.shape[-2:], dtype=torch.bool, device=q.device).triu(1)
    return scores.masked_fill(future, float("-inf")).softmax(-1) @ v


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.q_proj = nn.Linear(c.hidden_size, c.num_attention_heads * c.head_dim, bias=False)
        self.k_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=False)
        self.v_proj = nn.Linear(c.hidden_size, c.num_key_value_heads * c.head_dim, bias=False)
        self.o_proj = nn.Linear(c.num_attention_heads * c.head_dim, c.hidden_size, bias=False)

    def forward(self, x, cos, sin):
        batch, length, _ = x.shape
        q, k, v = (p(x).view(batch, length, -1, self.c.head_dim).transpose(1, 2)
                   for p in (self.q_proj, self.k_proj, self.v_proj))
        q, k = rotate(q, cos, sin), rotate(k, cos, sin)
        group = self.c.num_attention_heads // self.c.num_key_value_heads
        k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        if self.training and hasattr(F, "scaled_dot_product_attention"):
            out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        else:
            out = attend(q, k, v)
        return self.o_proj(out.transpose(1, 2).reshape(batch, length, -1))


class Mlp(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.gate_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.up_proj = nn.Linear(c.hidden_size, c.intermediate_size, bias=False)
        self.down_proj = nn.Linear(c.intermediate_size, c.hidden_size, bias=False)

    def forward(self, x):
        return self.down_proj(F.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.input_layernorm = RmsNorm(c.hidden_size, c.rms_norm_eps)
        self.self_attn = Attention(c)
        self.post_attention_layernorm = RmsNorm(c.hidden_size, c.rms_norm_eps)
        self.mlp = Mlp(c)

    def forward(self, x, cos, sin):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin)
        return x + self.mlp(self.post_attention_layernorm(x))


class Body(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed_tokens = nn.Embedding(c.vocab_size, c.hidden_size)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.num_hidden_layers))
        self.norm = RmsNorm(c.hidden_size, c.rms_norm_eps)


class Llama(nn.Module):
    """Parameter names are those of Hugging Face's LlamaForCausalLM; the output matrix is the embedding."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.model = Body(config)

    def reset(self, seed):
        generator = torch.Generator().manual_seed(seed)
        depth = (2 * self.config.num_hidden_layers) ** -0.5
        with torch.no_grad():
            for name, p in self.named_parameters():
                if p.dim() == 2:
                    std = 0.02 * (depth if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0)
                    p.copy_(torch.randn(p.shape, generator=generator) * std)

    def forward(self, ids):
        """Logits, [batch, length, vocabulary]."""
        body = self.model
        x = body.embed_tokens(ids)
        cos, sin = rotary_tables(self.config, ids.shape[1], ids.device, x.dtype)
        for layer in body.layers:
            x = layer(x, cos, sin)
        return F.linear(body.norm(x), body.embed_tokens.weight)

    @torch.no_grad()
    def round_to_half(self):
        """Rounds every weight to a number that FP16 holds exactly."""
        for p in self.parameters():
            p.copy_(p.half().to(p.dtype))


def save(model, folder):
    tensors = {name: p.detach().cpu().half().numpy() for name, p in model.named_parameters()}
    safetensors_file.write(os.path.join(folder, "model.safetensors"), tensors)
    c = model.config
    config = dataclasses.asdict(c)
    config.update(architectures=["LlamaForCausalLM"], model_type="llama", torch_dtype="float16", hidden_act="silu",
                  attention_bias=False, mlp_bias=False, tie_word_embeddings=True, attention_dropout=0.0, rope_scaling=None,
                  initializer_range=0.02, use_cache=True, bos_token_id=2043, eos_token_id=2044, pad_token_id=2047)
    generation = {"bos_token_id": 2043, "eos_token_id": 2044, "pad_token_id": 2047, "do_sample": True, "temperature": 0.8,
                  "top_p": 0.95}
    for name, data in (("config.json", config), ("generation_config.json", generation)):
        with open(os.path.join(folder, name), "w", encoding="utf-8", newline="\n") as f:
            json.dump(data, f, indent=2, sort_keys=True)
            f.write("\n")


def load(folder, dtype=torch.float32):
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
        data = json.load(f)
    model = Llama(Config(**{field.name: data[field.name] for field in dataclasses.fields(Config)})).to(dtype)
    tensors = safetensors_file.read(os.path.join(folder, "model.safetensors"))
    model.load_state_dict({name: torch.from_numpy(x.astype("float32")).to(dtype) for name, x in tensors.items()})
    return model.eval()


@torch.no_grad()
def generate(model, ids, count, end_id, temperature=0.0, seed=0):
    """Up to `count` tokens after the prompt, the end token included, and the gap of the two largest logits at each."""
    device = next(model.parameters()).device
    generator = torch.Generator().manual_seed(seed)
    ids, new, gaps = list(ids), [], []
    while len(new) < count and len(ids) < model.config.max_position_embeddings:
        logits = model(torch.tensor([ids], device=device))[0, -1]
        top = logits.topk(2)
        gaps.append(float(top.values[0] - top.values[1]))
        token = int(top.indices[0])
        if temperature:
            token = int(torch.multinomial((logits.double().cpu() / temperature).softmax(-1), 1, generator=generator))
        ids.append(token)
        new.append(token)
        if token == end_id:
            break
    return new, gaps
