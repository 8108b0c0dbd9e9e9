"""Fails unless clang lays the header out on every supported target as the generator does, byte for byte in the text of layout.txt.

Usage: cross_layout.py HEADER_FOLDER inlay.json layout.txt     needs libclang's Python module, of this Python or of the system's
"""
import json
import os
import pathlib
import sys
import tempfile

SYSTEM_PYTHON = "/usr/bin/python3"
TARGETS = ["x86_64-unknown-linux-gnu", "x86_64-pc-windows-msvc", "aarch64-unknown-linux-gnu", "arm64-apple-macosx"]
# The two headers that inlay.h needs, in terms of what the compiler says about its target: no system headers are read.
STANDARD = {
    "stddef.h": "typedef __SIZE_TYPE__ size_t;\n#define NULL ((void*)0)\n",
    "stdint.h": "".join(f"typedef __INT{n}_TYPE__ int{n}_t;\ntypedef __UINT{n}_TYPE__ uint{n}_t;\n" for n in (8, 16, 32, 64))
                + "#define UINTPTR_MAX __UINTPTR_MAX__\n#define UINT64_MAX __UINT64_MAX__\n",
}


def load_clang():
    try:
        import clang.cindex
        return clang.cindex
    except ImportError:
        if sys.executable != SYSTEM_PYTHON and os.access(SYSTEM_PYTHON, os.X_OK):
            os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])
        print("skipped: needs libclang for Python: it is not installed")
        sys.exit(77)


def constants(api):
    return [c["name"] for c in api["constants"]] + [e["prefix"] + v["name"] for e in api["enums"] for v in e["values"]]


def parse(clang, target, header_folder, standard_folder, api):
    """The declarations of the header on a target by name, and of one enumerator for each constant, whose value is the constant's."""
    text = '#include "inlay.h"\n' + "".join(f"enum {{ value_{name} = {name} }};\n" for name in constants(api))
    unit = clang.Index.create().parse("all.c", unsaved_files=[("all.c", text)],
                                      args=["-target", target, "-std=c11", "-nostdinc", f"-I{standard_folder}", f"-I{header_folder}"])
    faults = [str(d) for d in unit.diagnostics if d.severity >= clang.Diagnostic.Error]
    if faults:
        sys.exit(f"{target}: " + "\n".join(faults))
    found = {}
    for cursor in unit.cursor.get_children():
        if cursor.kind == clang.CursorKind.ENUM_DECL:
            found |= {c.spelling: c.enum_value for c in cursor.get_children()}
        elif cursor.kind == clang.CursorKind.TYPEDEF_DECL:
            found[cursor.spelling] = cursor.underlying_typedef_type
    return found


def layout(found, api):
    """The text of bindings/emit/layout.py as a target's compiler sees it."""
    lines = [f"constant {c['name']} {found['value_' + c['name']]}" for c in api["constants"]]
    for enum in api["enums"]:
        lines.append(f"enum {enum['name']} size {found[enum['name']].get_size()}")
        lines += [f"constant {name} {found['value_' + name]}" for name in (enum["prefix"] + v["name"] for v in enum["values"])]
    for struct in api["structs"]:
        compiled = found[struct["name"]]
        lines.append(f"struct {struct['name']} size {compiled.get_size()} align {compiled.get_align()}")
        fields = {c.spelling: c for c in compiled.get_canonical().get_fields()}
        for f in struct["fields"]:
            size = fields[f["name"]].type.get_size()
            lines.append(f"field {struct['name']}.{f['name']} offset {compiled.get_canonical().get_offset(f['name']) // 8} size {size}")
    return "\n".join(lines) + "\n"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    clang = load_clang()
    header_folder, description, expected_file = sys.argv[1:]
    api = json.loads(pathlib.Path(description).read_text(encoding="utf-8"))
    expected = pathlib.Path(expected_file).read_text(encoding="utf-8").splitlines()
    problems = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in STANDARD.items():
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        for target in TARGETS:
            found = layout(parse(clang, target, header_folder, folder, api), api).splitlines()
            wrong = [f"{target}: {b}, described is: {a}" for a, b in zip(expected, found) if a != b]
            wrong += [f"{target}: {len(found)} lines instead of {len(expected)}"] if len(found) != len(expected) else []
            print(f"{target}: {len(found)} lines, {len(wrong)} wrong")
            problems += wrong
    if problems:
        sys.exit("\n".join(problems))


if __name__ == "__main__":
    main()
