"""Talks with the Rust example `chat` through pipes: history, a context that fills, lines that are too long.

Usage: rust_chat_example.py MODEL COMMAND...   COMMAND runs the example without its arguments
"""
import sys

from chat_example import CONTEXT, FORGOTTEN, SCENE, check, check_history, talk


def check_full_context(model, command):
    lines = ["Do you have a room?", "What is your name?"] * 15
    answers, turns, notes, said = talk(command, lines, model, SCENE, "64")
    check("every line was answered", len(answers) == len(turns) == len(lines) and all(answers), said)
    check("conversation and answer fit", all(tokens + 64 <= CONTEXT for _, tokens, _, _ in turns), said)
    shrunk = [i for i in range(1, len(turns)) if turns[i][1] < turns[i - 1][1]]
    check("turns were dropped, and seldom", 1 <= len(shrunk) <= 5, said)
    check("it is said each time", notes.count(FORGOTTEN) == len(shrunk), said)
    check("half of the room is free then", all(turns[i][1] <= (CONTEXT - 64) // 2 for i in shrunk), said)
    check("what follows runs only what is new", all(turns[i][0] < 20 for i in range(1, len(turns)) if i not in shrunk), said)


def check_limits(model, command):
    line, too_long = "Do you have a room?", "Do you have a room? " * 200
    answers, turns, notes, said = talk(command, [line, too_long, line], model, SCENE)
    check("a line that is too long is refused", "too long" in notes and len(answers) == len(turns) == 2, said)
    check("and changes nothing", turns[1][0] < 20 and FORGOTTEN not in notes, said)
    _, turns, _, said = talk(command, [line] * 2, model, SCENE, "5")
    check("five tokens an answer", [turn[2:] for turn in turns] == [(5, "maxtokens")] * 2, said)
    for arguments in ((), (model, SCENE, "many"), ("no such file",)):
        answers, _, notes, said = talk(command, [], *arguments, code=1)
        check("it says why", not answers and notes, said)


def main():
    model, command = sys.argv[1], sys.argv[2:]
    check_history(model, command)
    check_full_context(model, command)
    check_limits(model, command)
    print("chat: history, full context and limits")


if __name__ == "__main__":
    main()
