"""Compares the description with the frozen form of an earlier ABI version: only appending is allowed."""


def number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def problems(frozen: dict, now: dict) -> list[str]:
    if number(now["abi"]) < number(frozen["abi"]):
        return [f"the description is of ABI {now['abi']}, which is older"]
    out = []
    out += prefix("constants", frozen["constants"], now["constants"])
    out += prefix("handles", frozen["handles"], now["handles"])
    out += prefix("callbacks", frozen["callbacks"], now["callbacks"])
    out += named("enum", frozen["enums"], now["enums"], enum_problems)
    out += named("struct", frozen["structs"], now["structs"], struct_problems)
    out += named("function", frozen["functions"], now["functions"], function_problems)
    out += since_problems(frozen, now)
    if not out and now["abi"] == frozen["abi"] and now != frozen:
        out.append("something was added without raising abi_minor")
    return out


def since_problems(frozen: dict, now: dict) -> list[str]:
    """A function's version is part of its symbol: that of an old one stays, and a new one cannot be as old as the frozen version."""
    old = {f["name"] for f in frozen["functions"]}
    return [f"function {f['name']}: since {f['since']} is wrong" for f in now["functions"]
            if (f["name"] in old) != (number(f["since"]) <= number(frozen["abi"]))]


def prefix(what: str, old: list, new: list) -> list[str]:
    """The old entries must open the new list unchanged and in their order."""
    for i, entry in enumerate(old):
        if i >= len(new):
            return [f"{what}: {entry} was removed"]
        if new[i] != entry:
            return [f"{what}: {entry} was changed, moved or removed; {new[i]} stands in its place"]
    return []


def named(what: str, old: list, new: list, compare) -> list[str]:
    out = prefix(what, [e["name"] for e in old], [e["name"] for e in new])
    by_name = {e["name"]: e for e in new}
    for entry in old:
        if entry["name"] in by_name:
            out += compare(entry, by_name[entry["name"]])
    return out


def enum_problems(old: dict, new: dict) -> list[str]:
    out = prefix(f"enum {old['name']}", old["values"], new["values"])
    if old["flags"] != new["flags"]:
        out.append(f"enum {old['name']}: its type was changed")
    return out


def struct_problems(old: dict, new: dict) -> list[str]:
    where = f"struct {old['name']}"
    out = prefix(where, old["fields"], new["fields"])
    for key in ("growth", "use", "align"):
        if old[key] != new[key]:
            out.append(f"{where}: {key} was changed from {old[key]} to {new[key]}")
    last_offset, last_size, _ = old["fields"][-1]
    if new["first_size"] > -(-(last_offset + last_size) // old["align"]) * old["align"]:
        out.append(f"{where}: clients of this version are shorter than the smallest size that it takes, {new['first_size']}; "
                   "appended fields need their own since")
    if old["growth"] == "fixed" and len(new["fields"]) != len(old["fields"]):
        out.append(f"{where}: it may not grow")
    return out


def function_problems(old: dict, new: dict) -> list[str]:
    where = f"function {old['name']}"
    out = []
    if old["c"] != new["c"]:
        out.append(f"{where}: its signature was changed from {old['c']} to {new['c']}")
    for name in old["nullable"]:
        if name not in new["nullable"]:
            out.append(f"{where}: {name} may no longer be NULL")
    if old["thread"] != new["thread"] and new["thread"] != "any":
        out.append(f"{where}: its thread class was changed from {old['thread']} to {new['thread']}")
    if new["device_memory"] and not old["device_memory"]:
        out.append(f"{where}: it takes device memory now")
    return out
