"""Tokenizers of the tiny models: byte-level BPE, or SentencePiece pieces with bytes, trained on the model's own text."""
import collections

from tokenizer_training import byte_chars, train_merges


def add_tokenizer(gguf, model):
    """The keys of the model's tokenizer; "no_vocab" for a model without one."""
    kind = model.get("tokenizer")
    if not kind:
        gguf.string("tokenizer.ggml.model", "no_vocab")
        return
    {"bpe": add_bpe, "spm": add_spm}[kind](gguf, model)
    if model.get("chat_template"):
        gguf.string("tokenizer.chat_template", model["chat_template"])


def add_bpe(gguf, model):
    n_vocab, special = model["V"], ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    characters = byte_chars()
    words = [tuple(characters[b] for b in ((" " if i else "") + word).encode()) for i, word in enumerate(model["corpus"].split(" "))]
    merges = train_merges(collections.Counter(words), n_vocab - 256 - len(special))
    tokens = characters + ["".join(pair) for pair in merges] + special
    assert len(tokens) == n_vocab, len(tokens)
    gguf.string("tokenizer.ggml.model", "gpt2")
    gguf.string("tokenizer.ggml.pre", model.get("pre", "qwen2"))
    gguf.string_array("tokenizer.ggml.tokens", tokens)
    gguf.i32_array("tokenizer.ggml.token_type", [1] * (256 + len(merges)) + [3] * len(special))
    gguf.string_array("tokenizer.ggml.merges", [" ".join(pair) for pair in merges])
    gguf.u32("tokenizer.ggml.bos_token_id", n_vocab - 3)
    gguf.u32("tokenizer.ggml.eos_token_id", n_vocab - 1)
    gguf.u32("tokenizer.ggml.padding_token_id", n_vocab - 3)
    gguf.truth("tokenizer.ggml.add_bos_token", 0)


def add_spm(gguf, model):
    n_vocab = model["V"]
    words = [tuple("\u2581" + word) for word in model["corpus"].split(" ")]
    characters = sorted({c for word in words for c in word})
    pieces = ["".join(pair) for pair in train_merges(collections.Counter(words), n_vocab - 259 - len(characters))]
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % b for b in range(256)] + pieces + characters
    assert len(tokens) == n_vocab and len(set(tokens)) == n_vocab, len(tokens)
    gguf.string("tokenizer.ggml.model", "llama")
    gguf.string("tokenizer.ggml.pre", "default")
    gguf.string_array("tokenizer.ggml.tokens", tokens)
    gguf.f32_array("tokenizer.ggml.scores", [0.0] * 259 + [-float(i) for i in range(n_vocab - 259)])
    gguf.i32_array("tokenizer.ggml.token_type", [2, 3, 3] + [6] * 256 + [1] * (n_vocab - 259))
    gguf.u32("tokenizer.ggml.bos_token_id", 1)
    gguf.u32("tokenizer.ggml.eos_token_id", 2)
    gguf.u32("tokenizer.ggml.unknown_token_id", 0)
    gguf.truth("tokenizer.ggml.add_bos_token", 1)
    gguf.truth("tokenizer.ggml.add_eos_token", 0)
