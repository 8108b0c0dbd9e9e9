"""The typed form of bindings/api/inlay.toml: reads it, refuses what is wrong in it, and computes the layout of every struct."""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

# Size and alignment in bytes on every supported (64-bit) target.
SCALARS = {"i32": 4, "u32": 4, "i64": 8, "u64": 8, "f32": 4, "f64": 8, "u8": 1, "utf8": 1, "bytes": 1, "size": 8, "pointer": 8}
RETURNS = ("status", "void", "i32", "u32", "static_utf8")
GROWTHS = ("sized", "stride", "fixed")
NAME = re.compile(r"inlay_[a-z0-9_]+")
RANGE = re.compile(r"any number|-?[0-9.]+ or more|-?[0-9.]+ to [0-9.]+")
HEADER_DOC_LINES = 12


class ApiError(Exception):
    """The description is wrong; the message says where."""


@dataclass
class Constant:
    name: str
    value: int
    doc: str
    since: str


@dataclass
class Enum:
    name: str
    prefix: str
    doc: str
    since: str
    flags: bool
    values: list[Constant]


@dataclass
class Handle:
    name: str
    doc: str
    free: str
    parent: str
    since: str


@dataclass
class Param:
    name: str
    type: str
    doc: str
    direction: str  # in, out, inout
    length: str  # parameter that counts the elements, or ""
    stride: str  # parameter that holds the distance of the elements, or ""
    nullable: bool
    shared: bool  # a handle that other threads may use meanwhile: const in C
    unit: str


@dataclass
class Callback:
    name: str
    doc: str
    returns: str
    since: str
    params: list[Param]


@dataclass
class Field:
    name: str
    type: str
    doc: str
    pointer: bool
    length: str  # field that counts what the pointer points to, or ""
    count: int  # elements of an inline array, 1 for a plain field
    count_name: str  # the constant that count was written with, or ""
    unit: str
    range: str  # of the values beside the default: of a form of RANGE
    default: str
    since: str
    offset: int = 0
    size: int = 0

    def notes(self) -> str:
        """Unit, range and default, as they stand behind the documentation; may be empty."""
        return ", ".join(filter(None, [self.unit, self.range, f"default {self.default}" if self.default else ""]))

    def limits(self) -> tuple[float | None, float | None]:
        """The smallest and the largest value of the range."""
        low, _, high = self.range.partition(" to ")
        return (None, None) if low == "any number" else (float(low.split()[0]), float(high) if high else None)


@dataclass
class Struct:
    name: str
    doc: str
    since: str
    growth: str  # sized: struct_size first; stride: arrays come with a stride; fixed: never grows
    use: str  # in, out
    fields: list[Field]
    size: int = 0
    align: int = 0

    def first_size(self) -> int:
        """Size of the version in which the struct appeared: the smallest that a client can have."""
        last = [f for f in self.fields if f.since == self.since][-1]
        return round_up(last.offset + last.size, self.align)


@dataclass
class Function:
    name: str
    group: str
    doc: str
    returns: str
    thread: str
    blocks: str
    device_memory: bool
    ownership: str
    on_error: str
    errors: list[str]
    since: str
    params: list[Param]

    def fallible(self) -> bool:
        return self.returns == "status"


@dataclass
class Api:
    name: str
    major: int
    minor: int
    constants: list[Constant] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)

    def version(self) -> str:
        return f"{self.major}.{self.minor}"

    def enum(self, name: str) -> Enum | None:
        return find(self.enums, name)

    def struct(self, name: str) -> Struct | None:
        return find(self.structs, name)

    def by_subject(self) -> dict[str, list[Function]]:
        """The functions of each group, groups in the order in which they first come."""
        out = {}
        for function in self.functions:
            out.setdefault(function.group, []).append(function)
        return out

    def is_handle(self, name: str) -> bool:
        return find(self.handles, name) is not None

    def is_callback(self, name: str) -> bool:
        return find(self.callbacks, name) is not None


def find(items: list, name: str):
    return next((item for item in items if item.name == name), None)


def round_up(n: int, to: int) -> int:
    return (n + to - 1) // to * to


class Table:
    """One table of the description. Every key is taken once; what is left over in the end is unknown."""

    def __init__(self, where: str, values: dict):
        self.where = where
        self.values = dict(values)

    def take(self, key: str, kind: type, default=None):
        if key not in self.values:
            if default is None:
                raise ApiError(f"{self.where}: '{key}' is missing")
            return default
        value = self.values.pop(key)
        if type(value) is not kind:
            raise ApiError(f"{self.where}: '{key}' must be of type {kind.__name__}")
        if key in ("doc", "name", "since") and not value:
            raise ApiError(f"{self.where}: '{key}' is empty")
        return value

    def done(self) -> None:
        if self.values:
            raise ApiError(f"{self.where}: unknown key '{next(iter(self.values))}'")


def load(path: Path) -> Api:
    try:
        return parse(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as problem:
        raise ApiError(f"{path.name}: {problem}") from problem


def parse(text: str) -> Api:
    root = Table("the description", tomllib.loads(text))
    head = Table("[api]", root.take("api", dict))
    api = Api(head.take("name", str), head.take("abi_major", int), head.take("abi_minor", int))
    head.done()
    read = {"constant": (api.constants, read_constant), "enum": (api.enums, read_enum),
            "handle": (api.handles, read_handle), "callback": (api.callbacks, read_callback),
            "struct": (api.structs, read_struct), "function": (api.functions, read_function)}
    for key, (items, reader) in read.items():
        for i, values in enumerate(root.take(key, list)):
            table = Table(f"{key} {values.get('name', i)}", values)
            items.append(reader(api, table))
            table.done()
    root.done()
    check_names(api)
    for struct in api.structs:
        lay_out(api, struct)
    for function in api.functions:
        check_function(api, function)
    return api


def read_constant(api: Api, t: Table) -> Constant:
    return Constant(t.take("name", str), t.take("value", int), t.take("doc", str), t.take("since", str, "1.0"))


def read_enum(api: Api, t: Table) -> Enum:
    enum = Enum(t.take("name", str), t.take("prefix", str), t.take("doc", str), t.take("since", str),
                t.take("flags", bool, False), [])
    for values in t.take("values", list):
        v = Table(f"{t.where}, value {values.get('name')}", values)
        enum.values.append(Constant(v.take("name", str), v.take("value", int), v.take("doc", str),
                                    v.take("since", str, enum.since)))
        v.done()
    numbers = [v.value for v in enum.values]
    if len(set(numbers)) != len(numbers):
        raise ApiError(f"{t.where}: two values have the same number")
    if enum.flags and any(n <= 0 or n & (n - 1) for n in numbers):
        raise ApiError(f"{t.where}: a flag must be one bit")
    return enum


def read_handle(api: Api, t: Table) -> Handle:
    return Handle(t.take("name", str), t.take("doc", str), t.take("free", str), t.take("parent", str, ""),
                  t.take("since", str))


def read_params(t: Table) -> list[Param]:
    params = []
    for values in t.take("params", list):
        p = Table(f"{t.where}, parameter {values.get('name')}", values)
        params.append(Param(p.take("name", str), p.take("type", str), p.take("doc", str), p.take("dir", str, "in"),
                            p.take("len", str, ""), p.take("stride", str, ""), p.take("nullable", bool, False),
                            p.take("shared", bool, False), p.take("unit", str, "")))
        p.done()
    return params


def read_callback(api: Api, t: Table) -> Callback:
    return Callback(t.take("name", str), t.take("doc", str), t.take("returns", str), t.take("since", str), read_params(t))


def read_struct(api: Api, t: Table) -> Struct:
    struct = Struct(t.take("name", str), t.take("doc", str), t.take("since", str), t.take("growth", str),
                    t.take("use", str), [])
    for values in t.take("fields", list):
        f = Table(f"{t.where}, field {values.get('name')}", values)
        count, count_name = f.values.pop("count", 1), ""
        if isinstance(count, str):
            constant = find(api.constants, count)
            if constant is None:
                raise ApiError(f"{f.where}: no constant {count}")
            count, count_name = constant.value, count
        struct.fields.append(Field(f.take("name", str), f.take("type", str), f.take("doc", str),
                                   f.take("pointer", bool, False), f.take("len", str, ""), count, count_name,
                                   f.take("unit", str, ""), f.take("range", str, ""), f.take("default", str, ""),
                                   f.take("since", str, struct.since)))
        f.done()
    return struct


def read_function(api: Api, t: Table) -> Function:
    returns = t.take("returns", str)
    return Function(t.take("name", str), t.take("group", str), t.take("doc", str), returns, t.take("thread", str),
                    t.take("blocks", str, "no"), t.take("device_memory", bool, False),
                    t.take("ownership", str, "Nothing is kept."), t.take("on_error", str, "Nothing has changed."),
                    t.take("errors", list) if returns == "status" else [], t.take("since", str), read_params(t))


def check_names(api: Api) -> None:
    seen = set()
    typed = [*api.enums, *api.handles, *api.callbacks, *api.structs, *api.functions]
    for item in typed:
        if not NAME.fullmatch(item.name):
            raise ApiError(f"{item.name}: not a name of the form inlay_noun_verb")
    constants = [c.name for c in api.constants] + [e.prefix + v.name for e in api.enums for v in e.values]
    for name in [item.name for item in typed] + constants:
        if name in seen:
            raise ApiError(f"{name}: the name is used twice")
        seen.add(name)
    for handle in api.handles:
        if find(api.functions, handle.free) is None:
            raise ApiError(f"handle {handle.name}: no function {handle.free} frees it")


def field_type(api: Api, where: str, f: Field) -> tuple[int, int]:
    """Size and alignment of one element."""
    if f.pointer or f.type == "pointer" or api.is_callback(f.type):
        return 8, 8
    if f.type in SCALARS:
        return SCALARS[f.type], SCALARS[f.type]
    if api.enum(f.type):
        return 4, 4
    inner = api.struct(f.type)
    if inner is None or inner.size == 0:
        raise ApiError(f"{where}: type {f.type} is unknown or comes later")
    if inner.growth != "fixed":
        raise ApiError(f"{where}: {f.type} may grow, so it cannot be embedded")
    return inner.size, inner.align


def check_range(struct: Struct, where: str, f: Field) -> None:
    """Each number that a program sets says its range; lengths of texts are as the texts, and 64 bits are all allowed."""
    if f.range and not RANGE.fullmatch(f.range):
        raise ApiError(f"{where}: range is {f.range}, expected `any number`, `LOW or more` or `LOW to HIGH`")
    is_set = struct.growth == "sized" and struct.use == "in" and not f.pointer
    if is_set and (f.type in ("i32", "f32", "f64") or (f.type == "size" and f.unit != "bytes")) and not f.range:
        raise ApiError(f"{where}: no range")


def lay_out(api: Api, struct: Struct) -> None:
    where = f"struct {struct.name}"
    if struct.growth not in GROWTHS or struct.use not in ("in", "out"):
        raise ApiError(f"{where}: growth must be one of {GROWTHS}, use in or out")
    first = struct.fields[0] if struct.fields else None
    if struct.growth == "sized" and (first is None or (first.name, first.type) != ("struct_size", "u32")):
        raise ApiError(f"{where}: its first field must be struct_size of type u32")
    offset, names = 0, [f.name for f in struct.fields]
    if len(set(names)) != len(names):
        raise ApiError(f"{where}: a field is named twice")
    for f in struct.fields:
        at = f"{where}, field {f.name}"
        if f.length and f.length not in names:
            raise ApiError(f"{at}: no field {f.length}")
        check_range(struct, at, f)
        size, align = field_type(api, at, f)
        if offset % align:
            raise ApiError(f"{at}: {align - offset % align} bytes of padding before it are not explicit")
        f.offset, f.size = offset, size * f.count
        offset += f.size
        struct.align = max(struct.align, align)
    if offset % struct.align:
        raise ApiError(f"{where}: {struct.align - offset % struct.align} bytes of padding at its end are not explicit")
    struct.size = offset


def check_param(api: Api, where: str, p: Param, names: list[str]) -> None:
    if p.direction not in ("in", "out", "inout"):
        raise ApiError(f"{where}: dir must be in, out or inout")
    for other in (p.length, p.stride):
        if other and other not in names:
            raise ApiError(f"{where}: no parameter {other}")
    known = p.type in SCALARS or api.enum(p.type) or api.struct(p.type) or api.is_handle(p.type) or api.is_callback(p.type)
    if not known:
        raise ApiError(f"{where}: unknown type {p.type}")
    if p.type in ("utf8", "bytes") and not p.length:
        raise ApiError(f"{where}: {p.type} needs len")
    struct = api.struct(p.type)
    if struct and struct.growth == "stride" and not p.stride:
        raise ApiError(f"{where}: an array of {p.type} needs a stride")
    if struct and (struct.use == "in") != (p.direction == "in"):
        raise ApiError(f"{where}: {p.type} is for {struct.use}")


def check_function(api: Api, function: Function) -> None:
    where = f"function {function.name}"
    if function.returns not in RETURNS:
        raise ApiError(f"{where}: returns must be one of {RETURNS}")
    names = [p.name for p in function.params]
    if "err" in names or len(set(names)) != len(names):
        raise ApiError(f"{where}: a parameter is named twice")
    for p in function.params:
        check_param(api, f"{where}, parameter {p.name}", p, names)
    exclusive = re.fullmatch(r"exclusive\((\w+)\)", function.thread)
    if function.thread not in ("any", "init") and not (exclusive and exclusive[1] in names):
        raise ApiError(f"{where}: thread must be any, init or exclusive(parameter)")
    if function.thread == "any" and any(api.is_handle(p.type) and p.direction == "in" and not p.shared
                                        for p in function.params):
        raise ApiError(f"{where}: callable from any thread, so its handles must be shared")
    statuses = [v.name for v in api.enum("inlay_status").values]
    for name in function.errors:
        if name not in statuses:
            raise ApiError(f"{where}: no status {name}")
