#!/usr/bin/env python3
"""Fails unless the tool of another system writes, byte for byte, what the tool of this machine writes.

Usage: same_text.py TOKENS PROMPT OTHER_PROMPT OUTPUT TOOL...

TOOL: the command that runs the other system's tool, which is given OTHER_PROMPT. Its text is left in OUTPUT.
"""
import pathlib
import sys

from emulated import output_of

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT / "tests/lint"))
from needs import native_tool  # noqa: E402  # pylint: disable=wrong-import-position


def text(tool, prompt, tokens):
    command = [*tool, "run", "examples/model/tales.gguf", "--temp", "0", "--raw", "--tokens", tokens, "--prompt", prompt]
    return output_of(command, cwd=ROOT)


def main():
    tokens, prompt, other_prompt, output, *tool = sys.argv[1:]
    if not native_tool():
        print("skipped: needs a tool for this machine")
        return 77
    found = text(tool, other_prompt, tokens)  # first: this machine's tool writes what it took
    wanted = text([native_tool()], prompt, tokens)
    pathlib.Path(output).write_bytes(found)
    if wanted != found:
        differing = (i for i, (a, b) in enumerate(zip(wanted, found)) if a != b)
        print(f"the texts differ from byte {next(differing, min(len(wanted), len(found)))} on; {native_tool()} writes:\n{wanted.decode()}")
        return 1
    print(f"the same {len(found)} bytes as {native_tool()} writes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
