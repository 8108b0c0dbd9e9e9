"""inlay run --save-state and --load-state: what is there is not computed again, and files that do not fit are refused in words."""
import json
import pathlib
import re
import subprocess
import tempfile

import tool_case
from tool_case import OWN_MODEL, RANDOM_MODEL, ModelCase

GREEDY = ("--temp", "0")
FIRST, SECOND = "Tell me of the fox.", "And then?"


def run_tokens(done):
    """How many tokens of the prompt were run."""
    return int(re.search(r"^prompt: (\d+) token", done.stderr.decode(), re.MULTILINE)[1])


class SavedState(ModelCase):
    model = OWN_MODEL

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def path(self, name):
        return self.folder / name

    def run_model(self, *arguments, code=0):
        return self.run_tool("run", self.model, *arguments, *GREEDY, code=code)

    def conversation(self, name):
        """A file's state and the conversation behind it."""
        whole = self.path(name).read_bytes()
        begin = whole.rindex(b'[{"role"')
        return whole[:begin], whole[begin:]

    def saved(self, name, *arguments):
        return self.run_model(*arguments, "--save-state", self.path(name))

    def test_text_goes_on_as_if_it_had_never_ended(self):
        begin = ("--raw", "-p", "Once upon a time there was a")
        whole = self.run_model(*begin, "-n", "20").stdout[:-1]
        first = self.saved("state", *begin, "-n", "8").stdout[:-1]
        then = self.run_model("--raw", "--load-state", self.path("state"), "-p", "", "-n", "12")
        self.assertEqual(first + then.stdout[:-1], whole)
        self.assertEqual(run_tokens(then), 1)

    def test_a_conversation_goes_on_and_is_not_computed_again(self):
        answer = self.saved("one", "-p", FIRST, "-n", "30").stdout.decode()[:-1]
        state, said = self.conversation("one")
        self.assertEqual(json.loads(said), [{"role": "user", "content": FIRST}, {"role": "assistant", "content": answer}])
        then = self.run_model("-p", SECOND, "-n", "30", "--load-state", self.path("one"), "--save-state", self.path("two"))
        self.assertEqual([m["content"] for m in json.loads(self.conversation("two")[1])], [FIRST, answer, SECOND, then.stdout.decode()[:-1]])
        # The control: the same conversation behind another state is computed anew, and answered alike.
        self.saved("other", "-p", "A king?", "-n", "3")
        other = self.conversation("other")[0]
        self.assertNotEqual(other, state)
        self.path("mixed").write_bytes(other + said)
        anew = self.run_model("-p", SECOND, "-n", "30", "--load-state", self.path("mixed"))
        self.assertEqual(anew.stdout, then.stdout)
        self.assertGreater(run_tokens(anew), 2 * run_tokens(then))
        # Without the conversation the answer is another one.
        self.assertNotEqual(self.run_model("-p", SECOND, "-n", "30").stdout, then.stdout)

    def test_the_options_are_those_of_the_command_line(self):
        self.saved("state", "--raw", "-p", "Once upon a time", "-n", "5", "--stop", " the", "--choices", " a, the")
        loaded = ("--raw", "--load-state", self.path("state"), "-p", " there was")
        whole = self.run_model(*loaded, "-n", "12")
        self.assertIn("12 tokens", whole.stderr.decode())
        cut = self.run_model(*loaded, "-n", "12", "--stop", whole.stdout.decode()[10:14])
        self.assertIn("at a text of --stop", cut.stderr.decode())
        chosen = self.run_model(*loaded, "-n", "12", "--choices", " nothing at all, a cow")
        self.assertIn(chosen.stdout.decode()[:-1], (" nothing at all", " a cow"))

    def test_files_that_do_not_fit_are_refused(self):
        self.saved("fits", "-p", FIRST, "-n", "4")
        self.saved("raw", "--raw", "-p", FIRST, "-n", "4")
        whole = self.path("fits").read_bytes()
        damaged = bytearray(whole)
        damaged[len(self.conversation("fits")[0]) // 2] ^= 1
        cases = {
            "cut": (whole[:5000], (), "the file ends before the state does"), "empty": (b"", (), "the file ends before the state does"),
            "damaged": (bytes(damaged), (), "its checksum differs (FORMAT)"), "model": (self.model.read_bytes(), (), "the bytes are no saved session (FORMAT)"),
            "said": (whole[:-5], (), "the conversation behind the state"), "nothing": (None, (), "No such file"),
            "raw": (self.path("raw").read_bytes(), (), "--raw goes on with it"), "long": (whole, ("-c", "8"), "the context has room for 8 (CONTEXT_FULL)"),
            "fits": (whole, (), None),
        }
        for name, (content, options, reason) in cases.items():
            with self.subTest(name):
                if content is not None:
                    self.path(name).write_bytes(content)
                done = self.run_model("--load-state", self.path(name), "-p", SECOND, "-n", "2", *options, code=1 if reason else 0)
                if reason:
                    self.assertIn(str(self.path(name)), done.stderr.decode())
                    self.assertIn(reason, done.stderr.decode())
                    self.assertEqual(done.stdout, b"")
        foreign = self.run_tool("run", RANDOM_MODEL, "--load-state", self.path("fits"), "-p", SECOND, code=1).stderr.decode()
        self.assertIn("saved by another model", foreign)
        for options in (("--load-state", "--ignore-eos"), ("--load-state", "--system", "x"), ("--save-state", "--logprobs", "1")):
            self.assertIn(options[1], self.run_model(options[0], self.path("fits"), *options[1:], "-p", "x", code=2).stderr.decode())

    def test_what_cannot_be_written_leaves_what_was_there(self):
        missing = self.run_model("-p", FIRST, "--save-state", self.path("none") / "state", code=1)
        self.assertIn("cannot save the state", missing.stderr.decode())
        self.assertEqual(missing.stdout, b"", "it is said before the text is written")
        if tool_case.ON_WINDOWS:
            return
        import resource  # of Unix alone
        self.path("state").write_bytes(b"old")
        command = [str(tool_case.TOOL), "run", str(self.model), "--device", tool_case.DEVICE, "-p", FIRST, "-n", "4", *GREEDY, "--save-state", str(self.path("state"))]
        for most, code, fits in ((4000, 1, False), (100_000_000, 0, True)):
            done = subprocess.run(command, capture_output=True, check=False, env=tool_case.ENVIRONMENT,
                                  preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)))
            self.assertEqual((done.returncode, self.path("state").read_bytes() != b"old"), (code, fits), done.stderr)
            self.assertEqual([file.name for file in self.folder.iterdir()], ["state"])
            self.assertEqual(b"cannot save the state" in done.stderr, not fits, done.stderr)


if __name__ == "__main__":
    tool_case.main()
