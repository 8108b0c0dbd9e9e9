"""Talks with the example `chat` of C# or Go through pipes: history, Ctrl-C, a context that fills, lines that are too long.

Usage: chat_example.py MODEL COMMAND...   COMMAND runs the example without its arguments
"""
import array
import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
import time

TIMEOUT = 900
SCENE = "Mira is a kind innkeeper at an inn in Oakvale."
TURN = re.compile(r"^\((\d+) of (\d+) tokens were new, (\d+) drawn, (\w+)\)$", re.MULTILINE)
FORGOTTEN = "the oldest turns are forgotten"
CONTEXT = 512  # of the model


def check(what, holds, said):
    if not holds:
        sys.exit(f"{what}: does not hold\n{said}")


def talk(command, lines, *arguments, code=0):
    done = subprocess.run([*command, *arguments], input="".join(f"{line}\n" for line in lines), capture_output=True, text=True, check=False,
                          timeout=TIMEOUT)
    said = f"{' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
    check(f"exit code {code}", done.returncode == code, said)
    return done.stdout.splitlines(), turns_in(done.stderr), done.stderr, said


def turns_in(notes):
    """Tokens that were new, that the conversation has and that were drawn, and why the answer ended: EndOfGeneration or END_OF_GENERATION."""
    return [(int(n), int(of), int(drawn), why.replace("_", "").lower()) for n, of, drawn, why in TURN.findall(notes)]


def check_history(model, command):
    """Each turn runs what is new alone, and the earlier turns count."""
    lines = ["Do you have a room?", "", "Thank you.", "What is your name?"]
    answers, turns, _, said = talk(command, lines, model, SCENE)
    check("an answer to each line but the empty one", len(answers) == 3 and all(answers), said)
    check("three turns", len(turns) == 3 and turns[0][0] == turns[0][1], said)
    for before, (new, tokens, _, why) in zip(turns, turns[1:]):
        check("the model ended its answer", why == "endofgeneration", said)
        check("the conversation grows by answer and line", tokens >= before[1] + before[2], said)
        check("a turn runs its own line alone", new <= tokens - before[1] - before[2] + 1, said)
    _, alone, _, _ = talk(command, lines[-1:], model, SCENE)
    check("without history the conversation is shorter", alone[0][1] < turns[2][1], said)


def check_full_context(model, command):
    lines = ["Do you have a room?", "What is your name?"] * 15
    answers, turns, notes, said = talk(command, lines, model, SCENE, "64")
    check("every line was answered", len(answers) == len(turns) == len(lines) and all(answers), said)
    check("it is said once", notes.count(FORGOTTEN) == 1, said)
    check("conversation and answer fit", all(tokens + 64 <= CONTEXT for _, tokens, _, _ in turns), said)
    shrunk = [i for i in range(1, len(turns)) if turns[i][1] < turns[i - 1][1]]
    check("turns were dropped, and seldom", 1 <= len(shrunk) <= 5, said)
    check("half of the room is free then", all(turns[i][1] <= (CONTEXT - 64) // 2 for i in shrunk), said)
    check("what follows runs only what is new", all(turns[i][0] < 20 for i in range(1, len(turns)) if i not in shrunk), said)

    too_long = "Do you have a room? " * 200
    answers, turns, notes, said = talk(command, [lines[0], too_long, lines[1]], model, SCENE)
    check("a line that is too long is refused", "too long" in notes and len(answers) == len(turns) == 2, said)
    check("and changes nothing", turns[1][0] < 20 and FORGOTTEN not in notes, said)


def check_limits(model, command):
    _, turns, _, said = talk(command, ["Do you have a room?"] * 2, model, SCENE, "5")
    check("five tokens an answer", [turn[2:] for turn in turns] == [(5, "maxtokens")] * 2, said)
    for arguments in ((), (model, SCENE, "0"), (model, SCENE, "many"), ("no such file",)):
        answers, _, notes, said = talk(command, [], *arguments, code=1 if arguments else 2)
        check("it says why", not answers and notes, said)


def check_interrupt(model, command):
    """Ctrl-C ends the answer under way. A slow machine is given more time to see the signal."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it, and so would the example
    for seconds in (0.5, 2, 10):
        answers, notes = interrupt(model, command, seconds)
        if "(interrupted)" in notes:
            break
    said = f"{answers}\n{notes}"
    check("it is told", "(interrupted)" in notes, said)
    check("two answers, the first one cut", len(answers) == 2 and 0 < len(answers[0]) < 40 and answers[1], said)
    check("the second alone came to its end", len(TURN.findall(notes)) == 1, said)


def interrupt(model, command, seconds):
    """The pipe for the answers has room for a word or two, so the example stands within its first answer when the signal comes."""
    answers, to_us = os.pipe()
    n_filled = fcntl.fcntl(to_us, fcntl.F_SETPIPE_SZ, 4096) - 16
    os.write(to_us, b"#" * n_filled)
    with subprocess.Popen([*command, model, SCENE], stdin=subprocess.PIPE, stdout=to_us, stderr=subprocess.PIPE, text=True) as chat:
        os.close(to_us)
        try:
            chat.stdin.write("Do you have a room?\nWhat is your name?\n")
            chat.stdin.close()
            wait_for_more(answers, n_filled)
            chat.send_signal(signal.SIGINT)
            time.sleep(seconds)
            with open(answers, "rb") as stream:
                text = stream.read()[n_filled:].decode()
            notes = chat.stderr.read()
            check("the program ends well", chat.wait(TIMEOUT) == 0, text + notes)
        finally:
            chat.kill()
    return text.splitlines(), notes


def wait_for_more(pipe, n_bytes):
    """Until more than so many bytes lie in the pipe."""
    for _ in range(TIMEOUT * 100):
        lying = array.array("i", [0])
        fcntl.ioctl(pipe, termios.FIONREAD, lying)
        if lying[0] > n_bytes:
            return
        time.sleep(0.01)
    sys.exit("the example never wrote an answer")


def main():
    model, command = sys.argv[1], sys.argv[2:]
    check_history(model, command)
    check_full_context(model, command)
    check_limits(model, command)
    check_interrupt(model, command)
    print("chat: history, full context, limits and interrupt")


if __name__ == "__main__":
    main()
