"""The C interface from Python, with the structs of bindings/api/inlay.json."""
import ctypes
import json
import pathlib

DESCRIPTION = pathlib.Path(__file__).parents[2] / "bindings" / "api" / "inlay.json"
NUMBERS = {"i32": ctypes.c_int32, "u32": ctypes.c_uint32, "i64": ctypes.c_int64, "u64": ctypes.c_uint64, "f32": ctypes.c_float,
           "f64": ctypes.c_double, "u8": ctypes.c_uint8, "size": ctypes.c_size_t, "utf8": ctypes.c_char, "bytes": ctypes.c_uint8}


class InlayError(Exception):
    """A call that failed, in the library's words."""


class Library:
    """A loaded libinlay.so with its constants (`constant`) and structs (`struct`)."""

    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        api = json.loads(DESCRIPTION.read_text(encoding="utf-8"))
        self.constant = {c["name"]: c["value"] for c in api["constants"]}
        for enum in api["enums"]:
            self.constant |= {enum["prefix"] + v["name"]: v["value"] for v in enum["values"]}
        self._enums = {e["name"]: ctypes.c_uint32 if e.get("flags") else ctypes.c_int32 for e in api["enums"]}
        self.struct = {}
        for struct in api["structs"]:
            self.struct[struct["name"]] = self._make_struct(struct)
        for function in api["functions"]:
            if function["returns"] == "void":
                getattr(self.c, function["name"]).restype = None
        self.error = self.struct["inlay_error"]()

    def _make_struct(self, struct):
        fields = []
        for field in struct["fields"]:
            kind = field["type"]
            c_type = NUMBERS.get(kind) or self._enums.get(kind) or self.struct.get(kind) or ctypes.c_void_p
            if field["pointer"]:
                c_type = ctypes.c_void_p
            elif field["count"] != 1:
                c_type = c_type * field["count"]
            fields.append((field["name"], c_type))
        made = type(struct["name"], (ctypes.Structure,), {"_fields_": fields})
        for field in struct["fields"]:
            if getattr(made, field["name"]).offset != field["offset"]:
                raise InlayError(f"{struct['name']}.{field['name']} is laid out otherwise than in {DESCRIPTION.name}")
        return made

    def new(self, name, **values):
        """A struct with struct_size set where it has one."""
        made = self.struct[name](**values)
        if hasattr(made, "struct_size"):
            made.struct_size = ctypes.sizeof(made)
        return made

    def device(self, kind):
        """The description of the first device of a kind, cpu or cuda; None if there is none."""
        for index in range(self.c.inlay_device_count()):
            info = self.new("inlay_device_info")
            self.call("inlay_device_get", ctypes.c_int32(index), ctypes.byref(info))
            if info.kind == self.constant["INLAY_DEVICE_" + kind.upper()]:
                return info
        return None

    def convert(self, path, out, kind):
        """Writes a model as a GGUF file of another type: a name of INLAY_CONVERT_."""
        params = self.new("inlay_convert_params", type=self.constant["INLAY_CONVERT_" + kind])
        names = [str(name).encode() for name in (path, out)]
        self.call("inlay_convert", *(x for name in names for x in (name, ctypes.c_size_t(len(name)))), ctypes.byref(params))

    def call(self, name, *arguments, may_be_small=False):
        """Calls a function that can fail; raises InlayError if it does. `may_be_small`: that a buffer is too small is no failure."""
        status = getattr(self.c, name)(*arguments, ctypes.byref(self.error))
        if status != 0 and not (may_be_small and status == self.constant["INLAY_BUFFER_TOO_SMALL"]):
            text = bytes(self.error.message[:self.error.message_len]).decode("utf-8", "replace")
            raise InlayError(f"{name}: {text}")


class Engine:
    """A loaded model; `device` is cpu, cuda or reference."""

    def __init__(self, library, path, device, n_context, max_sessions=2):
        self.library = library
        params = library.new("inlay_load_params", device=library.constant["INLAY_DEVICE_" + device.upper()], n_context=n_context,
                             max_sessions=max_sessions)
        self.handle = ctypes.c_void_p()
        name = str(path).encode()
        library.call("inlay_load", name, ctypes.c_size_t(len(name)), ctypes.byref(params), ctypes.byref(self.handle))
        info = library.new("inlay_engine_info")
        library.call("inlay_engine_get_info", self.handle, ctypes.byref(info))
        self.n_vocab, self.bos, self.n_threads = info.n_vocab, info.bos, info.n_threads

    def tokenize(self, text, bare=False):
        """`bare`: without the BOS and EOS tokens that the model asks for."""
        data, flags = text.encode(), self.library.constant["INLAY_TOKENIZE_NO_BOS_EOS"] if bare else 0
        return self._sized(ctypes.c_int32, "inlay_tokenize", data, ctypes.c_size_t(len(data)), ctypes.c_uint32(flags))[:]

    def detokenize(self, tokens):
        """The text of tokens, as bytes; control tokens give nothing."""
        ids = (ctypes.c_int32 * len(tokens))(*tokens)
        return bytes(self._sized(ctypes.c_char, "inlay_detokenize", ids, ctypes.c_size_t(len(ids)), ctypes.c_uint32(0)))

    def chat_render(self, messages, prompt=True):
        """A conversation as the file's chat template writes it."""
        return bytes(self._sized(ctypes.c_char, "inlay_chat_render", *self._conversation(messages, prompt))).decode()

    def chat_tokenize(self, messages, prompt=True):
        return self._sized(ctypes.c_int32, "inlay_chat_tokenize", *self._conversation(messages, prompt))[:]

    def _conversation(self, messages, prompt):
        data = json.dumps({"messages": messages}).encode()
        params = self.library.new("inlay_chat_params", flags=self.library.constant["INLAY_CHAT_ADD_GENERATION_PROMPT"] if prompt else 0)
        return data, ctypes.c_size_t(len(data)), ctypes.byref(params)

    def _sized(self, kind, function, *arguments):
        """What a function that takes a buffer gives: it is asked for the size first."""
        n = ctypes.c_size_t()
        self.library.call(function, self.handle, *arguments, None, ctypes.c_size_t(0), ctypes.byref(n), may_be_small=True)
        values = (kind * n.value)()
        self.library.call(function, self.handle, *arguments, values, ctypes.c_size_t(len(values)), ctypes.byref(n))
        return values

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.c.inlay_free(self.handle)


class Session:
    """A sequence of an engine; greedy, and end tokens do not end it."""

    def __init__(self, engine):
        self.engine, self.library = engine, engine.library
        params = self.library.new("inlay_session_params", flags=self.library.constant["INLAY_SESSION_IGNORE_END_OF_GENERATION"])
        self.handle = ctypes.c_void_p()
        self.library.call("inlay_session_create", engine.handle, ctypes.byref(params), ctypes.byref(self.handle))
        self.values = (ctypes.c_float * engine.n_vocab)()

    def prefill(self, tokens):
        ids, n = (ctypes.c_int32 * len(tokens))(*tokens), ctypes.c_size_t()
        self.library.call("inlay_prefill", self.handle, ids, ctypes.c_size_t(len(tokens)), ctypes.byref(n))

    def logits(self):
        return list(self.copy_logits())

    def copy_logits(self):
        """The logits in an array of ctypes that the next call writes again."""
        n = ctypes.c_size_t()
        self.library.call("inlay_session_copy_logits", self.handle, self.values, ctypes.c_size_t(len(self.values)), ctypes.byref(n))
        return self.values

    def truncate(self, n_tokens):
        self.library.call("inlay_session_truncate", self.handle, ctypes.c_size_t(n_tokens))

    def draw(self):
        """The next token."""
        event = self.library.new("inlay_event")
        self.library.call("inlay_decode_step", (ctypes.c_void_p * 1)(self.handle), ctypes.c_size_t(1), ctypes.byref(event),
                          ctypes.c_size_t(ctypes.sizeof(event)))
        return event.token

    def close(self):
        self.library.c.inlay_session_free(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def force(sessions, tokens):
    """One decode step that draws tokens[i] for sessions[i], whatever the logits are; these stay as the model gave them."""
    library = sessions[0].library
    for session, token in zip(sessions, tokens, strict=True):
        bias = library.struct["inlay_logit_bias"](token=token, bias=1e6)
        params = library.new("inlay_sampler_params", bias=ctypes.addressof(bias), n_bias=1)
        library.call("inlay_session_set_sampler", session.handle, ctypes.byref(params))
    events = (library.struct["inlay_event"] * len(sessions))()
    handles = (ctypes.c_void_p * len(sessions))(*(session.handle.value for session in sessions))
    library.call("inlay_decode_step", handles, ctypes.c_size_t(len(sessions)), events, ctypes.c_size_t(ctypes.sizeof(events[0])))
    drawn = [event.token for event in events]
    if drawn != list(tokens):
        raise InlayError(f"drew {drawn} instead of {list(tokens)}")
