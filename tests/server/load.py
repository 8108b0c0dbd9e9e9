"""Clients in a process of their own: streams, whole answers and embeddings at a time, some of which leave before the end.

Usage: load.py PORT CLIENTS SECONDS LEAVING   LEAVING: the share of requests that leave
Each stream's text must be that of TEXTS, JSON on the standard input: what each seed gives alone. Prints how many requests came to their end.
"""
import asyncio
import json
import random
import socket
import struct
import sys
import time

N_SEEDS = 16


def body_of(seed):
    return {"prompt": "Once upon a time", "temperature": 1, "seed": seed, "max_tokens": 100}


def request(path, body):
    data = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\nConnection: close\r\n\r\n".encode() + data


def end_hard(writer):
    """The connection ends with a reset, as that of a process that was killed with unread bytes."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def leave(reader, writer):
    if random.random() < 0.5:
        await reader.read(random.randrange(1, 4000))
    else:
        await asyncio.sleep(random.random() * 0.05)
    if random.random() < 0.5:
        end_hard(writer)
    else:
        writer.close()


def check_stream(text, wanted):
    events = [json.loads(part[6:]) for part in text.split("\n\n")[:-2]]
    got = "".join(event["choices"][0]["text"] for event in events)
    assert text.endswith("data: [DONE]\n\n") and got == wanted, (got, wanted)


def unchunked(data):
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        out += data[:int(size, 16)]
        data = data[int(size, 16) + 2:]
    return out.decode()


async def one(port, texts, leaving):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    seed, kind = random.randrange(N_SEEDS), random.random()
    leaves = random.random() < leaving
    if kind < 0.05:
        writer.write(request("/v1/embeddings", {"input": ["The dog saw a fox."] * 20}))
    else:
        writer.write(request("/v1/completions", body_of(seed) | {"stream": kind < 0.9}))
    if leaves:
        await leave(reader, writer)
        return 0
    data = await reader.read(-1)
    writer.close()
    head, _, rest = data.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), data[:300]
    if 0.05 <= kind < 0.9:
        check_stream(unchunked(rest), texts[seed])
    elif kind >= 0.9:
        assert json.loads(rest)["choices"][0]["text"] == texts[seed]
    return 1


async def client(port, texts, leaving, end):
    n_whole = n_begun = 0
    while time.monotonic() < end or n_begun < 2:
        n_begun += 1
        n_whole += await one(port, texts, leaving)
    return n_whole


async def run(port, n_clients, seconds, leaving):
    texts = json.load(sys.stdin)
    end = time.monotonic() + seconds
    done = await asyncio.gather(*(client(port, texts, leaving, end) for _ in range(n_clients)))
    print(sum(done), min(done))


if __name__ == "__main__":
    asyncio.run(run(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])))
