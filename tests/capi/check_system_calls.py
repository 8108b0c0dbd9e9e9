#!/usr/bin/env python3
"""Compares the calls of the system that a library refers to with those that a test makes fail, and those that are named here.

  check_system_calls.py NM CC LIBRARY TEST_PROGRAM [ARCHIVE...]

ARCHIVE: linked into the library, with code of others (the CUDA runtime, what nvcc writes). Where there is one, what it and the C++ library
refer to is not looked at: builds without it do that.
"""

import re
import subprocess
import sys

# Functions of the C library that enter the kernel and are not called as its calls are.
OF_THE_C_LIBRARY = """fopen freopen fdopen tmpfile mkstemp mkostemp opendir fdopendir readdir closedir pthread_create thrd_create remove
realpath sysconf get_nprocs posix_fallocate posix_fadvise posix_memalign_file shm_open sem_open popen system dlopen statvfs fstatvfs lockf
sigwait sigpending getaddrinfo posix_spawn pthread_sigmask sigprocmask fread fwrite fgets fflush fclose pthread_setname_np""".split()
# By the reason for which no test makes it fail.
NOT_FAILED = {
    "cannot fail as it is called": "getpid getuid clock_gettime time sched_yield pthread_sigmask sigprocmask sigwait sysconf get_nprocs nanosleep",
    "a name for debuggers; nobody looks at the result": "pthread_setname_np",
    "reads of /proc, whose opening is failed": "fread fgets fclose read readdir closedir fdopendir",
    "the allocator's alone: its failure is one of an allocation": "access getrusage mprotect mremap syscall prctl getrandom",
    "waits of the C++ library": "futex poll",
    "called only where the host has closed a standard stream: unit_formats.TargetFile": "fcntl",
    "prints of the allocator and the C++ library, which are never made": "fwrite fflush writev",
    "removes what a failed call leaves; there is nothing to do about it": "unlink",
    "of parts of the C++ library that are not called": "chdir fchmodat fdopen ioctl link lseek mkdir remove realpath sendfile statvfs symlink "
    "truncate unlinkat utimensat getentropy",
    "opens the driver; without it there is no GPU": "dlopen",
}


def base(name: str) -> str:
    name = re.sub(r"(64)?(_v?2)?$", "", name.removeprefix("__"))
    return re.sub(r"^([fl]?)xstat$", r"\1stat", name)  # as glibc before 2.33 has it


def undefined(text: str) -> set[str]:
    return {base(name.split("@")[0]) for name in re.findall(r"\b[Uwv] (\S+)$", text, re.MULTILINE)}


def defined(text: str) -> set[str]:
    return {base(name.split("@")[0]) for name in re.findall(r"\b[TW] (\S+)$", text, re.MULTILINE)}


def problems(referred: set[str], system: set[str], failed: set[str]) -> list[str]:
    named = {name for names in NOT_FAILED.values() for name in names.split()}
    return sorted(referred & system - failed - named)


def main(nm: str, compiler: str, library: str, program: str, *archives: str) -> int:
    def output(*command: str, stdin: str = "") -> str:
        return subprocess.run(command, check=True, capture_output=True, text=True, input=stdin).stdout

    header = output(compiler, "-E", "-dM", "-x", "c", "-", stdin="#include <sys/syscall.h>\n")
    numbered = {base(name) for name in re.findall(r"__NR_(\w+)", header)}
    # pread64 is called as pread, newfstatat as fstatat, and so on.
    system = numbered | set(OF_THE_C_LIBRARY) | {"pread", "fstat", "lstat", "stat", "getrlimit", "sigpending"}
    referred = undefined(output(nm, "-D", "--undefined-only", library))
    failed = defined(output(nm, "-D", "--defined-only", program))
    if archives:
        cxx_library = output(compiler, "-print-file-name=libstdc++.a").strip()
        referred -= undefined(output(nm, "--undefined-only", *archives, cxx_library)) - failed
    found = problems(referred, system, failed)
    for name in found:
        print(f"{library} calls {name}, which {program} does not make fail and which is not named as what need not")
    print(f"{len(referred & system)} calls of the system, {len(referred & failed)} made to fail, {len(found)} problems")
    return 1 if found or len(referred & failed) < 15 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
