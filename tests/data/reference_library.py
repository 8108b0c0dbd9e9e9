"""The prebuilt libllama and libggml of an npm package, through ctypes: quantizer, dequantizer, logits, tokens.

The folder with the .so files is what use() was given, or the environment variable INLAY_PEER_LIBS:
    npm install --ignore-scripts --prefix FOLDER @node-llama-cpp/linux-x64@3.22.1
    export INLAY_PEER_LIBS=FOLDER/node_modules/@node-llama-cpp/linux-x64/bins/linux-x64
Parameter structs are opaque blocks that the library's own *_default_params fill; only what stands at the offsets below is
changed, which are those of this version.
"""
import ctypes as C
import functools
import glob
import os

import numpy as np

NAME = "npm package @node-llama-cpp/linux-x64@3.22.1 (llama.cpp release v0.5.0)"
# uint32 indices in llama_context_params.
N_CTX, N_BATCH, N_UBATCH, N_SEQ, N_THREADS, N_THREADS_BATCH, FLASH, TYPE_K, TYPE_V = 0, 1, 2, 3, 7, 8, 13, 26, 27
FTYPE = 1  # int32 index in llama_model_quantize_params
VOCAB_ONLY = 72  # byte offset in llama_model_params

_folder = None
_loaded = None
_log = []


class LibraryMissing(Exception):
    pass


class Block(C.Structure):
    _fields_ = [("bytes", C.c_ubyte * 1024)]


class Batch(C.Structure):
    _fields_ = [("n_tokens", C.c_int32), ("token", C.POINTER(C.c_int32)), ("embd", C.c_void_p), ("pos", C.POINTER(C.c_int32)),
                ("n_seq_id", C.POINTER(C.c_int32)), ("seq_id", C.POINTER(C.POINTER(C.c_int32))), ("logits", C.POINTER(C.c_int8))]


class Traits(C.Structure):
    _fields_ = [("name", C.c_char_p), ("block_elements", C.c_int64), ("interleave", C.c_int64), ("block_bytes", C.c_size_t),
                ("quantized", C.c_bool), ("to_float", C.c_void_p), ("from_float", C.c_void_p)]


LogCallback = C.CFUNCTYPE(None, C.c_int, C.c_char_p, C.c_void_p)
ToFloat = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_int64)


@LogCallback
def _remember(level, message, _user):
    if level >= 3:
        _log.append((message or b"").decode("utf-8", "replace"))


def use(folder):
    """Takes the libraries from this folder instead of the environment's."""
    global _folder
    _folder = folder


def folder():
    found = _folder if _folder is not None else os.environ.get("INLAY_PEER_LIBS", "")
    if not found or not os.path.exists(os.path.join(found, "libggml-base.so")):
        raise LibraryMissing("INLAY_PEER_LIBS does not name the folder of " + NAME)
    return found


def available():
    try:
        folder()
    except LibraryMissing:
        return False
    return True


def load():
    """(libggml-base, libllama), with the types of the functions that are called here."""
    global _loaded
    if _loaded:
        return _loaded
    where = folder()
    os.environ["GGML_NO_BACKTRACE"] = "1"
    base = C.CDLL(os.path.join(where, "libggml-base.so"), mode=C.RTLD_GLOBAL)
    ggml = C.CDLL(sorted(glob.glob(os.path.join(where, "libggml.*v[0-9]*.so")))[0], mode=C.RTLD_GLOBAL)
    llama = C.CDLL(sorted(glob.glob(os.path.join(where, "libllama.*v[0-9]*.so")))[0], mode=C.RTLD_GLOBAL)
    pointer, integer, truth, tokens = C.c_void_p, C.c_int32, C.c_bool, C.POINTER(C.c_int32)
    signatures = [
        (base.ggml_get_type_traits, C.POINTER(Traits), C.c_int),
        (base.ggml_quantize_chunk, C.c_size_t, C.c_int, pointer, pointer, C.c_int64, C.c_int64, C.c_int64, pointer),
        (base.ggml_log_set, None, LogCallback, pointer),
        (ggml.ggml_backend_load_all_from_path, None, C.c_char_p),
        (llama.llama_log_set, None, LogCallback, pointer),
        (llama.llama_backend_init, None),
        (llama.llama_model_default_params, Block),
        (llama.llama_context_default_params, Block),
        (llama.llama_model_quantize_default_params, Block),
        (llama.llama_model_quantize, C.c_uint32, C.c_char_p, C.c_char_p, C.POINTER(Block)),
        (llama.llama_model_load_from_file, pointer, C.c_char_p, Block),
        (llama.llama_model_free, None, pointer),
        (llama.llama_model_get_vocab, pointer, pointer),
        (llama.llama_init_from_model, pointer, pointer, Block),
        (llama.llama_free, None, pointer),
        (llama.llama_decode, integer, pointer, Batch),
        (llama.llama_get_logits_ith, C.POINTER(C.c_float), pointer, integer),
        (llama.llama_batch_init, Batch, integer, integer, integer),
        (llama.llama_batch_free, None, Batch),
        (llama.llama_vocab_n_tokens, integer, pointer),
        (llama.llama_vocab_bos, integer, pointer),
        (llama.llama_vocab_eos, integer, pointer),
        (llama.llama_vocab_is_eog, truth, pointer, integer),
        (llama.llama_vocab_is_control, truth, pointer, integer),
        (llama.llama_tokenize, integer, pointer, C.c_char_p, integer, tokens, integer, truth, truth),
        (llama.llama_token_to_piece, integer, pointer, integer, C.c_char_p, integer, integer, truth),
        (llama.llama_detokenize, integer, pointer, tokens, integer, C.c_char_p, integer, truth, truth),
    ]
    for function, result, *arguments in signatures:
        function.restype, function.argtypes = result, arguments
    llama.llama_log_set(_remember, None)
    base.ggml_log_set(_remember, None)
    ggml.ggml_backend_load_all_from_path(where.encode())
    llama.llama_backend_init()
    _loaded = (base, llama)
    return _loaded


def quantize(values, number, block_elements, block_bytes):
    """The blocks (uint8, one row a block) that libggml's quantizer makes of float32 rows, all values of equal importance."""
    base, _ = load()
    values = np.ascontiguousarray(values, np.float32)
    width = values.shape[-1]
    packed = np.zeros((values.size // block_elements, block_bytes), np.uint8)
    importance = np.ones(width, np.float32)
    base.ggml_quantize_chunk(number, values.ctypes.data, packed.ctypes.data, 0, values.size // width, width, importance.ctypes.data)
    return packed


def quantize_file(source, target, recipe):
    """A GGUF file quantized by libllama, with its defaults; `recipe` is a llama_ftype."""
    _, llama = load()
    settings = llama.llama_model_quantize_default_params()
    C.cast(C.byref(settings), C.POINTER(C.c_int32))[FTYPE] = recipe
    if llama.llama_model_quantize(source.encode(), target.encode(), C.byref(settings)):
        raise ValueError(f"libllama cannot quantize {source}: {_log[-1] if _log else ''}")


def dequantize(packed, number, count):
    """The float32 values that libggml reads from blocks."""
    base, _ = load()
    packed = np.ascontiguousarray(packed)
    out = np.zeros(count, np.float32)
    ToFloat(base.ggml_get_type_traits(number).contents.to_float)(packed.ctypes.data, out.ctypes.data, count)
    return out


def block_size(number):
    traits = load()[0].ggml_get_type_traits(number).contents
    return traits.block_elements, traits.block_bytes


class Vocabulary:
    """The vocabulary of a GGUF file, and with `weights` its model."""

    def __init__(self, path, weights=False):
        _, self.llama = load()
        params = self.llama.llama_model_default_params()
        params.bytes[VOCAB_ONLY] = not weights
        self.model = self.llama.llama_model_load_from_file(path.encode(), params)
        if not self.model:
            raise RuntimeError("libllama cannot load %s: %s" % (os.path.basename(path), "".join(_log[-3:]).strip()))
        self.vocab = self.llama.llama_model_get_vocab(self.model)
        self.n = self.llama.llama_vocab_n_tokens(self.vocab)
        self.bos, self.eos = self.llama.llama_vocab_bos(self.vocab), self.llama.llama_vocab_eos(self.vocab)

    # libllama ends the program if these are asked of a model without a tokenizer.

    @functools.cached_property
    def ends(self):
        return [i for i in range(self.n) if self.llama.llama_vocab_is_eog(self.vocab, i)]

    @functools.cached_property
    def controls(self):
        return [i for i in range(self.n) if self.llama.llama_vocab_is_control(self.vocab, i)]

    def encode(self, text, add_special=False, parse_special=True):
        data = text.encode()
        ids = (C.c_int32 * (2 * len(data) + 64))()
        n = self.llama.llama_tokenize(self.vocab, data, len(data), ids, len(ids), add_special, parse_special)
        assert n >= 0, "too many tokens"
        return list(ids[:n])

    def piece(self, token, show_special=True):
        out = C.create_string_buffer(4096)
        n = self.llama.llama_token_to_piece(self.vocab, token, out, len(out), 0, show_special)
        return out.raw[:n]

    def decode(self, ids):
        array = (C.c_int32 * max(1, len(ids)))(*ids)
        out = C.create_string_buffer(4096 + 64 * len(ids))
        n = self.llama.llama_detokenize(self.vocab, array, len(ids), out, len(out), False, True)
        assert n >= 0, "a text of more bytes"
        return out.raw[:n]

    def close(self):
        self.llama.llama_model_free(self.model)


class Session:
    """One sequence on the CPU; with an F32 cache and no flash attention unless `defaults`."""

    def __init__(self, path, n_context=256, defaults=False, n_threads=1):
        _, self.llama = load()
        self.vocabulary = Vocabulary(path, weights=True)
        params = self.llama.llama_context_default_params()
        numbers = C.cast(C.pointer(params), C.POINTER(C.c_uint32))
        for index, value in ((N_CTX, n_context), (N_BATCH, 256), (N_UBATCH, 256), (N_SEQ, 1), (N_THREADS, n_threads),
                             (N_THREADS_BATCH, n_threads)):
            numbers[index] = value
        if not defaults:
            for index in (FLASH, TYPE_K, TYPE_V):
                numbers[index] = 0
        self.context = self.llama.llama_init_from_model(self.vocabulary.model, params)
        if not self.context:
            raise RuntimeError("libllama makes no context: " + "".join(_log[-3:]).strip())
        self.batch, self.position = self.llama.llama_batch_init(256, 0, 1), 0

    def feed(self, tokens):
        """Logits after each of the tokens, which are one batch: (tokens, n_vocab)."""
        batch, n = self.batch, len(tokens)
        batch.n_tokens = n
        for i, token in enumerate(tokens):
            batch.token[i], batch.pos[i], batch.n_seq_id[i], batch.logits[i] = token, self.position + i, 1, 1
            batch.seq_id[i][0] = 0
        if self.llama.llama_decode(self.context, batch):
            raise RuntimeError("llama_decode failed: " + "".join(_log[-3:]).strip())
        self.position += n
        row = lambda i: np.ctypeslib.as_array(self.llama.llama_get_logits_ith(self.context, i), (self.vocabulary.n,)).copy()
        return np.array([row(i) for i in range(n)])

    def close(self):
        self.llama.llama_batch_free(self.batch)
        self.llama.llama_free(self.context)
        self.vocabulary.close()


def logits(path, batches, defaults=False):
    """Logits of a fresh sequence that is fed these batches of tokens."""
    session = Session(path, defaults=defaults)
    rows = np.concatenate([session.feed(batch) for batch in batches])
    session.close()
    return rows
