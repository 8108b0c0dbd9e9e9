"""The C programs of examples/c, which open the library at run time."""
import pathlib

import tool_case
from tool_case import ModelCase, run_program

STREAM, BATCH = (tool_case.BUILD / "bin" / name for name in ("example_stream", "example_batch"))
PROMPTS = ["the fox", "and then", "Once upon a time the"]


class CExamples(ModelCase):
    def continuation(self, prompt, n_tokens):
        return self.run_tool("run", self.model, "-n", n_tokens, "--temp", "0", "-q", "--prompt", prompt).stdout.rstrip(b"\n")

    def test_stream_writes_what_the_tool_writes(self):
        done = run_program(STREAM, tool_case.LIBRARY, self.model, "the fox", 10)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.rstrip(b"\n"), self.continuation("the fox", 10))

    def test_a_batch_gives_each_prompt_the_text_that_it_gets_alone(self):
        done = run_program(BATCH, tool_case.LIBRARY, self.model, 10, *PROMPTS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, b"".join(p.encode() + self.continuation(p, 10) + b"\n" for p in PROMPTS))

    def test_mistakes_are_named(self):
        for program, arguments in ((STREAM, ["the fox"]), (BATCH, ["3", "the fox"])):
            lost = run_program(program, "/nonexistent/libinlay.so", self.model, *arguments)
            self.assertEqual(lost.returncode, 1)
            self.assertIn(b"/nonexistent/libinlay.so", lost.stderr)
            wrong = run_program(program, tool_case.LIBRARY, "/nonexistent.gguf", *arguments)
            self.assertEqual(wrong.returncode, 1)
            self.assertIn(b"NOT_FOUND", wrong.stderr)
            self.assertEqual(run_program(program).returncode, 2)

    def test_stream_is_short(self):
        source = pathlib.Path(__file__).parents[2] / "examples" / "c" / "stream.c"
        self.assertLessEqual(len(source.read_text().splitlines()), 80)


if __name__ == "__main__":
    tool_case.main()
