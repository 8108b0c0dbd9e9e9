#!/usr/bin/env python3
"""The server's command line: mistakes end it with 2 and a line that says what, failures with 1."""
import contextlib
import pathlib
import socket
import subprocess
import tempfile
import unittest

from server_case import ENVIRONMENT, PATIENCE, SERVER, TALES, Server, main


def run(*arguments):
    done = subprocess.run([SERVER, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False, env=ENVIRONMENT)
    return done.returncode, done.stdout, done.stderr


class CommandLine(unittest.TestCase):
    def refused(self, code, word, *arguments):
        got, said, problem = run(*arguments)
        self.assertEqual((got, said), (code, ""), problem)
        self.assertTrue(problem.startswith("inlay-server: ") and problem.count("\n") == 1, problem)
        self.assertIn(word, problem)

    def test_help(self):
        for name in ("--help", "-h"):
            code, said, problem = run(name)
            self.assertEqual((code, problem), (0, ""))
            self.assertTrue(said.startswith("usage: inlay-server MODEL"), said)

    def test_each_option_is_in_the_docs(self):
        said = run("--help")[1]
        page = (pathlib.Path(__file__).parents[2] / "docs/server.md").read_text()
        names = [line.split()[0] for line in said.splitlines() if line.startswith("  --")]
        self.assertGreater(len(names), 15)
        for name in names:
            self.assertIn(f"`{name}", page)

    def test_mistakes(self):
        for word, arguments in (("no model", ()), ("more than one", ("a", "b")), ("--no-such", ("a", "--no-such")), ("--port", ("a", "--port", 65536)), ("--port", ("a", "--port", "x")),
                                ("--port", ("a", "--port")), ("--device", ("a", "--device", "gpu")), ("--parallel", ("a", "--parallel", 0)), ("--listen", ("a", "--listen", "localhost")),
                                ("needs a key", ("a", "--listen", "0.0.0.0")), ("needs a key", ("a", "--listen", "::")), ("--origin", ("a", "--origin", "*")),
                                ("--origin", ("a", "--origin", "https://a.example/")), ("--key-file", ("a", "--key-file", ""))):
            with self.subTest(arguments=arguments):
                self.refused(2, word, *arguments)

    def test_keys(self):
        with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
            self.refused(2, "cannot read a key", TALES, "--key-file", file.name + ".absent")
            for text, word in (("", "key"), ("\n", "is empty"), ("a b\n", "blank"), ("schl\u00fcssel\n", "ASCII")):
                file.seek(0)
                file.truncate()
                file.write(text)
                file.flush()
                self.refused(2, word, TALES, "--key-file", file.name)

    def test_formats(self):
        with tempfile.NamedTemporaryFile("w") as file:
            for option in ("--chat-template-file", "--chat-format-file"):
                self.refused(1, "cannot be read", TALES, option, file.name)
                self.refused(1, "cannot be read", TALES, option, file.name + ".absent")
            file.write("{}")
            file.flush()
            self.refused(1, "name", TALES, "--chat-format-file", file.name)

    def test_failures(self):
        self.refused(1, "NOT_FOUND", "no-such-model.gguf", "--port", 0)
        if self.has_few_descriptors():
            self.refused(1, "descriptors", TALES, "--port", 0, "--connections", 100_000)
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.refused(1, "cannot listen", TALES, "--device", "cpu", "--port", taken.getsockname()[1])

    def has_few_descriptors(self):
        text = pathlib.Path("/proc/self/limits").read_text()
        hard = next(line.split()[4] for line in text.splitlines() if line.startswith("Max open files"))
        return hard != "unlimited" and int(hard) < 100_000

    def test_other_addresses(self):
        with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
            server = Server("--listen", "::1")
            self.assertIn("on http://[::1]:", server.said())
            with socket.create_connection(("::1", server.port), PATIENCE) as client:
                client.sendall(f"GET /health HTTP/1.1\r\nHost: [::1]:{server.port}\r\n\r\n".encode())
                self.assertTrue(client.recv(1 << 12).startswith(b"HTTP/1.1 200 OK"))
            self.assertEqual(server.stop(), 0)


if __name__ == "__main__":
    main()
