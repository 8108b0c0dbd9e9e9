#!/usr/bin/env python3
"""Fails on tags, filters, tests, methods, functions and operators of src/template that no template of tests/data/templates uses.

Usage: check_template_names.py [ROOT]
"""
import json
import pathlib
import re
import sys

TABLE = re.compile(r"constexpr (?:Named<(?P<kind>[\w:]+)>|(?P<tag>Tag)) k\w+\[\] = \{(?P<rows>.*?)\};", re.DOTALL)
ROW = re.compile(r'\{\s*"([^"]+)",')
KINDS = {"Filter": "filter", "Test": "test", "MethodEntry": "method", "Function::Body": "function"}
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or", "not",
             "is", "is not", "if", "else", "[", "(", "{", "|", ".", ":"]
LOOP = re.compile(r'name == "(\w+)"')

WORD = r"(?<![\w'\"]){0}(?!\w)"
# What counts as a use of {0}, within a tag.
USES = {
    "tag": [r"\A\{{%[-+]?\s*{0}(?!\w)"],
    "filter": [r"\|\s*{0}(?!\w)", r"\A\{{%[-+]?\s*filter\s+{0}(?!\w)", r"map\(\s*['\"]{0}['\"]"],
    "test": [r"\bis\s+(?:not\s+)?{0}(?!\w)", r"(?:select|reject)\(\s*['\"]{0}['\"]",
             r"(?:select|reject)attr\(\s*['\"][^'\"]*['\"],\s*['\"]{0}['\"]"],
    "method": [r"\.{0}\(", r"\.{0}(?!\w)", r"\[['\"]{0}['\"]\]\("],
    "function": [WORD + r"\("],
    "loop": [r"\b(?:loop|outer|l)\.{0}(?!\w)"],
}
TAG = re.compile(r"\{\{.*?\}\}|\{%.*?%\}", re.DOTALL)
NO_TAGS = re.compile(r"\{#.*?#\}|\{%[-+]?\s*raw\s*-?%\}.*?\{%[-+]?\s*endraw", re.DOTALL)


def registered(root):
    """(kind, name) of everything that the tables of src/template list."""
    out = set()
    for path in sorted((root / "src" / "template").glob("*.cpp")):
        text = path.read_text(encoding="utf-8")
        for table in TABLE.finditer(text):
            kind = "tag" if table["tag"] else KINDS.get(table["kind"])
            if kind is None:
                sys.exit(f"{path}: a table of an unknown kind, {table['kind']}")
            out |= {(kind, name) for name in ROW.findall(table["rows"])}
    loop = root / "src" / "template" / "loop.cpp"
    if loop.exists():
        out |= {("loop", name) for name in LOOP.findall(loop.read_text(encoding="utf-8"))}
    return out


def templates(folder):
    for path in sorted(folder.glob("*/template.jinja")):
        yield path.read_text(encoding="utf-8")
    engine = folder / "engine.json"
    if engine.exists():
        for case in json.loads(engine.read_text(encoding="utf-8"))["cases"]:
            yield case["template"]
    kinds = folder / "kinds.json"
    if kinds.exists():
        for _, template, *_ in json.loads(kinds.read_text(encoding="utf-8"))["rows"]:
            yield template


def unused(root):
    tags = [tag for text in templates(root / "tests" / "data" / "templates") for tag in TAG.findall(NO_TAGS.sub("", text))]
    everything = "\n".join(tags)
    printed = "\n".join(tag for tag in tags if tag.startswith("{{"))
    out = []
    for kind, name in sorted(registered(root)):
        patterns = [re.compile(use.format(re.escape(name)), re.MULTILINE) for use in USES[kind]]
        at_start = kind == "tag" or kind == "filter"
        used = any(p.search(tag) for tag in tags for p in patterns) if at_start else any(
            p.search(everything) for p in patterns)
        if not used:
            out.append(f"{kind} {name}")
    for operator in OPERATORS:
        pattern = re.escape(operator).replace(r"\ ", r"\s+")
        pattern = rf"\b{pattern}\b" if operator[0].isalpha() else rf"(?<![*/=!<>+\-%]){pattern}(?![*/=])"
        if not re.search(pattern, printed):
            out.append(f"operator {operator}")
    return out


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    n = len(registered(root))
    missing = unused(root)
    for name in missing:
        print(f"no template of tests/data/templates uses the {name}")
    if n < 100:
        print(f"only {n} names found in src/template; its tables have another form than this check reads")
    elif not missing:
        print(f"{n} names and {len(OPERATORS)} operators, all in use")
    return 1 if missing or n < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
