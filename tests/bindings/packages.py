"""Makes the NuGet packages of the C# binding, and runs a fresh project outside the repository that adds them.

Usage: packages.py pack STATE VERSION LIBRARY   makes and checks the packages, and makes the project; the folder STATE stays
       packages.py FORM STATE MODEL             builds the project as FORM and runs it; FORM is a key of FORMS
       packages.py remove STATE
Tools: DOTNET, OBJCOPY, READELF and CC in the environment. What NuGet gives lies in STATE, so that it is fetched once.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
import zipfile

SKIPPED = 77
CSHARP = pathlib.Path(__file__).resolve().parents[2] / "bindings/csharp"
PROMPT, TOKENS, BEGINNING = "Once upon a time", "16", "Once upon a time, a "
MANAGED, NATIVE, CUDA, EXTENSION = "Inlay", "Inlay.Native.linux-x64", "Inlay.Native.linux-x64.Cuda", "Inlay.Extensions.AI"
NATIVE_ARM, NATIVE_WINDOWS = "Inlay.Native.linux-arm64", "Inlay.Native.win-x64"
NATIVE_FILES = {NATIVE: "runtimes/linux-x64/native/libinlay.so", CUDA: "runtimes/linux-x64/native/libinlay.so",
                NATIVE_ARM: "runtimes/linux-arm64/native/libinlay.so", NATIVE_WINDOWS: "runtimes/win-x64/native/libinlay.dll"}
# NuGet's words for a source that does not answer and for packages that none has.
NOT_TO_BE_HAD = re.compile(r"error (?:NU1301|NU1101|NU1102): (.*?)(?: \[|$)", re.MULTILINE)
ERROR = re.compile(r"error \w+: ")

PROJECT = """<Project Sdk="Microsoft.NET.Sdk">
  <PropertyGroup>
    <OutputType>Exe</OutputType>
    <TargetFramework>net$(BundledNETCoreAppTargetFrameworkVersion)</TargetFramework>
    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>
    <TrimmerSingleWarn>false</TrimmerSingleWarn>
    <NuGetAudit>false</NuGetAudit>
  </PropertyGroup>
</Project>
"""
# Code that cannot be trimmed.
REFLECTS = """static class Reflects
{
    [System.Runtime.CompilerServices.ModuleInitializer]
    internal static void Start() { if (System.Environment.ProcessId == 0) System.Type.GetType(System.Console.ReadLine()).GetMethods(); }
}
"""
FOR_PLATFORM = ["-r", "linux-x64"]
TRIMMED = [*FOR_PLATFORM, "--self-contained", "-p:PublishTrimmed=true"]
SINGLE = [*FOR_PLATFORM, "--no-self-contained", "-p:PublishSingleFile=true"]
AOT = [*FOR_PLATFORM, "-p:PublishAot=true", f"-p:CppCompilerAndLinker={os.environ.get('CC', 'cc')}"]
# Options of `dotnet publish`, and the files that it must give, without symbols; None: too many to name.
PUBLISHED = {
    "publish": ([], {"Inlay.dll", "complete", "complete.deps.json", "complete.dll", "complete.runtimeconfig.json", NATIVE_FILES[NATIVE]}),
    "trimmed": (TRIMMED, None),
    "single_file": (SINGLE, {"complete", "libinlay.so"}),
    "one_file": ([*SINGLE, "-p:IncludeNativeLibrariesForSelfExtract=true"], {"complete"}),
    "aot": (AOT, {"complete", "libinlay.so"}),
}


def tool(name):
    program = os.environ.get(name, "")
    if not shutil.which(program):
        what = name.lower().replace("_", "-")
        print(f"skipped: needs {what}: it is not on PATH")
        sys.exit(SKIPPED)
    return program


def expect(what, found, wanted):
    if found != wanted:
        sys.exit(f"{what}: {found!r}, expected {wanted!r}")


class Work:
    """The folders of one run: the packages, the project, and the environment, in which nothing says where a library is."""

    def __init__(self, state):
        self.state = state
        self.folder = pathlib.Path((state / "folder").read_text(encoding="utf-8"))
        self.feed, self.app, self.home = self.folder / "feed", self.folder / "complete", self.folder / "home"
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("INLAY_", "LD_"))}
        self.environment = kept | {"NUGET_PACKAGES": str(state / "nuget"), "MSBUILDDISABLENODEREUSE": "1", "DOTNET_NOLOGO": "1",
                                   "DOTNET_CLI_TELEMETRY_OPTOUT": "1", "DOTNET_CLI_UI_LANGUAGE": "en", "CUDA_VISIBLE_DEVICES": "-1"}

    def try_to(self, *command, cwd=None, **environment):
        """Exit code, standard output and standard error."""
        done = subprocess.run([str(c) for c in command], cwd=cwd or self.folder, env=self.environment | environment, capture_output=True,
                              check=False, timeout=1800)
        return done.returncode, done.stdout.decode(), done.stderr.decode()

    def run(self, *command, **options):
        code, output, errors = self.try_to(*command, **options)
        if code != 0:
            sys.exit(f"{' '.join(map(str, command))}: exit code {code}\n{output}{errors}")
        return output

    def run_program(self, *command):
        """Where it was published nobody knows, and a home of its own takes what a single file unpacks."""
        return self.run(*command, os.environ["PACKAGES_MODEL"], PROMPT, TOKENS, cwd="/", HOME=str(self.home),
                        DOTNET_ROOT=str(pathlib.Path(tool("DOTNET")).resolve().parent))


def not_to_be_had(text):
    """Why NuGet does not have what the SDK asks for, or an empty string if there is any other error, such as one of our own packages."""
    reasons = NOT_TO_BE_HAD.findall(text)
    if not reasons or len(reasons) != len(ERROR.findall(text)) or any("Inlay" in reason for reason in reasons):
        return ""
    return reasons[0]


# ---- the packages

def nuspec(package):
    with zipfile.ZipFile(package) as file:
        name, = (n for n in file.namelist() if n.endswith(".nuspec"))
        metadata = ElementTree.fromstring(file.read(name))[0]
    return {element.tag.split("}")[1]: element for element in metadata}


def contents(package):
    """What the package itself holds, without what every package has, and the readme's text."""
    with zipfile.ZipFile(package) as file:
        names = {n for n in file.namelist() if not n.endswith((".nuspec", ".rels", ".psmdcp", ".xml")) and n != "README.md"}
        return names, file.read("README.md").decode() if "README.md" in file.namelist() else ""


def check_metadata(package, package_id, version):
    found = nuspec(package)
    expect(f"{package_id}'s name and version", (found["id"].text, found["version"].text), (package_id, version))
    expect(f"{package_id}'s fields", {"description", "readme", "tags", "authors", "repository"} - set(found), set())
    expect(f"{package_id}'s licence", {"license", "licenseUrl"} & set(found), set())
    expect(f"{package_id} is in git", found["repository"].get("type"), "git")
    expect(f"{package_id}'s readme tells of the licence", "No licence has been given" in contents(package)[1], True)
    with zipfile.ZipFile(package) as file:
        named = [n for n in file.namelist() if str(CSHARP).encode() in file.read(n)]
    expect(f"{package_id} names a folder of the machine", named, [])


def check_native(package, path, library):
    expect(f"files of {package.name}", contents(package)[0], {path})
    with zipfile.ZipFile(package) as file:
        expect("the library is the one given", file.read(path) == library.read_bytes(), True)
    size = f"{library.stat().st_size / 1e6:.1f} MB"
    expect(f"the description tells {size}", size in nuspec(package)["description"].text, True)


def check_managed(feed, version, targets):
    assemblies = {f"lib/{target}/Inlay.dll" for target in targets}
    expect("Inlay's files", contents(feed / f"{MANAGED}.{version}.nupkg")[0], assemblies)
    symbols = feed / f"{MANAGED}.{version}.snupkg"
    expect("Inlay's symbols", contents(symbols)[0], {name.replace(".dll", ".pdb") for name in assemblies})
    # Symbols hold the parts of paths one by one, each behind its length.
    folders = [*CSHARP.parts[1:-2], *pathlib.Path(tempfile.gettempdir()).parts[1:]]
    parts = [p.encode() for p in folders if len(p) > 2]
    with zipfile.ZipFile(symbols) as file:
        named = [n for n in file.namelist() for part in parts if n.endswith(".pdb") and bytes([len(part)]) + part in file.read(n)]
    expect("symbols that name a folder of the machine", named, [])


def make_others(work, library):
    """What begins like libraries for other platforms, which a packer needs no more of."""
    elf, pe = bytearray(library.read_bytes()[:4096]), bytearray(4096)
    elf[18:20] = (183).to_bytes(2, "little")  # EM_AARCH64
    pe[:2], pe[60:64], pe[128:134] = b"MZ", (128).to_bytes(4, "little"), b"PE\0\0\x64\x86"
    made = {NATIVE_ARM: work.folder / "arm64.so", NATIVE_WINDOWS: work.folder / "windows.dll"}
    made[NATIVE_ARM].write_bytes(elf)
    made[NATIVE_WINDOWS].write_bytes(pe)
    return made


def check_refusals(work, script, library, option):
    other = "--library" if option == "--cuda-library" else "--cuda-library"
    windows = make_others(work, library)[NATIVE_WINDOWS]
    of_arm = work.folder / "windows_arm64.dll"
    of_arm.write_bytes(windows.read_bytes().replace(b"\x64\x86", b"\x64\xaa"))
    for arguments, reason in (([other, library], "code for GPUs"), (["--library", work.folder / "lost.so"], "no library"),
                              (["--library", script], "no library for Linux on x64"), (["--library", of_arm], "nor for Windows on x64"),
                              (["--library", windows] * 2, "a second library for win-x64"), (["--cuda-library", windows], "for Linux on x64")):
        code, output, errors = work.try_to(script, *arguments, work.folder / "refused")
        expect(f"pack.sh {arguments} is refused: {output}{errors}", (code, reason in errors), (1, True))
    expect("what was refused made no package", (work.folder / "refused").exists(), False)


def make_packages(work, version, library):
    """The id of the native package to add. The other variant is the same library with or without a section for GPU code."""
    script = CSHARP / "pack.sh"
    with_cuda = ".nv_fatbin" in work.run(tool("READELF"), "-SW", library)
    option = "--cuda-library" if with_cuda else "--library"
    arguments, natives = [option, library], {CUDA if with_cuda else NATIVE: library}
    if not with_cuda:
        natives[CUDA] = work.folder / "with_section.so"
        work.run(tool("OBJCOPY"), "--add-section", f".nv_fatbin={script}", library, natives[CUDA])
        arguments += ["--cuda-library", natives[CUDA]]
    for name, made in make_others(work, library).items():
        natives[name] = made
        arguments += ["--library", made]
    check_refusals(work, script, library, option)
    targets, extensions = ["netstandard2.0", "net8.0", "net10.0"], [EXTENSION] if (CSHARP / EXTENSION / f"{EXTENSION}.csproj").exists() else []
    sdk = ".".join(work.run(tool("DOTNET"), "--version").split(".")[:2])
    code, output, errors = work.try_to(script, *arguments, work.feed)
    if code != 0 and not_to_be_had(errors):
        print(f"packed for net{sdk} alone, offline: {not_to_be_had(errors)}")
        targets, extensions = [f"net{sdk}"], []
        output = work.run(script, *arguments, "--offline", work.feed)
    elif code != 0:
        sys.exit(output + errors)
    print(output, end="")
    if sdk.startswith(("8.", "9.")):
        targets = [t for t in targets if t != "net10.0"]
    expected = [MANAGED, *natives, *extensions]
    expect("packages", sorted(p.name for p in work.feed.glob("*.nupkg")), sorted(f"{name}.{version}.nupkg" for name in expected))
    for name in expected:
        check_metadata(work.feed / f"{name}.{version}.nupkg", name, version)
    for name, file in natives.items():
        check_native(work.feed / f"{name}.{version}.nupkg", NATIVE_FILES[name], file)
    check_managed(work.feed, version, targets)
    return CUDA if with_cuda else NATIVE


def make_project(work, folder, version, packages):
    """Not below the repository, with the packages added as README tells."""
    folder.mkdir()
    (folder / "complete.csproj").write_text(PROJECT, encoding="utf-8")
    shutil.copy(CSHARP / "examples/complete.cs", folder)
    for package in packages:
        work.run(tool("DOTNET"), "add", "package", package, "--version", version, "--source", work.feed, cwd=folder)


def pack(state, version, library):
    remove(state)
    state.mkdir(parents=True, exist_ok=True)
    for stale in (state / "nuget").glob("inlay*"):
        shutil.rmtree(stale)
    (state / "folder").write_text(tempfile.mkdtemp(prefix="inlay-packages-"), encoding="utf-8")
    work = Work(state)
    work.home.mkdir()
    native = make_packages(work, version, library)
    make_project(work, work.app, version, [MANAGED, native])
    make_project(work, work.folder / "lacking", version, [MANAGED])


def remove(state):
    if (state / "folder").exists():
        shutil.rmtree((state / "folder").read_text(encoding="utf-8"), ignore_errors=True)
        (state / "folder").unlink()


# ---- the forms

def check_text(what, text):
    expect(f"{what} begins", text[:len(BEGINNING)], BEGINNING)
    expect(f"{what} goes on", len(text) > len(BEGINNING) + 20, True)


def run(work):
    check_text("dotnet run", work.run(tool("DOTNET"), "run", "--", os.environ["PACKAGES_MODEL"], PROMPT, TOKENS, cwd=work.app))


def publish(work, form, *options):
    """Exit code and output of `dotnet publish`; skips if NuGet does not have what the form needs."""
    code, output, errors = work.try_to(tool("DOTNET"), "publish", "-o", work.folder / form, *PUBLISHED[form][0], *options, cwd=work.app)
    if code != 0 and (reason := not_to_be_had(output + errors)):
        print(f"skipped: needs NuGet: {reason}")
        sys.exit(SKIPPED)
    return code, output + errors


def run_published(work, form):
    start = time.monotonic()
    code, output = publish(work, form)
    expect(f"dotnet publish, {output}", code, 0)
    made = time.monotonic() - start
    folder = (work.folder / form).rename(work.folder / f"moved_{form}")
    found = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file() and p.suffix not in (".pdb", ".dbg")}
    if PUBLISHED[form][1] is None:
        expect("the runtime and the library are there", {"complete.dll", "libcoreclr.so", "libinlay.so"} - found, set())
    else:
        expect("files", found, PUBLISHED[form][1])
    program = [tool("DOTNET"), folder / "complete.dll"] if form == "publish" else [folder / "complete"]
    check_text(form, work.run_program(*program))
    size = sum((folder / name).stat().st_size for name in found)
    print(f"{form}: made in {made:.0f} s, {size / 1e6:.1f} MB in {len(found)} files")


def refuse_warning(work, form):
    """What cannot be trimmed ends the build, also where only the tool that trims sees it."""
    (work.app / "Reflects.cs").write_text(REFLECTS, encoding="utf-8")
    try:
        code, output = publish(work, form, "-p:EnableTrimAnalyzer=false", "-p:EnableAotAnalyzer=false", "-p:EnableSingleFileAnalyzer=false")
    finally:
        (work.app / "Reflects.cs").unlink()
    expect(f"{output}: refused, with the warning's number", (code != 0, "IL2057" in output), (True, True))


def without_native(work):
    """The exception tells what was tried, and each reason."""
    code, output, errors = work.try_to(tool("DOTNET"), "run", "--", os.environ["PACKAGES_MODEL"], PROMPT, TOKENS, cwd=work.folder / "lacking")
    told = [name for name in ("the runtime finds no library 'inlay' for this assembly", "libinlay.so.1: ", "libinlay.so: ") if name in errors]
    expect(f"what the program says, {output}{errors}", (code, len(told)), (1, 3))


FORMS = {
    "run": run,
    **{form: lambda work, form=form: run_published(work, form) for form in PUBLISHED},
    "trimmed_refuses_warning": lambda work: refuse_warning(work, "trimmed"),
    "aot_refuses_warning": lambda work: refuse_warning(work, "aot"),
    "without_native": without_native,
}


def main():
    action, state = sys.argv[1], pathlib.Path(sys.argv[2])
    if action == "pack":
        pack(state, sys.argv[3], pathlib.Path(sys.argv[4]))
    elif action == "remove":
        remove(state)
    else:
        os.environ["PACKAGES_MODEL"] = sys.argv[3]
        FORMS[action](Work(state))


if __name__ == "__main__":
    main()
