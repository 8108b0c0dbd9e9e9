"""docs/bindings.md: every function has a name in each language, or a reason, and every name that is said exists."""
import pathlib
import sys
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bindings"))
import api_model
from emit import binding_table

API = api_model.load(ROOT / "bindings/api/inlay.toml")


class Table(unittest.TestCase):
    def test_every_language_has_every_function(self):
        self.assertEqual(binding_table.lacking(API), [])

    def test_names_are_found(self):
        for language, name in (("Rust", "Session::fork"), ("Go", "Session.Fork"), ("C#", "Session.Fork")):
            self.assertEqual(binding_table.name_in(language, "inlay_session_fork"), [name])

    def test_a_function_that_nobody_calls_is_noticed(self):
        text = (ROOT / "bindings/api/inlay.toml").read_text(encoding="utf-8")
        api = api_model.parse(text.replace('name = "inlay_session_fork"', 'name = "inlay_session_gadget"', 1))
        self.assertEqual(binding_table.lacking(api), [("inlay_session_gadget", language) for language in binding_table.LANGUAGES])

    def test_what_is_said_exists(self):
        self.assertEqual(binding_table.unknown_names(), [])

    def test_a_wrong_name_is_noticed(self):
        with mock.patch.dict(binding_table.FEATURES, {"x": ("`Session::gadget`", "", "")}):
            self.assertEqual(binding_table.unknown_names(), [("x", "Session::gadget")])


if __name__ == "__main__":
    unittest.main()
