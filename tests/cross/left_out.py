#!/usr/bin/env python3
"""Which tests of a build for another system skip here, and why.

Usage: left_out.py PRESET JUNIT [--all] <NAMES

Of the names of tests, one a line, it prints an expression for ctest's -E that leaves out those of the table, and writes them into JUNIT as
skipped. With --all the names are those of all tests, and JUNIT has also what is not built for the system: a row that names no test is an
error, and so is a test of the sources that is neither built nor in the table.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

TESTS = pathlib.Path(__file__).parents[1]
EMULATOR, LINUX = "needs the system itself: ", "needs Linux: "
# What a cross build does not build. The same checks run in this machine's own build, or need programs of the target that start each other.
NOT_BUILT = {
    "linux-arm64": {
        "bindings.*": EMULATOR + "Rust, Mono and .NET of the target would load the library; arm64.go_*",
        "cli.*": EMULATOR + "scripts start the tool as a program of their own",
        "abuse.*": EMULATOR + "it limits memory and threads of processes, which are the emulator's here",
        "fuzz.*": EMULATOR + "the replays take an emulator hours",
        "lint.*": EMULATOR + "it reads the sources, as in this machine's build",
        "data.*": EMULATOR + "it makes the test data again, as in this machine's build",
        "real.*": EMULATOR + "real models take an emulator hours",
        "server.*": EMULATOR + "scripts start the server as a program of their own",
        "love.*": EMULATOR + "LÖVE of the target would load the library",
    },
    "windows-x64": {
        "bindings.*": EMULATOR + ".NET of Windows would load the library; windows.go_*, windows.rust_*",
        "fuzz.*": EMULATOR + "the replays are those of this machine's build",
        "lint.*": EMULATOR + "it reads the sources, as in this machine's build",
        "data.*": EMULATOR + "it makes the test data again, as in this machine's build",
        "real.*": EMULATOR + "real models take an emulator hours",
        "server.*": LINUX + "the server is a program for Linux: epoll",
        "love.*": LINUX + "LÖVE under Xvfb",
        "capi.run_paths": LINUX + "DLLs are found beside the program",
        "capi.library_file": LINUX + "it reads ELF; windows.dll reads the DLL",
        "capi.library_checker_refuses_other": LINUX + "it reads ELF; windows.dll_sees_exports",
        "capi.abi_dump": LINUX + "abidw reads ELF",
        "capi.abi_is_kept": LINUX + "abidiff reads ELF; capi.frozen_client_* run on the DLL",
        "capi.abi_is_kept_refuses_other": LINUX + "abidiff reads ELF",
        "capi.host_malloc": LINUX + "a DLL takes no functions of the program's; windows.host_malloc counts what it takes of the C library's",
        "capi.host_malloc_refuses_other": LINUX + "a DLL takes no functions of the program's",
        "capi.linked_older_library": LINUX + "symbols of a DLL have no versions; capi.opened_older_library",
        "capi.system_calls": LINUX + "system calls that fail by a library in front of the C library",
        "capi.system_calls_refuse_others": LINUX + "system calls that fail by a library in front of the C library",
        "capi.opened_again": LINUX + "memory, threads and descriptors in /proc; windows.library_cycles",
        "capi.opened_again_finds_queue": LINUX + "likewise",
        "capi.opened_again_finds_descriptor": LINUX + "likewise",
        "cli.terminal": LINUX + "pseudo-terminals",
        "cli.terminal_says_what_is_missing": LINUX + "pseudo-terminals",
        "cli.editor": LINUX + "libedit and pseudo-terminals",
        "cli.interrupt": LINUX + "signals from another process; windows.tool.Interrupt.*",
        "cli.full_disk": LINUX + "limits of file sizes and /dev/full; windows.tool.Pipes.*",
        "cli.locales": LINUX + "locales by variables of the environment; windows.tool.CommandLine.*, capi.HostLocale.ChangesNothing",
        "abuse.limit": LINUX + "RLIMIT_AS; windows.memory_short",
        "abuse.calls": LINUX + "system calls that fail by a library in front of the C library",
        "abuse.new-threads": LINUX + "RLIMIT_AS",
        "abuse.tool-limit": LINUX + "RLIMIT_AS",
        "abuse.tool-calls": LINUX + "system calls that fail by a library in front of the C library",
        "abuse.files": LINUX + "FIFOs, sockets and links; unit_formats.OpenFileOnWindows.* and unit_formats.TargetFileOnWindows.*",
        "abuse.pairs": LINUX + "two programs at a time, which it forks; capi.SharedHandles.EveryPairOfCalls",
        "abuse.forks": LINUX + "fork(); capi.Processes.AChildUsesTheLibraryBesideItsParent",
        "abuse.signals": LINUX + "signals",
    },
}
# Vocabularies of INLAY_FIXTURES, an additional set.
OUTSIDE = {r"unit\w*\.OutsideVocabulary.*": EMULATOR + "other projects' vocabularies are read in this machine's build"}
# Expressions of names of tests, by preset. What stands behind a semicolon keeps the promise on that system.
TABLE = {
    "linux-arm64": OUTSIDE | {
        r"unit_base\.HostLimits\.LimitsOfResources": EMULATOR + "qemu sets no limit of address space for the programs that it runs",
        r"capi\.opened_again.*": EMULATOR + "the memory and the threads that it finds in /proc are the emulator's",
        r"capi\.Devices/Lifetime\.AThousandSessionsLeaveNothing/.*": EMULATOR + "a thousand sessions take an emulator more than ten minutes",
        r"capi_exhausted\.Exhausted\.(NothingIsTheControl|KeysOf.*)": EMULATOR + "the memory of a thread that it finds in /proc is the emulator's",
        r"capi_exhausted\.Exhausted\.AddressSpace": EMULATOR + "qemu sets no limit of address space for the programs that it runs",
        r"capi_forks\..*": EMULATOR + "qemu 7.2 ends at an assertion of its own in a child that was forked beside threads",
        r"unit_base\.FloatEnvironment\.HidesTraps.*|capi\.HostState\.TrapsAreOn": EMULATOR + "ARM64 processors have no traps",
    },
    "windows-x64": OUTSIDE | {
        r"unit_base\.HostLimits\.(WithoutProc|AGroupOf|TheMountBegins|QuotasOf|LimitsOfResources).*":
            LINUX + "/proc, control groups and RLIMIT_AS; unit_base.HostLimits.TheMemoryOfTheJob, TheProcessorTimeOfTheJob",
        r"unit_base\.Thread\.TakesNoSignalOfTheHost": LINUX + "Windows gives threads no signals",
        r"unit_base\.LocalTime.*": LINUX + "zones of glibc, and fork(); windows.local_time",
        r"unit_held_folder\..*": LINUX + "links of folders",
        r"unit_base\.FloatEnvironment\.(HidesTraps|ThreadsDoNotTake).*": LINUX + "glibc's feenableexcept(); capi.HostState.*",
        r"unit_formats\.Gguf\.RefusesAFifo.*": LINUX + "FIFOs; unit_formats.OpenFileOnWindows.WhatCannotBeOpenedIsNamed",
        r"unit_formats\.TargetFile\.WhatIsNoRegularFileIsRefused": LINUX + "FIFOs and sockets; unit_formats.TargetFileOnWindows.WhatIsNoRegularFileIsRefused",
        r"unit_formats\.TargetFile\.WhatALinkNamesIsWritten": LINUX + "symbolic links, for which Windows asks a right",
        r"unit_formats\.TargetFile\.AFileWithoutAPathIsRefused": LINUX + "/proc",
        r"unit_formats\.TargetFile\.PermissionsOfWhatIsReplacedAreKept": LINUX + "permissions of POSIX; unit_formats.TargetFileOnWindows.WhatIsReadOnlyIsRefused",
        r"unit_formats\.TargetFile\.TwoWriters.*":
            LINUX + "files that others read are replaced; unit_formats.TargetFileOnWindows.TwoWritersOfOneTargetPublishWholeFilesOrFail",
        r"unit_formats\.TargetFile\.TheLimitOfFileSizesIsAnError": LINUX + "RLIMIT_FSIZE",
        r"capi\.HostState\.TrapsAreOn": LINUX + "glibc's feenableexcept()",
        r"capi\.SharedHandles\.AChildOfFork.*": LINUX + "fork(); capi.Processes.AChildUsesTheLibraryBesideItsParent",
        r"capi_exhausted\..*": LINUX + "keys of threads, static TLS and RLIMIT_AS; windows.memory_short",
        r"capi_forks\..*": LINUX + "fork(); capi.Processes.AChildUsesTheLibraryBesideItsParent",
        r"capi_descriptors\..*": LINUX + "descriptors that children inherit; abuse.gguf and windows.library_cycles count handles",
        r"capi_system_calls\..*": LINUX + "system calls that fail by a library in front of the C library",
    },
}


def source_tests(preset):
    """PROGRAM.SUITE.TEST of every test in the sources, whatever it is built for."""
    programs = {}
    for program, area, names in re.findall(r"inlay_tests\((\w+) (\w+) ([^)]*)\)", (TESTS / "CMakeLists.txt").read_text()):
        programs.update({(area, name): program for name in names.split("FILES")[1].split() if name.islower() or name.isalnum()})
    out = set()
    for area in ("unit", "kernels", "golden", "capi"):
        for path in (TESTS / area).glob("*.cpp"):
            if path.stem.endswith("_windows") and not preset.startswith("windows"):
                continue
            found = re.findall(r"^TEST(?:_F|_P)?\((\w+), (?!DISABLED_)(\w+)\)", path.read_text(), re.MULTILINE)
            out |= {f"{programs.get((area, path.stem), area)}.{suite}.{test}" for suite, test in found}
    return out


def without_parameters(name):
    """PROGRAM.SUITE.TEST of ctest's PROGRAM.INSTANCE/SUITE.TEST/PARAMETER."""
    found = re.fullmatch(r"(\w+)\.(?:\w+/)?(\w+)\.(\w+)(?:/.*)?", name)
    return ".".join(found.groups()) if found else name


def not_built(preset, names):
    """The tests of the sources that are not among the names, whatever their program is."""
    built = {without_parameters(name).partition(".")[2] for name in names}
    return sorted(name for name in source_tests(preset) if name.partition(".")[2] not in built)


def skips(preset, names):
    """[(name, reason)], the expressions that match nothing, and the names that none matches."""
    found, stale, matched = [], [], set()
    for expression, reason in TABLE[preset].items():
        matching = [name for name in names if re.fullmatch(expression, name)]
        found += [(name, reason) for name in matching]
        matched |= set(matching)
        if not matching:
            stale.append(expression)
    return found, stale, [name for name in names if name not in matched]


def main():
    preset, junit, *options = sys.argv[1:]
    names = sys.stdin.read().split()
    cases, stale, _ = skips(preset, names)
    left_out = [name for name, _ in cases]
    if options == ["--all"]:
        absent = not_built(preset, names)
        cases, stale, _ = skips(preset, names + absent)
        unnamed = skips(preset, absent)[2]
        if stale or unnamed:
            sys.exit("".join(f"tests/cross/left_out.py: {text}: {', '.join(names)}\n"
                             for text, names in (("no test is named", stale), ("not built, and not in the table", unnamed)) if names))
        cases += NOT_BUILT[preset].items()
    suite = ElementTree.Element("testsuite")
    for name, reason in cases:
        case = ElementTree.SubElement(suite, "testcase", name=name, status="notrun")
        ElementTree.SubElement(case, "skipped", message="SKIP_RETURN_CODE=77")
        ElementTree.SubElement(case, "system-out").text = f"skipped: {reason}\n"
    ElementTree.ElementTree(suite).write(junit)
    print("|".join(f"^{re.escape(name)}$" for name in left_out) or "^$")


if __name__ == "__main__":
    main()
