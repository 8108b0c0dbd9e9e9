"""Fails unless a language's `tokens` program prints the same bytes as C's, and those are what they should be.

Usage: compare_tokens.py LIBRARY MODEL DEVICE CASES C_PROGRAM [COMMAND...]     without COMMAND it looks at C's alone
"""
import pathlib
import subprocess
import sys


def case_names(text):
    return [line.split("\t")[0] for line in text.splitlines()]


def output_problems(output, names):
    """What is wrong with C's output: a line for each case alone, `together:`, and the same lines again."""
    lines = output.decode().splitlines()
    alone, together = lines[:len(names)], lines[len(names) + 1:]
    if lines[len(names):len(names) + 1] != ["together:"]:
        return [f"line {len(names) + 1} is not 'together:'"]
    if [line.split(" ")[0] for line in alone] != names:
        return ["the lines do not begin with the names of the cases"]
    problems = [f"{line.split(' ')[0]} has no tokens" for line in alone if len(line.split(" ")) < 3]
    problems += [f"{a.split(' ')[0]} draws other tokens together with the others: {b}" for a, b in zip(alone, together) if a != b]
    if len(together) != len(alone):
        problems.append(f"{len(together)} cases were run together, not {len(alone)}")
    drawn = [line.split(" ", 1)[1] for line in alone if " " in line]
    if len(set(drawn)) != len(drawn):
        problems.append("two cases draw the same tokens, so one of their parameters is not looked at")
    return problems


def difference(expected, output):
    """Where two outputs begin to differ, "" if they do not."""
    if expected == output:
        return ""
    wanted, found = expected.split(b"\n"), output.split(b"\n")
    for number, (a, b) in enumerate(zip(wanted, found), 1):
        if a != b:
            return f"line {number} is\n  {b.decode(errors='replace')}\nand in C\n  {a.decode(errors='replace')}"
    return f"{len(found)} lines, {len(wanted)} in C"


def run(command, arguments):
    done = subprocess.run([*command, *arguments], capture_output=True, timeout=1800, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr.decode(errors='replace')}")
    return done.stdout


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    arguments, c_program, command = sys.argv[1:5], sys.argv[5], sys.argv[6:]
    expected = run([c_program], arguments)
    problems = output_problems(expected, case_names(pathlib.Path(arguments[3]).read_text(encoding="utf-8")))
    if command and (found := difference(expected, run(command, arguments))):
        problems.append(f"{' '.join(command)}: {found}")
    if problems:
        sys.exit("\n".join(problems))
    print(f"ok {expected.count(b' ')} tokens are those of C")


if __name__ == "__main__":
    main()
