"""Compiles the crate without a warning in each edition, and the files of compile/ against it: each must give the error that its
first line names, and no other, or none at all.

Usage: compile_cases.py RUSTC
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
CRATE = HERE.parents[2] / "bindings/rust/src/lib.rs"
EDITIONS = ["2021", "2024"]
EXPECTED = re.compile(r"// expect: (nothing|E\d{4})\n")


def compile_file(rustc, source, edition, output, *options):
    """The messages of a compilation without code."""
    done = subprocess.run([rustc, str(source), f"--edition={edition}", "--crate-type=lib", "--emit=metadata",
                           "--error-format=json", "-o", str(output), *options], capture_output=True, text=True, check=False)
    messages = [json.loads(line) for line in done.stderr.splitlines()]
    return [m for m in messages if m.get("level") in ("error", "warning")]


def codes(messages):
    return {m["code"]["code"] for m in messages if m["level"] == "error" and m["code"]}


def problem(expected, messages):
    """What is wrong with these messages where `expected` is what should come, or an empty text."""
    wanted = set() if expected == "nothing" else {expected}
    if codes(messages) == wanted and (wanted or not messages):
        return ""
    return f"expected {expected}, but: " + ("".join(m["rendered"] for m in messages) or "nothing")


def build_crate(rustc, edition, folder, features):
    """Where the crate lies, compiled so that every warning shows."""
    output = folder / f"libinlay_{edition}_{'_'.join(features)}.rmeta"
    options = [f'--cfg=feature="{feature}"' for feature in features]
    messages = compile_file(rustc, CRATE, edition, output, "--crate-name=inlay", "-Wrust-2024-compatibility", "-Wmissing-docs",
                            "-Wunsafe-op-in-unsafe-fn", *options)
    if messages:
        sys.exit(f"edition {edition}, {features}:\n" + "".join(m["rendered"] for m in messages))
    return output


def main():
    rustc = sys.argv[1]
    failures = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for edition in EDITIONS:
            for features in (["link"], ["dlopen"], ["dlopen", "link"]):
                crate = build_crate(rustc, edition, folder, features)
        print(f"the crate compiles without a warning in the editions {', '.join(EDITIONS)}")
        cases = sorted((HERE / "compile").glob("*.rs"))
        for case in cases:
            expected = EXPECTED.match(case.read_text(encoding="utf-8"))[1]
            messages = compile_file(rustc, case, "2021", folder / "case.rmeta", f"--extern=inlay={crate}")
            found = problem(expected, messages)
            failures += [f"{case.name}: {found}"] if found else []
            # The check itself must tell one outcome from another.
            if not problem("E0277" if expected == "nothing" else "nothing", messages):
                failures.append(f"{case.name}: any outcome would do")
            print(f"{case.stem}: {expected}")
    if len(cases) < 10 or failures:
        sys.exit("\n".join(failures) or "the cases are missing")


if __name__ == "__main__":
    main()
