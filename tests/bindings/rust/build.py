"""Builds the Rust programs that the tests run, and copies them to where they can be carried from.

Usage: build.py CARGO TARGET_FOLDER BIN_FOLDER [--target=TARGET]

Makes BIN_FOLDER/binding_rust_NAME of each program of this package (optimised) and of each test and example of the crate
(with its debug assertions), and BIN_FOLDER/binding_rust_linked_complete, which is linked with the library in INLAY_LIB_DIR, or else the
one that INLAY_LIBRARY names.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CRATE = HERE.parents[2] / "bindings/rust"


def executables(cargo, target_folder, manifest_folder, arguments):
    """Names and paths of the programs that cargo reports to have built."""
    command = [cargo, *arguments, "--offline", "--locked", "--quiet", "--message-format=json-render-diagnostics",
               f"--manifest-path={manifest_folder / 'Cargo.toml'}"]
    done = subprocess.run(command, env=os.environ | {"CARGO_TARGET_DIR": target_folder}, stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}")
    messages = (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{"))
    return {m["target"]["name"]: m["executable"] for m in messages if m["reason"] == "compiler-artifact" and m.get("executable")}


def main():
    cargo, target_folder, bin_folder, *target = sys.argv[1:]
    found = executables(cargo, target_folder, HERE, ["build", "--release", *target])
    found |= executables(cargo, target_folder, CRATE, ["test", "--no-run", "--tests", *target])
    found |= executables(cargo, target_folder, CRATE, ["build", "--examples", *target])
    os.environ.setdefault("INLAY_LIB_DIR", os.path.dirname(os.environ["INLAY_LIBRARY"]))
    linked = executables(cargo, target_folder + "-link", CRATE,
                         ["build", "--no-default-features", "--features=link", "--example=complete", *target])
    found["linked_complete"] = linked["complete"]
    for name, path in sorted(found.items()):
        shutil.copy2(path, pathlib.Path(bin_folder) / f"binding_rust_{name}{pathlib.Path(path).suffix}")
        print(f"binding_rust_{name}")


if __name__ == "__main__":
    main()
