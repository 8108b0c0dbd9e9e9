"""bindings/go/constants.go: the description's numbers as package inlay has them, besides package raw."""

from api_model import Api
from emit import go_names

HEAD = """\
// Code generated from bindings/api/inlay.toml by bindings/generate.py; DO NOT EDIT.

package inlay
"""


def emit(api: Api) -> str:
    out = [HEAD, 'import "inlay.dev/inlay/raw"']
    for enum in api.enums:
        name = go_names.public(enum.name)
        out += ["", *go_names.comment(enum.doc), f"type {name} = raw.{name}", "", f"// Values of {name}.", "const ("]
        for value in enum.values:
            go = go_names.enum_value(enum, value.name)
            out += [*go_names.comment(value.doc, "\t"), f"\t{go} = raw.{go}"]
        out.append(")")
    return "\n".join(out) + "\n"
