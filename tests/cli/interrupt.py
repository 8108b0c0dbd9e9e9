"""Ctrl-C and other signals while run or convert writes."""
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import unittest

import tool_case


class Interrupt(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = tool_case.RANDOM_MODEL  # its greedy text never ends, so that there is something to interrupt

    def test_ctrl_c_ends_the_text_in_good_order(self):
        tool = subprocess.Popen([tool_case.TOOL, "run", self.model, "-n", "0", "--temp", "0", "--device", "reference", "--raw", "--prompt", "a"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        first = tool.stdout.read(1)  # it writes
        tool.send_signal(signal.SIGINT)
        out, said = tool.communicate(timeout=1800)
        self.assertEqual(tool.returncode, 130, said)
        self.assertRegex(said, rb"interrupted\n$")
        self.assertTrue(first and out.endswith(b"\n"))
        self.assertLess(int(re.search(rb"text: (\d+) tokens?", said)[1]), 4000)

    def test_ctrl_c_in_a_long_prompt_waits_for_nothing(self):
        prompt = "The man had a room. " * 60
        command = [tool_case.TOOL, "run", tool_case.OWN_MODEL, "--device", "reference", "--raw", "--echo", "-p", prompt, "-n", "1", "-t", "1"]
        tries = []
        for _ in range(10):  # on a busy machine the signal may come when the prompt has been run, or its sender may wait for a processor
            begun = time.monotonic()
            subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
            whole = time.monotonic() - begun
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as tool:
                tool.stdout.read(len(prompt))  # which is written before it runs
                time.sleep(whole / 20)
                sent = time.monotonic()
                tool.send_signal(signal.SIGINT)
                out, said = tool.communicate(timeout=1800)
                waited = time.monotonic() - sent
            tries.append((tool.returncode, waited, whole))
            self.assertIn(tool.returncode, (0, 130), said)
            if tool.returncode == 0 or out:  # too late: the text has begun
                continue
            self.assertEqual((tool.returncode, out, said), (130, b"", b"\n"))
            if waited < whole / 5:
                return
        self.fail(f"no try ended at once; codes, waits and whole times: {tries}")

    def convert(self, folder, *numbers, **how):
        """Sends signals, all at once, as soon as there is something to leave behind."""
        tool = subprocess.Popen([tool_case.TOOL, "convert", tool_case.OWN_MODEL, folder / "out.gguf", "--type", "q4_k_m", "--threads", "1"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, **how)
        while tool.poll() is None and not list(folder.iterdir()):
            pass
        for number in (signal.SIGSTOP, *numbers, signal.SIGCONT) if numbers else ():
            tool.send_signal(number)
        out, said = tool.communicate(timeout=1800)
        return tool.returncode, out, said, [file.name for file in folder.iterdir()]

    def test_a_conversion_that_is_stopped_leaves_nothing(self):
        # Signals of one number that wait are one; of several the lowest number comes first.
        for numbers, code in (((signal.SIGINT,), 130), ((signal.SIGTERM,), 143), ((signal.SIGHUP,), 129),
                              ((signal.SIGINT, signal.SIGTERM), 130), ((signal.SIGHUP, signal.SIGINT, signal.SIGTERM), 129)):
            for _ in range(5):  # the conversion may be done before the signal comes, or just then
                with tempfile.TemporaryDirectory() as folder:
                    ended, _, said, files = self.convert(pathlib.Path(folder), *numbers)
                if ended != 0 and not files:
                    break
            self.assertEqual((ended, files), (code, []), said)

    def test_a_conversion_says_what_it_wrote(self):
        with tempfile.TemporaryDirectory() as folder:
            ended, out, said, files = self.convert(pathlib.Path(folder))
        self.assertEqual((ended, files), (0, ["out.gguf"]), said)
        self.assertRegex(out, rb"out.gguf: [0-9.]+ MB; the tensors of .*tales.gguf: 5.5 MB\n$")

    def test_nohup_is_respected(self):
        with tempfile.TemporaryDirectory() as folder:
            ended, _, said, files = self.convert(pathlib.Path(folder), signal.SIGHUP,
                                                 preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual((ended, files), (0, ["out.gguf"]), said)

    def test_a_text_ends_at_once_by_other_signals(self):
        tool = subprocess.Popen([tool_case.TOOL, "run", self.model, "-n", "0", "--temp", "0", "--device", "reference", "--raw", "--prompt", "a"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        tool.stdout.read(1)
        tool.send_signal(signal.SIGTERM)
        tool.communicate(timeout=1800)
        self.assertEqual(tool.returncode, -signal.SIGTERM)


if __name__ == "__main__":
    tool_case.main()
