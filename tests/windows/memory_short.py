#!/usr/bin/env python3
"""A host on Windows that is short of memory: calls work or say OUT_OF_MEMORY, and with more memory the host goes on.

usage: memory_short.py ROOMS PROGRAM LIBRARY MODEL [EMULATOR...]
  ROOMS    MiB that a process has left, one for each row; with commas
  PROGRAM  windows_library: it limits itself by a job. Wine keeps no such limit: there the process gets one of Linux, of its private memory

With less than some 60 MiB Wine 8 itself ends or waits for ever, as threads of its own lack memory. Prints what each call said; exit code 1 if one said something else, if a process ended
by itself, or if the rows do not hold both a call that had too little and one that had enough.
"""
import collections
import pathlib
import re
import subprocess
import sys
import tempfile

AS_IT_SHOULD = re.compile(r"all: OK|inlay_\w+: OUT_OF_MEMORY: \S.*")


def limit_data(pid, room):
    import resource  # Linux alone has it
    held = int(re.search(r"VmData:\s+(\d+) kB", pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8"))[1]) << 10
    before = resource.prlimit(pid, resource.RLIMIT_DATA)
    resource.prlimit(pid, resource.RLIMIT_DATA, (held + room, before[1]))
    return lambda: resource.prlimit(pid, resource.RLIMIT_DATA, before)


def run(command, mib):
    """What the calls said, the text that was written afterwards, and how the process ended."""
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        # Not by communicate(): what Wine begins beside the first process holds the pipes, too.
        host = subprocess.Popen([*command, str(mib)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, errors="replace")

        def go_on():
            try:
                print(file=host.stdin, flush=True)
            except BrokenPipeError:  # it has ended, which its exit code says
                pass
            return host.stdout.readline().strip()

        limit = host.stdout.readline().strip()
        lift = limit_data(host.pid, mib << 20) if limit == "limit: none" else lambda: None
        said = go_on()
        if host.poll() is None:
            lift()
        last = go_on()
        try:
            code = host.wait(60)
        except subprocess.TimeoutExpired:
            host.kill()
            code = "it hangs"
        errors.seek(0)
        return limit, said, last, f"{code}\n{errors.read()[-600:]}".strip()  # what Wine says of itself begins a line


def main():
    rooms, program, library, model, *emulator = sys.argv[1:]
    wrong, counts, texts = [], collections.Counter(), set()
    for mib in map(int, rooms.split(",")):
        limit, said, last, code = run([*emulator, program, "short", library, model], mib)
        print(f"{limit}, {mib} MiB: {said}; {last}; {code}", flush=True)
        counts[said.split(": ")[1] if ": " in said else said] += 1
        texts.add(last)
        if code != "0" or not AS_IT_SHOULD.fullmatch(said) or not last.startswith("text: "):
            wrong.append(mib)
    if len(texts) != 1:
        wrong.append("several texts")
    for needed in ("OK", "OUT_OF_MEMORY"):
        if counts[needed] == 0:
            wrong.append(f"no {needed}")
    print(f"{dict(counts)}; wrong: {wrong or 'nothing'}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
