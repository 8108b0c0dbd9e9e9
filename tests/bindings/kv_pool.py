"""What a KV pool takes, as the library that INLAY_LIBRARY names says it."""
import ctypes
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "hf"))
from inlay_library import Library


def pool_bytes(model, n_clients, n_tokens):
    """Of a pool in which so many clients have room for so many tokens each."""
    library = Library(os.environ["INLAY_LIBRARY"])
    params = library.new("inlay_load_params", n_context=n_tokens, max_sessions=n_clients)
    info = library.new("inlay_memory_info")
    path = str(model).encode()
    library.call("inlay_memory_plan", path, ctypes.c_size_t(len(path)), ctypes.byref(params), ctypes.byref(info))
    return info.kv_bytes
