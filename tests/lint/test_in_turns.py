"""Tests of tests/bench/in_turns.py, with a tool that only writes down who called it."""
import os
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "in_turns.py")
TOOL = """#!/bin/sh
library=$(basename "$LD_LIBRARY_PATH")
echo "$library" >>"$CALLS"
[ "$library" != broken ] || { echo "no such model" >&2; exit 3; }
n=$(wc -l <"$CALLS")
[ "$library" = fast ] && speed=$((200 + n)) || speed=$((100 + n))
echo "{\\"model\\":\\"$2\\",\\"tg\\":$speed,\\"load_s\\":1,\\"range\\":{\\"tg\\":[1,2]}}"
"""


class InTurns(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.tool = self.path("tool")
        with open(self.tool, "w", encoding="utf-8") as file:
            file.write(TOOL)
        os.chmod(self.tool, 0o755)
        for name in ("slow", "fast", "broken"):
            os.mkdir(self.path(name))
            open(self.path(name, "libinlay.so.1"), "w", encoding="utf-8").close()

    def path(self, *names):
        return os.path.join(self.folder.name, *names)

    def run_script(self, *arguments):
        environment = dict(os.environ, CALLS=self.path("calls"))
        return subprocess.run([sys.executable, SCRIPT, *arguments], env=environment, capture_output=True, text=True,
                              check=False)

    def calls(self):
        with open(self.path("calls"), encoding="utf-8") as file:
            return file.read().split()

    def test_there_and_back_in_every_round(self):
        done = self.run_script("--tool", self.tool, "--rounds", "2", f"a={self.path('slow')}", f"b={self.path('fast')}", "--", "m")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls(), ["slow", "fast", "fast", "slow"] * 2)
        self.assertRegex(done.stdout, r"(?m)^tg +a +104\.5 +1\.000 +101\.0 to 108\.0$")
        self.assertRegex(done.stdout, r"(?m)^tg +b +204\.5 +1\.957 +202\.0 to 207\.0$")
        self.assertNotIn("load_s", done.stdout)

    def test_ranges_that_overlap_are_marked(self):
        done = self.run_script("--tool", self.tool, f"a={self.path('slow')}", f"b={self.path('slow')}", "--", "m")
        self.assertRegex(done.stdout, r"(?m)^tg +b +102\.5 +1\.000 ~")

    def test_a_run_that_fails_says_why(self):
        done = self.run_script("--tool", self.tool, f"a={self.path('broken')}", "--", "m")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no such model", done.stderr)

    def test_wrong_arguments(self):
        slow = f"a={self.path('slow')}"
        for arguments, reason in ((("x", "--", "m"), "'x' is not NAME=FOLDER"), (("a=/nowhere", "--", "m"), "no libinlay.so in '/nowhere'"),
                                  ((slow, slow, "--", "m"), "'a' is there twice"), (("--rounds", "0", slow, "--", "m"), "--rounds wants"),
                                  (("--tool", self.path("none"), slow, "--", "m"), "No such file"), ((slow,), "usage:")):
            with self.subTest(arguments=arguments):
                done = self.run_script(*arguments)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    unittest.main()
