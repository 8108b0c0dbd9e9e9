"""perplexity: figures that are known, windows as they are counted, and what is wrong on the command line."""
import json
import math
import pathlib
import tempfile

import tool_case
from tool_case import DEVICE, OWN_MODEL, ModelCase

STORY = ("Once upon a time, in a quiet village, there lived a young baker named Mira. Every morning she baked bread for her neighbours. "
         "One day she found a small door behind the oven. ") * 12


class Perplexity(ModelCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.text = pathlib.Path(self.folder.name) / "story.txt"
        self.text.write_text(STORY, encoding="utf-8")

    def measured(self, *arguments, model=OWN_MODEL, text=None):
        done = self.run_tool("perplexity", model, text or self.text, "--json", *arguments)
        return json.loads(done.stdout)

    def test_windows_do_not_overlap_and_score_their_second_half(self):
        one = self.measured("-c", 64, "--windows", 3)
        self.assertEqual((one["windows"], one["window"], one["scored"]), (3, 64, 3 * 31))
        self.assertGreater(one["perplexity"], 1)
        self.assertGreater(one["perplexity_error"], 0)

    def test_a_stride_scores_the_last_tokens_of_each_window(self):
        strided = self.measured("-c", 64, "--stride", 16, "--windows", 5)
        self.assertEqual((strided["windows"], strided["scored"]), (5, 5 * 16))

    def test_a_story_is_foreseen_better_than_its_words_in_disorder(self):
        words = STORY.split()
        disorder = pathlib.Path(self.folder.name) / "disorder.txt"
        disorder.write_text(" ".join(words[i * 37 % len(words)] for i in range(len(words))), encoding="utf-8")
        self.assertLess(2 * self.measured("-c", 64)["perplexity"], self.measured("-c", 64, text=disorder)["perplexity"])

    def test_against_itself_there_is_no_distance(self):
        same = self.measured("-c", 64, "--windows", 2, "--against", OWN_MODEL, "--against-device", DEVICE)
        self.assertEqual((same["kl_mean"], same["kl_max"], same["same_best"], same["ratio"]), (0, 0, 1, 1))

    def test_quantized_weights_are_at_a_distance(self):
        far = self.measured("-c", 64, "--weights", "q4_0", "--against", OWN_MODEL, "--against-device", DEVICE)
        self.assertGreater(far["kl_mean"], 1e-4)
        self.assertGreaterEqual(far["kl_max"], far["kl_p99"])
        self.assertLess(far["same_best"], 1)
        self.assertTrue(math.isclose(far["ratio"], far["perplexity"] / far["against_perplexity"], rel_tol=1e-5))

    def test_the_text_says_the_same_as_the_json(self):
        arguments = ("-c", 64, "--windows", 2)
        text = self.run_tool("perplexity", OWN_MODEL, self.text, *arguments).stdout.decode()
        self.assertIn(f"perplexity {self.measured(*arguments)['perplexity']:.4f} +- ", text)

    def test_mistakes_are_named(self):
        for arguments, words in [((), "no model given"), ((OWN_MODEL,), "no text given"),
                                 ((OWN_MODEL, self.text, "--stride", 600), "--stride is expected to be less than --ctx"),
                                 ((OWN_MODEL, self.text, "--ctx", 512, "--stride", 512), "less than --ctx")]:
            self.assertIn(words, tool_case.ToolCase.run_tool(self, "perplexity", *arguments, code=2).stderr.decode())
        self.text.write_text("Too short.", encoding="utf-8")
        said = self.run_tool("perplexity", OWN_MODEL, self.text, code=2).stderr.decode()
        self.assertIn("fewer than a window of 512", said)
        self.run_tool("perplexity", OWN_MODEL, pathlib.Path(self.folder.name) / "absent.txt", code=1)


if __name__ == "__main__":
    tool_case.main()
