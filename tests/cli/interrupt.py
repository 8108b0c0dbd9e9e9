"""Ctrl-C while run writes."""
import re
import signal
import subprocess
import unittest

import tool_case


class Interrupt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = tool_case.RANDOM_MODEL  # its greedy text never ends, so that there is something to interrupt

    def test_ctrl_c_ends_the_text_in_good_order(self):
        tool = subprocess.Popen([tool_case.TOOL, "run", self.model, "-n", "0", "--temp", "0", "--device", "reference", "--prompt", "a"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = tool.stdout.read(1)  # it writes
        tool.send_signal(signal.SIGINT)
        out, said = tool.communicate(timeout=300)
        self.assertEqual(tool.returncode, 130, said)
        self.assertRegex(said, rb"interrupted\n$")
        self.assertTrue(first and out.endswith(b"\n"))
        self.assertLess(int(re.search(rb"text: (\d+) tokens", said)[1]), 4000)


if __name__ == "__main__":
    tool_case.main()
