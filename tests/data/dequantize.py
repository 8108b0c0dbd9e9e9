"""The float32 values of quantized blocks by the definitions of their types, in numpy: a second reference beside libggml.

The types with grids (IQ1, IQ2, IQ3) are not here: their values are tables, not formulas. Products and sums are rounded to float32
in the order that the definitions give, so that the results are bit for bit the same.
"""
import numpy as np

from gguf_file import E2M1, TYPES

IQ4_VALUES = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113], np.float32)
F32 = np.float32


def half(blocks, at):
    """The half-precision number at a byte of every block, as a column of float32."""
    return np.ascontiguousarray(blocks[:, at:at + 2]).view(np.float16).astype(F32)


def nibbles(data):
    """Low halves of all bytes, then high halves."""
    return np.concatenate([data & 15, data >> 4], 1)


def bits(data, width, order):
    """Fields of `width` bits: those of `order` bytes at their lowest bits, then those of the same bytes above, and so on."""
    groups = data.reshape(len(data), -1, order)
    shifts = np.arange(0, 8, width, dtype=np.uint8)
    return ((groups[:, :, None, :] >> shifts[None, None, :, None]) & (2 ** width - 1)).reshape(len(data), -1)


def q4_0(b):
    return half(b, 0) * (nibbles(b[:, 2:]).astype(F32) - 8)


def q4_1(b):
    return half(b, 0) * nibbles(b[:, 4:]).astype(F32) + half(b, 2)


def fifth_bits(data):
    return np.unpackbits(np.ascontiguousarray(data), axis=1, bitorder="little") << 4


def q5_0(b):
    return half(b, 0) * ((nibbles(b[:, 6:]) | fifth_bits(b[:, 2:6])).astype(F32) - 16)


def q5_1(b):
    return half(b, 0) * (nibbles(b[:, 8:]) | fifth_bits(b[:, 4:8])).astype(F32) + half(b, 2)


def q8_0(b):
    return half(b, 0) * b[:, 2:].view(np.int8).astype(F32)


def of_groups(scales, quants):
    """One scale for each of several equal groups of a block: (blocks, groups) times (blocks, elements)."""
    return scales[:, :, None] * quants.reshape(len(quants), scales.shape[1], -1).astype(F32)


def q2_k(b):
    scales, quants = b[:, :16], bits(b[:, 16:80], 2, 32)
    least = half(b, 82) * (scales >> 4).astype(F32)
    return (of_groups(half(b, 80) * (scales & 15).astype(F32), quants) - least[:, :, None]).reshape(len(b), -1)


def q3_k(b):
    low, high = nibbles(b[:, 96:104]), bits(b[:, 104:108], 2, 4)
    scales = (low | high << 4).astype(F32) - 32
    quants = bits(b[:, 32:96], 2, 32).astype(F32) - 4 * (1 - bits(b[:, :32], 1, 32).astype(F32))
    return of_groups(half(b, 108) * scales, quants).reshape(len(b), -1)


def six_bit_scales(data):
    """Eight scales and eight minima in 12 bytes: the first four of each as they are, the upper ones in what these leave free."""
    first, second, rest = data[:, :4], data[:, 4:8], data[:, 8:]
    scales = np.concatenate([first & 63, (rest & 15) | first >> 6 << 4], 1)
    minima = np.concatenate([second & 63, (rest >> 4) | second >> 6 << 4], 1)
    return scales.astype(F32), minima.astype(F32)


def with_minima(b, quants):
    scales, minima = six_bit_scales(b[:, 4:16])
    return (of_groups(half(b, 0) * scales, quants) - (half(b, 2) * minima)[:, :, None]).reshape(len(b), -1)


def q4_k(b):
    return with_minima(b, bits(b[:, 16:], 4, 32))


def q5_k(b):
    return with_minima(b, bits(b[:, 48:], 4, 32) | bits(b[:, 16:48], 1, 32) << 4)


def q6_k(b):
    quants = (bits(b[:, :128], 4, 64) | bits(b[:, 128:192], 2, 32) << 4).astype(F32) - 32
    return of_groups(half(b, 208) * b[:, 192:208].view(np.int8).astype(F32), quants).reshape(len(b), -1)


def iq4_nl(b):
    return half(b, 0) * IQ4_VALUES[nibbles(b[:, 2:])]


def iq4_xs(b):
    high = (b[:, 2:3].astype(np.uint16) | b[:, 3:4].astype(np.uint16) << 8) >> (2 * np.arange(8, dtype=np.uint16)) & 3
    scales = (bits(b[:, 4:8], 4, 1) | high << 4).astype(F32) - 32
    return of_groups(half(b, 0) * scales, IQ4_VALUES[bits(b[:, 8:], 4, 16)]).reshape(len(b), -1)


def mxfp4(b):
    return (E2M1[nibbles(b[:, 1:])] * np.exp2(b[:, :1].astype(np.float64) - 127)).astype(F32)


def base_3(data, n_digits):
    """Digits of bytes that are fractions of 256: the first digits of all bytes, then the second ones, and so on."""
    powers = (3 ** np.arange(n_digits)).astype(np.uint8)
    shifted = data[:, None, :] * powers[None, :, None]
    return (shifted.astype(np.uint16) * 3 >> 8).reshape(len(data), -1)


def tq1_0(b):
    digits = np.concatenate([base_3(b[:, :32], 5), base_3(b[:, 32:48], 5), base_3(b[:, 48:52], 4)], 1)
    return (digits.astype(F32) - 1) * half(b, 52)


def tq2_0(b):
    return (bits(b[:, :64], 2, 32).astype(F32) - 1) * half(b, 64)


def f16(b):
    return b.view(np.float16).astype(F32)


def bf16(b):
    return (b.view(np.uint16).astype(np.uint32) << 16).view(F32)


FORMULAS = {"F16": f16, "BF16": bf16, "Q4_0": q4_0, "Q4_1": q4_1, "Q5_0": q5_0, "Q5_1": q5_1, "Q8_0": q8_0, "Q2_K": q2_k, "Q3_K": q3_k,
            "Q4_K": q4_k, "Q5_K": q5_k, "Q6_K": q6_k, "IQ4_NL": iq4_nl, "IQ4_XS": iq4_xs, "MXFP4": mxfp4, "TQ1_0": tq1_0, "TQ2_0": tq2_0}


def dequantize(blocks, type_name):
    """float32 values of blocks (bytes, or an array of one row a block)."""
    data = np.frombuffer(blocks, np.uint8) if isinstance(blocks, bytes) else blocks
    with np.errstate(invalid="ignore"):
        return FORMULAS[type_name](np.ascontiguousarray(data.reshape(-1, TYPES[type_name][2]))).reshape(-1)
