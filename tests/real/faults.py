"""Model files with one fault, which a comparison must find. Needs nothing but Python.

A fault takes as many bytes as what it stands in for, so that a file is copied and a few bytes are changed.
"""
import shutil
import struct

from gguf_reader import GgufReader

BLOCK_BYTES = {3: 20, 6: 22, 8: 34, 12: 144, 14: 210}  # Q4_1, Q5_0, Q8_0, Q4_K, Q6_K
HALVES = {3: (0, 2), 6: (0,), 8: (0,), 12: (0, 2), 14: (208,)}  # where their scales are, in half precision
SCALED = 128.0


def changed_copy(path, out, changes):
    """changes: pairs of an offset and the bytes from there."""
    shutil.copyfile(path, out)
    with open(out, "r+b") as file:
        for offset, data in changes:
            file.seek(offset)
            file.write(data)
    return out


def wrong_block(path, out):
    """One block of 32 or 256 weights, in the middle of a down projection, is 128 times as large."""
    model = GgufReader(path)
    tensor = model.tensors[f"blk.{model.get('.block_count') // 2}.ffn_down.weight"]
    rows, columns = tensor.shape
    elements = 256 if tensor.number in (12, 14) else 32
    row = columns // elements * BLOCK_BYTES[tensor.number]
    begin = tensor.offset + rows // 2 * row + row // 2 // BLOCK_BYTES[tensor.number] * BLOCK_BYTES[tensor.number]
    changes = []
    for at in HALVES[tensor.number]:
        (scale,) = struct.unpack_from("<e", model.data, begin + at)
        changes.append((begin + at, struct.pack("<e", scale * SCALED)))
    return changed_copy(path, out, changes)


def wrong_rope_base(path, out):
    """The base of RoPE is a hundredth of the file's."""
    model = GgufReader(path)
    key = model.key(".rope.freq_base")
    return changed_copy(path, out, [(key.offset, struct.pack("<f", key.value / 100))])


def wrong_window(path, out):
    """The sliding window is 8 times as wide."""
    model = GgufReader(path)
    key = model.key(".attention.sliding_window")
    return changed_copy(path, out, [(key.offset, struct.pack("<I", key.value * 8))])


def text_bytes(text):
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def wrong_merges(path, out):
    """Two merges have exchanged their ranks."""
    model = GgufReader(path)
    key = model.key("tokenizer.ggml.merges")
    merges = list(key.value)
    first, second = merges.index("r e"), merges.index("e r")
    merges[first], merges[second] = merges[second], merges[first]
    return changed_copy(path, out, [(key.offset, b"".join(map(text_bytes, merges)))])


def wrong_scores(path, out):
    """Two pieces of SentencePiece have exchanged their scores."""
    model = GgufReader(path)
    pieces, key = model.get("tokenizer.ggml.tokens"), model.key("tokenizer.ggml.scores")
    first, second = pieces.index("re"), pieces.index("er")
    return changed_copy(path, out, [(key.offset + 4 * a, struct.pack("<f", key.value[b])) for a, b in ((first, second), (second, first))])


def wrong_template(path, out):
    """The template opens an answer with the token that ends one."""
    model = GgufReader(path)
    key = model.key("tokenizer.chat_template")
    right, wrong = "<|im_start|>assistant", "<|im_end|>  assistant"
    if right not in key.value or len(right) != len(wrong):
        raise ValueError("the template is not the one that this fault was made for")
    return changed_copy(path, out, [(key.offset, key.value.replace(right, wrong).encode())])
