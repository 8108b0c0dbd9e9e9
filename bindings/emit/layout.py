"""The canonical text of all layouts and numbers, as this generator computes them. The probe of every language prints the same."""

from api_model import Api


def emit(api: Api) -> str:
    out = []
    for c in api.constants:
        out.append(f"constant {c.name} {c.value}")
    for e in api.enums:
        out.append(f"enum {e.name} size 4")
        out += [f"constant {e.prefix}{v.name} {v.value}" for v in e.values]
    for s in api.structs:
        out.append(f"struct {s.name} size {s.size} align {s.align}")
        out += [f"field {s.name}.{f.name} offset {f.offset} size {f.size}" for f in s.fields]
    return "\n".join(out) + "\n"
