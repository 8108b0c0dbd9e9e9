"""The C# raw layer follows the description, and the layer above uses all of it."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
import api_model
from emit import csharp_probe, csharp_raw, csharp_types

TEXT = (ROOT / "bindings/api/inlay.toml").read_text(encoding="utf-8")
API = api_model.parse(TEXT)
RAW = csharp_raw.emit(API)
POINTER = re.compile(r"private readonly delegate\* unmanaged\[Cdecl\]<(.*)> _(inlay_\w+);")
DELEGATE = re.compile(r"internal delegate (\S+) (inlay_\w+)\((.*)\);")
METHOD = re.compile(r"^        public (\S+) (inlay_\w+)\((.*)\)$", re.MULTILINE)


def changed(old: str, new: str) -> api_model.Api:
    if TEXT.count(old) < 1:
        raise AssertionError(f"the description has no '{old}'")
    return api_model.parse(TEXT.replace(old, new, 1))


def types_of(returns: str, parameters: str) -> list[str]:
    return [p.split()[0] for p in parameters.split(", ") if p] + [returns]


def used_functions() -> set[str]:
    """Functions that the hand-written layer calls."""
    sources = (ROOT / "bindings/csharp/src").glob("*.cs")
    text = "".join(p.read_text(encoding="utf-8") for p in sources if p.name != "Raw.cs")
    return set(re.findall(r"\b(?:_?api|Api)\.(inlay_\w+)\(", text, re.IGNORECASE))


class Names(unittest.TestCase):
    def test_case(self):
        self.assertEqual(csharp_types.pascal("INVALID_ARGUMENT"), "InvalidArgument")
        self.assertEqual(csharp_types.pascal("kv_dtype"), "KvDtype")
        self.assertEqual(csharp_types.pascal("FP8"), "Fp8")

    def test_reserved_words_are_escaped(self):
        self.assertEqual(csharp_types.identifier("params"), "@params")
        self.assertEqual(csharp_types.identifier("into"), "into")
        self.assertIn("inlay_load_params* @params", RAW)

    def test_reserved_field(self):
        raw = csharp_raw.emit(changed('{ name = "kind", type = "inlay_device_kind"', '{ name = "event", type = "inlay_device_kind"'))
        self.assertIn("public DeviceKind @event;", raw)

    def test_documentation_is_escaped(self):
        raw = csharp_raw.emit(changed('doc = "Describes a device."', 'doc = "Describes a<b & c."'))
        self.assertIn("<summary>Describes a&lt;b &amp; c.</summary>", raw)


class Functions(unittest.TestCase):
    def test_all_in_every_form(self):
        names = [f.name for f in API.functions]
        self.assertEqual([name for _, name in POINTER.findall(RAW)], names)
        self.assertEqual([name for _, name, _ in DELEGATE.findall(RAW)], names)
        self.assertEqual([name for _, name, _ in METHOD.findall(RAW)], names)

    def test_all_forms_have_one_signature(self):
        pointers = {name: types.split(", ") for types, name in POINTER.findall(RAW)}
        delegates = {name: types_of(returns, params) for returns, name, params in DELEGATE.findall(RAW)}
        methods = {name: types_of(returns, params) for returns, name, params in METHOD.findall(RAW)}
        self.assertEqual(pointers, delegates)
        self.assertEqual(methods, delegates)
        self.assertEqual(methods["inlay_decode_step"], ["IntPtr*", "UIntPtr", "inlay_event*", "UIntPtr", "inlay_error*", "Status"])

    def test_signatures_have_as_many_parameters_as_in_c(self):
        for _, name, params in METHOD.findall(RAW):
            function = api_model.find(API.functions, name)
            self.assertEqual(len([p for p in params.split(", ") if p]), len(function.params) + function.fallible(), name)

    def test_later_ones_may_be_absent(self):
        self.assertIn('find("inlay_load", 0)', RAW)
        self.assertIn('find("inlay_profile_step", 1)', RAW)
        self.assertIn('if (_inlay_profile_step == null) return Older.Refuse("inlay_profile_step", "1.1", err);', RAW)
        self.assertNotIn("_inlay_load == null", RAW)

    def test_a_later_one_must_be_able_to_say_that_it_is_absent(self):
        old = 'name = "inlay_version_string"'
        api = changed(old, old)
        api_model.find(api.functions, "inlay_version_string").since = "1.1"
        with self.assertRaisesRegex(ValueError, "inlay_version_string"):
            csharp_raw.emit(api)

    def test_the_layer_above_uses_all(self):
        self.assertEqual(used_functions() | {h.free for h in API.handles}, {f.name for f in API.functions})


class Structs(unittest.TestCase):
    def test_arrays(self):
        self.assertIn("public fixed byte message[Api.INLAY_ERROR_MESSAGE_BYTES];", RAW)
        self.assertIn("[StructLayout(LayoutKind.Sequential, Size = 160)]\n    public struct inlay_event_top_array", RAW)
        self.assertIn("public inlay_event_top_array top;", RAW)

    def test_handles(self):
        self.assertIn("public sealed class EngineHandle : SafeHandle", RAW)
        self.assertIn("_api.inlay_session_free(handle);", RAW)

    def test_flags(self):
        self.assertIn("[Flags]\n    public enum LoadFlags : uint", RAW)
        self.assertNotIn("[Flags]\n    public enum Status", RAW)


class Probe(unittest.TestCase):
    def test_prints_what_the_layout_text_has(self):
        text = csharp_probe.emit(API)
        for struct in API.structs:
            for field in struct.fields:
                self.assertIn(f'Field(typeof({struct.name}), "{field.name}", p, ', text)
        self.assertEqual(text.count("        Constant("), len(API.constants) + sum(len(e.values) for e in API.enums))


if __name__ == "__main__":
    unittest.main()
