#!/usr/bin/env python3
"""Makes the results in templates/ again: what Jinja2, set up as Hugging Face transformers does, renders.

Usage: make_templates.py [--out FOLDER] [--models FOLDER]

Reads templates/NAME/template.jinja, conversations.py and the snippets beside this file; writes index.json, conversations.json,
engine.json and NAME/cases.json, byte for byte the same at every run. FOLDER is templates/ unless given; another one gets
the templates too. With --models those of models are rendered instead, which lie in that folder under the names that
template_settings.py has; the snippets are written as always. Needs Jinja2 (Debian's python3-jinja2). With INLAY_NODE_MODULES, a node_modules folder that has
@huggingface/jinja, that package is asked again for its opinion (`hf_jinja`); without, the recorded opinions are kept.
"""
import argparse
import datetime
import functools
import hashlib
import json
import os
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from conversations import CHATS
from kinds_of_values import TABLES, table
from snippets_functions import FIELDS, FUNCTIONS, TIMES
from snippets_language import LANGUAGE, REFUSABLE
from template_settings import MODELS, TEMPLATES

HERE = pathlib.Path(__file__).resolve().parent
HOME = HERE / "templates"
NOW = "2025-03-04T09:05:07"


class Raised(Exception):
    pass


class Generation(jinja2.ext.Extension):
    """{% generation %}...{% endgeneration %}: renders its body (transformers marks with it what the model wrote)."""
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


@functools.lru_cache(maxsize=None)
def environment(now):
    def raise_exception(message):
        raise Raised(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    out = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True,
                                        extensions=[Generation, jinja2.ext.loopcontrols])
    out.filters["tojson"] = tojson
    out.globals["raise_exception"] = raise_exception
    out.globals["strftime_now"] = lambda form: datetime.datetime.fromisoformat(now).strftime(form)
    return out


@functools.lru_cache(maxsize=None)
def parsed(source, now):
    return environment(now).from_string(source)


def render(source, context, now):
    """{"expected": text}, {"raised": message} (raise_exception) or {"engine_error": type} (any other error)."""
    try:
        return {"expected": parsed(source, now).render(**json.loads(json.dumps(context)))}
    except Raised as x:
        return {"raised": str(x)}
    except Exception as x:  # whatever a template can cause
        return {"engine_error": type(x).__name__}


def opinions(jobs):
    """What the second implementation gives for (template, context, now), or None if it is not at hand."""
    modules = os.environ.get("INLAY_NODE_MODULES", "")
    if not modules:
        return None
    done = subprocess.run(["node", str(HERE / "second_opinion.cjs")], env=dict(os.environ, NODE_PATH=modules, TZ="UTC"),
                          capture_output=True, text=True, check=False,
                          input="".join(json.dumps({"template": t, "context": c, "now": n}) + "\n" for t, c, n in jobs))
    rows = [json.loads(row) for row in done.stdout.split("\n") if row]
    if len(rows) != len(jobs):
        sys.exit("second_opinion.cjs: " + done.stderr[:500])
    return rows


def verdict(case, opinion):
    if "expected" not in case:
        return "agrees" if "error" in opinion else "renders"
    if opinion.get("text") == case["expected"]:
        return "agrees"
    return "error: " + opinion["error"][:60] if "error" in opinion else "differs"


def facts(case):
    return json.dumps({k: v for k, v in case.items() if k != "hf_jinja"}, sort_keys=True)


def add_opinions(cases, jobs, recorded):
    """The members hf_jinja; `recorded`: cases of an earlier run with the same templates."""
    rows = opinions(jobs)
    known = {facts(case): case["hf_jinja"] for case in recorded}
    for i, case in enumerate(cases):
        case["hf_jinja"] = verdict(case, rows[i]) if rows else known.get(facts(case), "not asked")


def recorded_in(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


def line_of(value):
    return json.dumps(value, ensure_ascii=False)


def write_cases(path, head, cases):
    """One JSON object whose last member is "cases", one case a line."""
    begin = json.dumps(head, ensure_ascii=False, indent=1)[:-2]
    write(path, begin + ',\n "cases": [\n' + ",\n".join(map(line_of, cases)) + "\n ]\n}\n")


def case_names(chat, settings):
    """(name of the case, further variables) of one conversation."""
    yield chat["name"], {"add_generation_prompt": True}
    if chat.get("both"):
        yield chat["name"] + "/no-prompt", {"add_generation_prompt": False}
    if chat.get("vary"):
        for more in settings.get("variants", []):
            shown = ",".join(f"{k}={v if isinstance(v, (str, bool, int)) else json.dumps(v)}" for k, v in more.items())
            yield f"{chat['name']}/{shown}", dict({"add_generation_prompt": True}, **more)


def conversation(chat):
    return {"messages": chat["messages"], "tools": chat.get("tools"), "documents": chat.get("documents")}


def make_template(name, settings, file, out):
    source = file.read_bytes().decode("utf-8")
    cases, jobs = [], []
    for chat in CHATS:
        if chat["name"] in settings.get("without", []):
            continue
        for case, more in case_names(chat, settings):
            more = dict(settings.get("variables", {}), **more)
            if chat.get("tools") is None and "no_tools" in settings:
                more["tools"] = settings["no_tools"]
            context = dict(conversation(chat), **more)
            cases.append(dict({"name": case, "conversation": chat["name"], "context": more},
                              **render(source, context, NOW)))
            jobs.append((source, context, NOW))
    digest = hashlib.sha256(source.encode("utf-8")).hexdigest()
    before = recorded_in(HOME / name / "cases.json")
    add_opinions(cases, jobs, before.get("cases", []) if before.get("template_sha256") == digest else [])
    write(out / name / "template.jinja", source)
    write_cases(out / name / "cases.json",
                {"template": name, "manner": settings.get("manner", "a model's"), "template_sha256": digest}, cases)
    return dict({"name": name}, **counts(cases))


def counts(cases):
    out = {"cases": len(cases)}
    for kind in ("expected", "raised", "engine_error"):
        out[kind] = sum(kind in case for case in cases)
    for word in ("agrees", "differs", "error", "renders", "not asked"):
        out["hf_jinja " + word] = sum(case["hf_jinja"].split(":")[0] == word for case in cases)
    return out


def snippets():
    for rows, more in ((LANGUAGE, {}), (FUNCTIONS, {}), (REFUSABLE, {"may_refuse": True})):
        for row in rows:
            yield row[0], row[1], row[2] if len(row) > 2 else {}, more
    for time in [NOW, *TIMES]:
        for i, fields in enumerate(FIELDS):
            yield f"strftime-{i}-{time}", "{{ strftime_now('" + fields + "') }}", {}, {"now": time}


def make_snippets(out):
    cases, jobs = [], []
    for name, source, context, more in snippets():
        now = more.get("now", NOW)
        cases.append(dict({"name": name, "template": source, "context": context}, **more, **render(source, context, now)))
        jobs.append((source, context, now))
    names = [case["name"] for case in cases]
    repeated = {name for name in names if names.count(name) > 1}
    if repeated:
        sys.exit(f"names of snippets repeat: {sorted(repeated)}")
    add_opinions(cases, jobs, recorded_in(HOME / "engine.json").get("cases", []))
    write_cases(out / "engine.json", {"now": NOW}, cases)
    return counts(cases)


def make_kinds(out):
    """kinds.json: every member with values of all kinds."""
    def rendered(source, value):
        try:
            return parsed(source, NOW).render(v=value, yes=True)
        except Exception:  # whatever a template can cause
            return None

    rows = list(table(environment(NOW), rendered))
    head = json.dumps({"context": {"yes": True}, **TABLES}, ensure_ascii=False)[:-1]
    write(out / "kinds.json", head + ',\n "rows": [\n' + ",\n".join(map(line_of, rows)) + "\n ]\n}\n")
    return {"members": len({row[0] for row in rows}), "cases": sum(len(row[3]) for row in rows)}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--out", type=pathlib.Path, default=HOME, help="another folder than templates/")
    arguments.add_argument("--models", type=pathlib.Path, help="a folder with models' templates, rendered instead")
    given = arguments.parse_args()
    out = given.out
    files = [(name, settings, HOME / name / "template.jinja") for name, settings in TEMPLATES.items()]
    if given.models:
        if out == HOME:
            sys.exit("--models needs --out: the templates of models do not belong in this repository")
        files = [(name, settings, given.models / settings["file"]) for name, settings in MODELS.items()]
    index = {"now": NOW, "reference": "Jinja2 " + jinja2.__version__, "second_opinion": "@huggingface/jinja 0.5.11",
             "templates": [make_template(name, settings, file, out) for name, settings, file in files],
             "engine": make_snippets(out), "kinds": make_kinds(out)}
    used = [line_of(chat["name"]) + ": " + line_of(conversation(chat)) for chat in CHATS]
    write(out / "conversations.json", "{\n " + ",\n ".join(used) + "\n}\n")
    rows = [" " + line_of(key) + ": " + (line_of(value) if key != "templates" else
                                         "[\n  " + ",\n  ".join(map(line_of, value)) + "\n ]") for key, value in index.items()]
    write(out / "index.json", "{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
