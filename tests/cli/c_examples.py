"""The C programs of examples/c."""
import json
import os
import pathlib
import re

import tool_case
from tool_case import OWN_MODEL, ModelCase, run_program

CHAT, COMPLETE, EIGHT, REQUESTS, CANCEL, EMBED, GAME_LOOP, TOOLS, TOKENS = (tool_case.BUILD / "bin" / f"example_{name}{tool_case.TOOL.suffix}"
                                                     for name in ("chat", "complete", "eight", "requests", "cancel", "embeddings", "game_loop", "tools", "tokens"))
PROMPTS = ["the fox", "and then", "Once upon a time the"]
FRAMES = re.compile(rb"(\w+) +(\d+) frames, ms: p50 ([\d.]+) p99 ([\d.]+) max ([\d.]+); (\d+) bytes shown\n")


class CExamples(ModelCase):
    def continuation(self, prompt, n_tokens):
        return self.run_tool("run", self.model, "-n", n_tokens, "--temp", "0", "-q", "--raw", "--prompt", prompt).stdout.rstrip(b"\n")

    def good(self, program, *arguments, stdin=b""):
        done = run_program(program, *arguments, stdin=stdin)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.replace(b"\r\n", b"\n") if tool_case.ON_WINDOWS else done.stdout

    def test_complete_writes_what_the_tool_writes(self):
        self.assertEqual(self.good(COMPLETE, self.model, "the fox", 10).rstrip(b"\n"), b"the fox" + self.continuation("the fox", 10))

    def test_eight_give_each_prompt_the_text_that_it_gets_alone(self):
        self.assertEqual(self.good(EIGHT, self.model, 10, *PROMPTS),
                         b"".join(p.encode() + self.continuation(p, 10) + b"\n" for p in PROMPTS))
        self.assertEqual(self.good(EIGHT, self.model, 3).count(b"\n"), 8)

    def test_requests_give_each_prompt_the_text_that_it_gets_alone(self):
        self.assertEqual(self.good(REQUESTS, self.model, 10, *PROMPTS),
                         b"".join(p.encode() + self.continuation(p, 10) + b"\n" for p in PROMPTS))
        self.assertEqual(self.good(REQUESTS, self.model, 3).count(b"\n"), 3)
        self.assertRegex(run_program(REQUESTS, self.model, 3, "word " * 5000).stderr, rb"CONTEXT_FULL")

    def test_cancel_ends_soon_after_the_request(self):
        found = re.fullmatch(rb"cancelled after (\d+) tokens, ([\d.]+) ms after the request\n", self.good(CANCEL, self.model, 200))
        self.assertTrue(found)
        self.assertGreater(int(found[1]), 0)
        self.assertLess(float(found[2]), 60_000)

    def test_chat_keeps_the_turns_before(self):
        done = run_program(CHAT, OWN_MODEL, "Mira is kind.", 40, stdin="Do you have a room?\n\nSay \"what\\it\" costs.\n".encode())
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = done.stdout.decode().splitlines()
        self.assertEqual(len(answers), 2)
        # The tool writes the same with the whole conversation as one prompt, and the second turn ran what was new of it.
        drawn = ["--temp", "0.8", "--top-k", "0", "--top-p", "0.95", "-s", "1", "-n", "40", "-q", "--raw", "--special"]
        prompt, counts = "Mira is kind.<|player|>Do you have a room?<|npc|>", []
        for answer, after in zip(answers, ("<|end|><|player|>Say \"what\\it\" costs.<|npc|>", ""), strict=True):
            self.assertEqual(self.run_tool("run", OWN_MODEL, *drawn, "-p", prompt).stdout.decode().splitlines(), [answer])
            counts.append(len(self.run_tool("tokenize", OWN_MODEL, prompt, "--special").stdout.splitlines()))
            prompt += answer + after
        said = [tuple(map(int, found)) for found in re.findall(rb"\((\d+) of (\d+) tokens were new\)", done.stderr)]
        self.assertEqual([whole for _, whole in said], counts)
        self.assertEqual(said[0][0], counts[0])
        self.assertLess(said[1][0], counts[1] - counts[0])

    def test_chat_goes_on_without_a_line_that_is_too_long(self):
        done = run_program(CHAT, OWN_MODEL, stdin=b"Do you have a room?" * 300 + b"\nDo you have a room?\n")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, rb"chat: this line is not taken: .*CONTEXT_FULL")
        self.assertEqual(done.stdout.count(b"\n"), 1)

    def test_bytes_that_are_no_text_are_taken(self):
        latin1 = os.fsdecode(bytes(range(0xE0, 0x100)))
        self.good(COMPLETE, self.model, latin1, 2)
        self.good(EMBED, self.model, latin1, latin1)

    def test_embed_puts_the_likest_first(self):
        texts = ["The dog saw a fox.", "Two and two are four.", "The dog saw the fox.", "The dog saw a fox."]
        ranked = [line.split(b"  ", 1) for line in self.good(EMBED, self.model, *texts).splitlines()]
        self.assertEqual([text.decode() for _, text in ranked], [texts[3], texts[2], texts[1]])
        self.assertEqual(ranked[0][0], b"1.0000")
        row = self.run_tool("embed", self.model, *texts, "--pooling", "mean", "--similarity").stdout.splitlines()[0].split()
        for cosine, (likeness, text) in zip((row[3], row[2], row[1]), ranked, strict=True):
            self.assertAlmostEqual(float(cosine), float(likeness), delta=2e-3, msg=text)

    def test_game_loop_keeps_its_frames_while_the_character_talks(self):
        said = self.good(GAME_LOOP, OWN_MODEL, 1)
        rows = FRAMES.findall(said)
        self.assertEqual([row[0] for row in rows], [b"silent", b"talking", b"budget", b"slices"])
        self.assertEqual(len(re.findall(rb"^[1-9]\d+ tokens, \d+ a second$", said, re.MULTILINE)), 3)
        for row in rows:
            self.assertEqual(int(row[1]), 60)
            self.assertGreaterEqual(float(row[2]), 4)  # the work that a frame does
            self.assertLessEqual(float(row[2]), float(row[3]))
            self.assertLessEqual(float(row[3]), float(row[4]))
        self.assertEqual(int(rows[0][5]), 0)
        for row in rows[1:]:
            self.assertGreater(int(row[5]), 100)
        self.assertGreaterEqual(float(rows[3][2]), 6)  # 2 ms of it for the character

    def test_tools_are_called_and_answered(self):
        called, said = map(json.loads, self.good(TOOLS, OWN_MODEL).splitlines())
        (call,) = called["tool_calls"]
        self.assertEqual(call["function"]["name"], "price")
        arguments = call["function"]["arguments"]
        arguments = arguments if isinstance(arguments, dict) else json.loads(arguments)
        self.assertEqual(list(arguments), ["item"])
        self.assertIn(arguments["item"], ("room", "meal"))
        self.assertNotIn("tool_calls", said)
        self.assertGreater(len(said["content"]), 10)

    def test_mistakes_are_named(self):
        lost = run_program(TOKENS, "/nonexistent/libinlay.so", self.model, "cpu", "cases.tsv")
        self.assertEqual(lost.returncode, 1)
        self.assertIn(b"/nonexistent/libinlay.so", lost.stderr)
        for program, arguments in ((CHAT, []), (COMPLETE, ["the fox"]), (EIGHT, ["3"]), (CANCEL, []), (EMBED, ["a", "b"]), (GAME_LOOP, []), (TOOLS, [])):
            wrong = run_program(program, "/nonexistent.gguf", *arguments)
            self.assertEqual(wrong.returncode, 1)
            self.assertIn(b"NOT_FOUND", wrong.stderr)
            self.assertEqual(run_program(program).returncode, 2)
        self.assertEqual(run_program(TOKENS).returncode, 2)

    def test_complete_is_short(self):
        source = pathlib.Path(__file__).parents[2] / "examples" / "c" / "complete.c"
        self.assertLessEqual(len(source.read_text().splitlines()), 60)


if __name__ == "__main__":
    tool_case.main()
