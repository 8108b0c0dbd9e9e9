#!/usr/bin/env python3
"""OpenAI's protocol: answers whole and in streams, embeddings, models, metrics, and what is refused by its name."""
import base64
import concurrent.futures
import json
import signal
import socket
import struct
import tempfile
import time
import unittest

from server_case import LONG, ROOM, Server, ServerCase, events_of, main, wait_for

CHAT, COMPLETIONS, EMBEDDINGS = "/v1/chat/completions", "/v1/completions", "/v1/embeddings"
GREEDY = {"model": "tales", "messages": ROOM, "temperature": 0}
CONTROL_TOKENS = range(2043, 2048)  # of the model, the one that ends a tale among them
TALE = {"prompt": "Once upon a time", "temperature": 0, "max_tokens": 20}


class Answers(ServerCase):
    def test_chat(self):
        status, answer = self.server.post(CHAT, GREEDY)
        self.assertEqual(status, 200)
        choice = answer["choices"][0]
        self.assertEqual((answer["object"], answer["model"], choice["index"], choice["finish_reason"]), ("chat.completion", "tales", 0, "stop"))
        self.assertEqual(choice["message"]["role"], "assistant")
        self.assertGreater(len(choice["message"]["content"]), 10)
        usage = answer["usage"]
        self.assertGreater(usage["prompt_tokens"], 10)
        self.assertGreater(usage["completion_tokens"], 3)
        self.assertEqual(usage["total_tokens"], usage["prompt_tokens"] + usage["completion_tokens"])

    def test_stream_is_the_whole_answer_in_pieces(self):
        whole = self.server.post(CHAT, GREEDY)[1]
        events = self.server.stream(CHAT, GREEDY | {"stream_options": {"include_usage": True}})
        self.assertEqual(events[0]["choices"][0]["delta"], {"role": "assistant", "content": ""})
        text = "".join(event["choices"][0]["delta"].get("content", "") for event in events[:-1])
        self.assertEqual(text, whole["choices"][0]["message"]["content"])
        self.assertEqual([event["choices"][0]["finish_reason"] for event in events[:-1]], [None] * (len(events) - 2) + ["stop"])
        self.assertEqual({key: events[-1]["usage"][key] for key in ("prompt_tokens", "completion_tokens")},
                         {key: whole["usage"][key] for key in ("prompt_tokens", "completion_tokens")})
        self.assertEqual((events[-1]["choices"], {event["usage"] is None for event in events[:-1]}), ([], {True}))
        self.assertEqual({event["id"] for event in events}, {events[0]["id"]})
        self.assertNotIn("usage", self.server.stream(CHAT, GREEDY)[-1])

    def test_json_of_a_schema(self):
        schema = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 10}, "age": {"type": "integer", "minimum": 1, "maximum": 99}},
                  "required": ["name", "age"], "additionalProperties": False}
        form = {"response_format": {"type": "json_schema", "json_schema": {"name": "person", "strict": True, "schema": schema}}}
        for seed in range(4):
            answer = self.server.post(CHAT, {"messages": ROOM, "seed": seed, "max_tokens": 200} | form)[1]["choices"][0]
            value = json.loads(answer["message"]["content"])
            self.assertEqual((answer["finish_reason"], list(value)), ("stop", ["name", "age"]))
            self.assertTrue(len(value["name"]) <= 10 and 1 <= value["age"] <= 99)
        text = self.server.post(CHAT, {"messages": ROOM, "seed": 1, "max_tokens": 60, "response_format": {"type": "json_object"}})[1]["choices"][0]["message"]["content"]
        self.assertEqual(text[0], "{")
        self.assertNotEqual(self.server.post(CHAT, {"messages": ROOM, "seed": 1})[1]["choices"][0]["message"]["content"][0], "{")

    def test_completion(self):
        status, answer = self.server.post(COMPLETIONS, TALE)
        self.assertEqual((status, answer["object"], answer["choices"][0]["finish_reason"]), (200, "text_completion", "length"))
        self.assertEqual(answer["usage"]["completion_tokens"], 20)
        text = "".join(event["choices"][0]["text"] for event in self.server.stream(COMPLETIONS, TALE))
        self.assertEqual(text, answer["choices"][0]["text"])
        for same in (["Once upon a time"],):
            self.assertEqual(self.server.post(COMPLETIONS, TALE | {"prompt": same})[1]["choices"][0]["text"], text)
        self.assertEqual(self.server.post(COMPLETIONS, {"prompt": "Once"})[1]["usage"]["completion_tokens"], 16)

    def test_tokens_as_prompt(self):
        text = [self.server.post(COMPLETIONS, TALE | {"prompt": ids})[1]["choices"][0]["text"] for ids in ([260, 270, 280], [[260, 270, 280]])]
        self.assertEqual(text[0], text[1])
        self.assertGreater(len(text[0]), 10)

    def test_stop(self):
        text = self.server.post(COMPLETIONS, TALE)[1]["choices"][0]["text"]
        word = text.split()[3]
        for stop in (word, ["never there", word]):
            answer = self.server.post(COMPLETIONS, TALE | {"stop": stop})[1]["choices"][0]
            self.assertEqual((answer["text"], answer["finish_reason"]), (text[:text.index(word)], "stop"))
            pieces = self.server.stream(COMPLETIONS, TALE | {"stop": stop})
            self.assertEqual("".join(event["choices"][0]["text"] for event in pieces), answer["text"])

    def test_sampling(self):
        def text(**fields):
            status, answer = self.server.post(COMPLETIONS, {"prompt": "The old fox said", "max_tokens": 24} | fields)
            self.assertEqual(status, 200, answer)
            return answer["choices"][0]["text"]

        greedy = text(temperature=0)
        self.assertEqual(text(seed=7), text(seed=7))
        self.assertGreater(len({text(seed=seed) for seed in range(4)}), 1)
        self.assertGreater(len({text() for _ in range(4)}), 1)
        self.assertEqual(text(top_p=0), greedy)
        self.assertEqual(text(top_k=1), greedy)
        self.assertNotEqual(text(temperature=0, frequency_penalty=2), greedy)
        self.assertNotEqual(text(temperature=0, presence_penalty=2), greedy)
        first = self.server.post(COMPLETIONS, TALE | {"logprobs": 0})[1]["choices"][0]["logprobs"]["tokens"][0]
        ban = {str(token): -100 for token in range(1024)}
        other = self.server.post(COMPLETIONS, TALE | {"logprobs": 0, "logit_bias": ban})[1]["choices"][0]["logprobs"]["tokens"][0]
        self.assertNotEqual(first, other)

    def test_logprobs(self):
        content = self.server.post(CHAT, GREEDY | {"logprobs": True, "top_logprobs": 0})[1]["choices"][0]
        self.assertEqual("".join(token["token"] for token in content["logprobs"]["content"]).strip(), content["message"]["content"])
        self.assertTrue(all(token["logprob"] <= 0 and bytes(token["bytes"]).decode() == token["token"] for token in content["logprobs"]["content"]))
        events = self.server.stream(CHAT, GREEDY | {"logprobs": True})
        streamed = [token for event in events for token in (event["choices"][0]["logprobs"] or {"content": []})["content"]]
        self.assertEqual(streamed, content["logprobs"]["content"])

    def test_top_logprobs(self):
        wanted = GREEDY | {"logprobs": True, "top_logprobs": 4}
        content = self.server.post(CHAT, wanted)[1]["choices"][0]["logprobs"]["content"]
        for token in content:
            top = token["top_logprobs"]
            self.assertEqual((len(top), top[0]["token"], top[0]["logprob"]), (4, token["token"], token["logprob"]))
            self.assertEqual([one["logprob"] for one in top], sorted((one["logprob"] for one in top), reverse=True))
        streamed = [token for event in self.server.stream(CHAT, wanted) for token in (event["choices"][0]["logprobs"] or {"content": []})["content"]]
        self.assertEqual(streamed, content)
        of_text = self.server.post(COMPLETIONS, TALE | {"temperature": 0, "logprobs": 3})[1]["choices"][0]["logprobs"]
        self.assertEqual(len(of_text["top_logprobs"]), len(of_text["tokens"]))
        for token, value, top in zip(of_text["tokens"], of_text["token_logprobs"], of_text["top_logprobs"]):
            self.assertEqual((top[token], max(top.values())), (value, value))

    def test_logprobs_of_long_answers(self):
        """The whole answer's are those of its stream, which come with its text a few at a time."""
        body = {"temperature": 0, "max_tokens": 400, "logit_bias": {str(token): -100 for token in CONTROL_TOKENS}}
        chat = GREEDY | body | {"logprobs": True, "top_logprobs": 20}
        whole = self.server.post(CHAT, chat)[1]["choices"][0]
        content = whole["logprobs"]["content"]
        self.assertEqual((len(content), {len(token["top_logprobs"]) for token in content}), (400, {20}))
        self.assertEqual(b"".join(bytes(token["bytes"]) for token in content).decode().strip(), whole["message"]["content"].strip())
        events = [event["choices"][0]["logprobs"] for event in self.server.stream(CHAT, chat)]
        self.assertEqual([token for logprobs in events if logprobs for token in logprobs["content"]], content)
        text = TALE | body | {"logprobs": 20}
        whole = self.server.post(COMPLETIONS, text)[1]["choices"][0]["logprobs"]
        events = [event["choices"][0]["logprobs"] for event in self.server.stream(COMPLETIONS, text)]
        for name in ("tokens", "token_logprobs", "top_logprobs"):
            self.assertEqual(len(whole[name]), 400)
            self.assertEqual([value for logprobs in events if logprobs for value in logprobs[name]], whole[name])

    def test_messages_in_parts(self):
        parts = [{"role": "developer", "content": ROOM[0]["content"]}, {"role": "user", "content": [{"type": "text", "text": "Do you "}, {"type": "text", "text": "have a room?"}]}]
        self.assertEqual(self.server.post(CHAT, GREEDY | {"messages": parts})[1]["choices"][0]["message"]["content"],
                         self.server.post(CHAT, GREEDY)[1]["choices"][0]["message"]["content"])

    def test_defaults_and_null_are_taken(self):
        extra = {"n": 1, "stop": None, "tools": [], "tool_choice": "none", "response_format": {"type": "text"}, "user": "me", "logit_bias": {}, "store": False,
                 "functions": None, "stream_options": None, "max_completion_tokens": 5, "service_tier": "auto", "metadata": {"a": "b"}}
        status, answer = self.server.post(CHAT, GREEDY | extra)
        self.assertEqual((status, answer["usage"]["completion_tokens"], answer["choices"][0]["finish_reason"]), (200, 5, "length"))

    def test_the_prompt_is_found_again(self):
        words = {"prompt": "Once upon a time there was a small fox who lived in a house by the sea. " * 8, "temperature": 0, "max_tokens": 2}
        self.server.post(COMPLETIONS, words)
        usage = self.server.post(COMPLETIONS, words)[1]["usage"]
        self.assertGreater(usage["prompt_tokens_details"]["cached_tokens"], 16)
        self.assertLess(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"])

    def test_text_of_the_world(self):
        for text in ('Straße "x" \\ \u2028 \U0001F600', "a\nb\tc\u0001", "{{ messages }}", "<|im_end|>"):
            status, answer = self.server.post(CHAT, GREEDY | {"messages": [{"role": "user", "content": text}]})
            self.assertEqual(status, 200, answer)

    def test_embeddings(self):
        texts = ["The dog saw a fox.", "Two and two are four."]
        status, answer = self.server.post(EMBEDDINGS, {"model": "tales", "input": texts})
        self.assertEqual((status, answer["object"], [entry["index"] for entry in answer["data"]]), (200, "list", [0, 1]), answer)
        self.assertGreater(answer["usage"]["prompt_tokens"], 8)
        for entry in answer["data"]:
            self.assertAlmostEqual(sum(x * x for x in entry["embedding"]), 1, places=4)
        coded = self.server.post(EMBEDDINGS, {"input": texts, "encoding_format": "base64"})[1]["data"]
        for entry, plain in zip(coded, answer["data"]):
            data = base64.b64decode(entry["embedding"], validate=True)
            for value, own in zip(struct.unpack(f"<{len(data) // 4}f", data), plain["embedding"], strict=True):
                self.assertAlmostEqual(value, own, places=6)
        alone = self.server.post(EMBEDDINGS, {"input": texts[1]})[1]["data"][0]["embedding"]
        for value, own in zip(alone, answer["data"][1]["embedding"], strict=True):
            self.assertAlmostEqual(value, own, places=4)
        self.assertEqual(self.server.post(EMBEDDINGS, {"input": [[1, 2, 3], [4]], "dimensions": len(alone)})[0], 200)


class Refusals(ServerCase):
    def test_of_both(self):
        for fields, param in (({"n": 2}, "n"), ({"temperature": 3}, "temperature"), ({"temperature": "hot"}, "temperature"), ({"top_p": -1}, "top_p"),
                              ({"seed": 1.5}, "seed"), ({"seed": 2**63}, "seed"), ({"max_tokens": 0}, "max_tokens"), ({"max_tokens": -1}, "max_tokens"),
                              ({"stop": [""]}, "stop"), ({"stop": ["a"] * 17}, "stop"), ({"stop": 5}, "stop"), ({"stop": ["a", "b" * 1025]}, "stop"), ({"stream": 1}, "stream"),
                              ({"stream_options": {"include_usage": True}}, "stream_options"), ({"presence_penalty": 2.5}, "presence_penalty"),
                              ({"frequency_penalty": []}, "frequency_penalty"), ({"logit_bias": {"x": 1}}, "logit_bias"), ({"logit_bias": {"-1": 1}}, "logit_bias"),
                              ({"logit_bias": {"99999999": 1}}, "logit_bias"), ({"logit_bias": {"1": 101}}, "logit_bias"), ({"logit_bias": []}, "logit_bias"),
                              ({"no_such_field": 1}, "no_such_field"), ({"store": True}, "store"),
                              ({"stream": True, "stream_options": {"x": 1}}, "stream_options.x"), ({"stream": True, "stream_options": 1}, None)):
            for path, body in ((CHAT, GREEDY), (COMPLETIONS, TALE)):
                with self.subTest(fields=fields, path=path):
                    self.refused(path, body | fields, 400, param, param.split(".")[-1] if param else "object")
        for path, body in ((CHAT, GREEDY), (COMPLETIONS, TALE), (EMBEDDINGS, {"input": "a"})):
            self.refused(path, body | {"model": "gpt-4"}, 404, "model", "tales")

    def test_of_chats(self):
        user = {"role": "user", "content": "Hello"}
        for messages, param in (([], "messages"), ("Hello", "messages"), (None, "messages"), ([None], None), ([user | {"role": "king"}], "messages[0].role"),
                                ([{"content": "x"}], "messages[0].role"), ([user, {"role": "user"}], "messages[1].content"), ([user | {"content": 5}], "messages[0].content"),
                                ([user | {"content": [{"type": "image_url", "image_url": {}}]}], "messages[0].content[0].type"),
                                ([user | {"content": [{"type": "text"}]}], "messages[0].content[0].text"), ([{"role": "tool", "content": "x"}], "messages[0].tool_call_id"), ([{"role": "critic", "content": "x"}], "messages[0].role"),
                                ([user, {"role": "assistant", "content": "x", "tool_calls": []}], "messages[1].tool_calls"), ([user | {"x": 1}], "messages[0].x")):
            with self.subTest(messages=messages):
                self.refused(CHAT, GREEDY | {"messages": messages}, 400, param)
        for fields, param in (({"tools": [{"type": "function"}]}, "tools"), ({"response_format": {"type": "xml"}}, "response_format.type"), ({"response_format": {"type": "json_schema"}}, "response_format.json_schema"),
                              ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"contains": {}, "unevaluatedItems": False}}}}, "response_format"), ({"top_logprobs": 3}, "top_logprobs"),
                              ({"logprobs": 5}, "logprobs"), ({"reasoning_effort": "low"}, "reasoning_effort"), ({"functions": []}, "functions"),
                              ({"tool_choice": "auto"}, "tool_choice"), ({"max_tokens": 5, "max_completion_tokens": 5}, "max_tokens"), ({"prompt": "x"}, "prompt")):
            with self.subTest(fields=fields):
                self.refused(CHAT, GREEDY | fields, 400, param, param)

    def test_of_completions(self):
        for fields, param in (({"prompt": ""}, "prompt"), ({"prompt": None}, "prompt"), ({"prompt": ["a", "b"]}, "prompt"), ({"prompt": []}, "prompt"), ({"prompt": [1, "a"]}, "prompt"),
                              ({"prompt": [10**9]}, "prompt"), ({"prompt": [-1]}, "prompt"), ({"best_of": 2}, "best_of"), ({"echo": True}, "echo"), ({"suffix": "x"}, "suffix"),
                              ({"logprobs": 21}, "logprobs"), ({"logprobs": True}, "logprobs"), ({"messages": ROOM}, "messages")):
            with self.subTest(fields=fields):
                self.refused(COMPLETIONS, TALE | fields, 400, param, param)

    def test_of_embeddings(self):
        for fields, param in (({"input": ""}, "input"), ({"input": None}, "input"), ({"input": []}, "input"), ({"input": ["a", ""]}, "input"), ({"input": [10**9]}, "input"),
                              ({"input": ["a"] * 3000}, "input"), ({"encoding_format": "hex"}, "encoding_format"), ({"dimensions": 7}, "dimensions"), ({"x": 1}, "x")):
            with self.subTest(fields=str(fields)[:60]):
                self.refused(EMBEDDINGS, {"input": "a"} | fields, 400, param, param)
        self.refused(EMBEDDINGS, {"input": "long " * 2000}, 400)

    def test_what_does_not_fit(self):
        self.refused(COMPLETIONS, TALE | {"prompt": "Once upon a time " * 1000}, 400, None, "token")
        self.refused(CHAT, GREEDY | {"messages": [{"role": "user", "content": "Hello. " * 2000}]}, 400, None, "token")

    def test_no_object(self):
        for body in (b"[]", b"null", b"5", b'"x"'):
            self.refused(CHAT, body, 400, None, "object")


class Routes(ServerCase):
    def test_models(self):
        status, _, text = self.server.ask("GET", "/v1/models")
        models = json.loads(text)["data"]
        self.assertEqual((status, [model["id"] for model in models], models[0]["object"]), (200, ["tales"], "model"))
        self.assertEqual(json.loads(self.server.ask("GET", "/v1/models/t%61les?x=1")[2]), models[0])
        self.assertEqual(self.server.ask("GET", "/v1/models/other")[0], 404)

    def test_health_and_head(self):
        self.assertEqual(self.server.ask("GET", "/health")[::2], (200, b'{"status":"ok"}'))
        status, headers, text = self.server.ask("HEAD", "/health")
        self.assertEqual((status, headers["Content-Length"], text), (200, "15", b""))

    def test_another_method(self):
        for path, allowed in (("/health", "GET, HEAD"), (COMPLETIONS, "POST")):
            status, headers, text = self.server.ask("DELETE", path)
            error = json.loads(text)["error"]
            self.assertEqual((status, headers["Allow"], error["param"], error["code"]), (405, allowed, None, "method_not_allowed"))

    def test_metrics_count(self):
        before = self.server.metrics()
        usage = self.server.post(COMPLETIONS, TALE)[1]["usage"]
        self.server.post(COMPLETIONS, TALE | {"n": 2})
        after = self.server.metrics()
        self.assertEqual(after["inlay_generated_tokens_total"] - before["inlay_generated_tokens_total"], usage["completion_tokens"])
        self.assertEqual(after["inlay_prompt_tokens_total"] - before["inlay_prompt_tokens_total"], usage["prompt_tokens"])
        self.assertEqual(after["inlay_requests_total"] - before["inlay_requests_total"], 1)
        self.assertEqual(after['inlay_http_responses_total{code="400"}'] - before.get('inlay_http_responses_total{code="400"}', 0), 1)

    def test_page(self):
        for path, kind in (("/", "text/html"), ("/chat.js", "text/javascript"), ("/chat.css", "text/css")):
            status, headers, text = self.server.ask("GET", path)
            self.assertEqual(status, 200)
            self.assertTrue(headers["Content-Type"].startswith(kind))
            self.assertIn("script-src 'self'", headers["Content-Security-Policy"])
            self.assertNotIn(b"http:", text)
            self.assertNotIn(b"https:", text)

    def test_one_connection_for_many_requests(self):
        with self.server.connect() as client:
            request = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
            client.sendall(request * 500)
            got = b""
            while got.count(b'{"status":"ok"}') < 500:
                got += client.recv(1 << 16)
            self.assertEqual(got.count(b"HTTP/1.1 200 OK"), 500)
            body = json.dumps(TALE | {"stream": True}).encode()
            head = f"POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            client.sendall((head + body) * 3 + request)
            got = b""
            while b'{"status":"ok"}' not in got:
                got += client.recv(1 << 16)
            self.assertEqual(got.count(b"data: [DONE]"), 3)

    def test_bytes_one_by_one(self):
        body = json.dumps(TALE).encode()
        chunks = b"".join(b"%x;name=value\r\n%s\r\n" % (len(part), part) for part in (body[:1], body[1:9], body[9:])) + b"0\r\nTrailer: x\r\n\r\n"
        head = f"POST {COMPLETIONS} HTTP/1.1\r\nHost: [::1]:80\r\nContent-Type: application/json; charset=utf-8\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        with self.server.connect() as client:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in head.encode() + chunks:
                client.sendall(bytes([byte]))
            got = b"".join(iter(lambda: client.recv(1 << 16), b""))
        self.assertTrue(got.startswith(b"HTTP/1.1 200 OK\r\n"), got)
        self.assertEqual(json.loads(got.split(b"\r\n\r\n")[1])["choices"], self.server.post(COMPLETIONS, TALE)[1]["choices"])

    def test_a_client_that_asks_before_it_sends(self):
        body = json.dumps(TALE).encode()
        with self.server.connect() as client:
            client.sendall(f"POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nExpect: 100-continue\r\n\r\n".encode())
            self.assertEqual(client.recv(1 << 10), b"HTTP/1.1 100 Continue\r\n\r\n")
            client.sendall(body)
            self.assertTrue(client.recv(1 << 16).startswith(b"HTTP/1.1 200 OK"))

    def test_an_old_client(self):
        body = json.dumps(TALE | {"stream": True}).encode()
        with self.server.connect() as client:
            client.sendall(f"POST {COMPLETIONS} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            got = b"".join(iter(lambda: client.recv(1 << 16), b""))
        self.assertNotIn(b"chunked", got)
        self.assertTrue(got.endswith(b"\n\ndata: [DONE]\n\n"), got)


class WithKey(unittest.TestCase):
    def test_key_and_origins(self):
        with tempfile.NamedTemporaryFile("w", suffix=".key") as file:
            file.write("secret-1\n")
            file.flush()
            server = Server("--key-file", file.name, "--origin", "https://app.example", "--host-name", "llm.example", "--name", "mira")
        try:
            self.check_key(server)
            self.check_origins(server)
        finally:
            self.assertEqual(server.stop(), 0)

    def check_key(self, server):
        for header in ({}, {"Authorization": "secret-1"}, {"Authorization": "Bearer secret-2"}, {"Authorization": "Bearer secret-11"}, {"Authorization": "Bearer "},
                       {"Authorization": "Basic secret-1"}):
            for method, path in (("GET", "/v1/models"), ("GET", "/metrics"), ("POST", COMPLETIONS)):
                status, headers, text = server.ask(method, path, TALE if method == "POST" else None, header)
                self.assertEqual((status, headers["WWW-Authenticate"], json.loads(text)["error"]["code"]), (401, "Bearer", "invalid_api_key"), header)
        self.assertEqual(server.ask("GET", "/health")[0], 200)
        self.assertEqual(server.post(COMPLETIONS, TALE | {"model": "mira"}, {"Authorization": "bearer secret-1"})[0], 200)

    def check_origins(self, server):
        known = {"Authorization": "Bearer secret-1", "Origin": "https://app.example", "Host": "llm.example:443"}
        status, headers, _ = server.ask("POST", COMPLETIONS, TALE, known)
        self.assertEqual((status, headers["Access-Control-Allow-Origin"], headers["Vary"]), (200, "https://app.example", "Origin"))
        status, headers, _ = server.ask("OPTIONS", COMPLETIONS, None, {"Origin": "https://app.example", "Access-Control-Request-Method": "POST"})
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (204, "https://app.example"))
        allowed = headers["Access-Control-Allow-Headers"].split(", ")
        for name in ("authorization", "content-type", "user-agent", "openai-organization", "openai-project"):
            self.assertIn(name, allowed)
        for name in ("arch", "lang", "os", "package-version", "retry-count", "runtime", "runtime-version", "timeout"):
            self.assertIn("x-stainless-" + name, allowed)
        status, headers, _ = server.ask("OPTIONS", COMPLETIONS, None, {"Origin": "https://app.example.evil.example"})
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (403, None))
        status, headers, _ = server.ask("GET", "/v1/models", None, known | {"Origin": f"http://127.0.0.1:{server.port}", "Host": f"127.0.0.1:{server.port}"})
        self.assertEqual((status, headers["Access-Control-Allow-Origin"]), (200, None))


class Limits(unittest.TestCase):
    def served(self, *options):
        server = Server(*options)
        self.addCleanup(lambda: self.assertEqual(server.stop(), 0))
        return server

    def test_connections(self):
        server = self.served("--connections", 4)
        clients = [server.connect() for _ in range(4)]
        wait_for(lambda: self.answer_of(server).startswith(b"HTTP/1.1 503 "), "one more is turned away")
        clients.pop().close()
        wait_for(lambda: self.answer_of(server).startswith(b"HTTP/1.1 200 "), "one that left makes room")
        for client in clients:
            client.close()

    def answer_of(self, server):
        with server.connect() as client:
            try:
                client.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                return client.recv(1 << 12)
            except ConnectionError:
                return b""

    def test_queue(self):
        server = self.served("--queue", 2, "--parallel", 1)
        body = json.dumps({"prompt": "Once upon a time", "max_tokens": 480, "temperature": 0, "stream": True}).encode()
        request = f"POST {COMPLETIONS} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        refused = 0
        for _ in range(20):
            clients = [server.connect() for _ in range(8)]
            for client in clients:
                client.sendall(request)
            for client in clients:
                head = client.recv(1 << 12)
                refused += head.startswith(b"HTTP/1.1 429 ") and b"Retry-After: 1" in head
                client.close()
            if refused:
                break
        self.assertGreater(refused, 0)
        server.wait_until_idle()

    def test_time_of_an_answer(self):
        server = self.served("--answer-ms", 1, "--parallel", 1)
        status, answer = server.post(COMPLETIONS, LONG)
        self.assertEqual((status, answer["error"]["code"], answer["error"]["type"]), (504, "timeout", "server_error"))
        status, _, text = server.ask("POST", COMPLETIONS, LONG | {"stream": True})
        self.assertIn(b'"code":"timeout"', text)
        self.assertNotIn(b"[DONE]", text)
        status, answer = server.post(EMBEDDINGS, {"input": ["The old fox said"] * 2000})
        self.assertEqual((status, answer["error"]["code"]), (504, "timeout"))
        server.wait_until_idle()

    def test_time_of_embeddings_that_wait_for_a_thread(self):
        """The server stands still for longer than an answer may take while one waits."""
        server = self.served("--answer-ms", 5000)
        with concurrent.futures.ThreadPoolExecutor(16) as clients:
            busy = [clients.submit(server.post, EMBEDDINGS, {"input": ["The old fox said " * 20] * 2048}) for _ in range(12)]
            wait_for(lambda: server.metrics()["inlay_requests_working"] >= 12, "as many as there are threads, and more")
            late = clients.submit(server.post, EMBEDDINGS, {"input": "a"})
            wait_for(lambda: server.metrics()["inlay_requests_working"] >= 13, "one waits behind them")
            server.process.send_signal(signal.SIGSTOP)
            time.sleep(5.2)
            server.process.send_signal(signal.SIGCONT)
            self.assertEqual({answer.result()[0] for answer in busy}, {504})
            self.assertEqual(late.result()[0], 504)
        server.wait_until_idle()

    def test_length_of_an_answer(self):
        server = self.served("--max-tokens", 3)
        self.assertEqual(server.post(CHAT, GREEDY)[1]["usage"]["completion_tokens"], 3)
        self.assertEqual(server.post(CHAT, GREEDY | {"max_tokens": 5})[1]["usage"]["completion_tokens"], 5)

    def test_memory_behind_the_pool(self):
        """Prompts that have no room in the pool together: the first is found on the host."""
        for mib, found in ((0, False), (8, True)):
            server = self.served("--parallel", 1, "--ctx", 256, "--kv-mib", 1, "--prefix-host-mib", mib)
            cached = []
            for token in (65, 66, 67, 68, 69, 65):
                status, answer = server.post(COMPLETIONS, {"prompt": [token] * 200, "max_tokens": 2, "temperature": 0})
                self.assertEqual(status, 200, answer)
                cached.append(answer["usage"]["prompt_tokens_details"]["cached_tokens"])
            metrics = server.metrics()
            self.assertEqual(metrics["inlay_kv_blocks_from_host_total"] > 0, found, (mib, cached, metrics))
            self.assertEqual(metrics["inlay_kv_blocks_on_host"] > 0, found, metrics)
            self.assertEqual(cached, [0, 0, 0, 0, 0, 192 if found else 0])

    def test_pooling(self):
        status, answer = self.served("--pooling", "default").post(EMBEDDINGS, {"input": "a"})
        self.assertEqual(status, 400)
        self.assertIn("--pooling", answer["error"]["message"])

    def test_a_client_that_reads_slowly(self):
        """What is drawn while it does not read comes in fewer events, and nothing is lost."""
        server = self.served()
        body = LONG | {"logprobs": 5, "seed": 1, "temperature": 1, "logit_bias": {str(token): -100 for token in CONTROL_TOKENS}}
        whole = server.post(COMPLETIONS, body)[1]
        n_tokens = whole["usage"]["completion_tokens"]
        self.assertEqual(n_tokens, LONG["max_tokens"])
        data = json.dumps(body | {"stream": True}).encode()
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)  # by which the system sizes the sender's buffer
            client.connect(("127.0.0.1", server.port))
            client.sendall(f"POST {COMPLETIONS} HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
            wait_for(lambda: server.metrics()["inlay_generated_tokens_total"] >= 2 * n_tokens, "all is drawn")
            got = b"".join(iter(lambda: client.recv(1 << 16), b""))
        events = events_of(got.partition(b"\r\n\r\n")[2])
        self.assertEqual("".join(event["choices"][0]["text"] for event in events), whole["choices"][0]["text"])
        tokens = [token for event in events for token in (event["choices"][0]["logprobs"] or {"tokens": []})["tokens"]]
        self.assertEqual(tokens, whole["choices"][0]["logprobs"]["tokens"])
        self.assertLess(len(events), n_tokens - 20)

    def test_body(self):
        server = self.served("--max-body-kib", 1)
        self.assertEqual(server.post(COMPLETIONS, TALE | {"user": "x" * 500})[0], 200)
        self.assertEqual(server.ask("POST", COMPLETIONS, TALE | {"user": "x" * 1500})[0], 413)


if __name__ == "__main__":
    main()
