#!/usr/bin/env python3
"""Fails on files that a patch or an editor left behind, leftover words, machine paths, tabs, trailing blanks and overlong files among the project's text files, and on
calls in the library's sources that end the host program, print, throw, read the environment or follow its locale, or that wait for the GPU or
take its memory where that is not counted. In the tool's sources, on calls that set a locale or make text by it.

Usage: check_text.py [ROOT]
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

MAX_LINES = 700
SOURCES = {".h", ".hpp", ".c", ".cc", ".cpp", ".cu", ".cuh", ".py", ".sh", ".cmake", ".toml", ".rs", ".go", ".cs", ".lua"}
TEXTS = SOURCES | {".md", ".txt", ".json", ".map", ".yml", ".yaml"}
NAMES = {"run"}  # .ci/run
UNLIMITED = {".md", ".txt", ".json"}  # data and prose
TAB_INDENTED = {".go"}  # gofmt's form
LEFT_BEHIND = {".orig", ".rej", ".bak", ".swp"}
GENERATED = re.compile(r"\bgenerated\b", re.IGNORECASE)

# Spelled in pieces, so that this file passes its own check.
LEFTOVER = re.compile(r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK", "[Pp]lace" "holder"]) + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}>-])/(" + "|".join(["wor" "k", "ro" "ot", "ho" "me"]) + r")/")
LIBRARY = ("src/", "kernels/")
HOSTILE = re.compile(r"\b(assert|abort|exit|_Exit|quick_exit|terminate|raise|printf|puts|putchar|signal|sigaction)\s*\("
                     r"|std::(cout|cerr|clog)\b|^\s*throw\b|[;{)]\s*throw\b")
ENVIRONMENT = re.compile(r"\b(secure_)?getenv\s*\(")
HOSTILE_ALLOWED = {"src/base/mimalloc/operator_new.cpp"}  # operator new must throw std::bad_alloc
# Waits, memory and graphs of the GPU are counted, and made to fail in tests, in one file.
UNCOUNTED = re.compile(r"\bcuda((Stream|Event|Device)Synchronize|Memcpy|Malloc\w*|HostAlloc|Free\w*|GraphLaunch)\s*\(")
UNCOUNTED_ALLOWED = {"src/backend/cuda/device.cpp"}
# How many processors and how much memory the process may use is found in one file.
LIMITS = re.compile(r"\b(hardware_concurrency|sched_getaffinity|sysinfo|get_?n?procs\w*)\s*\(|_SC_(NPROCESSORS|PHYS_PAGES|AVPHYS)\w*|/proc/meminfo")
LIMITS_ALLOWED = {"src/base/host_limits.cpp", "src/base/host_limits_windows.cpp"}
# What follows the host's locale: text is made by src/base/format.h, numbers are read by std::from_chars.
LOCALE = re.compile(r"\b(v?[fsd]n?w?printf|vprintf|wprintf|v?[fs]?w?scanf|strto(d|f|ld|l|ul|ll|ull)|ato(f|i|l|ll)|sto(d|f|ld|i|l|ul|ll|ull)|strerror(_r|_l)?"
                    r"|dlerror|is(alpha|digit|alnum|space|upper|lower|punct|print|cntrl|graph|xdigit|blank)|to(lower|upper)|isw\w+|tow\w+"
                    r"|setlocale|localeconv|nl_langinfo|strcoll|strxfrm|strftime|put_time|strsignal|mbs?r?towcs?|wcs?r?tombs?)\s*\("
                    r"|std::(system|generic)_category|\.what\(\)"
                    r"|#\s*include\s*<(iostream|istream|ostream|sstream|fstream|iomanip|locale|regex|codecvt|cctype|ctype\.h|cwctype|clocale)>")
INTEGER_SCAN = re.compile(r"\b[fs]scanf\s*\((?![^;]*%\w*[aefgAEFG]\b)")  # of integers: no locale changes them
LOCALE_ALLOWED = {"src/base/format.cpp", "src/base/dynamic_library.cpp", "src/base/c_locale.h"}
# The tool is a program of its own, which never sets a locale, so what it prints follows none. Text that it makes for other
# programs, and numbers that it reads, follow none anywhere.
TOOL = ("examples/cli/",)
SETS_LOCALE = re.compile(r"\b(setlocale|uselocale|newlocale|imbue)\s*\(|std::locale\b|#\s*include\s*<(locale|clocale|locale\.h|xlocale\.h)>")
TOOL_LOCALE = re.compile(r"\b(v?sn?printf|v?asprintf|v?f?scanf|v?sscanf|strto(d|f|ld|l|ul|ll|ull)|ato(f|i|l|ll)|sto(d|f|ld|i|l|ul|ll|ull)"
                         r"|is(alpha|digit|alnum|space|upper|lower|punct|print|cntrl|graph|xdigit|blank)|to(lower|upper)|isw\w+|tow\w+"
                         r"|localeconv|nl_langinfo|strcoll|strxfrm|strftime|put_time|mbs?r?towcs?|wcs?r?tombs?)\s*\("
                         r"|#\s*include\s*<(iomanip|regex|codecvt|cctype|ctype\.h|cwctype)>")
TOOL_LOCALE_ALLOWED = {"examples/cli/line_reader.cpp"}  # the characters of one thread, while a line is typed
ENVIRONMENT_ALLOWED = {"src/base/environment.cpp"}


def project_files(root):
    """What git tracks or would track; without git, everything outside hidden and build folders."""
    if shutil.which("git"):
        listed = subprocess.run(["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                                capture_output=True, check=False)
        if listed.returncode == 0:
            return sorted(pathlib.Path(os.fsdecode(name)) for name in set(listed.stdout.split(b"\0")) if name)
    return sorted(p.relative_to(root) for p in root.rglob("*")
                  if not any(part.startswith(".") or part == "build" for part in p.relative_to(root).parts[:-1]))


def check_line(line, suffix):
    if "\r" in line:
        yield "carriage return"
    if "\t" in line and suffix not in TAB_INDENTED:
        yield "tab"
    if line.rstrip() != line:
        yield "trailing blank"
    if suffix in SOURCES and (found := LEFTOVER.search(line)):
        yield f"leftover word {found.group(1)}"
    if found := MACHINE_PATH.search(line):
        yield f"path of one machine: {found.group(0)}"


def check_library_line(line, path):
    name = path.as_posix()
    if not name.startswith(LIBRARY) or path.suffix not in SOURCES - {".py", ".cmake"}:
        return
    code = line.split("//")[0]
    if (found := HOSTILE.search(code)) and name not in HOSTILE_ALLOWED:
        yield f"not in a library: {found.group(0).strip()}"
    if (found := UNCOUNTED.search(code)) and name not in UNCOUNTED_ALLOWED:
        yield f"only by src/backend/cuda/device.h: {found.group(0)}"
    if (found := LIMITS.search(code)) and name not in LIMITS_ALLOWED:
        yield f"only by src/base/host_limits.h: {found.group(0)}"
    if (found := LOCALE.search(INTEGER_SCAN.sub("", code))) and name not in LOCALE_ALLOWED:
        yield f"follows the host's locale: {found.group(0).strip()}"
    if ENVIRONMENT.search(code) and name not in ENVIRONMENT_ALLOWED:
        yield "not in a library: the environment is read"


def check_tool_line(line, path):
    if not path.as_posix().startswith(TOOL) or path.suffix not in SOURCES - {".py", ".cmake"}:
        return
    code = line.split("//")[0]
    if (found := SETS_LOCALE.search(code)) and path.as_posix() not in TOOL_LOCALE_ALLOWED:
        yield f"sets a locale, which what is printed would follow: {found.group(0).strip()}"
    if found := TOOL_LOCALE.search(INTEGER_SCAN.sub("", code)):
        yield f"follows the locale: {found.group(0).strip()}"


def check_file(root, path):
    text = (root / path).read_bytes().decode("utf-8", errors="replace")
    lines = text.split("\n")
    if text and not text.endswith("\n"):
        yield f"{path}:{len(lines)}: no newline at the end"
    generated = any(GENERATED.search(line) for line in lines[:5])
    if len(lines) - 1 > MAX_LINES and path.suffix not in UNLIMITED and not generated:
        yield f"{path}: {len(lines) - 1} lines, more than {MAX_LINES}"
    for number, line in enumerate(lines, 1):
        for problem in (*check_line(line, path.suffix), *check_library_line(line, path), *check_tool_line(line, path)):
            yield f"{path}:{number}: {problem}"


def check_tree(root):
    problems = []
    for path in project_files(root):
        if path.suffix in LEFT_BEHIND or path.name.endswith("~"):
            problems.append(f"{path}: left behind by a patch or an editor")
        is_text = path.suffix in TEXTS or path.name in NAMES
        if is_text and "data" not in path.parts and (root / path).is_file():
            problems += check_file(root, path)
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[2])
    problems = check_tree(root)
    print("\n".join(problems) if problems else "every text file is clean")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
