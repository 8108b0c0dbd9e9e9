#!/usr/bin/env python3
"""The templates' results and the vocabularies are what their programs make: all of them are made again and compared.

Usage: test_texts_made_again.py templates|vocabularies

Templates need Jinja2: the program goes on with the distribution's Python where this one has none, and exits with status 77 after a
line that says what to install where that has none either. Vocabularies need nothing.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
DEBIANS_PYTHON = "/usr/bin/python3"


def python_with_jinja():
    for python in (sys.executable, DEBIANS_PYTHON):
        if os.path.exists(python) and subprocess.run([python, "-c", "import jinja2"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return None


def contents(folder):
    """The files of a folder by name; an index without the versions of the programs that were there."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            if path.name == "index.json":
                index = json.loads(data)
                index.pop("reference", None)
                data = json.dumps(index, sort_keys=True).encode()
            found[str(path.relative_to(folder))] = data
    return found


def different(made, committed):
    """Names of files that only one has, or that differ."""
    return sorted(name for name in made.keys() | committed.keys() if made.get(name) != committed.get(name))


class MadeAgain(unittest.TestCase):
    def setUp(self):
        self.out = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.out)

    def make(self, python, source, program, *arguments):
        environment = {key: value for key, value in os.environ.items() if key != "INLAY_NODE_MODULES"} | {"PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([python, source / program, *map(str, arguments)], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


class Templates(MadeAgain):
    def test_results_made_again_are_the_same(self):
        self.make(python_with_jinja(), HERE, "make_templates.py", "--out", self.out / "again")
        self.assertEqual(different(contents(self.out / "again"), contents(HERE / "templates")), [])

    def test_another_template_gives_other_results(self):
        copy = self.out / "data"
        shutil.copytree(HERE, copy, ignore=shutil.ignore_patterns("models", "quant", "tokenizers", "__pycache__"))
        template = copy / "templates" / "plain-roles" / "template.jinja"
        template.write_text(template.read_text() + "!")
        self.make(python_with_jinja(), copy, "make_templates.py", "--out", self.out / "again")
        changed = different(contents(self.out / "again"), contents(HERE / "templates"))
        self.assertEqual(changed, ["index.json", "plain-roles/cases.json", "plain-roles/template.jinja"])


class Vocabularies(MadeAgain):
    def test_vocabularies_made_again_are_the_same(self):
        self.make(sys.executable, HERE, "make_tokenizers.py", "--vocabularies", self.out / "again")
        made, committed = contents(self.out / "again"), contents(HERE / "tokenizers")
        self.assertGreater(len(made), 8)
        self.assertEqual([name for name in made if made[name] != committed.get(name)], [])
        vocabularies = {name for name in committed if name.endswith((".gguf", ".tokenizer.json"))}
        self.assertLessEqual(vocabularies, made.keys())
        self.assertEqual(different({"a": b"1", "b": b"2"}, {"a": b"1", "b": b"3", "c": b""}), ["b", "c"], "negative control")


if __name__ == "__main__":
    suites = {"templates": Templates, "vocabularies": Vocabularies}
    if len(sys.argv) != 2 or sys.argv[1] not in suites:
        sys.exit("usage: test_texts_made_again.py templates|vocabularies")
    if sys.argv[1] == "templates" and python_with_jinja() is None:
        print("skipped: needs Jinja2: install python3-jinja2")
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], suites[sys.argv[1]].__name__])
