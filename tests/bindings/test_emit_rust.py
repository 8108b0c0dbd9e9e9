"""The Rust raw layer follows the description, and the safe layer reaches all of it.

RUSTC in the environment: the compiler, for the tests that need one.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings"))
import api_model
from emit import rust_enums, rust_probe, rust_raw, rust_types

TEXT = (ROOT / "bindings/api/inlay.toml").read_text(encoding="utf-8")
API = api_model.parse(TEXT)
SAFE_LAYER = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "bindings/rust/src").glob("*.rs"))
                     if path.name not in ("raw.rs", "enums.rs"))
COMMENT = re.compile(r"//[^\n]*")


def changed(*replacements):
    text = TEXT
    for old, new in replacements:
        if old not in text:
            raise AssertionError(f"the description has no '{old}'")
        text = text.replace(old, new, 1)
    return api_model.parse(text)


def functions_called(code, names):
    """Functions that the code calls through the table: (functions.inlay_load)(...), or takes out of it."""
    used = set(re.findall(r"\.(inlay_\w+)", COMMENT.sub("", code)))
    return [name for name in names if name in used]


class Raw(unittest.TestCase):
    def test_has_every_function_in_every_place(self):
        text = rust_raw.emit(API)
        for f in API.functions:
            self.assertIn(f"    pub {f.name}: unsafe extern", text)
            self.assertIn(f"    pub fn {f.name}(", text)
            self.assertIn(f'find(c"{f.name}")', text)
        self.assertIn(f"FUNCTION_NAMES: [&str; {len(API.functions)}]", text)

    def test_types(self):
        text = rust_raw.emit(API)
        self.assertIn("pub inlay_free: unsafe extern \"C\" fn(engine: *mut inlay_engine),", text)
        self.assertIn("fn(sessions: *const *mut inlay_session, n_sessions: usize, events: *mut inlay_event", text)
        self.assertIn("fn(session: *const inlay_session),", text)
        self.assertIn("pub read: Option<inlay_read_fn>,", text)
        self.assertIn("pub message: [c_char; INLAY_ERROR_MESSAGE_BYTES],", text)
        self.assertIn("pub const INLAY_LOG_OFF: inlay_log_level = -1;", text)

    def test_only_later_functions_that_can_fail_may_be_absent(self):
        absent = set(re.findall(r"fn absent_(inlay_\w+)", rust_raw.emit(API)))
        self.assertEqual(absent, {f.name for f in API.functions if f.since != "1.0" and f.returns in ("status", "void")})
        self.assertIn("inlay_profile_step", absent)

    def test_documentation_is_there_and_is_no_markup(self):
        text = rust_raw.emit(API)
        first_words = [" ".join(re.split(r"[`\[*<]|inlay_", f.doc)[0].split()[:4]) for f in API.functions]
        self.assertEqual([words for words in first_words if words not in text], [])
        self.assertIn(r"/// A metadata value as text. An array is written as \[a, b, c\]", text)
        self.assertIn("[`inlay_session_take_text`](Functions::inlay_session_take_text)", text)

    def test_words_of_the_language_are_escaped(self):
        self.assertEqual([rust_types.identifier(n) for n in ("type", "gen", "self", "token")], ["r#type", "r#gen", "self_", "token"])

    def test_names(self):
        self.assertEqual(rust_types.camel("inlay_kv_dtype"), "KvDtype")
        self.assertEqual(rust_types.camel("END_OF_GENERATION"), "EndOfGeneration")


class Enums(unittest.TestCase):
    def test_every_value_goes_both_ways(self):
        text = rust_enums.emit(API)
        for e in API.enums:
            if e.flags or e.name in rust_enums.NOT_AN_ENUM_OF_RUST:
                continue
            for v in e.values:
                expected = 1 if v.name == "NONE" else 2
                self.assertEqual(len(re.findall(rf"raw::{e.prefix}{v.name}\b", text)), expected, v.name)


class SafeLayer(unittest.TestCase):
    def test_calls_every_function(self):
        names = [f.name for f in API.functions]
        self.assertEqual(functions_called(SAFE_LAYER, names), names)
        print(f"the safe layer of Rust calls {len(names)} of {len(names)} functions")

    def test_a_function_that_is_not_called_is_noticed(self):
        without = SAFE_LAYER.replace(".inlay_log_read)", ".logs)")
        self.assertNotEqual(without, SAFE_LAYER)
        self.assertNotIn("inlay_log_read", functions_called(without, [f.name for f in API.functions]))

    def test_uses_every_field_and_flag(self):
        code = COMMENT.sub("", SAFE_LAYER)
        words = set(re.findall(r"\w+", code))
        fields = {f"{s.name}.{f.name}" for s in API.structs for f in s.fields if f.name not in ("struct_size", "reserved")}
        self.assertEqual({name for name in fields if name.split(".")[1] not in words}, set())
        flags = {e.prefix + v.name for e in API.enums if e.flags for v in e.values}
        self.assertEqual(flags - words, set())


@unittest.skipUnless(os.environ.get("RUSTC"), "RUSTC is not set")
class Compiled(unittest.TestCase):
    def compile(self, api, edition):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "lib.rs"
            source.write_text("pub mod raw;\n", encoding="utf-8")
            source.with_name("raw.rs").write_text(rust_raw.emit(api), encoding="utf-8")
            return subprocess.run([os.environ["RUSTC"], source, "--crate-type=lib", "--emit=metadata", f"--edition={edition}",
                                   "-Dwarnings", '--cfg=feature="link"', "-o", f"{folder}/out"], capture_output=True, text=True,
                                  check=False).stderr

    def test_a_description_full_of_the_languages_words(self):
        api = changed(('{ name = "level", type = "inlay_log_level", doc = "Importance." }',
                       '{ name = "self", type = "inlay_log_level", doc = "Importance <b>." }'),
                      ('{ name = "index", type = "i32", doc = "Its number', '{ name = "type", type = "i32", doc = "Its [number'),
                      ('{ name = "token", type = "i32", doc = "Its id." }', '{ name = "gen", type = "i32", doc = "Its id." }'))
        self.assertIn("r#type", rust_raw.emit(api) + rust_probe.emit(api))
        for edition in ("2021", "2024"):
            self.assertEqual(self.compile(api, edition), "")

    def test_an_unescaped_word_is_noticed(self):
        keywords = rust_types.KEYWORDS
        try:
            rust_types.KEYWORDS = frozenset()
            api = changed(('{ name = "index", type = "i32", doc = "Its number', '{ name = "type", type = "i32", doc = "Its number'))
            self.assertIn("expected identifier", self.compile(api, "2021"))
        finally:
            rust_types.KEYWORDS = keywords


if __name__ == "__main__":
    unittest.main()
