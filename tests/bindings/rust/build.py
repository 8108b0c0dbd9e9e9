"""Builds the Rust programs that the tests run, and copies them to where they can be carried from.

Usage: build.py CARGO TARGET_FOLDER BIN_FOLDER [--target=TARGET]

Makes BIN_FOLDER/binding_rust_NAME of each program of this package (optimised) and of each test and example of the crate, as cargo
packages it (with its debug assertions), and BIN_FOLDER/binding_rust_linked_complete, which is linked with the library in INLAY_LIB_DIR, or else the
one that INLAY_LIBRARY names.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

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


def packaged(cargo, target_folder):
    """The folder of what `cargo package` makes of the crate. Files that are as they were keep their time: cargo goes by it."""
    command = [cargo, "package", "--no-verify", "--allow-dirty", "--offline", "--locked", "--quiet", f"--manifest-path={CRATE / 'Cargo.toml'}"]
    done = subprocess.run(command, env=os.environ | {"CARGO_TARGET_DIR": target_folder}, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    package = max((pathlib.Path(target_folder) / "package").glob("*.crate"), key=lambda path: path.stat().st_mtime)
    folder = pathlib.Path(target_folder) / "packaged"
    with tempfile.TemporaryDirectory() as name, tarfile.open(package) as archive:
        archive.extractall(name)
        fresh = next(pathlib.Path(name).iterdir())
        files = [path.relative_to(fresh) for path in fresh.rglob("*") if path.is_file()]
        for old in [path for path in folder.rglob("*") if path.is_file() and path.relative_to(folder) not in files]:
            old.unlink()
        for path in files:
            text, to = (fresh / path).read_bytes(), folder / path
            if not to.exists() or to.read_bytes() != text:
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(text)
    return folder


def main():
    cargo, target_folder, bin_folder, *target = sys.argv[1:]
    crate = packaged(cargo, target_folder)
    found = executables(cargo, target_folder, HERE, ["build", "--release", *target])
    found |= executables(cargo, target_folder, crate, ["test", "--no-run", "--tests", *target])
    found |= executables(cargo, target_folder, crate, ["build", "--examples", *target])
    os.environ.setdefault("INLAY_LIB_DIR", os.path.dirname(os.environ["INLAY_LIBRARY"]))
    linked = executables(cargo, target_folder + "-link", CRATE,
                         ["build", "--no-default-features", "--features=link", "--example=complete", *target])
    found["linked_complete"] = linked["complete"]
    for name, path in sorted(found.items()):
        shutil.copy2(path, pathlib.Path(bin_folder) / f"binding_rust_{name}{pathlib.Path(path).suffix}")
        print(f"binding_rust_{name}")


if __name__ == "__main__":
    main()
