"""What the tests of bin/inlay-server share: a server on a free port, HTTP by hand, and what the process holds.

Environment: INLAY_BUILD, the build folder; INLAY_SANITIZE, the sanitizer that it is built with. The processor computes.
"""
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

BUILD = pathlib.Path(os.environ["INLAY_BUILD"])
SERVER = BUILD / "bin" / "inlay-server"
ROOT = pathlib.Path(__file__).parents[2]
TALES = ROOT / "examples" / "model" / "tales.gguf"
MEMORY_IS_KEPT = bool(os.environ.get("INLAY_SANITIZE"))  # by the sanitizer: what the process holds says nothing
SKIPPED = 77  # exit code that ctest shows as a skip
PATIENCE = 600  # seconds after which a test counts as hung
LEAK_PATIENCE = 30  # seconds after which what is held still counts as leaked
SETTLED_S = 1  # a thread may stand still for half of it
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "INLAY_API_KEY"} | {"CUDA_VISIBLE_DEVICES": "-1"}
ROOM = [{"role": "system", "content": "Mira is a kind innkeeper at an inn in Oakvale."}, {"role": "user", "content": "Do you have a room?"}]
# As long as the context allows, unless the model ends its tale before.
LONG = {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 480}


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


class Server:
    """The program on a free port, its output, and requests to it."""

    def __init__(self, *options, model=TALES, environment=None):
        command = [str(SERVER), str(model), "--port", "0", "--device", "cpu", "--pooling", "mean", *map(str, options)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=ENVIRONMENT | (environment or {}))
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")))
        self.reader.start()
        self.port = int(wait_for(lambda: re.search(r" on http://\S+:(\d+)\n", self.said()), "the server begins", self.is_over).group(1))

    def said(self):
        return "".join(self.lines)

    def is_over(self):
        return self.process.poll() is not None

    def address(self, path=""):
        return f"http://127.0.0.1:{self.port}{path}"

    def stop(self):
        """Ends the server by a signal; its exit code."""
        if not self.is_over():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        finally:
            self.process.kill()
            self.reader.join()
            self.process.stdout.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), PATIENCE)

    def ask(self, method, path, body=None, headers=None):
        """Status, headers and body of a request of its own connection."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with contextlib.closing(connection):
            data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
            connection.request(method, path, data, {"Content-Type": "application/json"} | (headers or {}) if data is not None else headers or {})
            response = connection.getresponse()
            return response.status, response.headers, response.read()

    def post(self, path, body, headers=None):
        status, _, text = self.ask("POST", path, body, headers)
        return status, json.loads(text)

    def stream(self, path, body):
        """The JSON of each event of a stream, with [DONE] looked for."""
        status, headers, text = self.ask("POST", path, body | {"stream": True})
        assert (status, headers["Content-Type"]) == (200, "text/event-stream"), (status, text)
        return events_of(text)

    def metrics(self):
        status, _, text = self.ask("GET", "/metrics")
        assert status == 200, text
        return {name: float(value) for name, value in re.findall(r"^(\w+(?:\{[^}]*\})?) (\S+)$", text.decode(), re.MULTILINE)}

    def is_idle(self):
        found = self.metrics()
        return found["inlay_requests_working"] == 0 and found["inlay_kv_blocks_used"] == 0 and found["inlay_http_connections"] == 1

    def wait_until_idle(self):
        wait_for(self.is_idle, "no request is left", self.is_over)

    def settled(self):
        """What the process holds when no request is left and it has seen that the clients are gone."""
        self.wait_until_idle()
        found, since = self.holds(), time.monotonic()
        while time.monotonic() - since < SETTLED_S:
            time.sleep(0.05)
            last, found = found, self.holds()
            if found[:2] != last[:2]:
                since = time.monotonic()
        return found

    def wait_until_settled_as(self, before, patience=LEAK_PATIENCE):
        """What the process holds once threads and descriptors are as before. The connection that was asked last may be closed late."""
        self.wait_until_idle()
        found = []  # pairs of threads and descriptors
        wait_for(lambda: found.append(self.holds()[:2]) or found[-1] == before[:2],
                 lambda: f"threads and descriptors are {before[:2]} again: {found[-1]}", self.is_over, patience)
        return self.settled()

    def is_larger(self, before, n_kib):
        """Whether the process holds so much more than before."""
        return not MEMORY_IS_KEPT and self.holds()[2] - before[2] > n_kib

    def holds(self):
        """(threads, descriptors, resident KiB) of the process."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        numbers = [int(re.search(rf"^{name}:\s+(\d+)", status, re.MULTILINE).group(1)) for name in ("Threads", "VmRSS")]
        return numbers[0], len(os.listdir(f"/proc/{self.process.pid}/fd")), numbers[1]


def events_of(text):
    parts = text.decode().split("\n\n")
    assert parts[-2:] == ["data: [DONE]", ""], parts[-2:]
    assert all(part.startswith("data: ") for part in parts[:-1]), parts
    return [json.loads(part[6:]) for part in parts[:-2]]


def wait_for(condition, what, is_over=lambda: False, patience=PATIENCE):
    end = time.monotonic() + patience
    while not (found := condition()):
        assert time.monotonic() < end and not is_over(), f"did not happen: {what() if callable(what) else what}"
        time.sleep(0.02)
    return found


class ServerCase(unittest.TestCase):
    options = ()
    server = None

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*cls.options)

    @classmethod
    def tearDownClass(cls):
        code = cls.server.stop()
        assert code == 0, (code, cls.server.said())

    def refused(self, path, body, status, param=None, word="", headers=None):
        got, answer = self.server.post(path, body, headers)
        self.assertEqual(got, status, answer)
        self.assertEqual(sorted(answer), ["error"], answer)
        self.assertEqual(sorted(answer["error"]), ["code", "message", "param", "type"], answer)
        self.assertEqual(answer["error"]["param"], param, answer)
        self.assertIn(word, answer["error"]["message"])


def main():
    unittest.main(module="__main__", verbosity=2)
