"""The results of transformers that are in this repository, for machines without PyTorch: their form and where they are.

data/index.json has for each model the versions that made them, texts with their tokens, and the pieces of tokens that logits are stored
for. data/NAME.top has a record for each position of each piece: the 32 likeliest tokens (uint32), their log-probabilities, that of all other
tokens together, and that of the token that follows in the piece (float32, little-endian; 0 where none follows).
"""
import hashlib
import json
import pathlib
import struct

DATA = pathlib.Path(__file__).parent / "data"
N_TOP = 32
RECORD = struct.Struct(f"<{N_TOP}I{N_TOP + 2}f")


def index():
    return json.loads((DATA / "index.json").read_text(encoding="utf-8"))


def records(name):
    """(tokens, log-probabilities, that of the rest, that of the following token) for each position."""
    for values in RECORD.iter_unpack((DATA / f"{name}.top").read_bytes()):
        yield values[:N_TOP], values[N_TOP:2 * N_TOP], values[-2], values[-1]


def hash_of(value):
    """Of a text, or of token ids."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()
