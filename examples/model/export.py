#!/usr/bin/env python3
"""Writes the model of a Hugging Face folder as a GGUF file (version 3, architecture llama). Needs numpy.

usage: export.py HF_DIR OUT.gguf [--dtype F16|F32|Q8_0] [--license ID]

The dtype is that of the matrices; norms are F32. GGUF's llama architecture rotates neighbouring elements of a head, the
Hugging Face layout element i with element i + half: the rows of q and k are put in the other order here.
"""
import argparse
import json
import os
import struct

import numpy as np

import safetensors_file

ALIGNMENT = 32
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9  # GGUF's metadata value types
TENSOR_TYPES = {"F32": 0, "F16": 1, "Q8_0": 8}          # and tensor types
FILE_TYPES = {"F32": 0, "F16": 1, "Q8_0": 7}
NORMAL, CONTROL = 1, 3                                   # token types


def string(text):
    raw = text.encode("utf-8")
    return struct.pack("<Q", len(raw)) + raw


class Metadata:
    def __init__(self):
        self.entries = []

    def add(self, key, kind, payload):
        self.entries.append(string(key) + struct.pack("<I", kind) + payload)

    def text(self, key, value):
        self.add(key, STRING, string(value))

    def u32(self, key, value):
        self.add(key, U32, struct.pack("<I", value))

    def f32(self, key, value):
        self.add(key, F32, struct.pack("<f", value))

    def flag(self, key, value):
        self.add(key, BOOL, struct.pack("<?", value))

    def array(self, key, kind, items):
        pack = string if kind == STRING else lambda item: struct.pack("<i", item)
        self.add(key, ARRAY, struct.pack("<IQ", kind, len(items)) + b"".join(map(pack, items)))


def general_metadata(meta, dtype, license_id):
    meta.text("general.architecture", "llama")
    meta.text("general.type", "model")
    meta.text("general.name", "Inlay Tales")
    meta.text("general.author", "The Inlay authors")
    meta.text("general.description", "A small model that writes tales and speaks for characters of a game; trained on text that "
                                     "a grammar generated")
    if license_id:
        meta.text("general.license", license_id)
    meta.u32("general.file_type", FILE_TYPES[dtype])
    meta.u32("general.alignment", ALIGNMENT)


def architecture_metadata(meta, config):
    for key, name in (("vocab_size", "vocab_size"), ("context_length", "max_position_embeddings"),
                      ("embedding_length", "hidden_size"), ("block_count", "num_hidden_layers"),
                      ("feed_forward_length", "intermediate_size"), ("attention.head_count", "num_attention_heads"),
                      ("attention.head_count_kv", "num_key_value_heads"), ("attention.key_length", "head_dim"),
                      ("attention.value_length", "head_dim"), ("rope.dimension_count", "head_dim")):
        meta.u32("llama." + key, config[name])
    meta.f32("llama.rope.freq_base", config["rope_theta"])
    meta.f32("llama.attention.layer_norm_rms_epsilon", config["rms_norm_eps"])


def tokenizer_metadata(meta, tokenizer, settings):
    special = {t["content"]: t["id"] for t in tokenizer["added_tokens"]}
    texts = {i: t for t, i in {**tokenizer["model"]["vocab"], **special}.items()}
    meta.text("tokenizer.ggml.model", "gpt2")
    meta.text("tokenizer.ggml.pre", "llama-bpe")
    meta.array("tokenizer.ggml.tokens", STRING, [texts[i] for i in range(len(texts))])
    meta.array("tokenizer.ggml.token_type", I32, [CONTROL if texts[i] in special else NORMAL for i in range(len(texts))])
    meta.array("tokenizer.ggml.merges", STRING, [" ".join(pair) for pair in tokenizer["model"]["merges"]])
    meta.u32("tokenizer.ggml.bos_token_id", special[settings["bos_token"]])
    meta.u32("tokenizer.ggml.eos_token_id", special[settings["eos_token"]])
    meta.u32("tokenizer.ggml.eot_token_id", special[settings["eos_token"]])
    meta.u32("tokenizer.ggml.padding_token_id", special[settings["pad_token"]])
    meta.flag("tokenizer.ggml.add_bos_token", settings["add_bos_token"])
    meta.flag("tokenizer.ggml.add_eos_token", settings["add_eos_token"])
    meta.text("tokenizer.chat_template", settings["chat_template"])


def interleave(rows, heads):
    """Rows of each head from two halves to neighbouring pairs: 0, half, 1, half + 1, ..."""
    count, columns = rows.shape
    return rows.reshape(heads, 2, count // heads // 2, columns).swapaxes(1, 2).reshape(count, columns)


LAYER_NAMES = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}


def tensors_of(config, source):
    """GGUF name and float32 values, in the order of use."""
    def take(name):
        return source[name].astype(np.float32)

    yield "token_embd.weight", take("model.embed_tokens.weight")
    for i in range(config["num_hidden_layers"]):
        for theirs, ours in LAYER_NAMES.items():
            values = take("model.layers.%d.%s.weight" % (i, theirs))
            if ours == "attn_q":
                values = interleave(values, config["num_attention_heads"])
            elif ours == "attn_k":
                values = interleave(values, config["num_key_value_heads"])
            yield "blk.%d.%s.weight" % (i, ours), values
    yield "output_norm.weight", take("model.norm.weight")


def q8_0(values):
    """Blocks of 32: an FP16 scale and 32 signed bytes."""
    blocks = values.reshape(-1, 32)
    scale = np.abs(blocks).max(1) / np.float32(127)
    inverse = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)[:, None]
    scaled = blocks * inverse
    quants = (np.sign(scaled) * np.floor(np.abs(scaled) + np.float32(0.5))).astype(np.int8)  # halves away from zero
    return np.concatenate([scale.astype("<f2").view(np.int8).reshape(-1, 2), quants], 1).tobytes()


def encode(values, dtype):
    if values.ndim == 1:
        return "F32", values.astype("<f4").tobytes()
    if dtype == "Q8_0":
        return dtype, q8_0(values)
    return dtype, values.astype("<f2" if dtype == "F16" else "<f4").tobytes()


def write_gguf(path, meta, tensors):
    """tensors: (name, shape with the row length last, dtype, bytes)."""
    infos, offset = [], 0
    for name, shape, dtype, data in tensors:
        dims = shape[::-1]  # GGUF counts dimensions from the innermost
        infos.append(string(name) + struct.pack("<I%dQIQ" % len(dims), len(dims), *dims, TENSOR_TYPES[dtype], offset))
        offset += -(-len(data) // ALIGNMENT) * ALIGNMENT
    with open(path, "wb") as f:
        f.write(struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(meta.entries)))
        f.write(b"".join(meta.entries) + b"".join(infos))
        for _, _, _, data in tensors:
            f.write(b"\0" * (-f.tell() % ALIGNMENT) + data)
        f.write(b"\0" * (-f.tell() % ALIGNMENT))


def read_json(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as f:
        return json.load(f)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("hf_dir")
    parser.add_argument("out")
    parser.add_argument("--dtype", choices=sorted(TENSOR_TYPES), default="F16")
    parser.add_argument("--license", help="SPDX identifier; without it the file names no licence")
    args = parser.parse_args()
    config = read_json(args.hf_dir, "config.json")
    source = safetensors_file.read(os.path.join(args.hf_dir, "model.safetensors"))
    meta = Metadata()
    general_metadata(meta, args.dtype, args.license)
    architecture_metadata(meta, config)
    tokenizer_metadata(meta, read_json(args.hf_dir, "tokenizer.json"), read_json(args.hf_dir, "tokenizer_config.json"))
    tensors = []
    for name, values in tensors_of(config, source):
        dtype, data = encode(values, args.dtype)
        tensors.append((name, values.shape, dtype, data))
    write_gguf(args.out, meta, tensors)
    print("%s: %d tensors, %d bytes" % (args.out, len(tensors), os.path.getsize(args.out)))


if __name__ == "__main__":
    main()
