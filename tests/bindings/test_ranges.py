"""The range of each number that a program sets: the library takes its ends and refuses what is beyond, and it stands at the field in
the documentation of Rust, Go and C#.

Reads INLAY_LIBRARY and INLAY_TEST_MODEL.
"""
import ctypes
import math
import os
import pathlib
import re
import struct
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings"))
import api_model

API = api_model.load(ROOT / "bindings/api/inlay.toml")
# Lengths without an upper end say nothing.
FIELDS = [(s, f) for s in API.structs for f in s.fields if f.range and (f.type, f.range) != ("size", "0 or more")]
OK, INVALID_ARGUMENT = 0, 1
# A step that is run so often takes too long for a test: its upper end is not tried.
TAKES_LONG = {("inlay_profile_params", "n_repetitions")}
EVERY_NUMBER = [-1e30, 1e30]
# What lists of any length point to.
ROOM = ctypes.create_string_buffer(1 << 16)


class Library:
    """The library with the small model, and each parameter struct's way into it."""

    def __init__(self):
        self.c = ctypes.CDLL(os.environ["INLAY_LIBRARY"])
        self.model = os.environ["INLAY_TEST_MODEL"].encode()
        self.engine, self.session = ctypes.c_void_p(), ctypes.c_void_p()
        load = {f.name: f for f in API.struct("inlay_load_params").fields}
        params = self.raw("inlay_load_params", {load["n_threads"].name: 1, load["n_context"].name: 64})
        self.expect_ok("inlay_load", self.model, self.size(len(self.model)), params, ctypes.byref(self.engine))
        self.expect_ok("inlay_session_create", self.engine, None, ctypes.byref(self.session))
        self.queue = ctypes.c_void_p()
        self.expect_ok("inlay_queue_create", self.engine, None, ctypes.byref(self.queue))

    size = ctypes.c_size_t

    def close(self):
        self.c.inlay_queue_free(self.queue)
        self.c.inlay_session_free(self.session)
        self.c.inlay_free(self.engine)

    def call(self, function, *arguments):
        """The status and the message."""
        error = ctypes.create_string_buffer(API.struct("inlay_error").size)
        status = getattr(self.c, function)(*arguments, error)
        at = next(f.offset for f in API.struct("inlay_error").fields if f.name == "message")
        return status, error.raw[at:].split(b"\0")[0].decode()

    def expect_ok(self, function, *arguments):
        outcome = self.call(function, *arguments)
        assert outcome[0] == OK, (function, outcome)

    @staticmethod
    def raw(name, values):
        """The bytes of a struct of zeros with these values."""
        described = API.struct(name)
        out = bytearray(described.size)
        struct.pack_into("I", out, 0, described.size)
        for f in described.fields:
            if f.name in values:
                struct.pack_into({"i32": "i", "f32": "f", "size": "N", "u64": "Q"}[f.type], out, f.offset, values[f.name])
            if f.length in values:
                struct.pack_into("N", out, f.offset, ctypes.addressof(ROOM))
        return bytes(out)

    def give(self, name, values):
        """What the library says of a parameter struct with these values."""
        params, n_model = self.raw(name, values), self.size(len(self.model))
        if name == "inlay_load_params":
            return self.call("inlay_memory_plan", self.model, n_model, params, self.raw("inlay_memory_info", {}))
        if name == "inlay_sampler_params":
            return self.call("inlay_session_set_sampler", self.session, params)
        if name == "inlay_session_params":
            made = ctypes.c_void_p()
            outcome = self.call("inlay_session_create", self.engine, params, ctypes.byref(made))
            self.c.inlay_session_free(made)
            return outcome
        if name == "inlay_profile_params":
            params = self.raw(name, {"n_repetitions": 1} | values)
            return self.call("inlay_profile_step", self.engine, params)
        if name == "inlay_convert_params":
            return self.call("inlay_convert", b"no/such", self.size(7), b"no/such.gguf", self.size(12), params)
        if name == "inlay_constraint_params":
            made = ctypes.c_void_p()
            kind = next(f for f in API.struct(name).fields if f.name == "kind")
            params = bytearray(params)
            struct.pack_into("i", params, kind.offset, 4 if values.get("n_choices") else 1)  # CHOICES, ANY_JSON
            outcome = self.call("inlay_constraint_create", self.engine, bytes(params), ctypes.byref(made))
            self.c.inlay_constraint_free(made)
            return outcome
        if name == "inlay_queue_params":
            made = ctypes.c_void_p()
            outcome = self.call("inlay_queue_create", self.engine, params, ctypes.byref(made))
            self.c.inlay_queue_free(made)
            return outcome
        if name == "inlay_request":
            request = ctypes.c_uint64()
            outcome = self.call("inlay_submit", self.queue, self.raw(name, {"n_tokens": 1} | values), ctypes.byref(request))
            self.c.inlay_request_cancel(self.queue, request, None)
            return outcome
        if name == "inlay_run_params":
            return self.call("inlay_run", self.engine, params, self.raw("inlay_run_info", {}))
        if name == "inlay_thread_params":
            outcome = self.call("inlay_engine_set_thread", self.engine, params)
            self.c.inlay_engine_set_thread(self.engine, None, None)
            return outcome
        tokens, top = (ctypes.c_int32 * 2)(1, 2), ctypes.create_string_buffer(40 * API.struct("inlay_token_logprob").size)
        scores = ctypes.create_string_buffer(2 * API.struct("inlay_token_score").size)
        return self.call("inlay_score", self.engine, None, tokens, self.size(2), (ctypes.c_int32 * 1)(2), self.size(1), params, scores,
                         self.size(API.struct("inlay_token_score").size), top, self.size(40))


def inside(name, f):
    low, high = f.limits()
    ends = (EVERY_NUMBER if f.type == "f32" else [0, 2**64 - 1]) if low is None else [low, *([high] if high is not None and (name, f.name) not in TAKES_LONG else [])]
    return [int(v) if f.type != "f32" else v for v in ends]


def outside(f):
    low, high = f.limits()
    if f.type == "u64":
        return []  # Nothing is below 0, and no field has an upper end.
    if f.type == "f32":
        beyond = [] if low is None else [low - 0.01, *([high + 0.01] if high is not None else [])]
        # Zero stands for the default, which a range may leave out.
        return [v for v in beyond if v != 0] + [math.nan, math.inf]
    if low is None:
        return []
    # Times are taken up to 2^60.
    high = 2**60 if f.unit == "microseconds" else high
    return [int(v) for v in [low - 1, *([high + 1] if high is not None else [])] if f.type == "i32" or v >= 0]


def is_refused(f, outcome):
    return outcome[0] == INVALID_ARGUMENT and re.search(rf"\b{f.name}\b", outcome[1]) is not None


# ---- what is documented

def normal(text):
    return " ".join(re.sub(r"^\s*///?|</?\w+>|`", " ", text, flags=re.M).split())


def rust_docs():
    """The documentation of each field of the options, and its type, by the C struct and the Rust field."""
    text = "".join((ROOT / f"bindings/rust/src/{name}.rs").read_text(encoding="utf-8")
                   for name in ("options", "sampler", "constraint", "request"))
    structs = {"LoadOptions": "load_params", "Sampler": "sampler_params", "SessionOptions": "session_params", "ProfileOptions": "profile_params",
               "ConvertOptions": "convert_params", "ScoreOptions": "score_params", "ConstraintSource": "constraint_params", "Request": "request",
               "QueueOptions": "queue_params", "RunOptions": "run_params", "ThreadOptions": "thread_params"}
    for name, c in structs.items():
        body = re.search(rf"pub struct {name}(?:<'a>)? \{{(.*?)\n\}}", text, re.S)[1]
        for doc, field, kind in re.findall(r"((?: {4}///[^\n]*\n)+) {4}pub (\w+): ([^\n]+),", body):
            yield f"inlay_{c}", field, normal(doc), kind


def rust_name(field):
    return {"n_bias": "bias", "n_dry_breakers": "dry_breakers", "n_stops": "stop", "n_stop_tokens": "stop_tokens",
            "n_choices": "choices"}.get(field, field.removesuffix("_us"))


def table(text, pattern):
    """The names of each table of field names: by its own name."""
    return {name: dict(re.findall(r'"(\w+)"[:,]\s+(?:"|nameof\((?:\w+\.)+)?(?:len\()?(\w+)', body)) for name, body in re.findall(pattern, text, re.S)}


def go_docs():
    text = "\n".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "bindings/go").glob("*.go")))
    for name, c in {"LoadOptions": "load", "Sampler": "sampler", "SessionOptions": "session", "ProfileOptions": "profile", "ConvertOptions": "convert",
                    "ScoreOptions": "score", "QueueOptions": "queue", "Request": "request", "RunOptions": "run", "ThreadOptions": "thread",
                    "ConstraintOptions": "constraint"}.items():
        body = re.search(rf"type {name} struct \{{(.*?)\n\}}", text, re.S)[1]
        names = table(text, rf"var ({c}Names) = fieldNames\{{(.*?)\}}\n")[f"{c}Names"]
        # A length has no sign: of one without an upper end there is nothing to say.
        docs = {field: normal(doc) + (" 0 or more" if name == "Request" and kind in ("[]int32", "string") else "")
                for doc, field, kind in re.findall(r"((?:\t//[^\n]*\n)+)\t(\w+) +(\S+)", body)}
        for field, go in names.items():
            yield "inlay_request" if c == "request" else f"inlay_{c}_params", field, docs.get(go, "")


def csharp_docs():
    texts = [p.read_text(encoding="utf-8") for p in (ROOT / "bindings/csharp/src").glob("*.cs")]
    names = table("\n".join(texts), r"FieldNames (\w+) = new FieldNames\([^)]*\)\s*\{(.*?)\};")
    structs = {f"inlay_{c.lower()}_params": c for c in names} | {"inlay_request": "Request"}
    classes = {"LoadOptions": "load_params", "SamplerOptions": "sampler_params", "SessionOptions": "session_params", "ProfileOptions": "profile_params",
               "ScoreOptions": "score_params", "RequestQueueOptions": "queue_params", "Request": "request", "ThreadOptions": "thread_params"}
    for name, c in classes.items():
        body = next(found[1] for text in texts if (found := re.search(rf"class {name}\n    \{{(.*?)\n    \}}", text, re.S)))
        docs = dict((field, normal(doc)) for doc, field in re.findall(r"((?: {8}///[^\n]*\n)+) {8}public [^\n]*?(\w+) \{ get; set; \}", body))
        for field, cs in names[structs[f"inlay_{c}"]].items():
            yield f"inlay_{c}", field, docs.get(cs, "")
    # Others are parameters of a method.
    for method, (table_name, c) in {r"Convert\(": ("Convert", "convert_params"), r"Run\(": ("Run", "run_params"),
                                    r"CreateConstraint\(IList": ("Constraint", "constraint_params")}.items():
        doc = next(found[1] for text in texts if (found := re.search(rf"((?: {{8}}///[^\n]*\n)+) {{8}}public [\w ]+ {method}", text)))
        params = dict((name, normal(said)) for name, said in re.findall(r'<param name="(\w+)">(.*?)</param>', doc, re.S))
        for field, cs in names[table_name].items():
            yield f"inlay_{c}", field, params.get(cs, "")


def is_said(f, doc):
    """The range as it stands, or, of a list, how long it may be; a probability's ends may be called by name."""
    _, high = f.limits()
    return f.range in doc or (f.type == "size" and high is not None and f"at most {high:g}" in doc)


def lacking(docs):
    """Fields of which the documentation lacks the range; `docs` has the struct, the field's name in C and the text."""
    said = {(name, field): doc for name, field, doc in docs}
    return [f"{s.name}.{f.name}: {f.range}" for s, f in FIELDS if not is_said(f, said.get((s.name, f.name), ""))]


def in_rust():
    docs = {(name, field): (doc, kind) for name, field, doc, kind in rust_docs()}
    for s, f in FIELDS:
        doc, kind = docs.get((s.name, rust_name(f.name)), ("", ""))
        # A type without a sign says it itself.
        yield s.name, f.name, doc + (" 0 or more" if re.fullmatch(r"u\d+|Option<Duration>", kind) else "")


class Ranges(unittest.TestCase):
    def test_the_library_takes_and_refuses_what_is_said(self):
        library = Library()
        n = 0
        for s, f in FIELDS:
            for value in inside(s.name, f):
                self.assertFalse(is_refused(f, outcome := library.give(s.name, {f.name: value})), (s.name, f.name, value, outcome))
                n += 1
            for value in outside(f):
                self.assertTrue(is_refused(f, outcome := library.give(s.name, {f.name: value})), (s.name, f.name, value, outcome))
                n += 1
        library.close()
        self.assertGreater(n, 3 * len(FIELDS) - 20)
        print(f"{len(FIELDS)} fields, {n} values")

    def test_a_wrong_range_is_noticed(self):
        library = Library()
        sampler = API.struct("inlay_sampler_params")
        top_p = next(f for f in sampler.fields if f.name == "top_p")
        self.assertTrue(is_refused(top_p, library.give(sampler.name, {"top_p": 1.5})))
        self.assertFalse(is_refused(top_p, library.give(sampler.name, {"top_p": 0.5})))
        self.assertFalse(is_refused(top_p, library.give(sampler.name, {"min_p": 1.5})))
        library.close()

    def test_rust_says_them(self):
        self.assertEqual(lacking(in_rust()), [])

    def test_go_says_them(self):
        self.assertEqual(lacking(go_docs()), [])

    def test_csharp_says_them(self):
        self.assertEqual(lacking(csharp_docs()), [])

    def test_a_range_that_is_not_said_is_noticed(self):
        for docs in (in_rust(), go_docs(), csharp_docs()):
            changed = [(name, field, doc.replace("0 to 0.99", "0 to 0.9")) for name, field, doc in docs]
            self.assertEqual(lacking(changed), ["inlay_sampler_params.adaptive_decay: 0 to 0.99"])
        self.assertEqual(len(lacking([])), len(FIELDS))


if __name__ == "__main__":
    unittest.main()
