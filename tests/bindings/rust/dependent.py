"""Builds a program that depends on the crate with the feature `link`, and has the build script that the crate's README shows:
it must run without being told where the library is. Without that script it must not.

Usage: dependent.py CARGO TARGET_FOLDER       INLAY_LIBRARY: the library to link with
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

CRATE = pathlib.Path(__file__).resolve().parents[3] / "bindings/rust"
MANIFEST = """[package]
name = "dependent"
version = "0.1.0"
edition = "2021"

[dependencies]
inlay = {{ path = "{crate}", default-features = false, features = ["link"] }}

[workspace]
"""
MAIN = 'fn main() {\n    println!("version {}", inlay::Library::get().unwrap().version());\n}\n'


def script_of_readme():
    found = re.search(r"```rust,no_run\n(// build.rs\n.*?)```", (CRATE / "README.md").read_text(encoding="utf-8"), re.S)
    return found[1]


def run(cargo, target_folder, folder, script):
    """The exit status and the text of the program, built with this build script if there is one."""
    (folder / "src").mkdir(parents=True)
    (folder / "Cargo.toml").write_text(MANIFEST.format(crate=CRATE.as_posix()), encoding="utf-8")
    (folder / "src/main.rs").write_text(MAIN, encoding="utf-8")
    if script:
        (folder / "build.rs").write_text(script, encoding="utf-8")
    library = pathlib.Path(os.environ["INLAY_LIBRARY"]).resolve()
    libraries = folder / "lib"
    libraries.mkdir()
    for name in ("libinlay.so", "libinlay.so.1"):
        (libraries / name).symlink_to(library)
    environment = {k: v for k, v in os.environ.items() if k not in ("LD_LIBRARY_PATH", "INLAY_LIBRARY")}
    built = environment | {"CARGO_TARGET_DIR": target_folder, "INLAY_LIB_DIR": str(libraries)}
    subprocess.run([cargo, "build", "--offline", "--quiet"], cwd=folder, env=built, check=True)
    done = subprocess.run([pathlib.Path(target_folder) / "debug/dependent"], env=environment, capture_output=True, text=True,
                          check=False)
    return done.returncode, done.stdout


def main():
    cargo, target_folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        status, text = run(cargo, target_folder + "-dependent", folder / "with", script_of_readme())
        if status != 0 or not re.fullmatch(r"version \d+\.\d+\.\d+\n", text):
            sys.exit(f"with the build script of the README: status {status}, {text!r}")
        status, text = run(cargo, target_folder + "-dependent", folder / "without", None)
        if status == 0:
            sys.exit(f"without a build script it runs, too: {text!r}")
    print("a program that depends on the crate finds the library by its build script")


if __name__ == "__main__":
    main()
