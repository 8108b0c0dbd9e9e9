"""Compiles the programs of the C# binding's README with Mono, and runs them.

Usage: csharp_readme.py MCS MONO FOLDER MODEL [WRONG]     FOLDER has Inlay.dll; with WRONG a call in them is misspelt, which must not compile
       csharp_readme.py --extract NAME FILE               only writes a program, also one of those that Mono's compiler does not know
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# A program, what is misspelt in it, and lines that it writes. Where a text is cut into pieces is a matter of time.
PROGRAMS = {
    "Tales": ("queue.Submit", [r"1: ,", r"1: MaxTokens$", r"2: [^\n]+", r"2: [A-Z]\w+$"]),
    "Characters": ("session.Generate", [r'\{"mood":"(calm|angry)","coins":([0-9]|[1-9][0-9])\}$', r"(yes|no), Complete$"]),
    "Tools": ("dispatcher.Submit", [r"CallBegin price$", r'\{"role": "user".*"name": "price".*"role": "tool".*"role": "assistant", "content": "[^"]+"\}$']),
    "Frames": ("ReadFrames", [r", [a-z]+ [a-z]+", r"32 tokens, MaxTokens, more than one frame: True$"]),
}


def programs(main="static void Main"):
    text = (ROOT / "bindings/csharp/README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```csharp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return {re.search(r"class (\w+)", block)[1]: block for block in blocks if main in block}


def main():
    if len(sys.argv) == 4 and sys.argv[1] == "--extract":
        pathlib.Path(sys.argv[3]).write_text(programs("static async Task Main")[sys.argv[2]], encoding="utf-8")
        return
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    mcs, mono, folder, model = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4]
    found = programs()
    if set(found) != set(PROGRAMS):
        sys.exit(f"README.md has the programs {sorted(found)}, expected {sorted(PROGRAMS)}")
    for name, (call, lines) in PROGRAMS.items():
        source, program = folder / f"readme_{name}.cs", folder / f"readme_{name}.exe"
        source.write_text(found[name].replace(call, call + "x") if len(sys.argv) == 6 else found[name], encoding="utf-8")
        options = ["-nologo", "-langversion:7.2", "-warn:4", "-warnaserror", "-r:System.Core", f"-r:{folder}/Inlay.dll", f"-out:{program}"]
        compiled = subprocess.run([mcs, *options, str(source)], capture_output=True, text=True, check=False)
        if compiled.returncode != 0:
            sys.exit(f"README.md: {name} does not compile:\n{compiled.stdout}{compiled.stderr}")
        done = subprocess.run([mono, str(program), model], capture_output=True, text=True, check=False, timeout=1800)
        if done.returncode != 0 or not all(re.search("^" + line, done.stdout, re.MULTILINE) for line in lines):
            sys.exit(f"README.md: {name}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        print(done.stdout)


if __name__ == "__main__":
    main()
