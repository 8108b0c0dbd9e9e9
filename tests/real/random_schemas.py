#!/usr/bin/env python3
"""Random schemas of uniqueItems, contains and unevaluatedProperties with random instances, judged by the package jsonschema: lines for constraints.py.

usage: random_schemas.py OUT.jsonl [N [SEED]]

Nothing invalid may be let through. Of valid instances those alone are stopped whose keys are in another order than the schema has them.
"""
import json
import random
import sys

VALUES = [0, 1, 2, 5, 7, "a", "ab", "", True, False, None, [1], {"n": 1}]
NAMES = ["a", "b", "c", "xa", "xb", "q"]
N_INSTANCES = 40


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

    def instance(self, is_array):
        if is_array:
            return [self.random.choice(VALUES) for _ in range(self.random.randint(0, 5))]
        return {name: self.random.choice([1, None, True, "s"]) for name in self.some(NAMES, 0, 4)}


def main():
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    import jsonschema
    writer = Writer(int(sys.argv[3]) if len(sys.argv) > 3 else 7)
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        for i in range(int(sys.argv[2]) if len(sys.argv) > 2 else 1500):
            is_array = i % 2 == 0
            schema = writer.array() if is_array else writer.object()
            validator = jsonschema.Draft202012Validator(schema)
            tests = [{"valid": validator.is_valid(data), "data": data} for data in (writer.instance(is_array) for _ in range(N_INSTANCES))]
            out.write(json.dumps({"name": f"{'array' if is_array else 'object'}{i}", "schema": schema, "tests": tests}) + "\n")


if __name__ == "__main__":
    main()
