#!/usr/bin/env python3
"""Writes C# 8 sources for a compiler of C# 7.2, such as Mono's: without the marks of nullable reference types.

  plain.py FOLDER SOURCE...     writes each source into FOLDER

`string?` becomes `string`, `value!` becomes `value`, a #nullable line becomes empty; `int?` stays. Lines keep their numbers, and
a #line names the source, so that the compiler's messages point there. Marks stand close behind their word, the ? and ! of
expressions do not: what could be either is refused.
"""

import re
import sys
from pathlib import Path

KEYWORDS = "bool byte sbyte char short ushort int uint long ulong float double decimal"
OF_THE_BASE_LIBRARY = "IntPtr UIntPtr TimeSpan DateTime DateTimeOffset Guid CancellationToken GCHandle KeyValuePair Nullable"
SKIPPED = re.compile(r"""//[^\n]* | /\*.*?\*/ | \$?@"(?:""|[^"])*" | @\$"(?:""|[^"])*" | \$?"(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])+'
                         | ^[ \t]*\#[^\n]*""", re.VERBOSE | re.DOTALL | re.MULTILINE)
MARK = re.compile(r"(?<=[\w>\]])\?(?![.?])|(?<=[\w>\])])!(?!=)")
DECLARED = re.compile(r"\b(?:struct|enum)\s+(\w+)")


class Unclear(Exception):
    """A ? or ! that may be a mark or an operator."""


def value_types(sources: list[str]) -> set[str]:
    """Names whose ? makes another type, which C# 7.2 has."""
    names = set(f"{KEYWORDS} {OF_THE_BASE_LIBRARY}".split())
    for text in sources:
        names.update(DECLARED.findall(SKIPPED.sub(" ", text)))
    return names


def type_before(code: str, end: int) -> str:
    """The name of the type that ends here, without its arguments; empty for an array, which is a reference."""
    if code[end - 1] == "]":
        return ""
    if code[end - 1] == ">":
        depth = 0
        while True:
            end -= 1
            depth += {">": 1, "<": -1}.get(code[end], 0)
            if depth == 0:
                break
            if end == 0:
                raise Unclear("a > without its <")
    return re.search(r"\w*$", code[:end])[0]


def without_marks(text: str, values: set[str]) -> str:
    """The text in C# 7.2. Comments, strings and directives stay as they are, but for #nullable."""
    # Blanks in place of comments, quotes in place of strings, so that places in both are the same.
    code = SKIPPED.sub(lambda found: re.sub(r"[^\n]", " " if found[0].lstrip()[0] in "/#" else '"', found[0]), text)
    dropped = set()
    for mark in MARK.finditer(code):
        at, behind = mark.start(), code[mark.end():mark.end() + 2]
        line = code.count("\n", 0, at) + 1
        if mark[0] == "?" and (re.match(r"[\w\"'(!~+-]", behind) or re.match(r"\[[^\],]", behind)):
            raise Unclear(f"line {line}: write a space before the ? of an expression, and after the ? of a type")
        if mark[0] == "!" and re.match(r"\w", behind):
            raise Unclear(f"line {line}: write a space before the ! of an expression")
        if mark[0] == "!" or type_before(code, at) not in values:
            dropped.add(at)
    plain = "".join(c for i, c in enumerate(text) if i not in dropped)
    return re.sub(r"^[ \t]*#nullable\b[^\n]*", "", plain, flags=re.MULTILINE)


def main(arguments: list[str]) -> int:
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, paths = Path(arguments[0]), [Path(p).resolve() for p in arguments[1:]]
    folder.mkdir(parents=True, exist_ok=True)
    sources = [p.read_text(encoding="utf-8") for p in paths]
    values = value_types(sources)
    for path, text in zip(paths, sources):
        try:
            plain = without_marks(text, values)
        except Unclear as problem:
            print(f"{path}: {problem}", file=sys.stderr)
            return 1
        (folder / path.name).write_text(f'#line 1 "{path}"\n{plain}', encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
