"""The programs that give the expected ids of tests/data/tokenizers: none of this project's code is among them.

Environment: INLAY_NODE_MODULES names a folder node_modules with the npm packages tokenizers, @huggingface/tokenizers and
@node-llama-cpp/linux-x64 in the versions below.
"""
import json
import os
import subprocess

VERSIONS = {"tokenizers": "0.23.2", "@huggingface/tokenizers": "0.2.0", "@node-llama-cpp/linux-x64": "3.22.1"}
RUST = "npm package tokenizers@0.23.2 (Hugging Face's Rust library)"
JS = "npm package @huggingface/tokenizers@0.2.0"
LIBLLAMA = "npm package @node-llama-cpp/linux-x64@3.22.1 (libllama v0.5.0)"
HERE = os.path.dirname(os.path.abspath(__file__))


def modules():
    folder = os.environ.get("INLAY_NODE_MODULES", "")
    for package, version in VERSIONS.items():
        path = os.path.join(folder, package, "package.json")
        if not os.path.exists(path):
            raise SystemExit("INLAY_NODE_MODULES has no package %s@%s" % (package, version))
        with open(path, encoding="utf-8") as f:
            found = json.load(f)["version"]
        if found != version:
            raise SystemExit("%s is version %s, expected %s" % (package, found, version))
    return folder


def hugging_face(jobs):
    """For each (tokenizer, config, texts): what tokenize.cjs answers."""
    lines = [json.dumps({"tokenizer": tokenizer, "config": config, "texts": texts}) for tokenizer, config, texts in jobs]
    done = subprocess.run(["node", os.path.join(HERE, "tokenize.cjs")], env=dict(os.environ, NODE_PATH=modules()),
                          input="\n".join(lines) + "\n", capture_output=True, text=True, encoding="utf-8", check=False)
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    if done.returncode or len(answers) != len(jobs):
        raise SystemExit("tokenize.cjs: %s" % done.stderr[:2000])
    return answers


def libllama_vocabulary(path):
    """The vocabulary of a GGUF file in libllama. Needs numpy."""
    import reference_library  # here, so that vocabularies can be made without numpy
    reference_library.use(os.path.join(modules(), "@node-llama-cpp", "linux-x64", "bins", "linux-x64"))
    return reference_library.Vocabulary(path)
