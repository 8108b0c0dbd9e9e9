#!/usr/bin/env python3
"""examples/love under Xvfb: three characters answer, one of them twice, in frames; the window's picture has text; what fails is shown.

Frames are timed and said. Of them only the engine's median share of a frame is checked, since other programs may have the processors; and only where
there are many frames, since a pause or two move the median of few.
usage: test_love.py SmallModel|RealModel
Environment: INLAY_BUILD; INLAY_KEEP_PICTURES, a folder that gets the pictures.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
sys.path += [str(ROOT / "tests/lint"), str(ROOT / "tests/real")]
import needs  # noqa: E402  # pylint: disable=wrong-import-position
import real_models  # noqa: E402  # pylint: disable=wrong-import-position

GAME = ROOT / "examples/love"
LIBRARY = pathlib.Path(os.environ["INLAY_BUILD"]).resolve() / "lib/libinlay.so"
TALES = ROOT / "examples/model/tales.gguf"
SMOLLM2 = real_models.MODELS[0].path(real_models.default_folder())
END_OF_GENERATION, MAX_TOKENS, BUDGET_MS = "1", "3", 4.0
ENOUGH_FRAMES = 50  # for a median
WIDTH, HEIGHT = 960, 540
FRAMES = re.compile(r"^talking: (\d+) frames, ms: engine p50 ([\d.]+) p99 ([\d.]+) longest ([\d.]+); frame p50 ([\d.]+) p99 ([\d.]+) longest ([\d.]+)$", re.M)
# Of the window: the panel in which problems are shown, and the bubble of the first character.
PANEL, BUBBLE = (66, 140, 894, 270), (30, 60, 290, 240)


def pixels(raw):
    """Rows of (red, green, blue)."""
    rows = [raw[i:i + 4 * WIDTH] for i in range(0, len(raw), 4 * WIDTH)]
    return [[tuple(row[i:i + 3]) for i in range(0, len(row), 4)] for row in rows]


def inside(rows, box):
    left, top, right, bottom = box
    return [pixel for row in rows[top:bottom] for pixel in row[left:right]]


def share_of(some, is_such):
    return sum(map(is_such, some)) / len(some)


def dark(pixel):
    return sum(pixel) < 250


def light(pixel):
    return sum(pixel) > 600


def red(pixel):
    return 90 < pixel[0] < 140 and pixel[1] < 60 and pixel[2] < 60


class Game(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.game = self.folder / "game"
        shutil.copytree(GAME, self.game, ignore=shutil.ignore_patterns("inlay_cdef.h"))
        (self.game / "main.lua").rename(self.game / "game.lua")
        shutil.copy(pathlib.Path(__file__).with_name("main.lua"), self.game)
        subprocess.run([GAME / "make_header.sh", self.game / "inlay_cdef.h"], check=True)

    def play(self, *arguments, **environment):
        """What the game printed, and the pixels of its last picture."""
        picture = self.folder / "picture.png"
        done = subprocess.run(["xvfb-run", "-a", "-s", "-screen 0 1280x720x24", "love", self.game, *arguments], text=True, capture_output=True, check=False,
                              env=os.environ | {"LIBGL_ALWAYS_SOFTWARE": "1", "HOME": str(self.folder), "LOVE_PICTURE": str(picture)} | environment)
        self.assertEqual((done.returncode, picture.exists()), (0, True), done.stdout + done.stderr)
        if keep := os.environ.get("INLAY_KEEP_PICTURES"):
            shutil.copy(picture, pathlib.Path(keep, f"{self.id().split('.')[-1]}.png"))
        self.assertEqual(picture.read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        return done.stdout, pixels(pathlib.Path(f"{picture}.rgba").read_bytes())

    def check_answers(self, model, n_frames, ends):
        said, rows = self.play(model, LIBRARY)
        answers = [line.split("\t")[1:] for line in said.splitlines() if line.startswith("answer\t")]
        print(said, file=sys.stderr)
        self.assertEqual([(name, turns) for name, _, _, turns, _, _ in answers], [("Mira", "1"), ("Borin", "2"), ("Elwin", "1")])
        self.assertEqual(answers[1][4], "Is it sharp?")
        for name, ended, lengths, _, _, text in answers:
            self.assertIn(ended, ends, name)
            self.assertGreater(len(text.split()), 2, name)
            self.assertTrue(ended == MAX_TOKENS or re.search(r"[.!?\"]$", text), text)
            self.assertGreaterEqual(int(lengths), n_frames - 1, name + " says all at once")  # a fast machine writes the small model's in one frame
        found = FRAMES.search(said)
        self.assertTrue(found, said)
        self.assertGreaterEqual(int(found[1]), n_frames)
        if int(found[1]) >= ENOUGH_FRAMES:
            self.assertLess(float(found[2]), BUDGET_MS * 1.5)
        self.check_picture(rows)

    def check_picture(self, rows):
        self.assertEqual((len(rows), len(rows[0])), (HEIGHT, WIDTH))
        self.assertGreater(len({pixel for row in rows for pixel in row}), 200)
        bubble = inside(rows, BUBBLE)
        self.assertTrue(0.01 < share_of(bubble, dark) < 0.3, share_of(bubble, dark))
        self.assertGreater(share_of(bubble, light), 0.6)
        self.assertLess(share_of(inside(rows, PANEL), red), 0.1)


class SmallModel(Game):
    def test_three_characters_answer(self):
        self.check_answers(TALES, 1, [END_OF_GENERATION])

    def test_a_window_without_text_is_noticed(self):
        scene = self.game / "scene.lua"
        scene.write_text(scene.read_text().replace("love.graphics.printf(", "tostring("))
        with self.assertRaisesRegex(AssertionError, "False is not true : 0"):
            self.check_picture(self.play(TALES, LIBRARY)[1])

    def test_what_fails_is_shown(self):
        no_model, broken = self.folder / "no_model.gguf", self.folder / "broken.gguf"
        broken.write_bytes(TALES.read_bytes()[:5000])
        for arguments, line, words in (((TALES, self.folder / "no.so"), "", "no.so"), ((no_model, LIBRARY), "", r"no_model\.gguf: .*NOT_FOUND|no_model\.gguf: .*IO"),
                                       ((broken, LIBRARY), "", r"\(FORMAT\)"), ((TALES, LIBRARY), "word " * 600, r"not taken: .*\(CONTEXT_FULL\)")):
            with self.subTest(words):
                said, rows = self.play(*arguments, LOVE_LINE=line)
                self.assertRegex(said, r"(?m)^problem\t.*(" + words + ")")
                panel = inside(rows, PANEL)
                self.assertGreater(share_of(panel, red), 0.6)
                self.assertGreater(share_of(panel, light), 0.01)

    def test_a_missing_header_is_shown_with_what_writes_it(self):
        (self.game / "inlay_cdef.h").unlink()
        self.assertRegex(self.play(TALES, LIBRARY)[0], r"problem\t.*inlay_cdef\.h is not there: examples/love/make_header\.sh writes it")

    def test_an_older_library_is_refused(self):
        header = self.game / "inlay_cdef.h"
        header.write_text(header.read_text().replace("INLAY_ABI_MINOR = ", "INLAY_ABI_MINOR = 9"))
        self.assertRegex(self.play(TALES, LIBRARY)[0], r"problem\t.* has interface 1\.\d+, the header 1\.9\d+")


class RealModel(Game):
    def test_three_characters_answer(self):
        self.check_answers(SMOLLM2, 3, [END_OF_GENERATION, MAX_TOKENS])  # it may be long-winded


if __name__ == "__main__":
    if not needs.NEEDS["LÖVE and Xvfb"].is_there(None):
        print("skipped: needs LÖVE and Xvfb")
        sys.exit(77)
    if "RealModel" in sys.argv and not SMOLLM2.is_file():
        print(f"skipped: needs the real models: {SMOLLM2} is not there")
        sys.exit(77)
    unittest.main(verbosity=2)
