"""run as one uses it at a terminal: a conversation, with plain lines."""
import json
import os
import pathlib
import pty
import re
import subprocess
import tempfile
import termios

import tool_case
from pseudo_terminal import Talk, skip_without_terminals
from tool_case import OWN_MODEL, RANDOM_MODEL, ModelCase

COMMANDS = ("/help", "/clear", "/regen", "/system", "/save", "/load", "/bye")
LONG_LINE = "Tell me of the fox and the hen. " * 40


class PlainTalk(Talk):
    """Without the editor: its terminal cannot move a cursor."""

    def __init__(self, model, *options, **how):
        super().__init__(model, *options, term="dumb", **how)
        self.until("> ")

    def answer(self, line):
        """What comes after this line, the prompt for the next one left out."""
        self.line(line)
        return self.until("\r\n> ").partition("\n")[2].removesuffix("> ")


class Conversation(ModelCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        skip_without_terminals()

    def converse(self, model, lines, *options):
        """Standard output and error of a conversation of these lines."""
        ours, theirs = pty.openpty()
        tool = subprocess.Popen([tool_case.TOOL, "run", model, "-n", "6", "--temp", "0", "--device", tool_case.DEVICE, *options],
                                stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(theirs)
        os.write(ours, lines + b"\x04")
        out, said = tool.communicate(timeout=1800)
        os.close(ours)
        return tool.returncode, out, said

    def single(self, model, prompt, *options):
        return self.run_tool("run", model, "--temp", "0", "--prompt", prompt, *options).stdout.decode(errors="replace")

    def saved(self, talk, folder):
        path = pathlib.Path(folder) / "saved.json"
        self.assertIn(str(path), talk.answer(f"/save {path}"))
        return [(message["role"], message["content"]) for message in json.loads(path.read_text())]

    def test_lines_are_turns_of_one_sequence(self):
        code, out, said = self.converse(self.model, b"the fox\n\nand then\n", "--raw")
        self.assertEqual(code, 0, said)
        turns = out.decode(errors="replace").split("> ")
        self.assertEqual(len(turns), 5, out)  # nothing, a turn, the empty line, a turn, the end
        self.assertEqual(turns[1].encode(), self.single(self.model, "the fox", "-n", "6", "--raw").encode())
        counts = [int(n) for n in re.findall(rb"prompt: (\d+) tokens", said)]
        self.assertEqual(len(counts), 2)

    def test_the_template_writes_the_turns(self):
        code, out, said = self.converse(OWN_MODEL, b"Do you have a room?\nThank you.\n", "--system", "Mira is kind.")
        self.assertEqual(code, 0, said)
        turns = out.decode().split("> ")
        self.assertEqual(len(turns), 4, out)
        prompt = "Mira is kind.<|player|>Do you have a room?<|npc|>"
        answers = []
        for said_before in ("", "{}<|end|><|player|>Thank you.<|npc|>"):
            prompt += said_before.format(*answers)
            answers = [self.single(OWN_MODEL, prompt, "-n", "6", "--raw", "--special").removesuffix("\n")]
            self.assertEqual(turns[1 if not said_before else 2], answers[0] + "\n")
        # The second turn runs what is new: the end of the answer and the line.
        counts = [int(n) for n in re.findall(rb"prompt: (\d+) tokens", said)]
        whole = self.run_tool("tokenize", OWN_MODEL, prompt, "--special").stdout.split()
        self.assertEqual(len(counts), 2)
        self.assertLess(counts[1], len(whole) - counts[0])

    def test_what_a_template_cannot_do_is_said(self):
        code, _, said = self.converse(OWN_MODEL, b"Hi\n", "--system", "x", "--raw")
        self.assertEqual(code, 2)
        self.assertIn(b"--system needs the chat template", said)

    def test_commands_are_no_turns(self):
        with PlainTalk(OWN_MODEL, "-n", "6") as talk, tempfile.TemporaryDirectory() as folder:
            said = talk.answer("/help")
            for command in COMMANDS:
                self.assertRegex(said, rf"(?m)^  {command}\b")
            self.assertIn("no command /frob; /help lists", talk.answer("/frob x"))
            self.assertIn("/clear takes no argument", talk.answer("/clear all"))
            self.assertIn("needs the name of a file", talk.answer("/save"))
            self.assertEqual(self.saved(talk, folder), [])
            self.assertIn("cannot write", talk.answer(f"/save {folder}/saved.json"))  # what is there stays
            answer = talk.answer(" /frob is a turn").removesuffix("\n")
            os.unlink(f"{folder}/saved.json")
            self.assertEqual(self.saved(talk, folder), [("user", " /frob is a turn"), ("assistant", answer)])
            talk.line("/bye")
            self.assertEqual(talk.end(), 0)

    def test_a_saved_conversation_goes_on(self):
        for options in (("--system", "Mira is a kind innkeeper at an inn in Oakvale."), (), ("--raw",)):
            with self.subTest(options=options), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "saved.json"
                begin, line = ("Once upon a time", "One day") if "--raw" in options else ("Do you have a room?", "And what does it cost?")
                with PlainTalk(OWN_MODEL, "-n", "12", "--temp", "0", *options) as talk:
                    first = talk.answer(begin)
                    saved = self.saved(talk, folder)
                    second = talk.answer(line)
                how = options if options == ("--raw",) else ()
                with PlainTalk(OWN_MODEL, "-n", "12", "--temp", "0", *how) as talk:
                    fresh = talk.answer(line)
                    n_turns = "1 turn and the system's message" if len(saved) == 3 else "1 turn, no message of the system"
                    self.assertIn(f"the conversation is that of {path} now: {n_turns}", talk.answer(f"/load {path}"))
                    path.unlink()
                    self.assertEqual(self.saved(talk, folder), saved)
                    self.assertEqual(talk.answer(line), second)
                    talk.answer(f"/load {path}")  # once more, over what came behind it
                    self.assertEqual(talk.answer(line), second)
                    talk.answer(f"/load {path}")
                    self.assertEqual(talk.answer("/regen"), first)
                self.assertNotEqual(fresh, second)  # the control: the turn before changes the answer

    def test_a_saved_state_goes_on(self):
        """Two runs of one turn each say what one run of two says; the prompt of the second has the new line alone."""
        def said_in(out):
            return [line for line in out.replace(b"> ", b"").split(b"\n") if line]
        with tempfile.TemporaryDirectory() as folder:
            state = ("--save-state", f"{folder}/state", "--load-state", f"{folder}/state")
            for model, options in ((OWN_MODEL, ()), (OWN_MODEL, ("--raw",))):
                both = self.converse(model, b"the fox\nand then\n", *options)[1]
                code, first, said = self.converse(model, b"the fox\n", *options, *state[:2])
                self.assertEqual(code, 0, said)
                code, second, said = self.converse(model, b"and then\n", *options, *state)
                self.assertEqual((code, said_in(first + second)), (0, said_in(both)), said)
                self.assertGreaterEqual(len(said_in(both)), 2)
                alone = self.converse(model, b"and then\n", *options)[2]
                n_run, n_alone = (int(re.search(rb"prompt: (\d+)", text)[1]) for text in (said, alone))
                self.assertLessEqual(n_run, n_alone + 2)
            code, _, said = self.converse(OWN_MODEL, b"/regen\n", "--raw", *state)
            self.assertIn(b"there is no answer yet", said, "what a state held is no turn")

    def test_a_file_that_is_no_conversation_changes_nothing(self):
        with PlainTalk(OWN_MODEL, "-n", "6") as talk, tempfile.TemporaryDirectory() as folder:
            self.assertIn("/load needs the name of a file", talk.answer("/load"))
            talk.answer("Hello.")
            said = self.saved(talk, folder)
            wrong = pathlib.Path(folder) / "wrong.json"
            wrong.write_text('[{"role":"user","content":"Hi"},\n {"role":"user","content":"Hi"}]')
            for path, reason in ((wrong, 'message 2 is of "user" where one of assistant is expected'), (f"{folder}/none", "No such file"), (folder, "Is a directory")):
                self.assertIn(f"cannot load {path}: {reason}", talk.answer(f"/load {path}"))
            with open(wrong, "wb") as file:
                file.truncate((64 << 20) + 1)
            self.assertIn("larger than 64 MiB", talk.answer(f"/load {wrong}"))
            os.unlink(f"{folder}/saved.json")
            self.assertEqual(self.saved(talk, folder), said)
        with PlainTalk(OWN_MODEL, "--raw") as talk, tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "system.json"
            path.write_text('[{"role":"system","content":"Mira is kind."}]')
            self.assertIn("without a chat template there is none", talk.answer(f"/load {path}"))

    def test_an_answer_is_written_anew(self):
        hot = ("--temp", "4", "--top-k", "0", "--top-p", "1", "-n", "12")
        with PlainTalk(OWN_MODEL, *hot, "-s", "1") as talk, tempfile.TemporaryDirectory() as folder:
            self.assertIn("there is no answer yet", talk.answer("/regen"))
            talk.answer("Hello.")
            answers = [talk.answer("Do you have a room?"), *(talk.answer(f"/regen{blank}") for blank in ("", " "))]
            self.assertEqual(len(set(answers)), 3)
            said = self.saved(talk, folder)
            self.assertEqual([text for role, text in said if role == "user"], ["Hello.", "Do you have a room?"])
            self.assertEqual(said[-1], ("assistant", answers[-1].removesuffix("\n")))
        def single(seed):
            return self.run_tool("run", OWN_MODEL, *hot, "-s", seed, "-p", "Do you have a room?").stdout.decode()
        with PlainTalk(OWN_MODEL, *hot, "-s", "5") as talk:  # with the next seed
            self.assertEqual([talk.answer("Do you have a room?"), talk.answer("/regen ")], [single(5), single(6)])

    def test_the_message_of_the_system_and_clear(self):
        line, system = "Do you have a room?", "Mira is a kind innkeeper at an inn in Oakvale."
        alone = self.single(OWN_MODEL, line, "-n", "12")
        with_system = self.single(OWN_MODEL, line, "-n", "12", "--system", system)
        self.assertNotEqual(alone, with_system)
        with PlainTalk(OWN_MODEL, "-n", "12") as talk:
            self.assertEqual(talk.answer(line), alone)
            self.assertIn("there is no message of the system", talk.answer("/system"))
            talk.answer("/system " + system)
            self.assertIn("is: " + system, talk.answer("/system"))
            self.assertNotEqual(talk.answer(line), with_system)  # the turn before is part of it
            talk.answer("/clear")
            self.assertEqual(talk.answer(line), with_system)
        with PlainTalk(OWN_MODEL, "--raw") as talk:
            self.assertIn("without a chat template", talk.answer("/system x"))

    def test_a_conversation_goes_on_in_a_full_context(self):
        lines = [f"Do you have {n} rooms for us and our horses?" for n in range(2, 12)]
        for options in ((), ("--raw",)):
            with self.subTest(options=options), tempfile.TemporaryDirectory() as folder:
                with PlainTalk(OWN_MODEL, "-n", "12", "--ctx", "96", *options, *(() if options else ("--system", "Mira is kind."))) as talk:
                    answers = [talk.answer(line) for line in lines]
                    said = self.saved(talk, folder)
                    talk.line("/bye")
                    self.assertEqual(talk.end(), 0)
                dropped = [n for n, answer in enumerate(answers) if "was full: the oldest" in answer]
                self.assertTrue(1 <= len(dropped) < len(lines) / 2, answers)  # room for several turns is made at once
                n_system = 0 if options else 1
                self.assertEqual([text for role, text in said if role == "user"], lines)  # all that was said is saved
                self.assertEqual(len(said), 2 * len(lines) + n_system)
                # What the last drop left is answered as a conversation that begins there.
                last = dropped[-1]
                n_dropped = sum(int(n or 1) for n in re.findall(r"the oldest (?:(\d+) )?turns?", "".join(answers)))
                kept = said[n_system:][2 * n_dropped:2 * last + 1]
                self.assertLess(len(kept), 2 * last + 1)
                if not options:
                    prompt = "Mira is kind."
                    for role, text in kept:
                        prompt += f"<|player|>{text}<|npc|>" if role == "user" else f"{text}<|end|>"
                    fresh = self.single(OWN_MODEL, prompt, "-n", "12", "--raw", "--special")
                    self.assertEqual(answers[last].partition("dropped\n")[2], fresh)
        with PlainTalk(OWN_MODEL, "-n", "12", "--system", "Mira is kind.") as talk:  # the control: there is room
            self.assertNotIn("was full", "".join(talk.answer(line) for line in lines))

    def test_a_line_that_is_too_long_is_refused(self):
        line = "Do you have a room?"
        for options in ((), ("--raw",)):
            with self.subTest(options=options), PlainTalk(OWN_MODEL, "-n", "8", "--ctx", "64", *options) as talk:
                first = talk.answer(line)
                refused = talk.answer(LONG_LINE)
                self.assertRegex(refused, r"too long and was not taken: the prompt would be \d+ tokens, the context of 64 tokens")
                second = talk.answer(line)
                self.assertNotIn("was full", second)
            with PlainTalk(OWN_MODEL, "-n", "8", "--ctx", "64", *options) as talk:
                self.assertEqual((talk.answer(line), talk.answer(line)), (first, second))

    def test_a_line_of_any_length_is_taken_whole(self):
        question = "Do you have a room?"
        for n in (4000, 4095, 9000):  # a terminal's own lines end at 4,095
            line = ("The man had a room. " * 500)[:n - len(question)] + question
            n_tokens = len(self.run_tool("tokenize", OWN_MODEL, "<|player|>" + line + "<|npc|>", "--special").stdout.splitlines())
            with PlainTalk(OWN_MODEL, "--ctx", "64") as talk:
                refused = talk.answer(line)
                self.assertIn(f"the prompt would be {n_tokens} tokens", refused, n)
                self.assertNotIn("too long", talk.answer(question))

    def test_a_long_path_stays_on_one_line_while_it_loads(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = pathlib.Path(folder).joinpath(*("a folder with a long name " * 4 for _ in range(3)))
            deep.mkdir(parents=True)
            (deep / "tales.gguf").symlink_to(OWN_MODEL)
            with Talk(deep / "tales.gguf", term="dumb") as talk:
                shown = talk.until("A line is a turn").replace("\033[K", "")
        states = [state for state in shown.split("\r") if "[" in state]
        self.assertTrue(states and all("..." in state for state in states), shown)
        self.assertLess(max(map(len, states)), 80)  # the terminal's columns, where it does not tell them
        self.assertNotIn("\n", shown)

    def test_the_keys_of_a_line(self):
        with PlainTalk(OWN_MODEL, "-n", "2") as talk, tempfile.TemporaryDirectory() as folder:
            for typed, taken in ((b"the cat\x7f\x7fow", "the cow"), ("the cä\x7f\x7fow".encode(), "the ow"), (b"the old fox\x17hen", "the old hen"),
                                 (b"one two \x17three", "one three"), (b"nothing\x15all", "all"), (b"\x7f\x17\x15a", "a"), (b"a\x04b", "ab")):
                talk.type(typed + b"\r")
                talk.until("\r\n> ")
                self.assertEqual(self.saved(talk, folder)[-2], ("user", taken))
                os.unlink(f"{folder}/saved.json")
            talk.type("dropped\x03")
            talk.until("^C\r\n> ")
            talk.type("kept\r")
            talk.until("\r\n> ")
            self.assertEqual(self.saved(talk, folder)[-2], ("user", "kept"))
            talk.line("/bye")
            self.assertEqual(talk.end(), 0)

    def test_the_terminal_is_as_it_was(self):
        for end in ("/bye\r", "\x04", "\x03\x03"):
            with PlainTalk(OWN_MODEL) as talk:
                during = talk.settings()
                talk.type(end)
                talk.end()
                after = talk.settings()
            self.assertFalse(during[3] & termios.ICANON)
            self.assertTrue(after[3] & termios.ICANON and after[3] & termios.ECHO and after[3] & termios.ISIG, end)

    def test_bytes_that_are_no_text_end_nothing(self):
        with PlainTalk(OWN_MODEL, "-n", "4") as talk, tempfile.TemporaryDirectory() as folder:
            talk.type(b"Caf\xe9\r")
            talk.until("\r\n> ")
            self.assertEqual(self.saved(talk, folder)[0], ("user", "Caf\ufffd"))

    def test_an_answer_that_fills_the_context_says_so(self):
        with PlainTalk(RANDOM_MODEL, "-n", "0", "--ctx", "32", "--raw") as talk:
            self.assertIn("the answer ends here: the context of 32 tokens is full", talk.answer("the fox"))
            self.assertIn("the oldest turn is dropped", talk.answer("the fox"))

    def test_ctrl_c_ends_the_answer_only(self):
        with PlainTalk(RANDOM_MODEL, "-n", "0", "--raw", "--device", "reference") as talk:
            for _ in range(2):
                talk.line("a")
                talk.until("a\r\n")
                talk.some()  # it writes
                talk.type("\x03\x03")
                talk.until("\r\n> ")
            talk.line("/bye")
            self.assertEqual(talk.end(), 0)
        self.assertNotIn(b"context is full", talk.said)

    def test_ctrl_c_twice_ends_the_conversation(self):
        with PlainTalk(OWN_MODEL, "-n", "2") as talk:
            for _ in range(2):  # a line between the two takes the first back
                talk.type("\x03")
                talk.until("Ctrl-C again, Ctrl-D or /bye ends the conversation\r\n> ")
                talk.answer("Hello")
            talk.type("\x03")
            talk.until("ends the conversation\r\n> ")
            talk.type("\x03")
            self.assertEqual(talk.end(), 130)

    def test_ctrl_d_ends_the_conversation(self):
        with PlainTalk(OWN_MODEL) as talk:
            talk.type("\x04")
            self.assertEqual(talk.end(), 0)


if __name__ == "__main__":
    tool_case.main()
