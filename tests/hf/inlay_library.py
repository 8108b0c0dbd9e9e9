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

    def call(self, name, *arguments):
        """Calls a function that can fail; raises InlayError if it does."""
        if getattr(self.c, name)(*arguments, ctypes.byref(self.error)) != 0:
            text = bytes(self.error.message[:self.error.message_len]).decode("utf-8", "replace")
            raise InlayError(f"{name}: {text}")


class Engine:
    """A loaded model; `device` is cpu, cuda or reference."""

    def __init__(self, library, path, device, n_context):
        self.library = library
        params = library.new("inlay_load_params", device=library.constant["INLAY_DEVICE_" + device.upper()], n_context=n_context,
                             max_sessions=2)
        self.handle = ctypes.c_void_p()
        name = str(path).encode()
        library.call("inlay_load", name, ctypes.c_size_t(len(name)), ctypes.byref(params), ctypes.byref(self.handle))
        info = library.new("inlay_engine_info")
        library.call("inlay_engine_get_info", self.handle, ctypes.byref(info))
        self.n_vocab = info.n_vocab

    def tokenize(self, text):
        data = text.encode()
        ids, n = (ctypes.c_int32 * (len(data) + 2))(), ctypes.c_size_t()
        self.library.call("inlay_tokenize", self.handle, data, ctypes.c_size_t(len(data)), ctypes.c_uint32(0), ids,
                          ctypes.c_size_t(len(ids)), ctypes.byref(n))
        return ids[:n.value]

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
        n = ctypes.c_size_t()
        self.library.call("inlay_session_copy_logits", self.handle, self.values, ctypes.c_size_t(len(self.values)), ctypes.byref(n))
        return list(self.values)

    def draw(self):
        """The next token."""
        event = self.library.new("inlay_event")
        self.library.call("inlay_decode_step", (ctypes.c_void_p * 1)(self.handle), ctypes.c_size_t(1), ctypes.byref(event),
                          ctypes.c_size_t(ctypes.sizeof(event)))
        return event.token

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.library.c.inlay_session_free(self.handle)
