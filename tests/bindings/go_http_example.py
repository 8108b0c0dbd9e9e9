"""Starts the Go example `http` on a free port and talks with it: many clients at once, a small KV pool, clients that leave, refusals.

Usage: go_http_example.py PROGRAM MODEL
"""
import concurrent.futures
import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from kv_pool import pool_bytes

TIMEOUT = 900
PLACES = 8
CLIENTS = 50
TOKENS_OF_A_CLIENT = 224  # 200 are drawn behind a short prompt
PROMPTS = ["Once upon a time", "The old fox said", "In a small house", "One cold winter day,", "The queen smiled", "A little <boat> & a \"river\"",
           "Deep in the forest", "The bear woke up"]


def check(what, holds, said=""):
    if not holds:
        raise AssertionError(f"{what}: does not hold\n{said}")


class Server:
    """The example, and what it writes."""

    def __init__(self, command):
        self.lines = []
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        first = self.process.stdout.readline()
        found = re.fullmatch(r"listening on http://127\.0\.0\.1:(\d+)\n", first)
        if not found:
            self.process.kill()
        check("the server says where it listens", found, first)
        self.port = int(found[1])
        self.reader = threading.Thread(target=lambda: self.lines.extend(self.process.stdout))
        self.reader.start()

    def open(self, path):
        return urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=TIMEOUT)

    def stats(self):
        with self.open("/stats") as response:
            return json.load(response)

    def wait_until_free(self):
        """Until no request has a part of the KV pool."""
        end = time.monotonic() + TIMEOUT
        while self.stats()["n_kv_blocks_used"] > 0:
            check("all requests end", time.monotonic() < end, self.stats())
            time.sleep(0.02)


@contextlib.contextmanager
def served(program, model, *pool, stop=signal.SIGTERM):
    server = Server([program, model, "127.0.0.1:0", *map(str, pool)])
    try:
        yield server
        server.process.send_signal(stop)
        check("the server ends well", server.process.wait(TIMEOUT) == 0, server.lines)
    finally:
        server.process.kill()
        server.process.wait()
        server.reader.join()
    check("the server had nothing to say", server.lines == [], server.lines)


def path_of(prompt):
    return "/?" + urllib.parse.urlencode({"prompt": prompt})


def events(response):
    """Each event of a stream as (type, data)."""
    kind, data = "message", None
    for line in response:
        text = line.decode().rstrip("\n")
        if text.startswith("event: "):
            kind = text[7:]
        elif text.startswith("data: "):
            data = json.loads(text[6:])
        else:
            check("an empty line ends an event", text == "" and data is not None, text)
            yield kind, data
            kind, data = "message", None
    check("the last event is whole", data is None, data)


def ask(server, prompt):
    with server.open(path_of(prompt)) as response:
        check("status and type", (response.status, response.headers["Content-Type"]) == (200, "text/event-stream"), response.headers)
        got = list(events(response))
    check("texts, and one end", [kind for kind, _ in got] == ["message"] * (len(got) - 1) + ["end"] and len(got) > 1, got)
    check("it ended well", got[-1][1]["finish"] in ("END_OF_GENERATION", "MAX_TOKENS") and got[-1][1]["status"] == "OK", got[-1])
    return "".join(data["text"] for _, data in got[:-1])


def ask_all(server, prompts):
    with concurrent.futures.ThreadPoolExecutor(len(prompts)) as clients:
        return list(clients.map(lambda prompt: ask(server, prompt), prompts))


def check_alone(server):
    texts, n_drawn, before = [], {}, 0
    for prompt in PROMPTS:
        texts.append(ask(server, prompt))
        after = server.stats()["n_decode_tokens"]
        n_drawn[prompt], before = after - before, after
    check("each prompt has its own text", len(set(texts)) == len(PROMPTS) and all(len(text) > 20 for text in texts), texts)
    n_reads = [count_reads(server, prompt) for prompt in PROMPTS]  # all of a short answer may be drawn before the first piece is written
    check("pieces come one by one", max(n_reads) > 10, n_reads)
    return texts, n_drawn


def count_reads(server, prompt):
    with connected(server, prompt) as client:
        return sum(1 for _ in iter(lambda: client.recv(1 << 16), b""))


def connected(server, prompt):
    client = socket.create_connection(("127.0.0.1", server.port), TIMEOUT)
    client.sendall(f"GET {path_of(prompt)} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    return client


def check_together(server, alone):
    """Twice as many as there are places: the others wait. Each text is that of its prompt alone, and steps were shared."""
    before = server.stats()
    texts = ask_all(server, 2 * PROMPTS)
    after = server.stats()
    check("each text is that of its prompt alone", texts == 2 * alone, (texts, alone))
    drawn, steps = (after[name] - before[name] for name in ("n_decode_tokens", "n_decode_steps"))
    check("steps were shared", steps < drawn / 1.5, (steps, drawn))
    server.wait_until_free()


def check_small_pool(program, model, alone):
    """Many clients, and a quarter of the KV pool that those need which have a place: all get their whole texts."""
    with served(program, model, pool_bytes(model, PLACES, TOKENS_OF_A_CLIENT) // 4) as server:
        stats = server.stats()
        check("the pool is a quarter", stats["n_kv_blocks"] * stats["n_block_tokens"] == PLACES * TOKENS_OF_A_CLIENT // 4, stats)
        which = [i % len(PROMPTS) for i in range(CLIENTS)]
        texts = ask_all(server, [PROMPTS[i] for i in which])
        check("each text is that of its prompt alone", texts == [alone[i] for i in which], (texts, alone))
        check("all blocks were in use", server.stats()["n_kv_blocks_peak"] == stats["n_kv_blocks"], server.stats())
        server.wait_until_free()


def leave(server, prompt, n_bytes):
    """A client that leaves when it has so many bytes; with none it may be one that waits for a place."""
    with connected(server, prompt) as client:
        got = b""
        while len(got) < n_bytes:
            piece = client.recv(n_bytes - len(got))
            check("the answer goes on", piece, got)
            got += piece


def check_disconnects(server, alone, n_drawn):
    """Clients leave in the middle, or before they begin, beside others that stay."""
    n_staying, n_leaving, most = PLACES, 3 * PLACES, 0
    prompts = [PROMPTS[i % len(PROMPTS)] for i in range(n_staying + n_leaving)]
    before = server.stats()["n_decode_tokens"]
    for _ in range(3):
        with concurrent.futures.ThreadPoolExecutor(len(prompts)) as clients:
            leaving = [clients.submit(leave, server, prompt, 250 * (i % 2)) for i, prompt in enumerate(prompts[n_staying:])]
            staying = [clients.submit(ask, server, prompt) for prompt in prompts[:n_staying]]
            for future in leaving:
                future.result()
            check("who stays gets its text", [future.result() for future in staying] == alone[:n_staying])
        server.wait_until_free()
        most += sum(n_drawn[prompt] for prompt in prompts[:n_staying] + prompts[n_staying + 1::2])  # without those who did not begin
    drawn = server.stats()["n_decode_tokens"] - before
    print(f"{drawn} tokens drawn beside clients that leave, {most} if they had stayed")
    check("the answers of those who left were ended", drawn < most * 0.9, (drawn, most))
    check("the server goes on", ask_all(server, PROMPTS) == alone)


def check_refusals(server):
    try:
        with server.open(path_of("Hello. " * 1000)) as response:
            raise AssertionError(f"a prompt that is too long was not refused: {response.read()}")
    except urllib.error.HTTPError as refused:
        with refused:
            said = refused.read().decode()
        check("a reason is given", refused.code == 400 and "context" in said, (refused.code, said))
    server.wait_until_free()


def check_end_under_load(program, model):
    """The server ends although answers are under way and clients wait; Ctrl-C is as good as SIGTERM."""
    with served(program, model, stop=signal.SIGINT) as server, contextlib.ExitStack() as clients:
        for prompt in 2 * PROMPTS:
            client = clients.enter_context(connected(server, prompt))
        check("an answer begins", client.recv(1) == b"H")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, model = sys.argv[1:]
    with served(program, model) as server:
        alone, n_drawn = check_alone(server)
        check_together(server, alone)
        check_disconnects(server, alone, n_drawn)
        check_refusals(server)
    check_small_pool(program, model, alone)
    check_end_under_load(program, model)
    print("http: texts alone and together, clients that wait, a small pool, clients that leave, refusals, the end")


if __name__ == "__main__":
    main()
