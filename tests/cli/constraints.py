"""Texts that are held to a schema, a grammar or choices."""
import json
import pathlib
import tempfile

import tool_case
from tool_case import OWN_MODEL, ModelCase

SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer", "minimum": 0, "maximum": 150}},
          "required": ["name", "age"], "additionalProperties": False}


class Constraints(ModelCase):
    def text(self, *options, seed=1):
        return self.run_tool("run", OWN_MODEL, "--raw", "-q", "-p", "Mira said:", "-s", seed, "-n", 120, *options).stdout.decode().removesuffix("\n")

    def test_json_of_a_schema_from_a_file_or_as_it_stands(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "schema.json"
            path.write_text(json.dumps(SCHEMA), encoding="utf-8")
            for given in (path, json.dumps(SCHEMA)):
                for seed in range(1, 5):
                    value = json.loads(self.text("--json-schema", given, seed=seed))
                    self.assertEqual(set(value), {"name", "age"})
                    self.assertLessEqual(len(value["name"]), 12)
                    self.assertTrue(0 <= value["age"] <= 150)

    def test_a_grammar_and_choices(self):
        self.assertRegex(self.text("--grammar", 'root ::= " " [A-Z] [a-z]{2,5} "!"'), r"^ ?[A-Z][a-z]{2,5}!$")
        self.assertIn(self.text("--choices", " yes, no").strip(), ("yes", "no"))
        self.assertNotIn(self.text().strip(), ("yes", "no"))

    def test_what_is_wrong_is_named(self):
        for code, options, words in ((1, ("--grammar", "root ::= other"), "other"), (1, ("--json-schema", '{"type": 3}'), "type"),
                                     (1, ("--json-schema", "no such file"), "no such file"), (2, ("--choices", "a,,b"), "choice 1 is empty"),
                                     (2, ("--json-schema", "{}", "--ignore-eos"), "IGNORE_END_OF_GENERATION")):
            done = self.run_tool("run", OWN_MODEL, "--raw", "-p", "x", *options, code=code)
            self.assertIn(words, done.stderr.decode())
        self.assertIn("give one of", self.run_tool("run", OWN_MODEL, "--choices", "a", "--grammar", "b", code=2).stderr.decode())

    def test_what_a_schema_says_in_vain_is_told(self):
        done = self.run_tool("run", OWN_MODEL, "--raw", "-q", "-p", "x", "-n", 20, "--json-schema", '{"type": "string", "format": "strange"}')
        self.assertIn("strange", done.stderr.decode())


if __name__ == "__main__":
    tool_case.main()
