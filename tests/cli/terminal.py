"""run as one uses it at a terminal: a conversation."""
import os
import pty
import re
import subprocess

import tool_case
from tool_case import ModelCase


class Conversation(ModelCase):
    def test_lines_are_turns_of_one_sequence(self):
        ours, theirs = pty.openpty()
        tool = subprocess.Popen([tool_case.TOOL, "run", self.model, "-n", "6", "--temp", "0", "--device", tool_case.DEVICE],
                                stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        os.close(theirs)
        os.write(ours, b"the fox\n\nand then\n\x04")
        out, said = tool.communicate(timeout=300)
        os.close(ours)
        self.assertEqual(tool.returncode, 0, said)
        turns = out.decode(errors="replace").split("> ")
        self.assertEqual(len(turns), 5, out)  # nothing, a turn, the empty line, a turn, the end
        single = self.run_tool("run", self.model, "-n", "6", "--temp", "0", "--prompt", "the fox").stdout
        self.assertEqual(turns[1].encode(), single.decode(errors="replace").encode())
        counts = [int(n) for n in re.findall(rb"prompt: (\d+) tokens", said)]
        self.assertEqual(len(counts), 2)


if __name__ == "__main__":
    tool_case.main()
