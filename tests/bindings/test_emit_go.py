"""The Go emitters: names, types and documentation; and that package inlay uses every function of the library."""
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
import api_model
from emit import c_header, c_loader, go_constants, go_names, go_probe, go_raw, go_since, layout

TEXT = (ROOT / "bindings/api/inlay.toml").read_text(encoding="utf-8")
API = api_model.parse(TEXT)
# Functions that package inlay need not call: Status.String knows the names without the library, and logits are copied, because
# nothing keeps a session alive for a slice of the library's memory. Queue.Wake ends waits on channels: none stays inside the library.
NOT_WRAPPED = {"inlay_status_name", "inlay_session_view_logits", "inlay_queue_wake"}


def changed(old: str, new: str) -> api_model.Api:
    if TEXT.count(old) < 1:
        raise AssertionError(f"the description has no '{old}'")
    return api_model.parse(TEXT.replace(old, new, 1))


def not_called(functions: list[str], sources: str) -> set[str]:
    code = re.sub(r"//[^\n]*", "", sources)
    return {f for f in functions if not re.search(rf"\braw\.{go_names.public(f)}\(", code)}


class Names(unittest.TestCase):
    def test_are_go_names(self):
        for c, go in (("inlay_session_create", "SessionCreate"), ("inlay_kv_dtype", "KVDtype"), ("inlay_abi_version", "ABIVersion"),
                      ("INLAY_MAX_LOGPROBS", "MaxLogprobs")):
            self.assertEqual(go_names.public(c), go)
        values = {e.name: [go_names.enum_value(e, v.name) for v in e.values] for e in API.enums}
        self.assertEqual(values["inlay_status"][:2], ["StatusOK", "StatusInvalidArgument"])
        self.assertEqual(values["inlay_device_kind"], ["DeviceAuto", "DeviceCPU", "DeviceCUDA", "DeviceReference"])

    def test_reserved_words_are_escaped(self):
        for name in ("type", "range", "func", "map", "cap", "len", "error", "string", "unsafe"):
            self.assertEqual(go_names.param(name), name + "_")
        self.assertEqual(go_names.param("n_tokens"), "nTokens")
        text = go_raw.emit(API)
        self.assertIn("cap_ uintptr", text)
        self.assertNotRegex(text, r"\bcap uintptr")

    def test_collisions_are_refused(self):
        api = changed('name = "inlay_device_count"', 'name = "inlay_device__info"')
        with self.assertRaises(api_model.ApiError) as caught:
            go_raw.emit(api)
        self.assertIn("both DeviceInfo", str(caught.exception))


class Raw(unittest.TestCase):
    text = go_raw.emit(API)

    def test_has_everything(self):
        for f in API.functions:
            self.assertRegex(self.text, rf"\nfunc {go_names.public(f.name)}\(")
            self.assertEqual(self.text.count(f"C.go_{f.name}("), 1)
        for s in API.structs:
            self.assertIn(f"\ntype {go_names.public(s.name)} struct {{\n", self.text)
        for e in API.enums:
            for v in e.values:
                self.assertIn(f"\t{go_names.enum_value(e, v.name)} {go_names.public(e.name)} = {v.value}\n", self.text)

    def test_documentation_arrives(self):
        joined = re.sub(r"\s*\n\s*// *", " ", self.text)
        for f in API.functions:
            self.assertIn(f"{go_names.public(f.name)} is {f.name}. {f.doc}", joined)
            self.assertIn(f"- Since: {f.since}.", joined)
            for p in f.params:
                self.assertIn(f"- {go_names.param(p.name)}: {p.doc}", joined)
        for s in API.structs:
            for field in s.fields:
                self.assertIn(field.doc, joined)

    def test_a_new_function_needs_no_change_here(self):
        api = changed('name = "inlay_device_count"', 'name = "inlay_gadget_count"')
        self.assertIn("func GadgetCount() int32 {\n\treturn int32(C.go_inlay_gadget_count())\n}", go_raw.emit(api))

    def test_a_missing_function_is_a_status_or_nothing(self):
        self.assertIn('if (!api->inlay_prefill) return inlay_go_missing("inlay_prefill", err);', self.text)
        self.assertIn("if (!api->inlay_free) return;", self.text)

    def test_probe_prints_every_line_of_the_layout(self):
        probe = go_probe.emit(API)
        names = [line.split(" ")[1] for line in layout.emit(API).splitlines()]
        self.assertEqual(re.findall(r'\("(\w[\w.]*)", ', probe), names)

    def test_constants_are_those_of_raw(self):
        text = go_constants.emit(API)
        for e in API.enums:
            for v in e.values:
                go = go_names.enum_value(e, v.name)
                self.assertIn(f"\t{go} = raw.{go}\n", text)

    def test_versions_of_functions(self):
        self.assertIn("X(inlay_load, 0) \\\n", go_since.emit(API))
        self.assertIn("X(inlay_profile_step, 1)", go_since.emit(API))

    def test_the_module_carries_the_headers(self):
        raw = ROOT / "bindings/go/raw"
        self.assertEqual((raw / "inlay.h").read_text(encoding="utf-8"), c_header.emit(API))
        self.assertEqual((raw / "inlay_dl.h").read_text(encoding="utf-8"), c_loader.emit(API))


class Layer(unittest.TestCase):
    functions = [f.name for f in API.functions if f.name not in NOT_WRAPPED]
    sources = "".join(p.read_text(encoding="utf-8") for p in sorted((ROOT / "bindings/go").glob("*.go"))
                      if not p.name.endswith("_test.go"))

    def test_calls_every_function(self):
        self.assertEqual(not_called(self.functions, self.sources), set())
        print(f"package inlay calls {len(self.functions)} of {len(API.functions)} functions")

    def test_notices_one_that_is_not_called(self):
        self.assertEqual(not_called([*self.functions, "inlay_gadget"], self.sources), {"inlay_gadget"})
        self.assertEqual(not_called(["inlay_load"], "// raw.Load()\nraw.LoadMemory()"), {"inlay_load"})


if __name__ == "__main__":
    unittest.main()
