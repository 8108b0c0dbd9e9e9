#!/usr/bin/env python3
"""200 streams at a time, clients that leave and clients that are killed: then memory, threads and descriptors are as before, and every text was
what its seed gives alone.

Environment: INLAY_SOAK_SECONDS, 5 by default; 300 before a release.
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

import load
from server_case import Server, ServerCase, main, wait_for

SECONDS = float(os.environ.get("INLAY_SOAK_SECONDS", "5"))
LOAD = pathlib.Path(__file__).with_name("load.py")
MIB = 1 << 10  # of KiB
N_LEAVING = 200  # as many as take seconds one after the other, and fit the queue


class Soak(ServerCase):
    options = ("--parallel", 32, "--queue", 1000, "--connections", 600)

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.texts = json.dumps([cls.server.post("/v1/completions", load.body_of(seed))[1]["choices"][0]["text"] for seed in range(load.N_SEEDS)])
        cls.start(200, 1, 0.2).communicate(cls.texts)  # memory takes its size
        cls.server.wait_until_idle()

    @classmethod
    def start(cls, n_clients, seconds, leaving):
        command = [sys.executable, "-B", LOAD, str(cls.server.port), str(n_clients), str(seconds), str(leaving)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def check_as_before(self, before, n_mib):
        after = self.server.wait_until_settled_as(before)
        print(f"before and after: threads {before[0]} {after[0]}, descriptors {before[1]} {after[1]}, KiB {before[2]} {after[2]}")
        self.assertEqual(after[:2], before[:2])
        self.assertFalse(self.server.is_larger(before, n_mib * MIB))
        self.assertEqual(json.loads(self.texts)[3], self.server.post("/v1/completions", load.body_of(3))[1]["choices"][0]["text"])
        self.assertEqual(self.server.metrics()["inlay_requests_failed_total"], 0)

    def test_200_streams(self):
        before = self.server.settled()
        clients = self.start(200, SECONDS, 0.1)
        said, problem = clients.communicate(self.texts)
        self.assertEqual((clients.returncode, problem), (0, ""))
        n_whole, fewest = map(int, said.split())
        print(f"{n_whole} whole answers in {SECONDS} s")
        self.assertGreater(n_whole, 200)
        if SECONDS >= 60:
            self.assertGreater(fewest, 0, "a client never had an answer")
        self.check_as_before(before, 16)

    def test_clients_that_are_killed(self):
        before, counted = self.server.settled(), self.server.metrics()
        end = time.monotonic() + SECONDS
        n_killed = 0
        while time.monotonic() < end or n_killed < 8:
            n_begun = self.server.metrics()["inlay_requests_total"] + 200  # at most 100 of them are of the round before
            clients = [self.start(25, 60, 0.1) for _ in range(4)]
            for client in clients:
                client.stdin.write(self.texts)
                client.stdin.close()
            wait_for(lambda n=n_begun: self.server.metrics()["inlay_requests_total"] >= n, "the clients begin",
                     lambda them=clients: any(client.poll() is not None for client in them))
            time.sleep(0.2 + random.random())
            for client in clients:
                self.assertIsNone(client.poll(), "a client ended by itself")
                client.kill()
                client.wait()
                client.stdout.close()
                client.stderr.close()
                n_killed += 1
        self.server.wait_until_idle()
        self.assertGreater(self.server.metrics()["inlay_requests_left_total"] - counted["inlay_requests_left_total"], n_killed)
        self.check_as_before(before, 16)


class Leaving(unittest.TestCase):
    """A client that leaves ends its work, also while it waits for others and where it asked for no stream."""

    def served(self, *options):
        server = Server(*options)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def test_while_others_run(self):
        server = self.served("--parallel", 1)
        long = {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 480}
        n_tokens = server.post("/v1/completions", long)[1]["usage"]["completion_tokens"]
        for stream in (True, False):
            request = load.request("/v1/completions", long | {"stream": stream})
            before = server.metrics()
            clients = [server.connect() for _ in range(N_LEAVING)]
            for client in clients:
                client.sendall(request)
            wait_for(lambda: server.metrics()["inlay_requests_total"] >= before["inlay_requests_total"] + N_LEAVING, "all wait for one another")  # pylint: disable=cell-var-from-loop
            for client in clients:
                client.close()
            server.wait_until_idle()
            after = server.metrics()
            drawn = after["inlay_generated_tokens_total"] - before["inlay_generated_tokens_total"]
            self.assertLess(drawn, N_LEAVING / 2 * n_tokens, "half of them were written for nobody")
            self.assertGreaterEqual(after["inlay_requests_left_total"] - before["inlay_requests_left_total"], N_LEAVING / 2)

    def test_when_the_server_is_told_to_end(self):
        server = Server("--parallel", 1)
        clients = [server.connect() for _ in range(20)]
        for client in clients:
            client.sendall(load.request("/v1/completions", {"prompt": "Once upon a time", "max_tokens": 400, "stream": True}))
        clients[0].recv(1 << 12)
        self.assertEqual(server.stop(), 0)
        got = [b"".join(iter(lambda c=client: c.recv(1 << 16), b"")) for client in clients]
        self.assertTrue(all(text.endswith(b"\r\n0\r\n\r\n") or b"closing" in text for text in got[1:]), got)
        for client in clients:
            client.close()


if __name__ == "__main__":
    main()
