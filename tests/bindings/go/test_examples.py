"""The Go examples: what they print is what C's print.

Usage: test_examples.py FOLDER     of the programs, binding_go_* and example_*
"""
import os
import pathlib
import re
import subprocess
import sys
import unittest

PROGRAMS = pathlib.Path(sys.argv.pop())
MODEL = os.environ["INLAY_TEST_MODEL"]
FRAMES = re.compile(rb"(\w+) +(\d+) frames, ms: p50 ([\d.]+) p99 ([\d.]+) max ([\d.]+); (\d+) bytes shown\n")


def run(language, name, *arguments, **environment):
    return subprocess.run([PROGRAMS / f"{language}_{name}", *map(str, arguments)], capture_output=True, timeout=1800, check=False,
                          env={**os.environ, **environment})


class Examples(unittest.TestCase):
    def good(self, name, *arguments, language="binding_go"):
        done = run(language, name, *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_complete_writes_what_c_writes(self):
        arguments = ("complete", MODEL, "The old fox", 20)
        self.assertEqual(self.good(*arguments), self.good(*arguments, language="example"))

    def test_eight_write_what_c_writes(self):
        written = self.good("eight", MODEL, 12)
        self.assertEqual(written, self.good("eight", MODEL, 12, language="example"))
        self.assertEqual(len(set(written.splitlines())), 8)
        self.assertNotEqual(written, self.good("eight", MODEL, 11))
        self.assertEqual(self.good("eight", MODEL, 5, "The bear", "A boat").count(b"\n"), 2)

    def test_requests_write_what_sessions_write(self):
        prompts = ("Once upon a time", "The bear woke up", "A boat")
        self.assertEqual(self.good("requests", MODEL, 12, *prompts), self.good("eight", MODEL, 12, *prompts))
        self.assertNotEqual(self.good("requests", MODEL, 11, *prompts), self.good("eight", MODEL, 12, *prompts))
        long = run("binding_go", "requests", MODEL, 3, "word " * 5000)
        self.assertEqual(long.returncode, 1)
        self.assertIn(b"CONTEXT_FULL", long.stderr)

    def test_embeddings_rank_as_c_does(self):
        texts = ("The old fox slept in the wood.", "A fox lay in the forest.", "Do you have a room?", "The old fox slept in the wood.", "7 + 5")
        ranked = self.good("embeddings", MODEL, *texts)
        self.assertEqual(ranked.splitlines()[0], b"1.0000  " + texts[0].encode())
        lines, others = ([line.split(b"  ", 1) for line in said.splitlines()]
                         for said in (ranked, self.good("embeddings", MODEL, *texts, language="example")))
        self.assertEqual([text for _, text in lines], [text for _, text in others])
        for (ours, _), (theirs, _) in zip(lines, others):
            self.assertAlmostEqual(float(ours), float(theirs), delta=2e-4)

    def test_cancel_ends_soon_after_the_request(self):
        found = re.fullmatch(rb"cancelled after (\d+) tokens, ([\d.]+) ms after the request\n", self.good("cancel", MODEL, 200))
        self.assertTrue(found)
        self.assertGreater(int(found[1]), 0)
        self.assertLess(float(found[2]), 60_000)

    def test_game_loop_keeps_its_frames_while_the_character_talks(self):
        silent, talking = FRAMES.findall(self.good("game_loop", MODEL, 1))
        self.assertEqual([row[0] for row in (silent, talking)], [b"silent", b"talking"])
        for row in (silent, talking):
            self.assertEqual(int(row[1]), 60)
            self.assertGreaterEqual(float(row[2]), 4)  # the work that a frame does
            self.assertLessEqual(float(row[2]), float(row[3]))
            self.assertLessEqual(float(row[3]), float(row[4]))
        self.assertEqual(int(silent[5]), 0)
        self.assertGreater(int(talking[5]), 0)

    def test_mistakes_are_named(self):
        for name, arguments in (("complete", ["the fox"]), ("eight", ["3"]), ("requests", ["3"]), ("cancel", []), ("game_loop", []), ("chat", []), ("http", []),
                                ("embeddings", ["the fox", "the bear"])):
            wrong = run("binding_go", name, "/nonexistent.gguf", *arguments)
            self.assertEqual(wrong.returncode, 1)
            self.assertIn(b"NOT_FOUND", wrong.stderr)
            lost = run("binding_go", name, MODEL, *arguments, INLAY_LIBRARY="/nonexistent/libinlay.so")
            self.assertEqual(lost.returncode, 1)
            self.assertIn(b"/nonexistent/libinlay.so", lost.stderr)
            self.assertEqual(run("binding_go", name).returncode, 2)


if __name__ == "__main__":
    unittest.main()
