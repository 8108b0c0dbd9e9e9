"""The truth: Hugging Face transformers in float32 on the weights that a GGUF file stands for, and tokenizers made of its vocabulary.

Weights are dequantized by the formulas of tests/data/dequantize.py, which are no part of the library.
"""
import struct

import tokenizers
import torch
import transformers

from gguf_reader import GgufReader

LAYER = {"attn_norm": "input_layernorm", "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj",
         "attn_output": "self_attn.o_proj", "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj",
         "ffn_norm": "post_attention_layernorm"}
GEMMA3_LAYER = LAYER | {"attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm", "ffn_norm": "pre_feedforward_layernorm",
                        "post_attention_norm": "post_attention_layernorm", "post_ffw_norm": "post_feedforward_layernorm"}
WHOLE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def hf_name(name, layer_names):
    stem, _ = name.rsplit(".", 1)
    if stem in WHOLE:
        return WHOLE[stem] + ".weight"
    _, layer, part = stem.split(".")
    return f"model.layers.{layer}.{layer_names[part]}.weight"


def llama_config(file):
    return transformers.LlamaConfig(
        vocab_size=len(file.get("tokenizer.ggml.tokens")), hidden_size=file.get(".embedding_length"), intermediate_size=file.get(".feed_forward_length"),
        num_hidden_layers=file.get(".block_count"), num_attention_heads=file.get(".attention.head_count"),
        num_key_value_heads=file.get(".attention.head_count_kv"), rms_norm_eps=file.get(".attention.layer_norm_rms_epsilon"),
        max_position_embeddings=file.get(".context_length"), tie_word_embeddings="output.weight" not in file.tensors,
        rope_parameters={"rope_type": "default", "rope_theta": file.get(".rope.freq_base")})


def gemma3_config(file):
    n_layers = file.get(".block_count")
    kinds = ["full_attention" if (i + 1) % 6 == 0 else "sliding_attention" for i in range(n_layers)]
    rope = {"full_attention": {"rope_type": "default", "rope_theta": file.get(".rope.freq_base")},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}
    return transformers.Gemma3TextConfig(
        vocab_size=len(file.get("tokenizer.ggml.tokens")), hidden_size=file.get(".embedding_length"), intermediate_size=file.get(".feed_forward_length"),
        num_hidden_layers=n_layers, num_attention_heads=file.get(".attention.head_count"), num_key_value_heads=file.get(".attention.head_count_kv"),
        head_dim=file.get(".attention.key_length"), query_pre_attn_scalar=file.get(".attention.key_length"),
        rms_norm_eps=file.get(".attention.layer_norm_rms_epsilon"), max_position_embeddings=file.get(".context_length"),
        sliding_window=file.get(".attention.sliding_window"), layer_types=kinds, rope_parameters=rope,
        tie_word_embeddings="output.weight" not in file.tensors)


FAMILIES = {"llama": (llama_config, transformers.LlamaForCausalLM, LAYER), "gemma3": (gemma3_config, transformers.Gemma3ForCausalLM, GEMMA3_LAYER)}


def pairs_as_halves(rows, n_heads):
    """GGUF has the rows of llama's queries and keys as pairs that turn together, transformers as halves of a head."""
    return rows.reshape(n_heads, rows.shape[0] // n_heads // 2, 2, *rows.shape[1:]).swapaxes(1, 2).reshape(rows.shape)


class Truth:
    """transformers' model of a GGUF file."""

    def __init__(self, path):
        file = GgufReader(path)
        arch = file.get("general.architecture")
        make_config, model_class, layer_names = FAMILIES[arch]
        config = make_config(file)
        config._attn_implementation = "eager"  # pylint: disable=protected-access
        with torch.device("meta"):
            self.model = model_class(config)
        state = {}
        for name in file.tensors:
            values = file.values(name)
            if arch == "llama" and name.endswith(("attn_q.weight", "attn_k.weight")):
                values = pairs_as_halves(values, config.num_attention_heads if "attn_q" in name else config.num_key_value_heads)
            if arch == "gemma3" and name.endswith("norm.weight"):
                values = values - 1  # transformers adds it again
            state[hf_name(name, layer_names)] = torch.from_numpy(values.copy())
        if config.tie_word_embeddings:
            state["lm_head.weight"] = state["model.embed_tokens.weight"]
        self.model = model_class(config).float().eval()
        self.model.load_state_dict(state)

    def logits(self, tokens):
        """Rows after each of the tokens, float32."""
        with torch.no_grad():
            return self.model(input_ids=torch.tensor([tokens]), use_cache=False).logits[0]


# ---- tokenizers

class BytePairs:
    """Hugging Face's tokenizers with a GGUF file's byte-level BPE. The words are those of the pre-tokenizer `smollm`."""

    def __init__(self, file):
        if file.get("tokenizer.ggml.pre") != "smollm":
            raise ValueError(f"no words are described here for {file.get('tokenizer.ggml.pre')}")
        pieces = file.get("tokenizer.ggml.tokens")
        merges = [tuple(merge.split(" ")) for merge in file.get("tokenizer.ggml.merges")]
        self.inner = tokenizers.Tokenizer(tokenizers.models.BPE(vocab={piece: i for i, piece in enumerate(pieces)}, merges=merges))
        self.inner.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([
            tokenizers.pre_tokenizers.Digits(individual_digits=True), tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)])
        self.inner.decoder = tokenizers.decoders.ByteLevel()
        self.controls = [piece for piece, kind in zip(pieces, file.get("tokenizer.ggml.token_type")) if kind == 3]

    def encode(self, text):
        return self.inner.encode(text, add_special_tokens=False).ids

    def decode(self, ids):
        return self.inner.decode(ids)

    def for_chats(self, template):
        """transformers' tokenizer, which knows the control tokens in a text that a template wrote."""
        copy = tokenizers.Tokenizer.from_str(self.inner.to_str())
        copy.add_special_tokens([tokenizers.AddedToken(piece, special=True, normalized=False) for piece in self.controls])
        return transformers.PreTrainedTokenizerFast(tokenizer_object=copy, chat_template=template)


def varint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def of_bytes(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def of_number(number, value):
    return varint(number << 3) + varint(value)


def of_float(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


class SentencePieces:
    """SentencePiece with a GGUF file's vocabulary, given to it in its own form: the numbers are those of sentencepiece_model.proto."""

    UNKNOWN, USER_DEFINED, BPE = 2, 4, 2

    def __init__(self, file):
        import sentencepiece  # pylint: disable=import-outside-toplevel  # not everywhere where transformers is
        unknown, model = file.get("tokenizer.ggml.unknown_token_id"), bytearray()
        vocabulary = zip(file.get("tokenizer.ggml.tokens"), file.get("tokenizer.ggml.scores"), file.get("tokenizer.ggml.token_type"))
        for i, (piece, score, kind) in enumerate(vocabulary):
            kind = self.UNKNOWN if i == unknown else kind
            if kind == self.USER_DEFINED:
                piece = piece.replace(" ", "\u2581")  # GGUF has these with plain spaces
            model += of_bytes(1, of_bytes(1, piece.encode()) + of_float(2, score) + of_number(3, kind))
        trainer = of_number(3, self.BPE) + of_number(35, 1) + of_number(40, unknown)  # model type, fallback to bytes
        normalizer = of_bytes(1, b"identity") + of_number(3, 0) + of_number(4, 0) + of_number(5, 1)  # spaces are kept, and escaped
        self.inner = sentencepiece.SentencePieceProcessor(model_proto=bytes(model + of_bytes(2, trainer) + of_bytes(3, normalizer)))

    def encode(self, text):
        return self.inner.encode(text)

    def decode(self, ids):
        return self.inner.decode(ids)


def tokenizer_of(path):
    file = GgufReader(path)
    return {"gpt2": BytePairs, "llama": SentencePieces}[file.get("tokenizer.ggml.model")](file)
