#!/usr/bin/env python3
"""Calls of tools, reasoning and their streams, with a model of random weights whose template writes both."""
import json
import pathlib
import subprocess
import tempfile
import unittest

from server_case import BUILD, Server, ServerCase, main

CHAT = "/v1/chat/completions"
TEMPLATE = """{%- if tools %}<|im_start|>system
{{ tools|tojson }}<|im_end|>
{% endif %}{%- for m in messages %}<|im_start|>{{ m.role }}{% if m.role == 'tool' %} {{ m.name }}{% endif %}
{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}{{ m.content or '' }}{% for c in m.tool_calls or [] %}
<tool_call>{{ {"name": c.function.name, "arguments": c.function.arguments}|tojson }}</tool_call>{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
WEATHER = {"type": "function", "function": {"name": "weather", "description": "Tells the weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "minLength": 1, "maxLength": 3}, "days": {"type": "integer", "minimum": 1, "maximum": 9}},
    "required": ["city", "days"], "additionalProperties": False}}}
NOW = {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}, "additionalProperties": False}}}
ASK = {"messages": [{"role": "user", "content": "Rome?"}], "tools": [WEATHER, NOW], "max_tokens": 400}
# Ids of the model: bytes, what ends a text, then the markers in the order in which the format has them.
END, THINK, THOUGHT, CALL, CALLED = 256, 258, 259, 260, 261


def bias(**values):
    names = {"end": END, "think": THINK, "thought": THOUGHT, "call": CALL, "called": CALLED}
    return {"logit_bias": {str(names[name]): value for name, value in values.items()}}


def put_together(events):
    """The message that the deltas of a stream come to, and why it ended."""
    message, reason = {"content": ""}, None
    for event in events:
        for choice in event["choices"]:
            delta, reason = choice["delta"], choice["finish_reason"] or reason
            for key in ("content", "reasoning_content"):
                if key in delta:
                    message[key] = message.get(key, "") + delta[key]
            for call in delta.get("tool_calls", []):
                calls = message.setdefault("tool_calls", [])
                if call["index"] == len(calls):
                    calls.append({"id": call["id"], "type": call["type"], "function": {"name": call["function"]["name"], "arguments": ""}})
                calls[call["index"]]["function"]["arguments"] += call["function"]["arguments"]
    return message, reason


OWN = {"name": "own", "calls": {"written": "json", "begin": "CALL ", "end": "!", "name_key": "name", "arguments_key": "arguments"}}


class OfTheCommandLine(unittest.TestCase):
    """A model whose template knows no tools, with a template and a format of the command line."""
    def test_calls(self):
        rows = (("--chat-template-file", TEMPLATE, None), ("--chat-format-file", json.dumps(OWN), None), (None, None, 400))
        for option, text, refused in rows:
            with self.subTest(option=option), tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "given"
                path.write_text(text or "", encoding="utf-8")
                server = Server(*([option, path] if option else []))
                try:
                    ask = ASK | {"tool_choice": "required", "parallel_tool_calls": False, "temperature": 0, "seed": 1}
                    status, answer = server.post(CHAT, ask)[:2]
                finally:
                    server.stop()
                self.assertEqual(status, refused or 200, answer)
                if not refused:
                    calls = answer["choices"][0]["message"]["tool_calls"]
                    self.assertEqual(len(calls), 1)
                    self.assertIn(calls[0]["function"]["name"], ("weather", "now"))


class Tools(ServerCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        template, model = (str(pathlib.Path(cls.folder.name) / name) for name in ("template.jinja", "chat.gguf"))
        pathlib.Path(template).write_text(TEMPLATE, encoding="utf-8")
        subprocess.run([str(BUILD / "bin" / "make_chat_model"), template, model, "<|im_start|>"], check=True)
        cls.server = Server(model=model)

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        cls.folder.cleanup()

    def choice(self, body):
        status, answer = self.server.post(CHAT, body)
        self.assertEqual(status, 200, answer)
        return answer["choices"][0]

    def check_call(self, call):
        self.assertEqual((sorted(call), call["type"]), (["function", "id", "type"], "function"))
        self.assertGreater(len(call["id"]), 0)
        arguments = json.loads(call["function"]["arguments"])
        if call["function"]["name"] == "now":
            return self.assertEqual(arguments, {})
        self.assertEqual((call["function"]["name"], list(arguments)), ("weather", ["city", "days"]))
        self.assertTrue(1 <= len(arguments["city"]) <= 3 and 1 <= arguments["days"] <= 9, arguments)

    def test_required(self):
        n_calls = 0
        for seed in range(8):
            choice = self.choice(ASK | {"tool_choice": "required", "seed": seed} | bias(think=-100, end=5))
            if choice["finish_reason"] == "length":
                continue
            self.assertEqual((choice["finish_reason"], choice["message"]["content"]), ("tool_calls", None))
            for call in choice["message"]["tool_calls"]:
                self.check_call(call)
                n_calls += 1
        self.assertGreater(n_calls, 5)

    def test_named(self):
        for seed in range(4):
            choice = self.choice(ASK | {"tool_choice": {"type": "function", "function": {"name": "now"}}, "parallel_tool_calls": False, "seed": seed} | bias(think=-100))
            self.assertEqual([call["function"]["name"] for call in choice["message"]["tool_calls"]], ["now"])

    def test_strict_and_one_call(self):
        strict = {"type": "function", "function": WEATHER["function"] | {"strict": True}}
        for seed in range(4):
            choice = self.choice(ASK | {"tools": [strict], "parallel_tool_calls": False, "seed": seed} | bias(think=-100, call=100, end=5))
            self.assertEqual(len(choice["message"]["tool_calls"]), 1)
            self.check_call(choice["message"]["tool_calls"][0])

    def test_plain_text_and_none(self):
        for more in ({}, {"tool_choice": "none"}):
            body = ASK | more | {"seed": 3, "max_tokens": 40} | bias(think=-100, end=-100, **({} if more else {"call": -100, "called": -100}))
            choice = self.choice(body)
            self.assertEqual((choice["finish_reason"], "tool_calls" in choice["message"]), ("length", False))
            self.assertGreater(len(choice["message"]["content"]), 10)

    def test_streams_are_the_whole_answers(self):
        kinds = set()
        for more in ({"tool_choice": "required"} | bias(end=5), bias(think=100), bias(call=3, called=3, end=2, think=2, thought=5)):
            for seed in range(4):
                body = ASK | {"seed": seed, "max_tokens": 150} | more
                whole = self.choice(body)
                message, reason = put_together(self.server.stream(CHAT, body))
                self.assertEqual(reason, whole["finish_reason"])
                wanted = {key: value for key, value in whole["message"].items() if key not in ("role", "refusal")}
                self.assertEqual(message, wanted | {"content": wanted["content"] or ""})
                kinds |= set(message)
        self.assertEqual(kinds, {"content", "reasoning_content", "tool_calls"})

    def test_reasoning_before_a_schema(self):
        schema = {"type": "integer", "minimum": 10, "maximum": 99}
        form = {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}}
        n_reasoned = 0
        for seed in range(6):
            body = {"messages": ASK["messages"], "seed": seed, "max_tokens": 200} | form | bias(think=3, thought=4, end=3)
            choice = self.choice(body)
            if choice["finish_reason"] == "length":
                continue
            self.assertTrue(10 <= int(choice["message"]["content"]) <= 99)
            n_reasoned += "reasoning_content" in choice["message"]
        self.assertGreater(n_reasoned, 0)

    def test_reasoning_of_limited_tokens(self):
        schema = {"response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": {"enum": ["yes", "no"]}}}}
        for more in ({}, schema, {"tools": [NOW], "tool_choice": "required", "parallel_tool_calls": False}):
            for budget in (0, 1, 5, -1, None):
                body = {"messages": ASK["messages"], "seed": 2, "max_tokens": 400, "thinking_budget_tokens": budget} | more | bias(think=100, thought=-100, end=20, called=5)
                choice = self.choice(body)
                reasoning = choice["message"].get("reasoning_content", "").encode()
                if budget in (-1, None):  # the bias: it thinks to the end
                    self.assertEqual((choice["finish_reason"], choice["message"]["content"]), ("length", ""))
                    self.assertGreater(len(reasoning), 5)
                    continue
                self.assertLessEqual(len(reasoning), budget, choice)  # a token of this model is a byte
                self.assertEqual(choice["finish_reason"], "tool_calls" if more.get("tools") else "stop", choice)
                if more is schema:
                    self.assertIn(choice["message"]["content"], ('"yes"', '"no"'))

    def test_stop(self):
        body = {"messages": ASK["messages"], "seed": 5, "max_tokens": 60} | bias(think=-100, call=-100, called=-100, thought=-100, end=-100)
        whole = self.choice(body)["message"]["content"]
        stop = whole[10:12]
        for answer in (self.choice(body | {"stop": stop}), None):
            message, reason = (answer["message"], answer["finish_reason"]) if answer else put_together(self.server.stream(CHAT, body | {"stop": stop}))
            self.assertEqual((message["content"], reason), (whole[:whole.index(stop)], "stop"))

    def test_results_go_back(self):
        call = {"id": "abc123def", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Rom", "days": 2}'}}
        told = ASK["messages"] + [{"role": "assistant", "content": None, "reasoning_content": "why", "tool_calls": [call]},
                                  {"role": "tool", "tool_call_id": "abc123def", "content": "rain"}]
        one = self.server.post(CHAT, ASK | {"messages": told, "max_tokens": 1})[1]["usage"]["prompt_tokens"]
        again = self.server.post(CHAT, ASK | {"messages": told[:-1], "max_tokens": 1})[1]["usage"]["prompt_tokens"]
        # <|im_start|>tool weather, the result, and what ends it
        self.assertEqual(one - again, len("tool weather" "rain" "\n") + 2)

    def test_refused_by_name(self):
        call = {"id": "a", "type": "function", "function": {"name": "now", "arguments": "{}"}}
        told = lambda **more: ASK["messages"] + [{"role": "assistant", "tool_calls": [call | more]}]
        for body, param in (
                ({"tools": {}}, "tools"), ({"tools": [{"type": "web"}]}, "tools[0].type"), ({"tools": [{"type": "function"}]}, "tools[0].function"),
                ({"tools": [{"type": "function", "function": {"name": "a", "params": {}}}]}, "tools[0].function.params"),
                ({"stop": "a" * 1025}, "stop"), ({"thinking_budget_tokens": -2}, "thinking_budget_tokens"), ({"thinking_budget_tokens": "5"}, "thinking_budget_tokens"),
                ({"tool_choice": "any"}, "tool_choice"), ({"tool_choice": {"type": "function", "function": {"name": "none"}}}, "tool_choice"),
                ({"tools": None, "tool_choice": "required"}, "tool_choice"), ({"parallel_tool_calls": 1}, "parallel_tool_calls"),
                ({"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "a", "parameters": {"contains": {}, "unevaluatedItems": False}}}]}, "tools"),
                ({"messages": told(function={"name": "now", "arguments": "["})}, "messages[1].tool_calls[0].function.arguments"),
                ({"messages": told(function={"arguments": "{}"})}, "messages[1].tool_calls[0].function.name"),
                ({"messages": told() + [{"role": "tool", "tool_call_id": "b", "content": ""}]}, "messages[2].tool_call_id"),
                ({"messages": told() + [{"role": "tool", "content": ""}]}, "messages[2].tool_call_id"),
                ({"messages": ASK["messages"] + [{"role": "user", "content": "a", "tool_calls": [call]}]}, "messages[1].tool_calls")):
            self.refused(CHAT, ASK | body, 400, param)


class WithoutTools(ServerCase):
    def test_a_template_without_calls(self):
        self.refused(CHAT, {"messages": ASK["messages"], "tools": [NOW]}, 400, "tools", "chat format")
        self.assertEqual(self.server.post(CHAT, {"messages": ASK["messages"], "tools": [], "tool_choice": "none"})[0], 200)

    def test_a_template_without_reasoning(self):
        self.refused(CHAT, {"messages": ASK["messages"], "thinking_budget_tokens": 5}, 400, "thinking_budget_tokens", "has no reasoning")
        self.assertEqual(self.server.post(CHAT, {"messages": ASK["messages"], "thinking_budget_tokens": -1, "max_tokens": 3})[0], 200)


if __name__ == "__main__":
    main()
