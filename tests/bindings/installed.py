"""Installs the built library, and builds and runs each language's example from there, with the language's own tool.

Usage: installed.py install BUILD FOLDER            installs and moves: FOLDER/prefix is what the others use
       installed.py sources FOLDER                  what lies beside the packages' sources: git's ignored files stay behind
       installed.py c|rust|go|csharp|dotnet FOLDER MODEL   builds below FOLDER and runs
Tools: CC, CMAKE, PKG_CONFIG, CARGO, GO, MAKE, MCS and MONO in the environment.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMPT, TOKENS = "Once upon a time", "20"
# Everything but the examples and the other languages' packages.
FILES = """bin/inlay include/inlay.h include/inlay_dl.h lib/cmake/Inlay/InlayConfig.cmake lib/cmake/Inlay/InlayConfigVersion.cmake
lib/cmake/Inlay/InlayTargets-TYPE.cmake lib/cmake/Inlay/InlayTargets.cmake lib/libinlay.so lib/libinlay.so.1
lib/pkgconfig/inlay.pc share/bash-completion/completions/inlay share/doc/inlay/NOTICES.txt share/doc/inlay/api.md
share/man/man1/inlay.1 share/zsh/site-functions/_inlay""".split()


def tool(name):
    program = os.environ.get(name, "")
    if not shutil.which(program):
        what = name.lower().replace("_", "-")
        print(f"skipped: needs {what}: it is not on PATH")
        sys.exit(SKIPPED)
    return program


def run(*command, cwd=None, code=0, **environment):
    command = [str(c) for c in command]
    done = subprocess.run(command, cwd=cwd, env=os.environ | {k: str(v) for k, v in environment.items()}, capture_output=True, check=False,
                          timeout=1800)
    if (done.returncode == 0) != (code == 0):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stdout.decode()}{done.stderr.decode()}")
    return done.stdout.decode()


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


def install(build, folder):
    """Moves the prefix afterwards: nothing in it may know where it was."""
    shutil.rmtree(folder, ignore_errors=True)
    run(tool("CMAKE"), "--install", build, "--prefix", folder / "first")
    (folder / "first").rename(folder / "prefix")
    found = sorted(str(p.relative_to(folder / "prefix")) for p in (folder / "prefix").rglob("*") if not p.is_dir())
    of_build_type = re.compile(r"(?<=InlayTargets-)[a-z]+")
    expect("files", [of_build_type.sub("TYPE", f) for f in found if not f.startswith("share/inlay/")], FILES)
    run(sys.executable, "-B", pathlib.Path(__file__).parents[1] / "capi/check_run_paths.py", folder / "prefix")
    for path in (folder / "prefix").rglob("*"):
        if path.suffix in (".pc", ".cmake") and (str(folder) in path.read_text() or str(build) in path.read_text()):
            sys.exit(f"{path} names a folder of the build")


# Installs the packages' sources by the project's own rules, without building the library.
SOURCES_PROJECT = """cmake_minimum_required(VERSION 3.25)
project(inlay VERSION 1.0 LANGUAGES NONE)
set(CMAKE_SIZEOF_VOID_P 8)
set(CMAKE_INSTALL_LIBDIR lib)
set(CMAKE_INSTALL_INCLUDEDIR include)
set(CMAKE_INSTALL_DATADIR share)
add_library(inlay INTERFACE)
include(src/capi/install.cmake)
"""


def sources(folder):
    """A copy of the sources in which each folder that git ignores holds a file."""
    shutil.rmtree(folder, ignore_errors=True)
    source, prefix = folder / "source", folder / "prefix"
    for part in ("bindings", "examples/c", "include", "src/capi"):
        shutil.copytree(ROOT / part, source / part, ignore=shutil.ignore_patterns("bin", "build", "obj", "target"))
    ignored = []
    for path in source.glob("bindings/*/.gitignore"):
        ignored += [path.parent / line.strip("/") for line in path.read_text().split()]
    for output in ignored:
        output.mkdir(parents=True)
        (output / "output").touch()
    expect("folders that git ignores", len(ignored) > 8, True)
    (source / "CMakeLists.txt").write_text(SOURCES_PROJECT)
    run(tool("CMAKE"), "-S", source, "-B", folder / "build")
    run(tool("CMAKE"), "--install", folder / "build", "--prefix", prefix)
    found = {str(path.relative_to(prefix / "share/inlay")) for path in prefix.glob("share/inlay/**/*")}
    expect("sources are there", {"rust/Cargo.toml", "go/go.mod", "csharp/examples/complete.cs"} - found, set())
    expect("outputs of builds", sorted(name for name in found if name.endswith("/output")), [])


def model_text(prefix, model):
    """What the installed tool lets the model write."""
    text = run(prefix / "bin/inlay", "run", model, "-n", TOKENS, "--temp", "0", "-q", "--device", "cpu", "--raw", "--prompt", PROMPT).strip("\n")
    expect("the tool's text is long", len(text) > 20, True)
    return text


def check_pkg_config(folder, prefix, model):
    environment = {"PKG_CONFIG_PATH": prefix / "lib/pkgconfig"}
    pkg_config = tool("PKG_CONFIG")
    flags = run(pkg_config, "--cflags", "--libs", "inlay", **environment).split()
    run(tool("CC"), "-std=c11", prefix / "share/inlay/c/complete.c", "-o", folder / "complete", *flags)
    text = run(folder / "complete", model, PROMPT, TOKENS, LD_LIBRARY_PATH=prefix / "lib")
    expect("complete", text.strip("\n"), PROMPT + model_text(prefix, model))
    run(pkg_config, "--exists", "inlay >= 0.1", **environment)
    run(pkg_config, "--exists", "inlay >= 99", code=1, **environment)


def check_find_package(folder, prefix, model):
    cmake, compiler = tool("CMAKE"), f"-DCMAKE_C_COMPILER={tool('CC')}"
    prefix_path = f"-DCMAKE_PREFIX_PATH={prefix}"
    run(cmake, "-S", prefix / "share/inlay/c", "-B", folder / "c", prefix_path, compiler)
    run(cmake, "--build", folder / "c")
    expect("complete", run(folder / "c/example_complete", model, PROMPT, TOKENS).strip("\n"), PROMPT + model_text(prefix, model))
    expect("eight", run(folder / "c/example_eight", model, "3").count("\n"), 8)
    expect("cancel", run(folder / "c/example_cancel", model, "50").split()[0], "cancelled")
    expect("game_loop", [line.split()[0] for line in run(folder / "c/example_game_loop", model, "1").splitlines()[:2]], ["silent", "talking"])
    expect("call_cost", [line.split()[0] for line in run(folder / "c/example_call_cost", prefix / "lib/libinlay.so.1", model).splitlines()],
           ["abi_version", "session_get_info", "decode_step"])
    other = folder / "other_version"
    other.mkdir()
    for version, code in (("0.1", 0), ("99", 1), ("1.0", 1)):
        (other / "CMakeLists.txt").write_text(f"cmake_minimum_required(VERSION 3.25)\nproject(other C)\nfind_package(Inlay {version} REQUIRED)\n")
        run(cmake, "-S", other, "-B", other / version, prefix_path, compiler, code=code)


def c(folder, prefix, model):
    check_pkg_config(folder, prefix, model)
    check_find_package(folder, prefix, model)


def check_example(prefix, model, *command, **options):
    """The example writes what the tool writes, with the library that it is told; and it fails without it."""
    text = run(*command, model, PROMPT, TOKENS, INLAY_LIBRARY=prefix / "lib/libinlay.so.1", **options)
    expect(f"{command[0]} wrote the text", model_text(prefix, model) in text, True)
    run(*command, model, PROMPT, TOKENS, code=1, INLAY_LIBRARY=prefix / "lib/lost.so", **options)


def rust(folder, prefix, model):
    """Opened at run time, and linked."""
    options = {"cwd": prefix / "share/inlay/rust", "CARGO_TARGET_DIR": folder}
    example = ["--quiet", "--offline", "--locked", "--example", "complete"]
    check_example(prefix, model, tool("CARGO"), "run", *example, "--", **options)
    text = run(tool("CARGO"), "run", "--no-default-features", "--features", "link", *example, "--", model, PROMPT, TOKENS,
               PKG_CONFIG_PATH=prefix / "lib/pkgconfig", **options)
    expect("linked example wrote the text", model_text(prefix, model) in text, True)


def go(folder, prefix, model):
    check_example(prefix, model, tool("GO"), "run", "./examples/complete", cwd=prefix / "share/inlay/go", GOPATH=folder / "path", GOPROXY="off",
                  CGO_ENABLED="1")


def csharp(folder, prefix, model):
    run(tool("MAKE"), "-s", f"OUT={folder}", f"MCS={tool('MCS')}", cwd=prefix / "share/inlay/csharp")
    check_example(prefix, model, tool("MONO"), folder / "complete.exe")


def dotnet(folder, prefix, model):
    """Built by the SDK, without any package."""
    version = ".".join(run(tool("DOTNET"), "--version").split(".")[:2])
    run(tool("DOTNET"), "build", prefix / "share/inlay/csharp/examples/Examples.csproj", f"-p:InlayTargets=net{version}", "-p:IsAotCompatible=false",
        "--artifacts-path", folder / "made", "-o", folder / "out", "-v", "quiet", "-nodeReuse:false")
    check_example(prefix, model, tool("DOTNET"), folder / "out/complete.dll")


def main():
    if sys.argv[1:2] == ["sources"] and len(sys.argv) == 3:
        sources(pathlib.Path(sys.argv[2]))
        return
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    if sys.argv[1] == "install":
        install(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
        return
    language, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    outputs = folder / language
    shutil.rmtree(outputs, ignore_errors=True)
    outputs.mkdir()
    {"c": c, "rust": rust, "go": go, "csharp": csharp, "dotnet": dotnet}[language](outputs, folder / "prefix", pathlib.Path(sys.argv[3]))


if __name__ == "__main__":
    main()
