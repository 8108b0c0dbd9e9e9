#!/usr/bin/env python3
"""Makes the manual page and the completions for bash and zsh from what the built tool's --help says.

Usage: make_pages.py TOOL [--check]      --check: writes nothing, and fails where a page is not what it would write
"""
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
FILES = ("FILE", "MODEL", "MODEL_B", "PATH")
OPTION = re.compile(r"  ((?:-{1,2}[\w-]+, )*-{1,2}[\w-]+)(?: (\S+))?(?:  +(\S.*))?")


def help_of(tool, *command):
    return subprocess.run([*tool, *command, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout


def read_command(text):
    """What a command's help says: its usage, what it does, and its options as (names, value, help)."""
    head, _, rows = text.partition("\noptions:\n")
    usage, _, about = head.partition("\n\n")
    options = []
    for row in rows.splitlines():
        found = OPTION.fullmatch(row)
        if found:
            options.append([found[1].split(", "), found[2] or "", found[3] or ""])
        else:
            options[-1][2] = f"{options[-1][2]} {row.strip()}".strip()
    return usage.removeprefix("usage: inlay "), about.strip(), options


def read_tool(ask):
    """`ask` gives the help of a command, of the tool without one: each command's one line and its own help."""
    commands, _, rest = ask().partition("commands:\n")[2].partition("\n\n")
    names = dict(line.strip().split(None, 1) for line in commands.splitlines())
    return {name: (line, *read_command(ask(name))) for name, line in names.items()}, rest.splitlines()[-1]


def roff(text):
    return re.sub(r"^([.'])", r"\\&\1", text.replace("\\", r"\e").replace("-", r"\-"), flags=re.MULTILINE)


def man_page(commands, exit_codes):
    out = ['.\\" Made by examples/cli/make_pages.py from the tool\'s own help.', '.TH INLAY 1 "" "Inlay" "Inlay"', ".SH NAME",
           r"inlay \- run, describe and measure language models", ".SH SYNOPSIS", ".B inlay", ".I COMMAND", "[arguments]", ".SH COMMANDS"]
    for name, (line, usage, about, options) in commands.items():
        out += [f".SS {name}", f"{roff(line[0].upper() + line[1:])}.", ".PP", f".B inlay {roff(usage)}", ".PP", roff(about)]
        for names, value, text in options:
            out += [".TP", r"\fB" + r"\fR, \fB".join(map(roff, names)) + r"\fR" + (rf" \fI{roff(value)}\fR" if value else ""), roff(text)]
    return "\n".join([*out, ".SH EXIT STATUS", roff(exit_codes.removeprefix("exit codes: ")), ""])


def bash_completion(commands):
    out = ["# Completion of inlay's commands, options and named values. Made by examples/cli/make_pages.py from the tool's own help.", "_inlay() {",
           '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words=""',
           '  case "$COMP_CWORD ${COMP_WORDS[1]} $before" in', f'    "1 "*) words="{" ".join(commands)}" ;;']
    for name, (_, _, _, options) in commands.items():
        for names, value, _ in options:
            if "|" in value:
                out.append(f'    {" | ".join(f"*{chr(34)} {name} {n}{chr(34)}" for n in names)}) words="{value.replace("|", " ")}" ;;')
    for name, (_, _, _, options) in commands.items():
        out.append(f'    *" {name} "*) [[ $word == -* ]] && words="{" ".join(n for names, _, _ in options for n in names)}" ;;')
    return "\n".join([*out, "  esac", '  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")', "}",
                      "complete -o default -F _inlay inlay  # elsewhere: names of files", ""])


def zsh_completion(commands):
    def quoted(*parts):  # what stands between colons and brackets, and these between them
        return "'" + "".join(part if n % 2 else re.sub(r"[\\\[\]:]", r"\\\g<0>", part) for n, part in enumerate(parts)).replace("'", r"'\''") + "'"

    out = ["#compdef inlay", "# Completion of inlay's commands, options and named values. Made by examples/cli/make_pages.py from the tool's own help.",
           "local -a commands=("]
    out += ["  " + quoted(name, ":", line) for name, (line, *_) in commands.items()]
    out += [")", "if (( CURRENT == 2 )); then", "  _describe command commands", "  return", "fi", "shift words", "(( CURRENT-- ))", "case $words[1] in"]
    for name, (_, _, _, options) in commands.items():
        out += [f"  {name})", "    _arguments \\"]
        for names, value, text in options:
            action = f"({value.replace('|', ' ')})" if "|" in value else "_files" if value in FILES else ""
            what = ("", ":", "value" if "|" in value else value, f":{action}") if value else ()
            out += [f"      '*'{n}{quoted('', '[', text, ']', *what)} \\" for n in names]
        out.append("      '*: :_files' ;;")
    return "\n".join([*out, "esac", ""])


def pages_of(ask):
    commands, exit_codes = read_tool(ask)
    return {"inlay.1": man_page(commands, exit_codes), "inlay.bash": bash_completion(commands), "inlay.zsh": zsh_completion(commands)}


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    stale = []
    for name, text in pages_of(lambda *command: help_of(sys.argv[1:2], *command)).items():
        path = HERE / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(str(path))
            if sys.argv[2:] != ["--check"]:
                path.write_text(text, encoding="utf-8")
    if stale and sys.argv[2:] == ["--check"]:
        sys.exit(f"not what the tool's help says: {', '.join(stale)}; examples/cli/make_pages.py TOOL writes them")


if __name__ == "__main__":
    main()
