"""run as one uses it at a terminal: a conversation."""
import os
import pty
import re
import subprocess
import unittest

import tool_case
from tool_case import ModelCase


class Conversation(ModelCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        try:
            for end in pty.openpty():
                os.close(end)
        except OSError as problem:
            raise unittest.SkipTest(f"no pseudo-terminal ({problem}): mount devpts on /dev/pts, with a /dev/ptmx") from problem

    def converse(self, model, lines, *options):
        """Standard output and error of a conversation of these lines."""
        ours, theirs = pty.openpty()
        tool = subprocess.Popen([tool_case.TOOL, "run", model, "-n", "6", "--temp", "0", "--device", tool_case.DEVICE, *options],
                                stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(theirs)
        os.write(ours, lines + b"\x04")
        out, said = tool.communicate(timeout=300)
        os.close(ours)
        return tool.returncode, out, said

    def test_lines_are_turns_of_one_sequence(self):
        code, out, said = self.converse(self.model, b"the fox\n\nand then\n", "--no-template")
        self.assertEqual(code, 0, said)
        turns = out.decode(errors="replace").split("> ")
        self.assertEqual(len(turns), 5, out)  # nothing, a turn, the empty line, a turn, the end
        single = self.run_tool("run", self.model, "-n", "6", "--temp", "0", "--prompt", "the fox").stdout
        self.assertEqual(turns[1].encode(), single.decode(errors="replace").encode())
        counts = [int(n) for n in re.findall(rb"prompt: (\d+) tokens", said)]
        self.assertEqual(len(counts), 2)

    def test_the_template_writes_the_turns(self):
        code, out, said = self.converse(tool_case.OWN_MODEL, b"Do you have a room?\nThank you.\n", "--system", "Mira is kind.")
        self.assertEqual(code, 0, said)
        turns = out.decode().split("> ")
        self.assertEqual(len(turns), 4, out)
        prompt = "Mira is kind.<|player|>Do you have a room?<|npc|>"
        answers = []
        for said_before in ("", "{}<|end|><|player|>Thank you.<|npc|>"):
            prompt += said_before.format(*answers)
            single = self.run_tool("run", tool_case.OWN_MODEL, "-n", "6", "--temp", "0", "--special", "--prompt", prompt)
            answers = [single.stdout.decode().removesuffix("\n")]
            self.assertEqual(turns[1 if not said_before else 2], answers[0] + "\n")
        # The second turn runs what is new: the end of the answer and the line.
        counts = [int(n) for n in re.findall(rb"prompt: (\d+) tokens", said)]
        whole = self.run_tool("tokenize", tool_case.OWN_MODEL, prompt, "--special").stdout.split()
        self.assertEqual(len(counts), 2)
        self.assertLess(counts[1], len(whole) - counts[0])

    def test_what_a_template_cannot_do_is_said(self):
        code, _, said = self.converse(tool_case.OWN_MODEL, b"Hi\n", "--system", "x", "--no-template")
        self.assertEqual(code, 1)
        self.assertIn(b"--system needs the chat template", said)


if __name__ == "__main__":
    tool_case.main()
