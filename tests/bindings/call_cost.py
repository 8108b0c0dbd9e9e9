"""Runs every language's `call_cost` program in turn, and prints the least of their medians beside C's.

Usage: call_cost.py LIBRARY MODEL ROUNDS LANGUAGE COMMAND... [-- LANGUAGE COMMAND...]...     the first language is the measure
"""
import subprocess
import sys

CALLS = ["abi_version", "session_get_info", "decode_step"]


def parse(output):
    """Nanoseconds by call."""
    rows = [line.split(" ") for line in output.splitlines()]
    if [row[0] for row in rows] != CALLS or any(len(row) != 2 or not float(row[1]) > 0 for row in rows):
        raise ValueError(f"not the lines {', '.join(CALLS)} with nanoseconds:\n{output}")
    return {name: float(value) for name, value in rows}


def split(arguments):
    """Commands by language."""
    commands = {}
    while arguments:
        end = arguments.index("--") if "--" in arguments else len(arguments)
        commands[arguments[0]] = arguments[1:end]
        arguments = arguments[end + 1:]
    return commands


def measure(command, library, model):
    done = subprocess.run([*command, library, model], capture_output=True, text=True, timeout=1800, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return parse(done.stdout)


def table(times):
    measure_of_all = next(iter(times.values()))
    lines = [f"| ns a call | {' | '.join(CALLS)} |", "|---|" + "---|" * len(CALLS)]
    for language, found in times.items():
        cells = [f"{found[c]:.0f} ({found[c] / measure_of_all[c]:.2f}x)" if c == "decode_step" else f"{found[c]:.1f}" for c in CALLS]
        lines.append(f"| {language} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    library, model, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
    commands, times = split(sys.argv[4:]), {}
    for _ in range(rounds):
        for language, command in commands.items():
            found = measure(command, library, model)
            times[language] = {c: min(found[c], times.get(language, found)[c]) for c in CALLS}
    print(table(times))


if __name__ == "__main__":
    main()
