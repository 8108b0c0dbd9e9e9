"""The programs that give the expected ids of tests/data/tokenizers: none of this project's code is among them.

Environment: INLAY_NODE_MODULES names a folder node_modules with the npm packages tokenizers, @huggingface/tokenizers and
@node-llama-cpp/linux-x64 in the versions below.
"""
import ctypes
import json
import os
import subprocess

VERSIONS = {"tokenizers": "0.23.2", "@huggingface/tokenizers": "0.2.0", "@node-llama-cpp/linux-x64": "3.22.1"}
RUST = "npm package tokenizers@0.23.2 (Hugging Face's Rust library)"
JS = "npm package @huggingface/tokenizers@0.2.0"
LIBLLAMA = "npm package @node-llama-cpp/linux-x64@3.22.1 (libllama v0.5.0)"
HERE = os.path.dirname(os.path.abspath(__file__))
VOCAB_ONLY = 72  # the offset of this flag in libllama's struct of load parameters, in this version


def modules():
    folder = os.environ.get("INLAY_NODE_MODULES", "")
    for package, version in VERSIONS.items():
        path = os.path.join(folder, package, "package.json")
        if not os.path.exists(path):
            raise SystemExit("INLAY_NODE_MODULES has no package %s@%s" % (package, version))
        with open(path, encoding="utf-8") as f:
            found = json.load(f)["version"]
        if found != version:
            raise SystemExit("%s is version %s, expected %s" % (package, found, version))
    return folder


def hugging_face(jobs):
    """For each (tokenizer, config, texts): what tokenize.cjs answers."""
    lines = [json.dumps({"tokenizer": tokenizer, "config": config, "texts": texts}) for tokenizer, config, texts in jobs]
    done = subprocess.run(["node", os.path.join(HERE, "tokenize.cjs")], env=dict(os.environ, NODE_PATH=modules()),
                          input="\n".join(lines) + "\n", capture_output=True, text=True, encoding="utf-8", check=False)
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    if done.returncode or len(answers) != len(jobs):
        raise SystemExit("tokenize.cjs: %s" % done.stderr[:2000])
    return answers


class _Parameters(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_ubyte * 1024)]  # larger than the library's


class LibLlama:
    """The vocabulary functions of libllama."""

    def __init__(self):
        folder = os.path.join(modules(), "@node-llama-cpp", "linux-x64", "bins", "linux-x64")
        os.environ["GGML_NO_BACKTRACE"] = "1"
        names = sorted(os.listdir(folder))
        for prefix in ("libggml-base.so", "libggml.v"):
            ctypes.CDLL(os.path.join(folder, next(n for n in names if n.startswith(prefix))), mode=ctypes.RTLD_GLOBAL)
        self.lib = ctypes.CDLL(os.path.join(folder, next(n for n in names if n.startswith("libllama.v"))))
        pointer, number, flag, text = ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool, ctypes.c_char_p
        ids = ctypes.POINTER(number)
        for name, result, arguments in (
                ("llama_log_set", None, [pointer, pointer]), ("llama_backend_init", None, []),
                ("llama_model_default_params", _Parameters, []), ("llama_model_load_from_file", pointer, [text, _Parameters]),
                ("llama_model_free", None, [pointer]), ("llama_model_get_vocab", pointer, [pointer]),
                ("llama_vocab_n_tokens", number, [pointer]), ("llama_vocab_bos", number, [pointer]),
                ("llama_vocab_eos", number, [pointer]), ("llama_vocab_is_eog", flag, [pointer, number]),
                ("llama_vocab_is_control", flag, [pointer, number]),
                ("llama_tokenize", number, [pointer, text, number, ids, number, flag, flag]),
                ("llama_token_to_piece", number, [pointer, number, text, number, number, flag]),
                ("llama_detokenize", number, [pointer, ids, number, text, number, flag, flag])):
            function = getattr(self.lib, name)
            function.restype, function.argtypes = result, arguments
        self.quiet = ctypes.CFUNCTYPE(None, ctypes.c_int, text, pointer)(lambda level, message, data: None)
        self.lib.llama_log_set(ctypes.cast(self.quiet, pointer), None)
        self.lib.llama_backend_init()

    def open(self, path):
        return LibLlamaVocabulary(self.lib, path)


class LibLlamaVocabulary:
    def __init__(self, lib, path):
        self.lib = lib
        parameters = lib.llama_model_default_params()
        parameters.bytes[VOCAB_ONLY] = 1
        self.model = lib.llama_model_load_from_file(path.encode(), parameters)
        if not self.model:
            raise SystemExit("libllama cannot load " + path)
        self.vocab = lib.llama_model_get_vocab(self.model)
        self.n = lib.llama_vocab_n_tokens(self.vocab)
        self.bos, self.eos = lib.llama_vocab_bos(self.vocab), lib.llama_vocab_eos(self.vocab)
        self.ends = [i for i in range(self.n) if lib.llama_vocab_is_eog(self.vocab, i)]
        self.controls = [i for i in range(self.n) if lib.llama_vocab_is_control(self.vocab, i)]

    def encode(self, text, add_special=False, parse_special=True):
        data = text.encode()
        buffer = (ctypes.c_int32 * (2 * len(data) + 64))()
        n = self.lib.llama_tokenize(self.vocab, data, len(data), buffer, len(buffer), add_special, parse_special)
        return list(buffer[:n])

    def piece(self, i):
        buffer = ctypes.create_string_buffer(4096)
        n = self.lib.llama_token_to_piece(self.vocab, i, buffer, len(buffer), 0, True)
        return buffer.raw[:n]

    def decode(self, ids):
        array = (ctypes.c_int32 * max(1, len(ids)))(*ids)
        buffer = ctypes.create_string_buffer(4096 + 64 * len(ids))
        n = self.lib.llama_detokenize(self.vocab, array, len(ids), buffer, len(buffer), False, True)
        if n < 0:
            raise SystemExit("libllama: a text needs %d bytes" % -n)
        return buffer.raw[:n]

    def close(self):
        self.lib.llama_model_free(self.model)
