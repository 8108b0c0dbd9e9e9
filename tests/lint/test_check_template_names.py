#!/usr/bin/env python3
"""Tests of check_template_names.py: a template that uses every name, and for each name one that lacks it."""
import json
import pathlib
import tempfile
import unittest

import check_template_names

SOURCES = {
    "filters.cpp": 'constexpr Named<Filter> kFilters[] = {{"upper", converted<upper>},\n {"e", escape}, {"join", join}};\n',
    "tests.cpp": 'constexpr Named<Test> kTests[] = {{"odd", is_odd}, {"==", related<Relation::eq>}};\n',
    "methods.cpp": 'constexpr Named<MethodEntry> kMethods[] = {{"strip", callable(x)}, {"pop", {Access::forbidden}}};\n',
    "globals.cpp": 'constexpr Named<Function::Body> kGlobals[] = {{"range", range}};\n',
    "parser.cpp": 'static constexpr Tag kTags[] = {{"if", &Parser::branch}, {"for", &Parser::loop}};\n',
    "loop.cpp": '  if (name == "index") return 1;\n',
}
OPERATORS = """{{ 1 + 2 - 3 * 4 / 5 // 6 % 7 ** 8 ~ 9 == 1 != 2 < 3 <= 4 > 5 >= 6 in [7] not in (8) and not 1 or 2 }}
{{ {'a': 1} is eq 1 if 1 is not none else 2.x|list }}"""
USES = {
    "filter upper": "{{ 'a'|upper }}",
    "filter e": "{% filter e %}a{% endfilter %}",
    "filter join": "{{ [[1]]|map('join')|list }}",
    "test odd": "{{ 1 is not odd }}",
    "test ==": "{{ [1]|select('==', 1)|list }}",
    "method strip": "{{ 'a'.strip() }}",
    "method pop": "{{ {}.pop('a') }}",
    "function range": "{{ range(3) }}",
    "tag if": "{%- if 1 %}{% endif %}",
    "tag for": "{% for x in [1] %}{% endfor %}",
    "loop index": "{{ loop.index }}",
}
NO_USES = ["upper e join odd strip pop range if for loop.index", "{{ 'upper' ~ xrange(3) ~ upperx }}", "{{ x.stripped() }}",
           "{{ x|uppercase }}", "{# {% if 1 %} 1 is oddly #}"]


def unused(snippets, template):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "src" / "template").mkdir(parents=True)
        for name, text in SOURCES.items():
            (root / "src" / "template" / name).write_text(text, encoding="utf-8")
        data = root / "tests" / "data" / "templates"
        (data / "one").mkdir(parents=True)
        (data / "one" / "template.jinja").write_text(template, encoding="utf-8")
        cases = [{"name": str(i), "template": text} for i, text in enumerate(snippets)]
        (data / "engine.json").write_text(json.dumps({"cases": cases}), encoding="utf-8")
        return check_template_names.unused(root)


class Names(unittest.TestCase):
    def test_all_used(self):
        self.assertEqual(unused(USES.values(), OPERATORS), [])
        self.assertEqual(unused([OPERATORS], "\n".join(USES.values())), [])

    def test_each_missing_one_is_named(self):
        for name in USES:
            others = [text for other, text in USES.items() if other != name]
            self.assertEqual(unused(others + NO_USES, OPERATORS), [name])

    def test_missing_operator_is_named(self):
        for operator in ("//", "**", "~", "not in", "<="):
            with self.subTest(operator):
                self.assertEqual(unused(USES.values(), OPERATORS.replace(f" {operator} ", " , ", 1)), [f"operator {operator}"])


if __name__ == "__main__":
    unittest.main()
