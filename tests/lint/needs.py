#!/usr/bin/env python3
"""What tests need of a machine beyond the compiler, and whether this machine has it.

A test that cannot run skips with the reason `needs WHAT`, or `needs WHAT: DETAIL`, where WHAT is a key of NEEDS. Such a skip is expected
exactly where the machine lacks WHAT (summarize_ctest.py). Run as a program this file prints what the machine lacks.
"""
import ctypes
import glob
import importlib.machinery
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from typing import Callable

sys.path.append(str(pathlib.Path(__file__).parents[1] / "real"))
from real_models import MODELS, default_folder, references_folder  # noqa: E402  # pylint: disable=wrong-import-position

GPU_FILES = ("/dev/nvidiactl", "/dev/dxg")  # on Linux, and on Linux below Windows
SYSTEM_PYTHON = "/usr/bin/python3"
CARGO_BIN = os.path.expanduser("~/.cargo/bin")
HEADERS = ("/usr/include", "/usr/include/editline", "/usr/local/include")


@dataclass
class Machine:
    flags: set = field(default_factory=set)
    gpu_files: tuple = GPU_FILES
    fixtures: str = ""

    def has_gpu(self):
        return any(os.path.exists(path) for path in self.gpu_files)


@dataclass
class Need:
    is_there: Callable
    how: str  # how to come by it, or where these tests run
    hardware: bool = False  # of a machine that lacks it, tests are left out rather than skipped
    within: str = ""  # another need: where that is missing, this one is not looked at


def output_of(*command):
    """What a command prints, or None if it cannot be run or fails."""
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=120, check=False,
                              env=os.environ | {"RUSTUP_AUTO_INSTALL": "0"})
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.decode(errors="replace") if done.returncode == 0 else None


def program(name):
    return shutil.which(name) or shutil.which(name, path=CARGO_BIN)


def runs(name, *arguments):
    return bool(program(name)) and output_of(program(name), *arguments) is not None


def has_version(name, at_least):
    found = re.search(r"(\d+)\.(\d+)", output_of(program(name), "--version") or "") if program(name) else None
    return bool(found) and (int(found[1]), int(found[2])) >= at_least


def has_module(name):
    return any(output_of(python, "-c", f"import {name}") is not None for python in (sys.executable, SYSTEM_PYTHON))


def node_environment(package):
    """The environment in which Node.js finds an npm package, or None."""
    if not program("node"):
        return None
    folder = os.environ.get("INLAY_NODE_MODULES") or (output_of("npm", "root", "--global") or "").strip()
    environment = os.environ | {"NODE_PATH": folder}
    found = subprocess.run(["node", "-e", f"require.resolve({package!r})"], env=environment, capture_output=True, check=False)
    return environment if found.returncode == 0 else None


def has_references(*names):
    """Whether what fetch.py installs beside the real models, or this Python itself, has these modules. They take seconds to import."""
    path = [*sys.path, str(references_folder(default_folder()))]
    return all(importlib.machinery.PathFinder.find_spec(name, path) for name in names)


def opens(*names):
    for name in names:
        try:
            ctypes.CDLL(name)
            return True
        except OSError:
            pass
    return False


def has_cublas(_):
    folder = os.environ.get("INLAY_CUBLAS_DIR", "")
    names = ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so")
    return opens(*(os.path.join(folder, name) for name in names))


def has_compute_capability(wanted):
    return wanted in (output_of("nvidia-smi", "--query-gpu=compute_cap", "--format=csv,noheader") or "").split()


def has_german_locale(_):
    with tempfile.TemporaryDirectory() as folder:
        return output_of("localedef", "-i", "de_DE", "-f", "UTF-8", f"{folder}/de_DE.UTF-8") is not None


def can_limit_itself(_):
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    return hard == resource.RLIM_INFINITY or hard >= 2000 << 20


def has_sparse_files(_):
    try:
        with tempfile.TemporaryFile() as file:
            file.truncate(1 << 30)
    except OSError:
        return False
    return True


def has_pseudo_terminals(_):
    try:
        for end in os.openpty():
            os.close(end)
    except OSError:
        return False
    return True


def has_rust_for_windows(_):
    folder = output_of(program("rustc") or "rustc", "--print=target-libdir", "--target=x86_64-pc-windows-gnu")
    return bool(folder) and bool(glob.glob(f"{folder.strip()}/libstd-*"))


def has_oldest_rust(_):
    cargo = os.path.join(os.path.dirname(__file__), "../../bindings/rust/Cargo.toml")
    with open(cargo, encoding="utf-8") as file:
        version = re.search(r'rust-version = "([\d.]+)"', file.read())[1]
    return bool(os.environ.get("INLAY_RUST_OLDEST")) or output_of("rustup", "which", f"--toolchain={version}", "rustc") is not None


def has_aspnet(_):
    version = ".".join((output_of("dotnet", "--version") or "none").split(".")[:2])
    return f"Microsoft.AspNetCore.App {version}." in (output_of("dotnet", "--list-runtimes") or "")


def native_program(name):
    """A program of a build for this machine, or None."""
    builds = pathlib.Path(__file__).parents[2] / "build"
    return next((str(path) for path in (builds / preset / "bin" / name for preset in ("release", "native", "cpu-only")) if path.exists()), None)


def native_tool():
    return native_program("inlay")


SETUP = "examples/setup.sh --tests installs it where it may"
LLVM_FOR_WINDOWS = ("clang", "lld-link", "llvm-dlltool")
ELSEWHERE = "tests/run.sh runs them on such a machine"
NEEDS = {
    "a GPU": Need(Machine.has_gpu, "tests/gpu.sh runs them", hardware=True),
    "a GPU and a build with CUDA": Need(lambda m: m.has_gpu() and runs("nvcc", "--version"), "tests/gpu.sh runs them", True, "a GPU"),
    "a GPU of compute capability 9.0": Need(lambda m: has_compute_capability("9.0"), "tests/gpu.sh runs them on an H100 or H200", True, "a GPU"),
    "a machine without a GPU": Need(lambda m: not m.has_gpu(), ELSEWHERE, hardware=True),
    "a processor with avx2": Need(lambda m: m.flags.issuperset(("avx2", "fma", "f16c")), ELSEWHERE, hardware=True),
    "a processor with avx512": Need(lambda m: m.flags.issuperset(("avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512_vnni")), ELSEWHERE,
                                    hardware=True),
    "cuBLAS": Need(has_cublas, "put libcublasLt.so of CUDA 12 or 13 where the loader finds it, or set INLAY_CUBLAS_DIR"),
    "CUPTI": Need(lambda m: bool(glob.glob("/usr/local/cuda*/extras/CUPTI/lib64/libcupti.so*")), "it is a part of the CUDA Toolkit", within="a GPU"),
    "INLAY_FIXTURES": Need(lambda m: bool(m.fixtures), "tests/data/README.md says which and how to get them"),
    "Rust 1.82 or later": Need(lambda m: has_version("rustc", (1, 82)) and runs("cargo", "--version"), "put cargo and rustc on PATH or in ~/.cargo/bin"),
    "the oldest Rust that is promised": Need(has_oldest_rust, "rustup toolchain install VERSION, or set INLAY_RUST_OLDEST",
                                             within="Rust 1.82 or later"),
    "Rust for Windows": Need(has_rust_for_windows, "rustup target add x86_64-pc-windows-gnu", within="Rust 1.82 or later"),
    "cargo fmt": Need(lambda m: runs("cargo", "fmt", "--version"), "rustup component add rustfmt", within="Rust 1.82 or later"),
    "cargo clippy": Need(lambda m: runs("cargo", "clippy", "--version"), "rustup component add clippy", within="Rust 1.82 or later"),
    "Go": Need(lambda m: runs("go", "version"), SETUP),
    "Wine": Need(lambda m: any(map(program, ("wine64", "wine", "/usr/lib/wine/wine64"))), SETUP),
    "Mono": Need(lambda m: runs("mcs", "--version") and runs("mono", "--version") and bool(program("make")), SETUP),
    ".NET 8 or later": Need(lambda m: has_version("dotnet", (8, 0)), "put dotnet, of the .NET SDK, on PATH"),
    "ASP.NET Core": Need(has_aspnet, "install its runtime beside the .NET SDK", within=".NET 8 or later"),
    "NuGet": Need(lambda m: False, "name a source that has the package", within=".NET 8 or later"),  # that a source answers is seen only by asking it
    "Chromium": Need(lambda m: bool((program("chromium") or program("google-chrome")) and program("chromedriver")), "install chromium and chromedriver"),
    "LÖVE and Xvfb": Need(lambda m: all(map(program, ("love", "xvfb-run", "xauth", "cc"))), SETUP),
    "the npm package openai": Need(lambda m: node_environment("openai") is not None, "npm install --global openai, or INLAY_NODE_MODULES names a folder that has it"),
    "the real models": Need(lambda m: all(model.path(default_folder()).is_file() for model in MODELS),
                            "tests/real/fetch.py fetches them; INLAY_REAL_MODELS names another folder than the user's cache"),
    "PyTorch and transformers": Need(lambda m: has_references("torch", "transformers"), "tests/real/fetch.py --references fetches them", within="the real models"),
    "sentencepiece": Need(lambda m: has_references("sentencepiece"), "tests/real/fetch.py --references fetches it", within="PyTorch and transformers"),
    "abidiff": Need(lambda m: bool(program("abidiff")), SETUP),
    "pkg-config": Need(lambda m: bool(program("pkg-config")), SETUP),
    "cc": Need(lambda m: bool(program("cc")), "install a C compiler by that name"),
    "numpy": Need(lambda m: has_module("numpy"), SETUP),
    "Jinja2": Need(lambda m: has_module("jinja2"), SETUP),
    "clang++": Need(lambda m: bool(program("clang++")), "install clang"),
    "LLVM's tools for Windows": Need(lambda m: all(any(program(f"{name}{version}") for version in ("", "-14", "-16", "-19")) for name in LLVM_FOR_WINDOWS),
                                     "install clang, lld and llvm"),
    "libclang for Python": Need(lambda m: has_module("clang.cindex"), SETUP),
    "the locale de_DE": Need(has_german_locale, SETUP),
    "libedit": Need(lambda m: any(os.path.exists(f"{folder}/histedit.h") for folder in HEADERS), "examples/setup.sh installs it where it may"),
    "a pseudo-terminal": Need(has_pseudo_terminals, "mount devpts on /dev/pts, with a /dev/ptmx"),
    "limits that can be set": Need(can_limit_itself, "raise the hard limit of address space"),
    "room for a sparse file": Need(has_sparse_files, "point TMPDIR at a file system that has them"),
    "the system itself": Need(lambda m: "INLAY_EMULATOR" not in os.environ, "tests/run.sh runs them on a system like that, without an emulator"),
    "Linux": Need(lambda m: "INLAY_EMULATOR" not in os.environ, "tests/run.sh runs them there"),
    "a test build for this machine": Need(lambda m: bool(native_program("logit_hashes")), "tests/run.sh builds it"),
    "a tool for this machine": Need(lambda m: bool(native_tool()), "examples/quickstart.sh builds it"),
    "/proc": Need(lambda m: os.path.exists("/proc/self"), "mount it"),
}


def named(reason):
    """The key of NEEDS that a reason names, or None."""
    what = reason.removeprefix("needs ").split(": ")[0] if reason.startswith("needs ") else None
    return what if what in NEEDS else None


def processor_flags(cpuinfo):
    try:
        with open(cpuinfo, encoding="utf-8") as file:
            return {flag for line in file if line.startswith("flags") for flag in line.split()}
    except OSError:
        return set()


def this_machine(cpuinfo="/proc/cpuinfo", gpu_files=GPU_FILES):
    return Machine(processor_flags(cpuinfo), tuple(gpu_files), os.environ.get("INLAY_FIXTURES", ""))


def main():
    machine = this_machine()
    for what, need in NEEDS.items():
        if need.within and not NEEDS[need.within].is_there(machine):
            continue
        if not need.is_there(machine):
            print(f"tests that need {what} {'are left out' if need.hardware else 'will skip'}: {need.how}")


if __name__ == "__main__":
    main()
