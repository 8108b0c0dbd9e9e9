#!/usr/bin/env python3
"""Random schemas of uniqueItems, contains, unevaluatedProperties and formats with random instances: lines for constraints.py.

usage: random_schemas.py OUT.jsonl [N [SEED]] [--changed SCHEMAS.jsonl.xz]

--changed: real schemas instead, every so manieth that there are N, whose valid instances have a byte changed and are JSON still. The package jsonschema
judges, with its checks of formats, and Ajv (ajv_verdicts.cjs; INLAY_NODE_MODULES names the folder that has ajv and ajv-formats): an instance on which they
differ is left out and counted. Nothing invalid may be let through. Of valid instances those alone are stopped whose keys are in another order than the
schema has them, or whose numbers and texts are spelled as Inlay does not.
"""
import argparse
import json
import lzma
import os
import pathlib
import random
import subprocess
import sys

VALUES = [0, 1, 2, 5, 7, "a", "ab", "", True, False, None, [1], {"n": 1}]
NAMES = ["a", "b", "c", "xa", "xb", "q"]
N_INSTANCES = 40
FORMATS = {"date": ["2024-02-29", "2023-02-29", "1999-12-31", "2000-13-01"], "ipv4": ["127.0.0.1", "256.1.1.1", "1.2.3", "10.20.30.40"],
           "ipv6": ["::1", "fe80::1:2", "1:2:3:4:5:6:7:8", "1::2::3", "12345::"], "uuid": ["123e4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000"],
           "email": ["a@b.cd", "a.b@c.de", "@", "a b", "ab.cd"]}
BYTES = b'"\\{}[]:,0123456789.-+eE truefalsn'


class Writer:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def is_so(self, chance):
        return self.random.random() < chance

    def some(self, of, low, high):
        return sorted(self.random.sample(of, self.random.randint(low, high)), key=of.index)

    def item(self):
        return self.random.choice([
            {"enum": self.some(VALUES, 1, 6)}, {"type": "integer"}, {"type": ["boolean", "null"]}, {"const": self.random.choice(VALUES)}, {},
            {"type": ["integer", "string"], "maximum": 5, "minimum": 0}, {"oneOf": [{"const": 1}, {"const": "a"}, {"type": "boolean"}]},
            {"anyOf": [{"enum": [0, 1, "a"]}, {"type": "null"}]}])

    def array(self):
        out = {"type": "array", "items": self.item()}
        if self.is_so(.5):
            out["uniqueItems"] = True
        if self.is_so(.7):
            out["contains"] = self.random.choice([{"const": self.random.choice(VALUES)}, {"minimum": 2, "type": "number"}, {"type": "string"},
                                                  {"enum": self.some(VALUES, 3, 3)}, {"maxLength": 1}, True])
            for key in ("minContains", "maxContains"):
                if self.is_so(.5):
                    out[key] = self.random.randint(0, 3)
        for key in ("minItems", "maxItems"):
            if self.is_so(.4):
                out[key] = self.random.randint(0, 4)
        return {"type": "array", "allOf": [out, {"items": self.item()}]} if self.is_so(.2) else out

    def part(self):
        out = {}
        if self.is_so(.7):
            out["properties"] = {name: self.random.choice([{}, {"type": "integer"}, {"type": "null"}]) for name in self.some(NAMES, 0, 3)}
        if self.is_so(.3):
            out["patternProperties"] = {"^x": self.random.choice([{}, {"type": "integer"}])}
        if self.is_so(.1):
            out["additionalProperties"] = self.random.choice([True, {"type": "integer"}])
        if self.is_so(.15):
            out["unevaluatedProperties"] = self.random.choice([True, False, {"type": "null"}])
        return out

    def object(self):
        out = self.part() | {"type": "object"}
        if self.is_so(.6):
            out["allOf"] = [self.part() for _ in range(self.random.randint(1, 2))]
        if self.is_so(.3):
            out["anyOf"] = [{"required": ["a"]}, self.random.choice([{}, {"required": ["b"]}, {"properties": {"a": {"type": "integer"}}}, {"properties": {"zz": {}}}])]
        return out | {"unevaluatedProperties": self.random.choice([False, False, {"type": "integer"}, {"type": "boolean"}])}

    def text(self):
        name = self.random.choice(list(FORMATS))
        return {"type": "string", "format": name} | ({"maxLength": self.random.randint(8, 12)} if self.is_so(.3) else {})

    def changed(self, data):
        """The text with one byte changed, taken out or put in."""
        data, at, kind = bytearray(data), self.random.randrange(len(data)), self.random.randrange(3)
        data[at:at + (kind != 2)] = b"" if kind == 1 else bytes([self.random.choice(BYTES)])
        return bytes(data)

    def written(self, schema):
        text = self.random.choice(FORMATS[schema["format"]])
        return self.changed(text.encode()).decode() if self.is_so(.6) else text

    def instance(self, is_array):
        if is_array:
            return [self.random.choice(VALUES) for _ in range(self.random.randint(0, 5))]
        return {name: self.random.choice([1, None, True, "s"]) for name in self.some(NAMES, 0, 4)}


def random_cases(writer, n):
    for i in range(n):
        kind = ("array", "object", "text")[i % 3]
        schema = getattr(writer, kind)()
        yield f"{kind}{i}", schema, [writer.written(schema) if kind == "text" else writer.instance(kind == "array") for _ in range(N_INSTANCES)]


def changed_cases(writer, n, path):
    with lzma.open(path, "rt", encoding="utf-8") as lines:
        cases = [case for case in map(json.loads, lines) if any(test["valid"] for test in case["tests"])]
    for i in range(min(n, len(cases))):
        case = cases[i * len(cases) // min(n, len(cases))]
        texts = [json.dumps(test["data"], ensure_ascii=False).encode() for test in case["tests"] if test["valid"]]
        instances = []
        for text in texts:
            for _ in range(200 // len(texts)):
                try:
                    instance = json.loads(writer.changed(text).decode("utf-8"))
                    json.dumps(instance, allow_nan=False)
                except ValueError:
                    continue
                instances.append(instance)
        yield case["name"], case["schema"], instances


def by_jsonschema(schema, instances):
    import jsonschema
    validator = jsonschema.validators.validator_for(schema, jsonschema.Draft202012Validator)
    try:
        return [validator(schema, format_checker=validator.FORMAT_CHECKER).is_valid(data) for data in instances]
    except Exception:  # pylint: disable=broad-exception-caught
        return None  # a reference elsewhere, or a pattern that is none of Python's


def by_ajv(cases):
    environment = os.environ | ({"NODE_PATH": os.environ["INLAY_NODE_MODULES"]} if "INLAY_NODE_MODULES" in os.environ else {})
    lines = "".join(json.dumps({"schema": schema, "data": instances}) + "\n" for _, schema, instances in cases)
    output = subprocess.run(["node", str(pathlib.Path(__file__).with_name("ajv_verdicts.cjs"))], input=lines, stdout=subprocess.PIPE, check=True, text=True, env=environment).stdout
    return [json.loads(line).get("valid") for line in output.splitlines()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    parser.add_argument("n", nargs="?", type=int, default=1500)
    parser.add_argument("seed", nargs="?", type=int, default=7)
    parser.add_argument("--changed", metavar="SCHEMAS")
    options = parser.parse_args()
    writer = Writer(options.seed)
    cases = list(changed_cases(writer, options.n, options.changed) if options.changed else random_cases(writer, options.n))
    n = {"judged by both": 0, "by jsonschema alone": 0, "by Ajv alone": 0, "by none": 0, "left out, for they differ": 0}
    with open(options.out, "w", encoding="utf-8") as out:
        for (name, schema, instances), ajv in zip(cases, by_ajv(cases), strict=True):
            own = by_jsonschema(schema, instances)
            first, second = own or ajv, ajv or own
            n["by none" if not first else "judged by both" if own and ajv else "by jsonschema alone" if own else "by Ajv alone"] += len(instances)
            tests = [{"valid": a, "data": data} for a, b, data in zip(first or [], second or [], instances) if a == b]
            n["left out, for they differ"] += len(first or []) - len(tests)
            out.write(json.dumps({"name": name, "schema": schema, "tests": tests}) + "\n")
    print(", ".join(f"{number} {what}" for what, number in n.items()), file=sys.stderr)


if __name__ == "__main__":
    main()
