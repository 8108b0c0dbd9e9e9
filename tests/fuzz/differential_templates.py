#!/usr/bin/env python3
"""Random templates over values of all kinds, rendered by Jinja2 as transformers sets it up and by Inlay: the same text, or an error of both.

Usage: differential_templates.py RENDERER [--count N] [--seed N] [--show N] [--no-table] [--wrong]

RENDERER is the program render_templates of a build. Every filter, test, method and function that Jinja2 has there is tried with every kind
of value, in front of it and as an argument, then N random templates. Prints by member what differs; exits with 1 if something does.
Where Inlay says that it lacks something, its message has to be one of LACKING, which docs/design/chat-templates.md describes.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import warnings

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "data"))
sys.dont_write_bytecode = True
from test_texts_made_again import python_with_jinja  # noqa: E402  # pylint: disable=wrong-import-position

if python_with_jinja() is None:
    print("skipped: needs Jinja2: install python3-jinja2")
    sys.exit(77)
if python_with_jinja() != sys.executable:
    os.execv(python_with_jinja(), [python_with_jinja(), *sys.argv])
from kinds_of_values import OWN_TEXT, TABLES, VALUES, filled, members, patterns  # noqa: E402  # pylint: disable=wrong-import-position
from make_templates import NOW, environment  # noqa: E402  # pylint: disable=wrong-import-position

UNSUPPORTED = 5
LACKING = (
    "does not fit in 64 bits", "has no text", "the filter 'random' is not supported", "the filter 'urlize' is not supported",
    "is not supported for", "a complex number", "a width above", "an indent above", "the template takes more than", "a range of more than",
)
VIEWS = re.compile(r"^line .*: (unsupported operand|'[<>]=?' not supported).*'dict_(keys|items)'")  # no sets here
VIEWS_LESS_UNDEFINED = re.compile(r"\.(items|keys)\(\)\)* - \(")
IDENTITY = re.compile(r"sameas")  # of equal texts and numbers
TRUTH = re.compile(r"sort\(|splitlines\(")  # Python takes any value for what they do since 3.12, before only whole numbers
NO_NUMBER = re.compile(r"^TypeError: .* object cannot be interpreted as an integer$")

class Templates:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.kinds = list(VALUES)

    def one_in(self, n):
        return self.random.randrange(n) == 0

    def value(self):
        return self.random.choice(VALUES[self.random.choice(self.kinds)])

    def argument(self, member):
        return self.random.choice(member.arguments) if member.arguments and not self.one_in(4) else "(" + self.value() + ")"

    def expression(self, depth):
        if depth == 0 or self.one_in(5):
            return self.value()
        pick = self.random.randrange(12)
        inner = self.expression(depth - 1)
        if pick < 6:
            return self.random.choice(MEMBERS).applied(inner, self)
        other = self.expression(depth - 1)
        if pick == 6:
            return f"({inner}) {self.random.choice(OPERATORS)} ({other})"
        if pick == 7:
            return f"({inner}) if ({other}) else ({self.value()})"
        if pick == 8:
            return f"(({inner}) if yes else 0)[{self.expression(depth - 1)}]"
        if pick == 9:
            bounds = [self.random.choice(["", "1", "-1", "0", self.value()]) for _ in range(3)]
            return f"(({inner}) if yes else 0)[{bounds[0]}:{bounds[1]}:{bounds[2]}]"
        if pick == 10:
            return self.random.choice([f"[{inner}, {other}]", f"({inner}, {other})", f"{{'a': {inner}, 'b': {other}}}"])
        return f"{self.random.choice(['not ', '-', '+'])}({inner})"

    def template(self):
        e = self.expression(self.random.choice([1, 2, 2, 3]))
        f = self.value()
        return self.random.choice([
            "{{ %s }}", "{{ %s }}", "{{ %s }}", "{{ (%s)|list }}", "{%% if %s %%}yes{%% else %%}no{%% endif %%}",
            "{%% for x in %s %%}{{ x }},{%% else %%}none{%% endfor %%}",
            "{%% for a, b in %s %%}{{ a }}={{ b }},{%% endfor %%}", "{%% set x = %s %%}{{ x }}{{ x is defined }}",
            "{%% set x, y = %s %%}{{ x }}", "{%% for x in %s recursive %%}{{ loop.index }}{{ loop(x) if x is iterable and x is not string else x }}{%% endfor %%}",
            "{%% set n = namespace() %%}{%% set n.x = %s %%}{{ n.x }}", "{%% macro m(a, b=2) %%}{{ a }}{{ b }}{{ kwargs }}{%% endmacro %%}{{ m(%s, c=1) }}",
            "{%% for x in [1, 2] %%}{{ loop.cycle(%s, 'z') }}{{ loop.changed(x) }}{%% endfor %%}",
            "{%% with x = %s %%}{{ x }}{%% endwith %%}", "{%% for x in %s if x %%}{{ loop.length }}{{ x }}{%% endfor %%}",
            "{%% filter upper %%}{{ %s }}{%% endfilter %%}", "{%% set x %%}{{ %s }}{%% endset %%}{{ x|length }}",
            "{%% for x in [" + f.replace("%", "%%") + "] %%}{{ loop.previtem }}{{ %s }}{{ loop.nextitem }}{%% endfor %%}"]) % e


OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"]
MEMBERS = members(environment(NOW))


def in_jinja(template):
    try:
        return {"text": environment(NOW).from_string(template).render(CONTEXT)}
    except RecursionError:
        return {"skip": True}
    except MemoryError:
        return {"skip": True}
    except Exception as x:  # pylint: disable=broad-exception-caught
        return {"error": f"{type(x).__name__}: {x}"}


CONTEXT = {"yes": True}  # what depends on it is evaluated when the template runs, not by Jinja2's optimizer


def compare(renderer, templates, wrong=False):
    """(differences as (template, Jinja2's, ours), what is lacking) of a list of templates."""
    lines = "".join(json.dumps({"template": t, "context": CONTEXT}) + "\n" for t in templates)
    done = subprocess.run([renderer], input=lines.encode(), stdout=subprocess.PIPE, check=True)
    ours = [json.loads(line) for line in done.stdout.decode().split("\n") if line]
    if wrong:
        ours = [{"text": own["text"] + "!"} if "text" in own else own for own in ours]
    assert len(ours) == len(templates)
    different, lacking = [], collections.Counter()
    for template, own in zip(templates, ours):
        jinja = in_jinja(template)
        if "skip" in jinja or OWN_TEXT.search(jinja.get("text", "")):
            continue
        if VIEWS.search(own.get("error", "")) or VIEWS_LESS_UNDEFINED.search(template) or (IDENTITY.search(template) and "text" in own and "text" in jinja):
            lacking["views as sets, identity of texts and numbers"] += own.get("text") != jinja.get("text")
        elif own.get("code") == UNSUPPORTED and any(what in own["error"] for what in LACKING):
            lacking[next(what for what in LACKING if what in own["error"])] += 1
        elif TRUTH.search(template) and NO_NUMBER.search(jinja.get("error", "")) and "text" in own:
            lacking["truth, which Python 3.11 does not ask for"] += 1
        elif jinja.get("text") != own.get("text"):
            different.append((template, jinja, own))
    return different, lacking


def main():
    warnings.simplefilter("ignore")  # of the Python code that templates become
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("renderer")
    arguments.add_argument("--count", type=int, default=20000)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--show", type=int, default=3, help="differences shown of each member")
    arguments.add_argument("--no-table", action="store_true", help="random templates alone")
    arguments.add_argument("--wrong", action="store_true", help="change what Inlay writes, which has to be noticed")
    given = arguments.parse_args()
    wrong = collections.defaultdict(list)
    table = [(member, one) for member, template, which in patterns(environment(NOW)) if not given.no_table for one in filled(template, TABLES[which])]
    member_of = {template: member for member, template in table}
    different, lacking = compare(given.renderer, [template for _, template in table], given.wrong)
    for row in different:
        wrong[member_of[row[0]]].append(row)
    n_members = len({member for member, _ in table})
    for member in sorted(wrong):
        print(f"{member}: {len(wrong[member])} of {sum(m == member for m, _ in table)}")
        for template, jinja, own in wrong[member][:given.show]:
            print(f"    {template}\n        Jinja2 {jinja}\n        Inlay  {own}")
    print(f"{n_members} members with all kinds of values, {len(table)} templates: {len(wrong)} members and {len(different)} templates differ; lacking {dict(lacking)}")
    made = Templates(given.seed)
    templates = [made.template() for _ in range(given.count)]
    fuzzed, lacking = compare(given.renderer, templates, given.wrong)
    for template, jinja, own in fuzzed[:given.show * 10]:
        print(f"    {template}\n        Jinja2 {jinja}\n        Inlay  {own}")
    print(f"{len(templates)} random templates: {len(fuzzed)} differ; lacking {dict(lacking)}")
    sys.exit(bool(different or fuzzed))


if __name__ == "__main__":
    main()
