#!/usr/bin/env python3
"""Writes the tables of docs/quality.md and docs/quantization.md and the charts of docs/charts from the results in docs/measurements.

usage: tests/real/report.py [--check]
  --check  writes nothing; exit code 1 if a table or a chart is not what the results give

A table stands between `<!-- NAME -->` and `<!-- end -->`. The results are what compare.py, recipes.py and speed.py wrote with --json.
"""
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parents[2]
MEASUREMENTS, CHARTS = ROOT / "docs" / "measurements", ROOT / "docs" / "charts"
MODELS = {"smollm2": "SmolLM2 135M, Q4_1", "gemma3": "Gemma 3 270M, Q4_K_M", "tales": "Inlay Tales 2.8M, F16"}
TYPES = ("f16", "bf16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "q4_0")
OURS, THEIRS = "#1a7f5a", "#8a8f98"


def load(name):
    return json.loads((MEASUREMENTS / f"{name}.json").read_text(encoding="utf-8"))


def where(run, command=True):
    """A line that says on which machine, when, from which commit and by what."""
    machine = run["machine"]
    name = machine["gpu"] or f"{machine['cpu']}, {machine['threads']} threads"
    return f"{name}; {run['date'][:10]}, commit {run['commit'].removesuffix('-dirty')}" + (f"; `{run['command']}`" if command else "")


def table(header, rows):
    aligned = "|".join("---" if i == 0 else "---:" for i in range(len(header)))
    return "\n".join(["| " + " | ".join(header) + " |", f"|{aligned}|", *("| " + " | ".join(row) + " |" for row in rows)])


def results(run, **wanted):
    return [r for r in run["results"] if "control" not in r and all(r.get(key) == value for key, value in wanted.items())]


def scientific(x):
    return f"{x:.1e}".replace("e-0", "e-")


# ---- tables

def distance_rows(run):
    rows = []
    for r in results(run, check="logits"):
        f = r["figures"]
        device = "CPU" if r["device"] == "cpu" else "GPU"
        rows.append([f"{MODELS[r['model']]}: {r['engine']}, {device}, {r['way']}", scientific(f["kl_mean"]), scientific(f["kl_p99"]),
                     scientific(f["kl_max"]), f"{100 * f['top1']:.2f} %", f"{100 * (f['perplexity'] - 1):+.3f} %"])
    return rows


def distances(name):
    run = load(name)
    header = ["", "KL mean", "p99", "largest", "same best token", "perplexity"]
    return where(run) + "\n\n" + table(header, distance_rows(run))


def types():
    run = load("real-gpu")
    rows = {}
    for r in results(run, check="types"):
        rows.setdefault((r["model"], r["file"]), {})[r["way"]] = r["figures"]["kl_mean"]
    ways = ("token by token", "in prompts", "in batches")
    return where(run) + "\n\n" + table(["KL mean of the file that `convert` wrote", *ways],
                                       [[f"{MODELS[model]} as {kind}", *(scientific(found[way]) for way in ways)] for (model, kind), found in rows.items()])


def recipes(model):
    run = load("recipes-h100")
    rows = []
    for kind in TYPES:
        found = {r["quantizer"]: r for r in run["results"] if r["model"] == model and r["type"] == kind}
        if not found:
            continue
        ours, theirs = found["inlay"], found.get("llama.cpp")
        row = [f"{kind}"]
        for r in (ours, theirs):
            row += [f"{r['bits']:.2f}", f"{100 * (r['ratio'] - 1):+.2f} % +- {100 * r['ratio_error']:.2f}", scientific(r["kl_mean"]),
                    f"{100 * r['same_best']:.1f} %"] if r else ["", "", "", ""]
        rows.append(row)
    header = ["type", "bits a weight", "perplexity", "KL mean", "same best", "llama.cpp's bits", "its perplexity", "its KL mean", "same best"]
    return where(run) + "\n\n" + table(header, rows)


def speeds(name):
    run = load(name)
    rows = []
    for model in dict.fromkeys(r["model"] for r in run["results"]):
        found = {r["engine"]: r for r in run["results"] if r["model"] == model}
        for key, what, better in (("tg128@0", "decode, tokens/s", 1), ("pp512", "prompt of 512, tokens/s", 1), ("load_s", "load, s", -1)):
            ours, theirs = found["inlay"][key], found["llama.cpp"][key]
            shown = [f"{e['median']:.4g} ({e['low']:.4g} to {e['high']:.4g})" for e in (ours, theirs)]
            ratio = (ours["median"] / theirs["median"]) ** better
            overlap = ours["low"] <= theirs["high"] and theirs["low"] <= ours["high"]
            rows.append([f"{MODELS[model]}: {what}", *shown, f"{ratio:.2f}{' ~' if overlap else ''}"])
    return where(run) + "\n\n" + table(["", "Inlay", "llama.cpp", "ratio, above 1: Inlay is better"], rows)


TABLES = {
    "docs/quality.md": {"distance-cpu": lambda: distances("real-cpu"), "distance-gpu": lambda: distances("real-gpu"), "types": types,
                        "speed-gpu": lambda: speeds("speed-gpu"), "speed-cpu": lambda: speeds("speed-cpu")},
    "docs/quantization.md": {f"recipes-{model}": lambda model=model: recipes(model) for model in ("smollm2", "gemma3", "tales")},
}


def with_tables(path, tables):
    text = path.read_text(encoding="utf-8")
    for name, make in tables.items():
        text, n = re.subn(rf"(<!-- {name} -->\n).*?(<!-- end -->)", lambda m: m[1] + make() + "\n" + m[2], text, flags=re.S)  # pylint: disable=cell-var-from-loop
        if n != 1:
            raise SystemExit(f"{path}: {n} places for the table {name}")
    return text


# ---- charts

def text_at(x, y, words, size=12, anchor="start", weight="normal", fill="#24292f"):
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" text-anchor="{anchor}" font-weight="{weight}" fill="{fill}">{words}</text>'


def document(width, height, parts):
    body = "\n".join(parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="system-ui, sans-serif">\n<rect width="{width}" height="{height}" fill="#ffffff"/>\n{body}\n</svg>\n')


def bars(title, groups, place, note):
    """groups: (name, [(label, value in words, part of the full width, colour)])."""
    width, left, full = 760, 200, 380
    parts, y = [text_at(16, 28, title, 15, weight="bold")], 48
    for name, rows in groups:
        for i, (label, words, part, colour) in enumerate(rows):
            if i == 0:
                parts.append(text_at(16, y + 15, name))
            parts.append(f'<rect x="{left}" y="{y}" width="{max(1.0, full * part):.1f}" height="20" fill="{colour}"/>')
            parts.append(text_at(left + max(1.0, full * part) + 6, y + 15, f"{label}: {words}"))
            y += 24
        y += 10
    for line, words in enumerate((place, note)):
        parts.append(text_at(16, y + 8 + 14 * line, words.replace("`", ""), 10, fill="#57606a"))
    return document(width, y + 34, parts)


def speed_chart():
    run, groups = load("speed-gpu"), []
    for model in dict.fromkeys(r["model"] for r in run["results"]):
        found = {r["engine"]: r["tg128@0"]["median"] for r in run["results"] if r["model"] == model}
        most = max(found.values())
        groups.append((MODELS[model], [(name, f"{found[key]:,.0f} tokens/s", found[key] / most, colour)
                                       for name, key, colour in (("Inlay", "inlay", OURS), ("llama.cpp", "llama.cpp", THEIRS))]))
    return bars("Decode speed, one sequence", groups, where(run, False), run["command"])


def distance_chart():
    """KL mean of prompts on each device, as far as it was measured."""
    runs = [load("real-gpu"), load("real-cpu")]
    lowest, groups = 1e-7, []
    for model in ("smollm2", "gemma3"):
        rows = []
        for engine, device, colour in (("Inlay", "cuda", OURS), ("llama.cpp", "cuda", THEIRS), ("Inlay", "cpu", OURS), ("llama.cpp", "cpu", THEIRS)):
            found = [r for run in runs for r in results(run, check="logits", model=model, engine=engine, device=device, way="in prompts")]
            if found:
                value = found[0]["figures"]["kl_mean"]
                name = f"{engine}, {'GPU' if device == 'cuda' else 'CPU'}"
                rows.append((name, scientific(value), math.log(value / lowest) / math.log(0.1 / lowest), colour))
        groups.append((MODELS[model], rows))
    return bars("Distance from the exact logits: KL mean in nats, log scale, shorter is better", groups, where(runs[0]), where(runs[1]))


def recipes_chart():
    """Bits a weight to the right, KL upwards in powers of ten; ours and llama.cpp's."""
    run = load("recipes-h100")
    width, height, left, top, bottom, gap = 760, 330, 56, 48, 64, 30
    panel = (width - left - 16 - 2 * gap) / 3
    parts = [text_at(16, 26, "What quantization costs: KL mean to F32 by bits a weight", 15, weight="bold")]
    low, high, fewest, most = -8.0, 0.0, 4.0, 18.0
    for which, model in enumerate(("smollm2", "gemma3", "tales")):
        x0 = left + which * (panel + gap)
        at = lambda bits, kl, x0=x0: (x0 + (bits - fewest) / (most - fewest) * panel,
                                      top + (high - math.log10(max(kl, 10**low))) / (high - low) * (height - top - bottom))
        parts.append(f'<rect x="{x0:.1f}" y="{top}" width="{panel:.1f}" height="{height - top - bottom}" fill="none" stroke="#d0d7de"/>')
        parts.append(text_at(x0, top - 6, MODELS[model].split(",")[0], 11))
        for power in range(int(low), int(high) + 1, 2):
            y = at(fewest, 10.0**power)[1]
            parts.append(f'<line x1="{x0:.1f}" y1="{y:.1f}" x2="{x0 + panel:.1f}" y2="{y:.1f}" stroke="#eaeef2"/>')
            if which == 0:
                parts.append(text_at(left - 6, y + 4, f"1e{power}", 10, "end"))
        for bits in (4, 8, 12, 16):
            parts.append(text_at(at(bits, 1)[0], height - bottom + 14, str(bits), 10, "middle"))
        for quantizer, colour, radius in (("llama.cpp", THEIRS, 6), ("inlay", OURS, 3.5)):
            for r in run["results"]:
                if r["model"] == model and r["quantizer"] == quantizer:
                    x, y = at(r["bits"], r["kl_mean"])
                    parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{colour}"><title>{r["type"]}: {r["kl_mean"]:.2e}</title></circle>')
    parts += [f'<circle cx="22" cy="{height - 30}" r="3.5" fill="{OURS}"/>', text_at(32, height - 26, "Inlay", 11),
              f'<circle cx="84" cy="{height - 30}" r="6" fill="{THEIRS}"/>', text_at(96, height - 26, "llama.cpp", 11),
              text_at(16, height - 10, where(run), 10, fill="#57606a")]
    return document(width, height, [p.replace("`", "") for p in parts])


CHART_FILES = {"speed.svg": speed_chart, "distance.svg": distance_chart, "recipes.svg": recipes_chart}


def main():
    wanted = {ROOT / name: with_tables(ROOT / name, tables) for name, tables in TABLES.items()}
    wanted |= {CHARTS / name: make() for name, make in CHART_FILES.items()}
    stale = [path for path, text in wanted.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is not what docs/measurements gives: run tests/real/report.py")
        return 1 if stale else 0
    CHARTS.mkdir(exist_ok=True)
    for path in stale:
        path.write_text(wanted[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
