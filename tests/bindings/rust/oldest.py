"""Checks the crate, its examples and its tests with the oldest Rust that Cargo.toml promises.

Usage: oldest.py CARGO TARGET_FOLDER

The compiler is INLAY_RUST_OLDEST (the path of a rustc, of that version or a later one) or rustup's toolchain of the version.
The exit status is 77 where there is none.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

CRATE = pathlib.Path(__file__).resolve().parents[3] / "bindings/rust"
SKIPPED = 77


def promised():
    text = (CRATE / "Cargo.toml").read_text(encoding="utf-8")
    return re.search(r'^rust-version = "([0-9.]+)"$', text, re.MULTILINE)[1]


def compiler(version):
    given = os.environ.get("INLAY_RUST_OLDEST")
    if given:
        return given
    if not shutil.which("rustup"):
        return None
    found = subprocess.run(["rustup", "which", f"--toolchain={version}", "rustc"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                           env=os.environ | {"RUSTUP_AUTO_INSTALL": "0"}, text=True, check=False)
    return found.stdout.strip() if found.returncode == 0 else None


def main():
    cargo, target_folder = sys.argv[1:]
    version = promised()
    rustc = compiler(version)
    if not rustc:
        print(f"skipped: needs the oldest Rust that is promised: rustup toolchain install {version}, or INLAY_RUST_OLDEST")
        return SKIPPED
    print(subprocess.run([rustc, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout, end="")
    command = [cargo, "check", "--all-targets", "--offline", "--locked", f"--manifest-path={CRATE / 'Cargo.toml'}"]
    return subprocess.run(command, env=os.environ | {"RUSTC": rustc, "CARGO_TARGET_DIR": target_folder}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
