#!/usr/bin/env python3
"""Requests that are malformed, oversized, slow or meant to harm: each gets its status and the error object, and changes nothing else. Beside them
a client reads streams, whose texts stay what they are alone."""
import contextlib
import json
import random
import socket
import threading
import unittest

from server_case import Server, ServerCase, main, wait_for

PATH = "/v1/completions"
BODY = b'{"prompt": "Once upon a time", "temperature": 0, "max_tokens": 8}'
TALE = {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 100}
KIB = 1 << 10
PLACES = 40  # for embeddings that are made or unread


def request(*headers, method="POST", path=PATH, version="HTTP/1.1", host="localhost", kind="application/json", body=BODY, length=None):
    """A request that is right but for what is given. `host`, `kind`, `length`: None leaves the header out."""
    lines = [f"{method} {path} {version}"]
    lines += [f"Host: {host}"] if host is not None else []
    lines += [f"Content-Type: {kind}"] if kind is not None else []
    lines += [f"Content-Length: {len(body) if length is None else length}"] if length != "" else []
    return "\r\n".join([*lines, *headers, "", ""]).encode("latin-1") + body


def chunked(body, *headers):
    return request("Transfer-Encoding: chunked", *headers, body=body, length="")


def chunks(data, size):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[i:i + size] for i in range(0, len(data), size)))


def deep(n, kind="["):
    return (b'{"prompt": ' + kind.encode() * n + b"}") if kind == "[" else kind.encode() * n


LARGE = b" " * (1 << 20)  # as much as a body may have

# What is sent, and the status. Not all of it is sent where the answer comes before.
CASES = {
    # the request line
    "no request": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", 400),
    "one word": (b"GET\r\n\r\n", 400),
    "no version": (b"GET /health\r\n\r\n", 400),
    "another version": (request(version="HTTP/2.0"), 400),
    "a version that is none": (request(version="HTTP/1.1 x"), 400),
    "a method that is no token": (request(method="PO(ST"), 400),
    "a method that is long": (request(method="A" * 500), 400),
    "a target that is an address": (request(path="http://localhost/v1/completions"), 400),
    "a target with a control character": (request(path="/health\x01"), 400),
    "a target with bytes of no ASCII": (request(path="/h\xe9alth"), 400),
    "a target that is long": (request(path="/" + "a" * 2000), 414),
    "a request line without an end": (b"GET /" + b"a" * (1 << 20), 414),
    "a path out of its folder": (request(path="/../../etc/passwd", method="GET", body=b""), 404),
    "a path that is unknown": (request(path="/v1/files"), 404),
    "a method that is not for the path": (request(method="DELETE"), 405),
    "a method of debuggers": (request(method="TRACE"), 405),
    "a method in small letters": (request(method="post"), 405),
    # headers
    "lines that end with a line feed": (request().replace(b"\r\n", b"\n"), 400),
    "a header of two lines": (request("X: a\r\n b"), 400),
    "a blank before a colon": (request("X : a"), 400),
    "a header without a name": (request(": a"), 400),
    "a header without a colon": (request("X"), 400),
    "a zero in a header": (request("X: a\0b"), 400),
    "a carriage return in a header": (request("X: a\rY: b"), 400),
    "a header that is long": (request("X: " + "a" * 20 * KIB), 431),
    "a header without an end": (request().split(b"\r\n")[0] + b"\r\nX: " + b"a" * (4 << 20), 431),
    "many headers": (request(*(f"X{i}: a" for i in range(100))), 431),
    "headers without an end": (request().split(b"\r\n")[0] + b"\r\n" + b"X: a\r\n" * 200_000, 431),
    # who asks
    "no Host": (request(host=None), 400),
    "an empty Host": (request(host=""), 400),
    "two Hosts": (request("Host: localhost"), 400),
    "a name that was led here (rebinding)": (request(host="evil.example"), 403),
    "such a name with this port": (request(host="evil.example:8080"), 403),
    "a name that begins as one of ours": (request(host="localhost.evil.example"), 403),
    "a name that begins as an address": (request(host="127.0.0.1.evil.example"), 403),
    "a user before the Host": (request(host="evil.example@localhost"), 403),
    "an Origin elsewhere": (request("Origin: https://evil.example"), 403),
    "an Origin without a name": (request("Origin: null"), 403),
    "an Origin on another port": (request("Origin: http://localhost:1"), 403),
    "a preflight from elsewhere": (request("Origin: https://evil.example", "Access-Control-Request-Method: POST", method="OPTIONS", body=b"", length=""), 403),
    # what a form of another page can send
    "a form": (request(kind="text/plain"), 415),
    "a form with fields": (request(kind="application/x-www-form-urlencoded"), 415),
    "no type": (request(kind=None), 415),
    "two types": (request("Content-Type: text/plain"), 400),
    "a compressed body": (request("Content-Encoding: gzip"), 415),
    # lengths, and requests hidden in bodies
    "no body": (request(body=b"", length=""), 400),
    "an empty body": (request(body=b""), 400),
    "a length that is no number": (request(length="abc"), 400),
    "a negative length": (request(length="-1"), 400),
    "a length with a sign": (request(length="+5"), 400),
    "a length of many digits": (request(length="9" * 40), 400),
    "a length in hexadecimal": (request(length="0x10"), 400),
    "two lengths": (request("Content-Length: 0"), 400),
    "two equal lengths": (request(f"Content-Length: {len(BODY)}"), 400),
    "a length and chunks": (request("Transfer-Encoding: chunked"), 400),
    "an unknown coding": (request("Transfer-Encoding: gzip, chunked", length=""), 400),
    "a coding that looks like chunked": (request("Transfer-Encoding: xchunked", length=""), 400),
    "two codings": (request("Transfer-Encoding: chunked", "Transfer-Encoding: chunked", length=""), 400),
    "chunks of an old client": (request("Transfer-Encoding: chunked", length="", version="HTTP/1.0"), 400),
    "a large length": (request(length=str((1 << 20) + 1)), 413),
    "a very large length": (request(length=str(1 << 62)), 413),
    "an expectation": (request("Expect: 200-ok"), 417),
    # chunks
    "a chunk without a size": (chunked(b"\r\nabc"), 400),
    "a size that is no number": (chunked(b"xyz\r\nabc"), 400),
    "a negative size (CVE-2026-45352)": (chunked(b"-2\r\n" + b"a" * 1000), 400),
    "a size of many digits": (chunked(b"fffffffffffffffff\r\nabc"), 400),
    "a size that goes round": (chunked(b"ffffffff\r\n" + b"a" * 1000), 413),
    "a chunk without its end": (chunked(b"3\r\nabcdef\r\n0\r\n\r\n"), 400),
    "chunks without an end (CVE-2025-46728)": (chunked(chunks(LARGE * 8, 64 * KIB)), 413),
    "one large chunk (CVE-2025-53629)": (chunked(b"%x\r\n" % (len(LARGE) * 8) + LARGE * 8), 413),
    "chunks of a byte": (chunked(chunks(LARGE + b"a", 1)), 413),
    "an extension without an end (CVE-2025-53628)": (chunked(b"3;" + b"a" * (1 << 20)), 400),
    "trailers without an end": (chunked(b"0\r\n" + b"X: a\r\n" * 200_000), 431),
    "a trailer without an end": (chunked(b"0\r\nX: " + b"a" * (1 << 20)), 431),
    # bodies
    "no JSON": (request(body=b"{"), 400),
    "two values": (request(body=BODY + BODY), 400),
    "JSON with a comment": (request(body=b"/**/" + BODY), 400),
    "no UTF-8": (request(body=b'{"prompt": "\xff"}'), 400),
    "half a character of UTF-16": (request(body=b'{"prompt": "\\ud800"}'), 400),
    "a number that is too large": (request(body=b'{"prompt": "a", "temperature": 1e999}'), 400),
    "no number": (request(body=b'{"prompt": "a", "temperature": NaN}'), 400),
    "an integer that is too large": (request(body=b'{"prompt": "a", "seed": 99999999999999999999}'), 400),
    "arrays in arrays": (request(body=deep(100_000)), 400),
    "objects in objects": (request(body=b'{"a":' * 100_000), 400),
    "arrays as deep as may be, in a prompt": (request(body=b'{"prompt": ' + b"[" * 60 + b"]" * 60 + b"}"), 400),
    "many values": (request(body=b'{"prompt": [' + b"[]," * 300_000 + b"[]]}"), 400),
    "many fields": (request(body=b"{" + b",".join(b'"f%d":0' % i for i in range(50_000)) + b"}"), 400),
    "a name that is long": (request(body=b'{"' + b"a" * 500_000 + b'": 1}'), 400),
    "a prompt that is long": (request(body=b'{"prompt": "' + b"a b " * 250_000 + b'"}'), 400),
    "stops that are long": (request(body=b'{"prompt": "a", "stop": "' + b"a" * 900_000 + b'"}'), 400),
    "a template in a message": (request(path="/v1/chat/completions", body=b'{"messages": {"x": "{% for i in range(10**9) %}"}}'), 400),
    "a message without text": (request(path="/v1/chat/completions", body=b'{"messages": [{"role": "user", "content": {"toString": 1}}]}'), 400),
    "many inputs": (request(path="/v1/embeddings", body=b'{"input": [' + b'"a",' * 200_000 + b'"a"]}'), 400),
}
SLOW_CASES = {
    "half a head": b"POST /v1/completions HT",
    "headers that stop": request()[:60],
    "no body comes": request(body=b"", length=50),
    "half a body": request(body=BODY[:9], length=50),
    "half a chunk": chunked(b"9\r\nabc"),
    "no last chunk": chunked(chunks(BODY, 9)),
}


def exchange(server, data):
    """What comes back until the server ends the connection, or has answered. A server that refuses does not read all."""
    with server.connect() as client:
        sender = threading.Thread(target=send_all, args=(client, data), daemon=True)
        sender.start()
        got = b""
        with contextlib.suppress(ConnectionError):
            while part := client.recv(1 << 16):
                got += part
                if is_whole(got):
                    break
    sender.join()
    return got


def send_all(client, data):
    with contextlib.suppress(OSError):
        client.sendall(data)


def is_whole(got):
    head, found, body = got.partition(b"\r\n\r\n")
    lengths = [line for line in head.split(b"\r\n") if line.startswith(b"Content-Length: ")]
    return bool(found) and bool(lengths) and len(body) >= int(lengths[0].split()[1])


class Reader(threading.Thread):
    """A client that reads one stream after the other, until it is told to end."""

    def __init__(self, server):
        super().__init__()
        self.server, self.texts, self.ends = server, [], threading.Event()
        self.problem = None

    def run(self):
        try:
            while not self.ends.is_set():
                self.texts.append(text_of(self.server))
        except Exception as problem:  # pylint: disable=broad-exception-caught
            self.problem = problem


def text_of(server):
    return "".join(event["choices"][0]["text"] for event in server.stream(PATH, TALE))


class Hostile(ServerCase):
    def check(self, name, data, status):
        got = exchange(self.server, data)
        head, _, body = got.partition(b"\r\n\r\n")
        self.assertTrue(head.startswith(b"HTTP/1.1 %d " % status), f"{name}: {got[:300]}")
        error = json.loads(body)["error"]
        self.assertEqual(sorted(error), ["code", "message", "param", "type"], name)
        self.assertLess(len(body), 2000, name)
        self.assertNotIn(b"Access-Control", head, name)

    def test_each_gets_its_status_and_nothing_else_changes(self):
        self.assertGreaterEqual(len(CASES) + len(SLOW_CASES), 40)
        alone = text_of(self.server)
        for name, (data, status) in CASES.items():  # once before, so that memory has what it needs
            self.check(name, data, status)
        before, held = self.server.metrics(), self.server.settled()
        reader = Reader(self.server)
        reader.start()
        for _ in range(3):
            for name, (data, status) in CASES.items():
                with self.subTest(name):
                    self.check(name, data, status)
        reader.ends.set()
        reader.join()
        self.assertIsNone(reader.problem)
        self.assertEqual(set(reader.texts), {alone})
        self.server.wait_until_idle()
        after = self.server.metrics()
        self.assertEqual(after["inlay_requests_total"] - before["inlay_requests_total"], len(reader.texts))
        self.assertEqual((after["inlay_requests_left_total"], after["inlay_requests_failed_total"]), (before["inlay_requests_left_total"], 0))
        self.check_holds(held)

    def check_holds(self, before):
        after = self.server.wait_until_settled_as(before)
        self.assertEqual(after[:2], before[:2], "threads and descriptors")
        self.assertFalse(self.server.is_larger(before, 16 * KIB), (before, after))

    def test_the_request_that_cases_are_made_of_is_right(self):
        for data in (request(), chunked(chunks(BODY, 5) + b"0\r\n\r\n"), request(host="127.0.0.1:1"), request(host="[::1]"), request("Origin: http://localhost"),
                     request(body=LARGE[len(BODY):] + BODY), chunked(chunks(LARGE[len(BODY):] + BODY, 1 << 14) + b"0\r\n\r\n")):
            self.assertTrue(exchange(self.server, data).startswith(b"HTTP/1.1 200 "))

    def test_many_fields_are_refused_by_their_number(self):
        """Before they are looked for among each other."""
        error = json.loads(exchange(self.server, CASES["many fields"][0]).partition(b"\r\n\r\n")[2])["error"]
        self.assertIn("an object of more than 1024 members", error["message"])

    def test_what_follows_a_refused_body_is_not_taken_for_a_request(self):
        hidden = request(method="GET", path="/health", body=b"", length="", kind=None)
        for data in (request(kind="text/plain", body=hidden), request(length=str(2 << 20), body=hidden), request("Transfer-Encoding: chunked", body=b"0\r\n\r\n" + hidden)):
            with self.server.connect() as client:
                client.sendall(data)
                got = b"".join(iter(lambda c=client: c.recv(1 << 16), b""))
            self.assertEqual(got.count(b"HTTP/1.1"), 1, got)
            self.assertIn(b"Connection: close", got)


class Changed(ServerCase):
    def test_right_requests_with_a_few_bytes_changed(self):
        """Whatever comes of them: an answer with a status or an end, and a server that goes on."""
        dice = random.Random(5)
        whole = (request("Origin: http://localhost"), chunked(chunks(BODY, 7) + b"0\r\nX: a\r\n\r\n"), request(path="/v1/chat/completions", body=b'{"messages": [{}]}'))
        for _ in range(400):
            data = bytearray(dice.choice(whole))
            for _ in range(dice.randrange(1, 4)):
                place = dice.randrange(len(data))
                data[place:place + dice.randrange(3)] = bytes(dice.choice(b"\r\n\0 :;,{}[]\"0f\xff") for _ in range(dice.randrange(3)))
            with self.server.connect() as client:
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                with contextlib.suppress(ConnectionError):
                    got = b"".join(iter(lambda c=client: c.recv(1 << 16), b""))
                    self.assertRegex(got, rb"^(HTTP/1\.1 [2-4]\d\d |$)", bytes(data))
        self.server.wait_until_idle()
        self.assertEqual(self.server.post(PATH, TALE)[0], 200)


class Slow(ServerCase):
    options = ("--head-ms", 600, "--body-ms", 600, "--idle-ms", 600, "--write-ms", 600)

    def test_those_who_send_slowly(self):
        for name, data in SLOW_CASES.items():
            with self.subTest(name):
                got = exchange(self.server, data)
                self.assertTrue(got.startswith(b"HTTP/1.1 408 Request Timeout\r\n"), got)
        for data in (b"", request(method="GET", path="/health", body=b"", length="", kind=None)):
            with self.server.connect() as client:
                client.sendall(data)
                self.assertEqual(b"".join(iter(lambda c=client: c.recv(1 << 16), b"")).count(b"HTTP/1.1 "), 1 if data else 0)

    def test_bytes_that_come_one_by_one_are_no_progress(self):
        stopped = threading.Event()
        with self.server.connect() as client:
            sender = threading.Thread(target=self.send_slowly, args=(client, stopped))
            sender.start()
            with contextlib.suppress(ConnectionError):
                self.assertTrue(client.recv(1 << 12).startswith(b"HTTP/1.1 408 "))
            stopped.set()
            sender.join()

    def send_slowly(self, client, stopped):
        with contextlib.suppress(OSError):
            client.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: localhost\r\nX: ")
            while not stopped.wait(0.05):
                client.sendall(b"a")

    def test_those_who_do_not_read(self):
        server = Server("--write-ms", 600, "--idle-ms", 1 << 30)  # a connection whose answer is sent stays
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        body = json.dumps({"input": ["The dog saw a fox."] * 2048}).encode()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * KIB)
            client.connect(("127.0.0.1", server.port))
            client.sendall(request(path="/v1/embeddings", body=body))
            wait_for(lambda: server.metrics()["inlay_embeddings_total"] > 0, "the answer is made")
            server.wait_until_idle()
        with server.connect():
            self.assertEqual(server.metrics()["inlay_http_connections"], 2)

    def test_embeddings_that_nobody_reads_keep_their_places(self):
        server = Server("--write-ms", 1 << 30)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        data = request(path="/v1/embeddings", body=json.dumps({"input": ["a"] * 1024}).encode())
        small = {"input": "a"}
        clients = []
        for i in range(PLACES):
            self.assertEqual(server.post("/v1/embeddings", small)[0], 200)
            clients.append(socket.socket())
            clients[-1].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 * KIB)
            clients[-1].setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # by which the system sizes the sender's buffer
            clients[-1].connect(("127.0.0.1", server.port))
            clients[-1].sendall(data)
            wait_for(lambda n=2 * i + 2: server.metrics()["inlay_embeddings_total"] == n, "the answer is made")
        self.assertEqual(server.post("/v1/embeddings", small)[0], 429)
        clients.pop().close()
        wait_for(lambda: server.post("/v1/embeddings", small)[0] == 200, "one that leaves makes room")
        for client in clients:
            client.close()

    def test_many_at_once_keep_nobody_out(self):
        server = Server("--head-ms", 5000)  # the first client's is not over before the last one has sent
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        clients = []
        for _ in range(200):
            clients.append(server.connect())
            clients[-1].sendall(b"POST /v1/completions HTTP/1.1\r\nHost: loc")
        self.assertEqual(server.post(PATH, TALE)[0], 200)
        for client in clients:
            with contextlib.suppress(ConnectionError):
                self.assertTrue(client.recv(1 << 12).startswith(b"HTTP/1.1 408 "))
            client.close()
        server.wait_until_idle()


class Memory(unittest.TestCase):
    def test_bodies_of_many_clients_have_a_limit_together(self):
        server = Server("--max-body-kib", 8192)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        server.post(PATH, TALE)
        before = server.holds()
        clients = [server.connect() for _ in range(40)]
        refused = 0
        half = request(body=b" " * (4 << 20), length=8 << 20)
        for client in clients:
            sender = threading.Thread(target=send_all, args=(client, half), daemon=True)
            sender.start()
            sender.join()
            client.setblocking(False)
            with contextlib.suppress(BlockingIOError, ConnectionError):
                refused += client.recv(1 << 12).startswith(b"HTTP/1.1 503 ")
        self.assertEqual(server.post(PATH, TALE)[0] in (200, 503), True)
        self.assertFalse(server.is_larger(before, 300 * KIB))
        for client in clients:
            client.close()
        server.wait_until_idle()
        self.assertGreater(refused, 0)
        self.assertEqual(server.post(PATH, TALE)[0], 200)

    def test_one_body_as_large_as_the_option_allows(self):
        server = Server("--max-body-kib", 80 << 10)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        self.assertEqual(server.ask("POST", PATH, b" " * (72 << 20) + BODY)[0], 200)


if __name__ == "__main__":
    main()
