"""Values of every kind in a template, and every member that takes them: for the table templates/kinds.json and for the random templates of tests/fuzz."""
import re
from dataclasses import dataclass, field

# As a template writes them.
VALUES = {
    "none": ["none"],
    "undefined": ["nope", "{}.nope", "[][0]"],
    "bool": ["true", "false"],
    "int": ["3", "0", "-7", "1000"],
    "float": ["2.5", "-0.5", "0.0", "1e20"],
    "string": ["'Ab c'", "''", "'3'", "' 2.5\\n<b>'", "'a,b'"],
    "markup": ["('<i>'|safe)"],
    "list": ["[3, 1, 2]", "[]", "['b', 'A', 'c']", "[1, 'a', none]", "[[1, 2], [3, 4]]", "[{'k': 2, 'a': 'x'}, {'k': 1, 'a': 'Y'}]", "[nope]"],
    "tuple": ["(1, 2)", "()"],
    "mapping": ["{'b': 1, 'a': 2}", "{}", "{'k': none, 1: [2]}"],
    "range": ["range(3)"],
    "view": ["{'b': 1, 'a': 2}.items()", "{'b': 1}.keys()", "{'b': 1}.values()"],
    "generator": ["([1, 0, 2]|select)", "([]|map('upper'))"],
    "namespace": ["namespace(a=1)"],
    "function": ["range", "cycler('a', 'b')", "joiner('-')"],
}
FIRST = {kind: spellings[0] for kind, spellings in VALUES.items()}
# What only the process knows that wrote it: addresses.
OWN_TEXT = re.compile(r"0x\w{4}|object|function|<class '|<(built-in|bound)|<slot |<method", re.IGNORECASE)
HUGE = re.compile(r"\d{19}")  # no integers of 64 bits
ARGUMENTS = [*FIRST.values(), "0", "-7", "''", "[]", "true"]

# Arguments that a member takes, between its parentheses; each is tried with values of all kinds, and each ? stands for a value of any kind.
FILTERS = {
    "attr": ["'a'", "?"], "batch": ["2", "2, 'x'", "0", "?", "2, ?"], "center": ["", "7", "?"], "d": ["", "?", "1, ?"],
    "default": ["", "?", "1, true"], "dictsort": ["", "true", "by='value'", "reverse=true", "by=?", "?"],
    "filesizeformat": ["", "true", "?"], "float": ["", "1.5", "?"], "format": ["", "?", "a=?"],
    "groupby": ["'k'", "'k', 5", "0", "?", "'a', case_sensitive=true"],
    "indent": ["", "2", "2, true", "'>>'", "?", "blank=true"], "int": ["", "7", "0, 16", "?", "0, ?"],
    "items": [""], "join": ["", "'-'", "?", "'-', 'k'", "attribute=?"], "map": ["'upper'", "attribute='k'", "attribute='k', default=?", "?", "", "'int'", "attribute=?"],
    "max": ["", "true", "attribute='k'", "attribute=?"], "min": ["", "true", "attribute='k'"],
    "pprint": [""], "random": [""], "reject": ["", "'none'", "'odd'", "'eq', ?", "?"], "rejectattr": ["'k'", "'k', 'eq', 1", "?", ""],
    "replace": ["'b', 'X'", "'b', 'X', 1", "?, 'X'", "'b', ?", "'b', 'X', ?"], "round": ["", "1", "1, 'ceil'", "?", "1, ?", "-1"],
    "select": ["", "'none'", "'odd'", "'eq', ?", "?", "'string'", "'in', ?"], "selectattr": ["'k'", "'k', 'eq', 1", "'k', 'gt', 1", "?", "'k', ?", "'nope.x'", "0", "''"],
    "slice": ["2", "2, 'x'", "0", "?"], "sort": ["", "true", "false, true", "attribute='k'", "attribute='a,k'", "attribute='k, a'", "attribute='0'", "attribute=?"],
    "sum": ["", "'k'", "start=?", "?", "'k', 1"],
    "tojson": ["", "indent=2", "true", "separators=(',', ':')", "sort_keys=true", "indent=?", "separators=?"],
    "trim": ["", "'A'", "?"], "truncate": ["", "3", "3, true", "3, true, '.'", "3, true, '', 0", "?", "3, true, ?", "3, true, '', ?"],
    "unique": ["", "true", "attribute='k'", "attribute=?"], "urlencode": [""],
    "wordwrap": ["", "3", "3, false", "3, true, '|'", "3, true, '|', false", "?", "3, true, ?"], "xmlattr": ["", "false"], "urlize": [""],
}
TESTS = {name: ["?"] for name in ("divisibleby", "eq", "==", "equalto", "ge", ">=", "gt", ">", "greaterthan", "in", "le", "<=", "lt", "<", "lessthan", "ne", "!=", "sameas")}
METHODS = {
    "string": {
        "capitalize": [""], "casefold": [""], "center": ["7", "7, '*'", "?", "7, ?"], "count": ["'b'", "?", "'b', ?"], "endswith": ["'c'", "('c', 'd')", "?", "'c', ?"], "expandtabs": ["", "?"],
        "find": ["'b'", "?", "'b', ?", "'b', 0, ?"], "format": ["", "?", "a=?"], "index": ["'b'", "?"], "isalnum": [""], "isalpha": [""], "isascii": [""], "isdecimal": [""], "isdigit": [""],
        "isidentifier": [""], "islower": [""], "isnumeric": [""], "isprintable": [""], "isspace": [""], "istitle": [""], "isupper": [""],
        "join": ["['a', 'b']", "?"], "ljust": ["7", "?", "7, ?"], "lower": [""], "lstrip": ["", "'A'", "?"], "partition": ["'b'", "?"], "removeprefix": ["'A'", "?"], "removesuffix": ["'c'", "?"],
        "replace": ["'b', 'X'", "'b', 'X', 1", "?, 'X'", "'b', ?", "'b', 'X', ?"], "rfind": ["'b'", "?"], "rindex": ["'b'", "?"], "rjust": ["7", "?"], "rpartition": ["'b'", "?"],
        "rsplit": ["", "' '", "?", "' ', ?"], "rstrip": ["", "'c'", "?"], "split": ["", "' '", "?", "' ', ?", "none, 1", "maxsplit=1", "sep=' '"], "splitlines": ["", "true"],
        "startswith": ["'A'", "?", "'A', ?"], "strip": ["", "?"], "swapcase": [""], "title": [""], "upper": [""], "zfill": ["7", "?"],
    },
    "list": {"append": ["1"], "copy": [""], "count": ["1", "?"], "extend": ["[1]"], "index": ["1", "?"], "insert": ["0, 1"], "remove": ["1"], "reverse": [""], "sort": [""]},
    "mapping": {"clear": [""], "copy": [""], "get": ["'b'", "?", "'zz', ?", ""], "items": ["", "?"], "keys": [""], "pop": ["'b'"], "popitem": [""], "setdefault": ["'b'"], "update": ["{}"], "values": [""]},
    "namespace": {"a": None, "nope": None},
}
FUNCTIONS = {
    "range": ["3", "1, 3", "3, 1, -1", "?", "1, ?", "1, 2, ?", ""], "dict": ["", "a=1", "?", "?, a=1"], "namespace": ["", "?", "a=?"], "cycler": ["1", "?", ""],
    "joiner": ["", "?"], "raise_exception": ["?"],
}
BINARY = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
LOOP = ["index", "index0", "revindex", "revindex0", "first", "last", "length", "depth", "depth0", "previtem", "nextitem", "nope"]
STATEMENTS = {
    "for": "{% for x in ? %}{{ x }},{% else %}none{% endfor %}", "for pairs": "{% for a, b in ? %}{{ a }}={{ b }},{% endfor %}", "for if": "{% for x in [1, 2] if ? %}{{ x }}{% endfor %}",
    "if": "{% if ? %}yes{% else %}no{% endif %}", "set": "{% set x = ? %}{{ x }}", "set pair": "{% set x, y = ? %}{{ x }}", "set attribute": "{% set n = ? %}{% set n.a = 1 %}{{ n.a }}",
    "print": "{{ ? }}", "call": "{{ (?)() }}", "call block": "{% call (?)() %}{% endcall %}", "recursive loop": "{% for x in [1] recursive %}{{ loop(?) if loop.depth < 2 }}{% endfor %}",
    "macro argument": "{% macro m(a, b=2) %}{{ a }}{{ b }}{{ varargs }}{% endmacro %}{{ m(?, ?) }}", "item": "{{ (?)[0] }}", "item by name": "{{ (?)['a'] }}", "item by value": "{{ {'b': 1, 1: 2, none: 3}[?] }}",
    "list item by value": "{{ [7, 8][?] }}", "string item by value": "{{ 'ab'[?] }}", "attribute": "{{ (?).a }}", "attribute of undefined": "{{ (?).a.b }}", "slice": "{{ (? if yes else 0)[1:] }}", "slice back": "{{ (? if yes else 0)[::-1] }}",
    "slice bound": "{{ ([1, 2, 3] if yes else 0)[?:] }}", "slice step": "{{ ('abc' if yes else 0)[::?] }}", "string slice end": "{{ ('abc' if yes else 0)[:?] }}", "minus": "{{ -(?) }}", "plus": "{{ +(?) }}", "not": "{{ not (?) }}",
    "inline if": "{{ 1 if (?) else 2 }}", "mapping key": "{{ {?: 1} }}", "percent": "{{ '%s|%r' % (?, ?) }}", "percent alone": "{{ '<%s>' % ? }}", "percent d": "{{ '%d' % (?,) }}", "percent f": "{{ '%.2f' % (?,) }}",
    "percent x": "{{ '%x' % (?,) }}", "percent c": "{{ '%c' % (?,) }}", "percent named": "{{ '%(a)s' % ? }}", "percent of": "{{ '%s' % (?) }}", "cycle": "{% for x in [1, 2] %}{{ loop.cycle(?, 1) }}{% endfor %}", "changed": "{% for x in [1, 2] %}{{ loop.changed(?) }}{% endfor %}",
    "generator in": "{{ 1 in ([1, 2]|select) }}{{ (?) in [1, 2] }}", "filter block": "{% filter upper %}{{ ? }}{% endfilter %}", "tuple comparison": "{{ (1, 2) < (1, ?) }}",
    "group names": "{% for g in ?|groupby('k') %}{{ g.grouper }}{{ g.list }}{{ g[0] }}{{ g|length }}{{ g }}{% endfor %}", "loop object": "{% for x in [1] %}{{ loop is iterable }}{{ loop|length }}{{ loop == (?) }}{% endfor %}",
    "list of values": "{{ [?] }}", "unpacked": "{{ range(*?) }}", "unpacked named": "{{ dict(**?) }}",
}


TABLES = {"values": [value for spellings in VALUES.values() for value in spellings], "arguments": ARGUMENTS}


@dataclass
class Member:
    kind: str
    name: str
    arguments: list = field(default_factory=list)

    def text(self, value, arguments):
        if self.kind == "filter":
            return f"({value})|{self.name}({arguments})"
        if self.kind == "test":
            return f"({value}) is {self.name}({arguments})" if self.name[0].isalpha() else f"[{value}]|select('{self.name}', {arguments})|list"
        if self.kind == "function":
            return f"{self.name}({arguments})"
        return f"({value}).{self.name}" + ("" if arguments is None else f"({arguments})")

    def applied(self, value, maker):
        arguments = maker.random.choice(self.arguments) if self.arguments else ""
        if maker.one_in(12):
            arguments = ", ".join(filter(None, [arguments, "?"]))
        while arguments and "?" in arguments:
            arguments = arguments.replace("?", maker.value(), 1)
        return f"({self.text(value, arguments)})"


def members(environment):
    """Everything that can be named: what Jinja2 has, though no arguments are known of it here."""
    out = [Member("filter", name, FILTERS.get(name, [""])) for name in sorted(environment.filters)]
    out += [Member("test", name, TESTS.get(name, [""])) for name in sorted(environment.tests)]
    out += [Member("method", name, known) for methods in METHODS.values() for name, known in methods.items()]
    return out + [Member("function", name, known) for name, known in FUNCTIONS.items()]


def filled(template, values):
    """`template` with each of the values for ?."""
    return [template.replace("?", value) for value in values] if "?" in template else [template]


def patterns(environment):
    """(member, template, which values) of every member: what stands for the ? of the template is one of VALUES or of ARGUMENTS."""
    for member in members(environment):
        name = f"{member.kind} {member.name}"
        for arguments in member.arguments if member.arguments is not None else [None]:
            if member.kind == "function":
                yield name, "{{ " + member.text("", arguments) + " }}", "arguments"
                continue
            subjects = ["?"]
            if member.kind == "method":
                kind = next(kind for kind, methods in METHODS.items() if methods.get(member.name, 0) is member.arguments)
                subjects = VALUES[kind] + ([FIRST["markup"]] if kind == "string" else [])
            elif "?" in arguments:
                subjects = FIRST.values()
            for subject in subjects:
                yield name, shown(member, "{{ " + member.text(subject, arguments) + " }}"), "values" if subject == "?" else "arguments"
    for sign in BINARY:
        for value in [*ARGUMENTS, "1e20", "'3'", "[1, 'a', none]", "()", "{}"]:
            yield f"operator {sign}", "{{ (" + value + ") " + sign + " (?) }}", "arguments"
    for name in LOOP:
        yield f"loop {name}", "{% for x in ['a', 'b'] %}{{ loop." + name + " }}{% endfor %}", "arguments"
    for name, statement in STATEMENTS.items():
        yield f"statement {name}", statement, "values"


def shown(member, template):
    """What a generator gives is shown as a list."""
    if member.kind == "filter" and member.name in ("map", "select", "reject", "selectattr", "rejectattr", "batch", "slice", "unique", "items", "reverse"):
        return template[:-3] + "|list }}"
    return template


LEFT_OUT = ["filter random", "filter urlize", "test sameas", "filter count", "filter d", "filter e"]
LEFT_OUT += ["test " + name for name in ("==", "equalto", "!=", "lessthan", "greaterthan", ">", ">=", "<=")]  # other names
SUBJECTS = tuple("{{ (" + FIRST[kind] + ")" for kind in ("string", "list"))  # of the patterns in the table


# Keys and items of a mapping are no sets here.
SETS = [f"{kind} {name}" for kind in ("operator", "test") for name in ("-", "<", "<=", ">", ">=", "lt", "le", "gt", "ge")]


def table(environment, render):
    """The rows of templates/kinds.json: member, template, which values, and what `render` makes of the template with `v` for ? and each value:
    a text, None for an error, or 0 for what differs between versions, or processes, or is intended (docs/design/chat-templates.md)."""
    values = {spelling: environment.compile_expression(spelling, undefined_to_none=False) for spellings in TABLES.values() for spelling in spellings}
    for name, template, which in patterns(environment):
        many = which == "arguments" and "?" in template and name.split()[0] in ("filter", "test", "operator")
        if name in LEFT_OUT or "<i>" in template or "splitlines(?" in template or (many and not template.startswith(SUBJECTS)):
            continue
        results = []
        for value in TABLES[which] if "?" in template else ["none"]:
            text = render(template.replace("?", "v"), values[value]())
            is_set = name in SETS and (".items()" in value + template or ".keys()" in value + template)
            results.append(0 if is_set or "<i>" in value or OWN_TEXT.search(text or "") or HUGE.search(text or "") else text)
        yield name, template, which, results
