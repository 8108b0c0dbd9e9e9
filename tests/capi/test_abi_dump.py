"""What breaks clients shows in compiled code too: descriptions with one change each, compared by libabigail with the present one."""
import re
import shutil
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings"))
import abi_dump
import api_model
from emit import json_form

TEXT = (ROOT / "bindings/api/inlay.toml").read_text(encoding="utf-8")
LAST_LOAD_FIELD = '  { name = "progress_user", type = "pointer", default = "NULL", doc = "Given to progress; unused without it." },\n'
FIRST_BIAS_FIELD = '  { name = "token", type = "i32", doc = "Token id." },\n'
LAST_FUNCTION = TEXT[TEXT.rindex("[[function]]"):]
LAST_NAME = re.search(r'name = "(\w+)"', LAST_FUNCTION).group(1)
VERSION = "1." + re.search(r"^abi_minor = (\d+)$", TEXT, re.M).group(1)
COMPARE_TEXT = TEXT[TEXT.index('[[function]]\nname = "inlay_compare_text"'):]
COMPARE_TEXT = COMPARE_TEXT[:COMPARE_TEXT.index("\n]\n")]


class Changes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.frozen = Path(folder.name) / "frozen.abi"
        abi_dump.dump(abi_dump.interface(api_model.parse(TEXT), Path(folder.name)), cls.frozen)

    def difference(self, *changes):
        text = TEXT
        for old, new in changes:
            self.assertIn(old, text)
            text = text.replace(old, new, 1)
        now, api = api_model.parse(TEXT), api_model.parse(text)
        with tempfile.TemporaryDirectory() as folder:
            larger = abi_dump.grown(json_form.frozen(now), json_form.frozen(api))
            return abi_dump.difference(self.frozen, abi_dump.interface(api, Path(folder)), larger, Path(folder))

    def test_nothing(self):
        self.assertEqual(self.difference(), "")

    def test_appended_field_and_function_are_allowed(self):
        function = re.sub(r'since = "1\.\d+"', f'since = "{VERSION}"', LAST_FUNCTION.replace(f'name = "{LAST_NAME}"', 'name = "inlay_new"'))
        changes = [(LAST_LOAD_FIELD, LAST_LOAD_FIELD + '  { name = "more", type = "u64", since = "' + VERSION + '", doc = "." },\n'),
                   (LAST_FUNCTION, LAST_FUNCTION + "\n" + function)]
        self.assertEqual(self.difference(*changes), "")
        self.assertIn("inlay_logit_bias", self.difference(*changes, (FIRST_BIAS_FIELD, FIRST_BIAS_FIELD.replace("i32", "u32"))))

    def test_removed_and_renamed_functions(self):
        self.assertIn("inlay_session_truncate", self.difference(('name = "inlay_session_truncate"', 'name = "inlay_session_cut"')))

    def test_symbol_version(self):
        self.assertIn("inlay_compare_text", self.difference((COMPARE_TEXT, COMPARE_TEXT.replace('since = "1.1"', 'since = "1.2"'))))

    def test_parameter_types(self):
        self.assertIn("inlay_device_get", self.difference(('name = "index", type = "i32", doc = "0 to', 'name = "index", type = "i64", doc = "0 to')))

    def test_fields(self):
        second = TEXT[TEXT.index(FIRST_BIAS_FIELD) + len(FIRST_BIAS_FIELD):].split("\n")[0] + "\n"
        for change in ((FIRST_BIAS_FIELD + second, second + FIRST_BIAS_FIELD), (FIRST_BIAS_FIELD, FIRST_BIAS_FIELD.replace("i32", "u32")),
                       (second, "")):
            self.assertIn("inlay_logit_bias", self.difference(change))

    def test_resized_array(self):
        self.assertIn("inlay_event", self.difference(("value = 20\n", "value = 22\n")))


if __name__ == "__main__":
    if not shutil.which("abidiff"):
        print("skipped: needs abidiff: it is not installed")
        sys.exit(77)
    unittest.main()
