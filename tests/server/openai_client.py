#!/usr/bin/env python3
"""The npm package openai against the server. INLAY_NODE_MODULES names the folder that has it, if it is not a global package."""
import pathlib
import shutil
import subprocess
import sys

sys.path.append(str(pathlib.Path(__file__).parents[1] / "lint"))
from needs import node_environment  # noqa: E402  # pylint: disable=wrong-import-position
from server_case import PATIENCE, Server, skip  # noqa: E402  # pylint: disable=wrong-import-position

PROGRAM = pathlib.Path(__file__).with_name("openai_client.cjs")
KEY = "a-key"


def main():
    node, environment = shutil.which("node"), node_environment("openai")
    if environment is None:
        skip("needs the npm package openai")
    server = Server(environment={"INLAY_API_KEY": KEY})
    try:
        done = subprocess.run([node, PROGRAM, server.address("/v1"), KEY], check=False, timeout=PATIENCE, env=environment)
    finally:
        ended = server.stop()
    sys.exit(done.returncode or ended)


if __name__ == "__main__":
    main()
