"""Reads and writes safetensors files of F16 and F32 tensors with numpy."""
import json
import struct

import numpy as np

_DTYPES = {"F16": np.dtype("<f2"), "F32": np.dtype("<f4")}


def write(path, tensors):
    """tensors: name -> float16 or float32 array; stored in the order of their names."""
    header, offset, chunks = {"__metadata__": {"format": "pt"}}, 0, []
    for name in sorted(tensors):
        array = np.ascontiguousarray(tensors[name])
        dtype = next(label for label, d in _DTYPES.items() if d == array.dtype)
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [offset, offset + array.nbytes]}
        offset += array.nbytes
        chunks.append(array.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # the data begin at a multiple of 8 bytes
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text + b"".join(chunks))


def read(path):
    with open(path, "rb") as f:
        raw = f.read()
    size, = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8:8 + size])
    tensors = {}
    for name, info in header.items():
        if name != "__metadata__":
            begin, end = info["data_offsets"]
            data = np.frombuffer(raw[8 + size + begin:8 + size + end], _DTYPES[info["dtype"]])
            tensors[name] = data.reshape(info["shape"])
    return tensors
