"""A C header of a frozen ABI version, from its JSON form alone: what a client of that version was compiled against."""


def emit(frozen: dict) -> str:
    major, minor = frozen["abi"].split(".")
    out = ["#ifndef INLAY_H", "#define INLAY_H", "#include <stddef.h>", "#include <stdint.h>",
           "#ifdef __cplusplus", 'extern "C" {', "#endif",
           f"#define INLAY_ABI_MAJOR {major}", f"#define INLAY_ABI_MINOR {minor}"]
    out += [f"#define {name} {value}" for name, value in frozen["constants"]]
    for enum in frozen["enums"]:
        out.append(f"typedef {'uint32_t' if enum['flags'] else 'int32_t'} {enum['name']};")
        out += [f"#define {name} ({value})" for name, value in enum["values"]]
    out += [f"typedef struct {name} {name};" for name in frozen["handles"]]
    out += [c for _, c in frozen["callbacks"]]
    for struct in frozen["structs"]:
        fields = "".join(f"  {declaration}\n" for _, _, declaration in struct["fields"])
        out.append(f"typedef struct {struct['name']} {{\n{fields}}} {struct['name']};")
    out += [f"{function['c']};" for function in frozen["functions"]]
    return "\n".join([*out, "#ifdef __cplusplus", "}", "#endif", "#endif", ""])
