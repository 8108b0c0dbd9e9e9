"""Fails if an object file of the tool runs code before main: what lacks memory there ends the process, as nothing can catch it.

usage: before_main.py NM OBJECT...
"""
import re
import subprocess
import sys


def main():
    nm, objects = sys.argv[1], sys.argv[2:]
    found = [f"{path}: {name} runs before main" for path in objects
             for name in re.findall(r" t (_GLOBAL__sub_I\S*)", subprocess.run([nm, path], capture_output=True, text=True, check=True).stdout)]
    print("\n".join(found) if found else f"{len(objects)} files run nothing before main")
    return 1 if found or not objects else 0


if __name__ == "__main__":
    sys.exit(main())
