"""GGUF files written by numpy: keys, tensors, and the packing of values into block types.

F32, F16, BF16, Q8_0 and MXFP4 are packed here, by their definitions. The other types are packed by libggml's own quantizer, which
reference_library.py loads; without that library they raise LibraryMissing.
"""
import struct

import numpy as np

import reference_library

# Name: (GGUF's number, elements a block, bytes a block).
TYPES = {
    "F32": (0, 1, 4), "F16": (1, 1, 2), "BF16": (30, 1, 2),
    "Q4_0": (2, 32, 18), "Q4_1": (3, 32, 20), "Q5_0": (6, 32, 22), "Q5_1": (7, 32, 24), "Q8_0": (8, 32, 34),
    "Q2_K": (10, 256, 84), "Q3_K": (11, 256, 110), "Q4_K": (12, 256, 144), "Q5_K": (13, 256, 176), "Q6_K": (14, 256, 210),
    "IQ1_S": (19, 256, 50), "IQ1_M": (29, 256, 56), "IQ2_XXS": (16, 256, 66), "IQ2_XS": (17, 256, 74), "IQ2_S": (22, 256, 82),
    "IQ3_XXS": (18, 256, 98), "IQ3_S": (21, 256, 110), "IQ4_NL": (20, 32, 18), "IQ4_XS": (23, 256, 136),
    "MXFP4": (39, 32, 17), "TQ1_0": (34, 256, 54), "TQ2_0": (35, 256, 66),
}
BY_DEFINITION = ("F32", "F16", "BF16", "Q8_0", "MXFP4")  # what needs no library

E2M1 = np.array([0, .5, 1, 1.5, 2, 3, 4, 6, 0, -.5, -1, -1.5, -2, -3, -4, -6])  # as libggml reads them: no negative zero


def bf16_bits(values):
    """The upper half of each float32, rounded to nearest, ties to even."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype(np.uint16)


def pack_q8_0(values):
    """Blocks of a half-precision scale and 32 integers: the largest of a block becomes 127; halves round away from zero."""
    blocks = values.reshape(-1, 32)
    scale = np.abs(blocks).max(1, keepdims=True) / np.float32(127)
    inverse = np.divide(np.float32(1), scale, out=np.zeros_like(scale), where=scale > 0)
    scaled = (blocks * inverse).astype(np.float64)
    codes = np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int8)
    halves = scale.astype(np.float16)
    return np.concatenate([halves.view(np.uint8), codes.view(np.uint8)], 1), halves.astype(np.float64) * codes


def pack_mxfp4(values):
    """Blocks of one E8M0 exponent and 32 E2M1 values: the largest of a block lies in [4, 8) times the block's power of two."""
    blocks = values.reshape(-1, 32).astype(np.float64)
    largest = np.abs(blocks).max(1)
    exponent = np.where(largest > 0, np.floor(np.log2(np.where(largest > 0, largest, 1))) - 2, -127)
    exponent = np.clip(exponent, -127, 127)
    scaled = blocks / np.exp2(exponent)[:, None]
    codes = np.abs(scaled[:, :, None] - E2M1).argmin(2).astype(np.uint8)
    packed = np.empty((len(blocks), 17), np.uint8)
    packed[:, 0] = exponent + 127
    packed[:, 1:] = codes[:, :16] | codes[:, 16:] << 4
    return packed, E2M1[codes] * np.exp2(exponent)[:, None]


def pack(values, type_name):
    """Packs a float32 array, rows along the last dimension: (stored bytes, the values they stand for as float64)."""
    values = np.ascontiguousarray(values, np.float32)
    if type_name == "F32":
        return values.tobytes(), values.astype(np.float64)
    if type_name == "F16":
        halves = values.astype(np.float16)
        return halves.tobytes(), halves.astype(np.float64)
    if type_name == "BF16":
        halves = bf16_bits(values)
        return halves.tobytes(), (halves.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    number, block_elements, block_bytes = TYPES[type_name]
    assert values.shape[-1] % block_elements == 0, (type_name, values.shape)
    if type_name in ("Q8_0", "MXFP4"):
        packed, stored = {"Q8_0": pack_q8_0, "MXFP4": pack_mxfp4}[type_name](values)
        return packed.tobytes(), stored.reshape(values.shape)
    packed = reference_library.quantize(values, number, block_elements, block_bytes)
    stored = reference_library.dequantize(packed, number, values.size)
    return packed.tobytes(), stored.reshape(values.shape).astype(np.float64)


def text(value):
    data = value.encode("utf-8")
    return struct.pack("<Q", len(data)) + data


class GgufFile:
    """Keys in the order they are added, then tensors in the order they are added, with the stored values by name."""

    def __init__(self, arch, alignment=32):
        self.arch, self.alignment = arch, alignment
        self.keys, self.infos, self.data, self.stored = [], [], [], {}

    # ---- keys; one that begins with a dot has the architecture before it

    def _key(self, key, number, payload):
        name = self.arch + key if key.startswith(".") else key
        self.keys.append(text(name) + struct.pack("<I", number) + payload)

    def u32(self, key, value):
        self._key(key, 4, struct.pack("<I", value))

    def f32(self, key, value):
        self._key(key, 6, struct.pack("<f", value))

    def truth(self, key, value):
        self._key(key, 7, struct.pack("<B", value))

    def string(self, key, value):
        self._key(key, 8, text(value))

    def _array(self, key, number, count, payload):
        self._key(key, 9, struct.pack("<IQ", number, count) + payload)

    def i32_array(self, key, values):
        self._array(key, 5, len(values), struct.pack("<%di" % len(values), *values))

    def f32_array(self, key, values):
        self._array(key, 6, len(values), struct.pack("<%df" % len(values), *values))

    def string_array(self, key, values):
        self._array(key, 8, len(values), b"".join(map(text, values)))

    # ---- tensors; shapes are numpy's, with the output dimension first

    def tensor(self, name, values, type_name):
        values = np.asarray(values, np.float32)
        data, self.stored[name] = pack(values, type_name)
        self.infos.append((name, values.shape[::-1], TYPES[type_name][0], len(data)))
        self.data.append(data)

    def bytes(self):
        head, offset = [], 0
        for name, dims, number, size in self.infos:
            shape = struct.pack("<I%dQ" % len(dims), len(dims), *dims)
            head.append(text(name) + shape + struct.pack("<IQ", number, offset))
            offset += -(-size // self.alignment) * self.alignment
        out = bytearray(b"GGUF" + struct.pack("<IQQ", 3, len(self.infos), len(self.keys)))
        out += b"".join(self.keys) + b"".join(head)
        for data in self.data:
            out += b"\0" * (-len(out) % self.alignment) + data
        return bytes(out + b"\0" * (-len(out) % self.alignment))
