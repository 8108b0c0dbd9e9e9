"""The tool at a pseudo-terminal, which the test types at and reads from."""
import fcntl
import os
import pty
import select
import subprocess
import termios
import time
import unittest

import tool_case


def skip_without_terminals():
    try:
        for end in pty.openpty():
            os.close(end)
    except OSError as problem:
        raise unittest.SkipTest(f"needs a pseudo-terminal: {problem}; mount devpts on /dev/pts, with a /dev/ptmx") from problem


class Talk:
    """`inlay run` with its input, output and error at a terminal of its own, which Ctrl-C reaches as a signal."""

    def __init__(self, model, *options, term="xterm", seconds=1800):
        self.ours, theirs = pty.openpty()
        self.seconds, self.seen, self.said = seconds, b"", b""
        self.settings_before = self.settings()
        self.tool = subprocess.Popen(
            [tool_case.TOOL, "run", model, "--temp", "0", "-q", "--device", tool_case.DEVICE, *map(str, options)], stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True, env=dict(tool_case.ENVIRONMENT) | {"TERM": term},
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tool.kill()
        self.tool.wait()
        os.close(self.ours)

    def type(self, text):
        os.write(self.ours, text if isinstance(text, bytes) else text.encode())

    def line(self, text):
        self.type(text + "\r")

    def some(self):
        """Waits until anything is written."""
        if not self._read_some(time.monotonic() + self.seconds):
            raise AssertionError(f"it ended; seen: {self.seen!r}")

    def _read_some(self, until):
        ready, _, _ = select.select([self.ours], [], [], max(0.0, until - time.monotonic()))
        if not ready:
            raise AssertionError(f"nothing came within {self.seconds} s; seen: {self.seen!r}")
        try:
            some = os.read(self.ours, 65536)
        except OSError:  # the other end was closed
            some = b""
        self.seen += some
        self.said += some
        return bool(some)

    def until(self, *texts):
        """Reads until one of the texts comes; returns what came before its end. What follows stays for the next call."""
        until = time.monotonic() + self.seconds
        wanted = [text.encode() for text in texts]
        while True:
            found = [(self.seen.find(text), len(text)) for text in wanted if text in self.seen]
            if found:
                at, length = min(found)
                before, self.seen = self.seen[:at + length], self.seen[at + length:]
                return before.decode(errors="replace").replace("\r\n", "\n")
            if not self._read_some(until):
                raise AssertionError(f"it ended before {texts}; seen: {self.seen!r}")

    def end(self):
        """The exit code, once it has ended."""
        until = time.monotonic() + self.seconds
        while self._read_some(until):
            pass
        return self.tool.wait(timeout=self.seconds)

    def settings(self):
        return termios.tcgetattr(self.ours)[:4]
