"""A GGUF file's keys and tensors, where they lie in it, in plain Python. `values` alone needs numpy."""
import mmap
import pathlib
import struct
import sys
from dataclasses import dataclass

sys.path.append(str(pathlib.Path(__file__).parents[1] / "data"))

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
STRING, ARRAY = 8, 9


@dataclass
class Key:
    value: object
    offset: int  # of the value's bytes: of a string's text, of an array's first element


@dataclass
class Tensor:
    name: str
    shape: tuple  # numpy's order: the output dimension first
    number: int  # GGUF's number of the type
    offset: int  # in the file


class GgufReader:
    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self.at = 0
        magic, version, n_tensors, n_keys = self._take("<4sIQQ")
        if magic != b"GGUF" or version not in (2, 3):
            raise ValueError(f"{path} is no GGUF file of version 2 or 3")
        self.keys = {}
        for _ in range(n_keys):
            name, _ = self._string()
            (kind,) = self._take("<I")
            self.keys[name] = self._value(kind)
        tensors = [self._tensor() for _ in range(n_tensors)]
        alignment = self.get("general.alignment", 32)
        begin = -(-self.at // alignment) * alignment
        self.tensors = {t.name: Tensor(t.name, t.shape, t.number, begin + t.offset) for t in tensors}

    def get(self, name, otherwise=None):
        """A key's value; one that begins with a dot has the architecture before it."""
        if name.startswith("."):
            name = self.keys["general.architecture"].value + name
        return self.keys[name].value if name in self.keys else otherwise

    def key(self, name):
        return self.keys[self.keys["general.architecture"].value + name if name.startswith(".") else name]

    def values(self, name):
        """A tensor's values as float32, by the formulas of tests/data/dequantize.py."""
        import numpy  # pylint: disable=import-outside-toplevel
        from dequantize import dequantize  # pylint: disable=import-outside-toplevel
        from gguf_file import TYPES  # pylint: disable=import-outside-toplevel
        tensor = self.tensors[name]
        kind, block_elements, block_bytes = next((k, e, b) for k, (number, e, b) in TYPES.items() if number == tensor.number)
        count = int(numpy.prod(tensor.shape))
        raw = numpy.frombuffer(self.data, numpy.uint8, count // block_elements * block_bytes, tensor.offset)
        flat = raw.view(numpy.float32).copy() if kind == "F32" else dequantize(raw, kind)
        return flat.reshape(tensor.shape)

    def _take(self, layout):
        size = struct.calcsize(layout)
        found = struct.unpack_from(layout, self.data, self.at)
        self.at += size
        return found

    def _string(self):
        (size,) = self._take("<Q")
        begin = self.at
        self.at += size
        return self.data[begin:begin + size].decode("utf-8", "surrogateescape"), begin

    def _value(self, kind):
        if kind == STRING:
            return Key(*self._string())
        if kind != ARRAY:
            begin = self.at
            return Key(self._take("<" + SCALARS[kind])[0], begin)
        inner, count = self._take("<IQ")
        begin = self.at
        if inner == STRING:
            return Key([self._string()[0] for _ in range(count)], begin)
        if inner == ARRAY:
            raise ValueError("an array of arrays")
        return Key(list(self._take(f"<{count}{SCALARS[inner]}")), begin)

    def _tensor(self):
        name, _ = self._string()
        (n_dims,) = self._take("<I")
        dims = self._take(f"<{n_dims}Q")
        number, offset = self._take("<IQ")
        return Tensor(name, tuple(reversed(dims)), number, offset)
