"""A real model calls a tool where it must, by the server: check_tools.py BUILD MODEL_NAME

Its template knows no tools, so the server gets one that does, and the format of calls. Each call is of the tool's schema and about the place that was asked for; where the model is free it writes
no such call (the negative control). With the npm package openai a conversation of three turns goes through that client (openai_tools.cjs).
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import real_models

sys.path.append(str(pathlib.Path(__file__).parents[1] / "lint"))
from needs import node_environment  # noqa: E402  # pylint: disable=wrong-import-position

TEMPLATE = ("{% for m in messages %}<|im_start|>{{m.role}}\n{{m.content or m.tool_calls|tojson}}{% if tools and loop.last %}\nTools: {{tools|tojson}}{% endif %}<|im_end|>\n{% endfor %}"
            "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}")
FORMAT = {"name": "own", "calls": {"written": "json", "begin": "<tool_call>\n", "end": "\n</tool_call>", "name_key": "name", "arguments_key": "arguments"}}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string", "maxLength": 20}, "days": {"type": "integer", "minimum": 1, "maximum": 7},
                                     "unit": {"enum": ["C", "F"]}}, "required": ["city", "days"], "additionalProperties": False}}}
ASK = {"messages": [{"role": "user", "content": "How will the weather in Paris be for the next 3 days?"}], "tools": [TOOL], "temperature": 0.3, "max_tokens": 100}
SEEDS = range(1, 9)


def is_right(call):
    arguments = json.loads(call["function"]["arguments"])
    return (call["function"]["name"] == "get_weather" and set(arguments) - {"unit"} == {"city", "days"} and len(arguments["city"]) <= 20 and
            1 <= arguments["days"] <= 7 and arguments.get("unit", "C") in ("C", "F"))


def three_turns(server):
    """The conversation, or None where there is no client."""
    environment = node_environment("openai")
    if environment is None:
        return None
    model = json.loads(server.ask("GET", "/v1/models")[2])["data"][0]["id"]
    program = pathlib.Path(__file__).with_name("openai_tools.cjs")
    done = subprocess.run([shutil.which("node"), program, server.address("/v1"), model, json.dumps(TOOL)], stdout=subprocess.PIPE, check=True, text=True, env=environment)
    print(done.stdout, end="")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main(build, name):
    file = next(m for m in real_models.MODELS if m.name == name).path(real_models.default_folder())
    if not file.exists():
        print(f"skipped: needs the real models: {file} is not there; tests/real/fetch.py fetches them")
        return 77
    os.environ["INLAY_BUILD"] = build
    sys.path.append(str(pathlib.Path(__file__).parents[1] / "server"))
    from server_case import Server  # pylint: disable=import-outside-toplevel
    with tempfile.TemporaryDirectory() as folder:
        given = {"--chat-template-file": TEMPLATE, "--chat-format-file": json.dumps(FORMAT)}
        options = []
        for option, text in given.items():
            path = pathlib.Path(folder) / option.strip("-")
            path.write_text(text, encoding="utf-8")
            options += [option, path]
        server = Server(*options, model=file)
        try:
            turns = three_turns(server)
            answers = [server.post("/v1/chat/completions", ASK | more | {"seed": seed})[1]["choices"][0]["message"]
                       for more in ({"tool_choice": "required", "parallel_tool_calls": False}, {}) for seed in SEEDS]
        finally:
            server.stop()
    calls = [answer.get("tool_calls", []) for answer in answers]
    must, free = calls[:len(SEEDS)], calls[len(SEEDS):]
    n_right = sum(len(some) == 1 and is_right(some[0]) for some in must)
    n_paris = sum("Paris" in some[0]["function"]["arguments"] for some in must if some)
    n_free = sum(len(some) == 1 and is_right(some[0]) for some in free)
    print(f"{name}: {n_right} of {len(must)} calls are of the schema, {n_paris} about Paris; {n_free} calls where it is free")
    for some in must:
        print(json.dumps(some))
    called = [message["tool_calls"] for message in turns or [] if message["role"] == "assistant"]
    if turns is None:
        print("not done: a conversation through OpenAI's client needs the npm package openai")
    elif len(called) != 3 or not all(len(some) == 1 and is_right(some[0]) for some in called):
        print(f"a call of the conversation is not of the schema: {called}")
        return 1
    return 0 if n_right == len(must) and n_paris > len(must) // 2 and n_free < len(free) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
