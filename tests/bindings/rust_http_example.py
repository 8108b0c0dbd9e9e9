"""Starts an example that streams answers by server-sent events, and is its clients: many at once, some of which leave.

Usage: rust_http_example.py MODEL COMMAND...   COMMAND runs the example without its arguments: MODEL ADDRESS
"""
import concurrent.futures
import contextlib
import http.client
import json
import re
import socket
import subprocess
import sys
import threading
import time

from kv_pool import pool_bytes

TIMEOUT = 900
PLACES = 8
CLIENTS = 200  # with a small pool
MOST_CLIENTS = 1024
TOKENS_OF_A_CLIENT = 224  # 200 are drawn behind a short prompt
LEFT = "a client left before the end"
# Their answers are as long as the example lets them be.
PROMPTS = ["Once upon a time", "One cold winter day,", "A little boat", "Deep in the forest", "Long ago, there was a king", "There was a bear",
           "In the old harbour", "Once, a fox"]


def check(what, holds, said=""):
    if not holds:
        raise AssertionError(f"{what}: does not hold\n{said}")


class Server:
    """The example, and what it writes."""

    def __init__(self, command):
        self.said = ""
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.said += line

    def wait_for(self, pattern, seconds=TIMEOUT):
        end = time.monotonic() + seconds
        while not (found := re.search(pattern, self.said)) and time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.02)
        return found


@contextlib.contextmanager
def served(command):
    server = Server(command)
    try:
        listening = server.wait_for(r"listening on http://127\.0\.0\.1:(\d+)")
        check("the server listens", listening, server.said)
        server.port = int(listening.group(1))
        yield server
        check("the server goes on", server.process.poll() is None, server.said)
    finally:
        server.process.kill()
        server.process.wait()
        server.reader.join()


def events(response):
    """Each event of a stream as (name, data)."""
    for event in response.split("\n\n"):
        if event:
            found = re.fullmatch(r"(?:event: (\w+)\n)?data: (.*)", event)
            check("a whole event", found, event)
            yield found.group(1) or "message", json.loads(found.group(2))


def ask(server, prompt):
    """The status, the answer's text, its number of pieces, and when it began and ended. `prompt` may be bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT)
    with contextlib.closing(connection):
        connection.request("POST", "/", prompt if isinstance(prompt, bytes) else prompt.encode())
        response = connection.getresponse()
        begin = time.monotonic()
        said = response.read().decode()
        end = time.monotonic()
    if response.status != 200:
        check("a refusal is no stream", response.headers["Content-Type"] == "text/plain" and "event" not in said, (response.headers, said))
        return response.status, said, 0, begin, end
    check("type", response.headers["Content-Type"] == "text/event-stream", response.headers)
    got = list(events(said))
    check("one end, the last", [name for name, _ in got] == ["message"] * (len(got) - 1) + ["end"], got)
    check("it ended well", got[-1][1]["finish"] in ("end of generation", "max tokens") and got[-1][1]["status"] == "ok", got[-1])
    return 200, "".join(data["text"] for _, data in got[:-1]), len(got) - 1, begin, end


def ask_all(server, prompts):
    with concurrent.futures.ThreadPoolExecutor(len(prompts)) as clients:
        return list(clients.map(lambda prompt: ask(server, prompt), prompts))


def check_together(server, alone):
    for _ in range(5):  # on a busy machine a client may come when another one's answer is over
        answers = ask_all(server, PROMPTS)
        check("each answer is that of its prompt alone", [answer[1] for answer in answers] == alone, answers)
        together = max(answer[3] for answer in answers) < min(answer[4] for answer in answers)
        if together:
            break
    check("they came together", together, answers)


def check_pieces(server):
    """An answer comes while it is decoded."""
    for _ in range(5):  # on a busy machine this client may come to read when all of an answer is there
        n_reads = [count_reads(server, prompt) for prompt in PROMPTS]
        if max(n_reads) > 3:
            break
    check("pieces come one by one", max(n_reads) > 3, n_reads)


def count_reads(server, prompt):
    with socket.create_connection(("127.0.0.1", server.port), TIMEOUT) as client:
        client.sendall(request(prompt))
        return sum(1 for _ in iter(lambda: client.recv(1 << 16), b""))


def request(prompt):
    return f"POST / HTTP/1.1\r\nHost: localhost\r\ncontent-length: {len(prompt.encode())}\r\n\r\n{prompt}".encode()


def leave(server, n_clients):
    """Clients that leave when the first of them has a piece of its answer."""
    with contextlib.ExitStack() as stack:
        clients = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), TIMEOUT)) for _ in range(n_clients)]
        for client in clients:
            client.sendall(request(PROMPTS[0]))
        check("an answer begins", clients[0].recv(1) == b"H")


def check_disconnect(server, alone):
    """An answer may be over before the server sees that its client has left, so several are tried."""
    for _ in range(20):
        leave(server, len(PROMPTS))
        if server.wait_for(LEFT, 1):
            break
    check("an answer ended with its client", LEFT in server.said, server.said)
    for _ in range(3):  # more than there are sessions, all of which are lost if leaving loses them
        leave(server, len(PROMPTS))
    socket.create_connection(("127.0.0.1", server.port), TIMEOUT).close()  # says nothing at all
    answers = ask_all(server, PROMPTS)
    check("no session was lost", [answer[1] for answer in answers] == alone, answers)


def check_small_pool(command, model, alone):
    """Many clients, and a quarter of the KV pool that those need which have a place: all get their whole texts."""
    with served([*command, model, "127.0.0.1:0", str(pool_bytes(model, PLACES, TOKENS_OF_A_CLIENT) // 4)]) as server:
        which = [i % len(PROMPTS) for i in range(CLIENTS)]
        answers = ask_all(server, [PROMPTS[i] for i in which])
        check("each answer is that of its prompt alone", [answer[:2] for answer in answers] == [(200, alone[i]) for i in which], answers)


def check_too_many(server, alone):
    """More than may wait are refused, until some of these have left. Those that are silent are let go after a while: they have to come within it."""
    for _ in range(5):
        with contextlib.ExitStack() as stack:
            for _ in range(MOST_CLIENTS):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), TIMEOUT))
            answer = ask(server, PROMPTS[0])
        if answer[0] == 503:
            break
    check("one more is refused", answer[:2] == (503, "too many clients\n"), answer)
    end = time.monotonic() + TIMEOUT
    while (answer := ask(server, PROMPTS[0]))[0] == 503 and time.monotonic() < end:
        time.sleep(0.02)
    check("who comes later is not", answer[:2] == (200, alone[0]), answer)


def check_prompts(server):
    for what, prompt, status, reason in (("too long for the model", "Once upon a time. " * 1000, 400, "context"),
                                         ("no UTF-8", b"Once \xff upon", 400, "utf-8"),
                                         ("too large", "x" * (1 << 20), 413, "65536 bytes")):
        answer = ask(server, prompt)
        check(f"a prompt that is {what} is refused before anything is streamed", answer[0] == status and reason in answer[1], answer)
    answer = ask(server, 'The "old" fox\n\tsaid \\ é 😀')
    check("any character may stand in a prompt", answer[0] == 200 and answer[1], answer)


def main():
    model, command = sys.argv[1], sys.argv[2:]
    with served([*command, model, "127.0.0.1:0"]) as server:
        alone = [ask(server, prompt)[1] for prompt in PROMPTS]
        check("answers", all(len(text) > 500 for text in alone) and len(set(alone)) == len(alone), alone)
        check_together(server, alone)
        check_pieces(server)
        check_prompts(server)
        check_disconnect(server, alone)
        check_too_many(server, alone)
        check("nothing panicked", "panicked" not in server.said, server.said)
    check_small_pool(command, model, alone)
    print("http: many clients that share steps, pieces, refusals, one end, clients that leave, more than may wait, a small pool")


if __name__ == "__main__":
    main()
