"""Fails unless a `tokens` program says what is wrong with libraries that it cannot use, and ends with an error.

Usage: refused_libraries.py MODEL CASES OLDER LACKING OTHER COMMAND...     of version 1.0, without newer functions, of another major version
"""
import re
import subprocess
import sys


def complaint(command, library, model, cases):
    """Output of a program that has to fail by itself: with an exit code of its own, and soon."""
    done = subprocess.run([*command, library, model, "cpu", cases], capture_output=True, text=True, timeout=1800, check=False)
    if not 0 < done.returncode < 126:
        sys.exit(f"{library}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def main():
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    model, cases, older, lacking, other, *command = sys.argv[1:]
    # A language may open an older library and report the calls that it lacks.
    for library, expected in ((older, r"ABI 1\.0|unsupported"), (lacking, "lacks the function|unsupported"), (other, r"ABI 2\.0"),
                              ("/nonexistent/libinlay.so", "/nonexistent/libinlay.so")):
        text = complaint(command, library, model, cases)
        if not re.search(expected, text, re.IGNORECASE):
            sys.exit(f"{library}: no {expected} in:\n{text}")
        print(f"ok {library}")


if __name__ == "__main__":
    main()
