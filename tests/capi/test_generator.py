"""The description is validated, the generated files follow it, and a frozen ABI version cannot be broken unnoticed."""

import copy
import json
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "bindings"))
import abi_check
import api_model
import generate
from emit import export_map, json_form

TEXT = (ROOT / "bindings/api/inlay.toml").read_text(encoding="utf-8")


def parse_changed(old: str, new: str) -> api_model.Api:
    if TEXT.count(old) < 1:
        raise AssertionError(f"the description has no '{old}'")
    return api_model.parse(TEXT.replace(old, new, 1))


class Description(unittest.TestCase):
    def refused(self, old: str, new: str, message: str):
        with self.assertRaises(api_model.ApiError) as caught:
            parse_changed(old, new)
        self.assertIn(message, str(caught.exception))

    def test_is_valid(self):
        self.assertGreater(len(api_model.parse(TEXT).functions), 30)

    def test_unknown_key(self):
        self.refused('use = "in"', 'use = "in"\ncolour = "red"', "unknown key 'colour'")

    def test_missing_and_empty_documentation(self):
        self.refused('doc = "Describes a device."\n', "", "'doc' is missing")
        self.refused('doc = "Describes a device."', 'doc = ""', "'doc' is empty")

    def test_colliding_numbers_and_names(self):
        self.refused('{ name = "IO", value = 3', '{ name = "IO", value = 2', "the same number")
        self.refused('{ name = "IO", value = 3', '{ name = "OK", value = 3', "used twice")
        self.refused('name = "PARSE_SPECIAL", value = 2', 'name = "PARSE_SPECIAL", value = 3', "one bit")

    def test_padding_must_be_explicit(self):
        self.refused('  { name = "reserved", type = "u32", doc = "0." },\n  { name = "message"',
                     '  { name = "message"', "padding")
        self.refused('name = "message_len", type = "u32"', 'name = "message_len", type = "u64"', "padding")

    def test_types_and_pairs(self):
        self.refused('name = "path", type = "utf8", len = "path_len"', 'name = "path", type = "utf8", len = "length"', "no parameter length")
        self.refused('name = "path", type = "utf8", len = "path_len"', 'name = "path", type = "utf8"', "needs len")
        self.refused('name = "path", type = "utf8"', 'name = "path", type = "text"', "unknown type")
        self.refused(', stride = "event_stride"', "", "needs a stride")
        self.refused('errors = ["NOT_FOUND"]', 'errors = ["LOST"]', "no status LOST")

    def test_ranges(self):
        self.refused(', range = "0 to 4096"', "", "field prefill_chunk: no range")
        for wrong in ("up to 4096", "0-4096", "4096 to", "0 to 4096 tokens"):
            self.refused('range = "0 to 4096"', f'range = "{wrong}"', f"range is {wrong}, expected")

    def test_thread_classes(self):
        self.refused('thread = "exclusive(session)"', 'thread = "exclusive(engine)"', "thread must be")
        self.refused('thread = "exclusive(session)"', 'thread = "any"', "must be shared")

    def test_each_section_comes_once(self):
        api = api_model.parse(TEXT)
        groups = [f.group for f in api.functions]
        self.assertGreater(sum(a != b for a, b in zip(groups, groups[1:])), len(set(groups)), "functions of later versions come last")
        for name, mark in (("include/capi/inlay.h", "// ---- {} -"), ("docs/api.md", "## {}\n")):
            text = generate.OUTPUTS[name](api)
            for group in set(groups):
                self.assertEqual(text.count("\n" + mark.format(group)), 1, f"{name}: {group}")
            sections = [g for g in dict.fromkeys(groups)]
            self.assertEqual(sorted(sections, key=lambda g: text.index("\n" + mark.format(g))), sections, name)
        self.assertEqual(sorted(f.name for fs in api.by_subject().values() for f in fs), sorted(f.name for f in api.functions))

    def test_documentation_fits(self):
        api = parse_changed('doc = "Describes a device."', 'doc = "' + "Describes a device. " * 60 + '"')
        with self.assertRaises(api_model.ApiError):
            generate.OUTPUTS["include/capi/inlay.h"](api)


class Files(unittest.TestCase):
    def test_are_current(self):
        self.assertEqual(generate.differing(api_model.parse(TEXT), ROOT), {})

    def test_drift_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(len(generate.differing(api_model.parse(TEXT), Path(folder))), len(generate.OUTPUTS))
        changed = parse_changed('doc = "Describes a device."', 'doc = "Describes one device."')
        names = {path.relative_to(ROOT).as_posix() for path in generate.differing(changed, ROOT)}
        self.assertEqual({n for n in names if not n.startswith("bindings/") or n.startswith("bindings/api/")},
                         {"include/capi/inlay.h", "bindings/api/inlay.json", "docs/api.md"})

    def test_new_functions_get_their_own_version_node(self):
        api = api_model.parse(TEXT)
        api.functions[-1].since = "1.1"
        text = export_map.emit(api)
        self.assertIn("INLAY_1_1 {", text)
        self.assertIn("} INLAY_1;", text)
        self.assertEqual(text.count("local:"), 1)


class Growth(unittest.TestCase):
    def test_first_size_stays(self):
        last = '  { name = "progress_user", type = "pointer", default = "NULL", doc = "Given to progress; unused without it." },\n'
        now = api_model.parse(TEXT).struct("inlay_load_params")
        grown = parse_changed(last, last + '  { name = "more", type = "u64", since = "1.1", doc = "More." },\n')
        struct = grown.struct("inlay_load_params")
        self.assertEqual(struct.size, now.size + 8)
        self.assertEqual(struct.first_size(), now.first_size())
        self.assertLess(now.first_size(), now.size)


def removed(entries: list, i: int):
    del entries[i]


def moved(entries: list, i: int):
    entries[i:i + 2] = reversed(entries[i:i + 2])


def renamed(entries: list, i: int):
    entry = entries[i]
    if isinstance(entry, dict):
        entry["name"] += "_other"
    elif isinstance(entry, str):
        entries[i] += "_other"
    else:
        entries[i] = [e.replace(";", "_other;") if isinstance(e, str) and ";" in e else e + "_other" if isinstance(e, str) else e
                      for e in entry]


def replaced(j: int):
    """Another number, or another text, at one place of an entry."""
    def change(entries: list, i: int):
        entries[i] = [*entries[i]]
        entries[i][j] = entries[i][j] + 1 if isinstance(entries[i][j], int) else "other " + entries[i][j]
    return change


class Abi(unittest.TestCase):
    """What breaks clients is refused; what they do not notice is not."""

    def setUp(self):
        self.frozen = json.loads((ROOT / "bindings/api/abi/1.0.json").read_text(encoding="utf-8"))
        self.now = json_form.frozen(api_model.parse(TEXT))

    def named(self, kind: str, name: str) -> dict:
        return next(e for e in self.now[kind] if e["name"] == name)

    def allowed(self):
        self.assertEqual(abi_check.problems(self.frozen, self.now), [])

    def refused(self, *words: str):
        problems = abi_check.problems(self.frozen, self.now)
        self.assertTrue(problems)
        for word in words:
            self.assertIn(word, problems[0])

    def test_present_description_keeps_it(self):
        self.allowed()

    def test_appending_is_allowed(self):
        self.now["constants"].append(["INLAY_NEW", 1])
        self.now["functions"].append({**self.now["functions"][-1], "name": "inlay_new", "since": "1.1"})
        self.named("structs", "inlay_load_params")["fields"].append([88, 8, "uint64_t new;"])
        self.named("enums", "inlay_status")["values"].append(["INLAY_NEW_STATUS", 18])
        self.allowed()

    def test_removed_field(self):
        fields = self.named("structs", "inlay_session_params")["fields"]
        fields.remove(next(f for f in fields if "max_tokens" in f[2]))
        self.refused("inlay_session_params", "removed")

    def test_reordered_fields(self):
        fields = self.named("structs", "inlay_event")["fields"]
        fields[1], fields[2] = fields[2], fields[1]
        self.refused("inlay_event")

    def test_changed_field_type(self):
        field = self.named("structs", "inlay_event")["fields"][3]
        field[2] = field[2].replace("int32_t", "float")
        self.refused("inlay_event", "float")

    def test_inserted_field(self):
        self.named("structs", "inlay_stats")["fields"].insert(1, [4, 4, "int32_t new;"])
        self.refused("inlay_stats")

    def test_fixed_struct_grows(self):
        self.named("structs", "inlay_error")["fields"].append([512, 8, "uint64_t new;"])
        self.refused("inlay_error", "may not grow")

    def test_changed_number(self):
        self.named("enums", "inlay_status")["values"][4][1] = 44
        self.refused("INLAY_FORMAT")

    def test_inserted_number(self):
        self.named("enums", "inlay_finish_reason")["values"].insert(1, ["INLAY_FINISH_NEW", 9])
        self.refused("inlay_finish_reason")

    def test_removed_function(self):
        self.now["functions"] = [f for f in self.now["functions"] if f["name"] != "inlay_tokenize"]
        self.refused("inlay_tokenize")

    def test_changed_signature(self):
        f = self.named("functions", "inlay_prefill")
        f["c"] = f["c"].replace("int32_t*", "uint32_t*")
        self.refused("inlay_prefill", "signature")

    def test_stricter_function(self):
        f = self.named("functions", "inlay_load")
        f["nullable"] = []
        self.refused("params may no longer be NULL")
        f["nullable"] = ["params"]
        self.named("functions", "inlay_session_cancel")["thread"] = "exclusive(session)"
        self.refused("inlay_session_cancel", "thread class")

    def test_looser_function(self):
        f = self.named("functions", "inlay_session_truncate")
        f["thread"], f["nullable"] = "any", ["session"]
        self.allowed()

    def test_every_single_change_is_refused(self):
        """Each entry removed, renamed, moved behind the next, and with another number, type or size."""
        for kind in ("constants", "handles", "callbacks", "enums", "structs", "functions"):
            self.changes_are_refused(lambda form, kind=kind: form[kind])
        for kind, part in (("enums", "values"), ("structs", "fields")):
            for i in range(len(self.frozen[kind])):
                self.changes_are_refused(lambda form, kind=kind, i=i, part=part: form[kind][i][part])

    def changes_are_refused(self, entries):
        """`entries` finds a list in a form."""
        count = len(entries(self.frozen))
        for i in range(count):
            for change in (removed, moved, renamed, *([replaced(j) for j in range(len(entries(self.now)[i]))]
                                                       if isinstance(entries(self.now)[i], list) else [])):
                now = copy.deepcopy(self.now)
                before = copy.deepcopy(entries(now))
                change(entries(now), i)
                if entries(now) != before:
                    self.assertTrue(abi_check.problems(self.frozen, now), f"{change.__name__}: {before[i]}")

    def test_symbol_versions_stay(self):
        self.named("functions", "inlay_load")["since"] = "1.1"
        self.refused("inlay_load", "since 1.1")

    def test_a_new_function_cannot_be_old(self):
        self.named("functions", "inlay_profile_step")["since"] = "1.0"
        self.refused("inlay_profile_step", "since 1.0")

    def test_an_appended_field_cannot_be_old(self):
        last = '  { name = "progress_user", type = "pointer", default = "NULL", doc = "Given to progress; unused without it." },\n'
        for since, is_refused in (("", True), (', since = "1.1"', False)):
            grown = parse_changed(last, last + f'  {{ name = "more", type = "u64", doc = "More."{since} }},\n')
            problems = abi_check.problems(self.frozen, json_form.frozen(grown))
            self.assertEqual(bool(problems), is_refused)
        self.now = json_form.frozen(parse_changed(last, last + '  { name = "more", type = "u64", doc = "More." },\n'))
        self.refused("inlay_load_params", "since")

    def test_a_frozen_version_is_closed(self):
        frozen = copy.deepcopy(self.now)
        self.assertEqual(abi_check.problems(frozen, self.now), [])
        self.now["constants"].append(["INLAY_NEW", 1])
        self.assertIn("raising abi_minor", abi_check.problems(frozen, self.now)[0])
        self.now["abi"] = "1.0"
        self.assertIn("older", abi_check.problems(frozen, self.now)[0])

    def test_prefill_may_not_begin_to_take_device_memory(self):
        self.named("functions", "inlay_prefill")["device_memory"] = True
        self.refused("inlay_prefill", "device memory")

    def test_frozen_form_is_untouched_by_documentation(self):
        changed = parse_changed('doc = "Describes a device."', 'doc = "Describes one device."')
        self.assertEqual(json_form.frozen(changed), copy.deepcopy(self.now))


if __name__ == "__main__":
    unittest.main()
