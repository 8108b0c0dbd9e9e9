"""bindings/api/inlay.json: the whole description with C types and layout, for tools of third parties; and the frozen form of one
ABI version, which is the part of it that may never change."""

import json
from dataclasses import asdict

from api_model import Api
from emit import c_types


def document(api: Api) -> dict:
    functions = []
    for f in api.functions:
        entry = asdict(f)
        entry["c"] = c_types.prototype(api, f)
        for p, described in zip(f.params, entry["params"]):
            described["c"] = c_types.param_type(api, p)
        functions.append(entry)
    structs = []
    for s in api.structs:
        entry = asdict(s)
        entry["first_size"] = s.first_size()
        for f, described in zip(s.fields, entry["fields"]):
            described["c"] = c_types.field_declaration(f)
        structs.append(entry)
    return {
        "api": api.name,
        "abi": api.version(),
        "constants": [asdict(c) for c in api.constants],
        "enums": [asdict(e) for e in api.enums],
        "handles": [asdict(h) for h in api.handles],
        "callbacks": [{**asdict(c), "c": c_types.callback_typedef(api, c)} for c in api.callbacks],
        "structs": structs,
        "functions": functions,
    }


def frozen(api: Api) -> dict:
    """Names, numbers, layouts and signatures, in order; no documentation."""
    return {
        "abi": api.version(),
        "constants": [[c.name, c.value] for c in api.constants],
        "enums": [{"name": e.name, "flags": e.flags, "values": [[e.prefix + v.name, v.value] for v in e.values]}
                  for e in api.enums],
        "handles": [h.name for h in api.handles],
        "callbacks": [[c.name, c_types.callback_typedef(api, c)] for c in api.callbacks],
        "structs": [{"name": s.name, "growth": s.growth, "use": s.use, "align": s.align, "first_size": s.first_size(),
                     "fields": [[f.offset, f.size, c_types.field_declaration(f)] for f in s.fields]} for s in api.structs],
        "functions": [{"name": f.name, "since": f.since, "c": c_types.prototype(api, f), "thread": f.thread,
                       "device_memory": f.device_memory, "nullable": [p.name for p in f.params if p.nullable]} for f in api.functions],
    }


def emit(api: Api) -> str:
    return json.dumps(document(api), indent=1) + "\n"


def emit_frozen(api: Api) -> str:
    return json.dumps(frozen(api), indent=1) + "\n"
