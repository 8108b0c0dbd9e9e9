"""A real model writes JSON by a schema, by the tool: check_schema.py TOOL MODEL_NAME

Each text parses and is of the schema; without the schema none is (the negative control).
"""
import json
import subprocess
import sys

import real_models

SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 40}, "age": {"type": "integer", "minimum": 0, "maximum": 120},
                                           "hobbies": {"type": "array", "items": {"type": "string", "maxLength": 30}, "minItems": 1, "maxItems": 3}},
          "required": ["name", "age", "hobbies"], "additionalProperties": False}
PROMPT = "Describe a person as JSON with name, age and hobbies."
SEEDS = range(1, 9)


def text_of(tool, model, seed, *options):
    done = subprocess.run([tool, "run", model, "-p", PROMPT, "-s", str(seed), "--temp", "0.7", "-n", "200", "-q", *options], capture_output=True, check=True)
    return done.stdout.decode()


def is_right(text):
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return (isinstance(value, dict) and list(value) == ["name", "age", "hobbies"] and len(value["name"]) <= 40 and 0 <= value["age"] <= 120 and
            1 <= len(value["hobbies"]) <= 3 and all(len(hobby) <= 30 for hobby in value["hobbies"]))


def main(tool, name):
    file = next(m for m in real_models.MODELS if m.name == name).path(real_models.default_folder())
    if not file.exists():
        print(f"skipped: needs the real models: {file} is not there; tests/real/fetch.py fetches them")
        return 77
    model = str(file)
    texts = [text_of(tool, model, seed, "-j", json.dumps(SCHEMA)) for seed in SEEDS]
    wrong = [text for text in texts if not is_right(text)]
    free = [text for text in (text_of(tool, model, seed) for seed in SEEDS) if is_right(text)]
    print(f"{name}: {len(texts) - len(wrong)} of {len(texts)} texts are of the schema, {len(free)} without it")
    for text in wrong:
        print(text)
    return 1 if wrong or free or len(set(texts)) < 2 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
