# SPDX-License-Identifier: Apache-2.0
"""page.py OUT: OUT/index.html of OUT/checks.json and benches.json, one file that needs nothing else: what was checked and measured, on which
machine, with which driver, when."""

import html
import json
import os
import sys

OUT = sys.argv[1]
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f24; background: #fff }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums }
th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid #d8dee4; vertical-align: top; overflow-wrap: anywhere }
th:first-child, td:first-child { overflow-wrap: normal }
td.number, th.number { text-align: right; white-space: nowrap }
.ok { color: #116329 } .skipped { color: #6e5494 } .FAILED { color: #a40e26; font-weight: 600 }
.none { background: #fff3cd; border: 1px solid #b8860b; padding: .7rem 1rem; border-radius: 4px }
.bar { background: #d0e2f7; height: .7rem; min-width: 1px }
"""


def load(name):
    path = os.path.join(OUT, name)
    if not os.path.exists(path):
        return {"checks": []}
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def cell(value, kind=""):
    if isinstance(value, float):
        value, kind = f"{value:.4g}", kind or "number"
    return f'<td class="{kind}">{html.escape(str(value))}</td>'


def table(heads, rows):
    """`heads`: names, with a # before those of numbers."""
    head = "".join(f'<th class="{"number" if name.startswith("#") else ""}">{html.escape(name.lstrip("#"))}</th>' for name in heads)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>"


def results(title, rows):
    lines = [cell(one["check"]) + cell(one["result"], one["result"]) + cell(float(one["seconds"])) + cell(one["detail"]) for one in rows]
    return f"<h2>{title}</h2>" + table(["check", "result", "#s", "measured"], lines) if rows else ""


def trainings(measured):
    rows = []
    for name, one in measured.items():
        if not isinstance(one, dict) or "seconds" not in one or "model" not in one:
            continue
        rate = next(one[key] for key in ("tokens_per_s", "samples_per_s") if key in one)
        share = one["share_of_gemm_peak"]
        rows.append(cell(name) + cell(one["precision"]) + cell(one["batch"], "number") + cell(one["seconds"]) + cell(rate) +
                    cell("unknown" if share is None else f"{share:.1%}", "number") + cell(one["sheet_peak"]))
    for name, model, rate in (("torch", "GPT-2", "tokens_per_s"), ("torch_resnet20", "ResNet-20", "images_per_s")):
        if name in measured:
            theirs = measured[name]
            rows.append(cell(f"{model}, PyTorch {theirs['version']}, {theirs['how']}") + cell("bf16") + cell("") + cell(theirs["seconds"]) +
                        cell(theirs[rate]) + cell("") + cell(""))
    heads = ["training", "precision", "#batch", "#s a step", "#tokens or images a s", "#share of the measured GEMM peak", "#peak of the data sheet"]
    return "<h2>Trainings</h2>" + table(heads, rows) if rows else ""


def profile(one):
    parts = sorted(one["parts"], key=lambda part: -part["seconds"])
    most = max(part["seconds"] for part in parts)
    rows = []
    for part in parts:
        ratio = part["seconds"] / part["floor_s"] if part["floor_s"] > 0 else None
        bar = f'<td><div class="bar" style="width:{100 * part["seconds"] / most:.1f}%"></div></td>'
        rows.append(cell(part["part"]) + cell(f"{part['calls']:g}", "number") + cell(float(part["bytes"])) + cell(float(part["flop"])) +
                    cell(float(part["floor_s"])) + cell(float(part["seconds"])) + cell("" if ratio is None else f"{ratio:.2f}", "number") + bar)
    told = (f"<p>{html.escape(one['model'])}, {one['precision']}, {one['tokens']:g} tokens: {one['step_s']:.4g} s a step, of which the parts take "
            f"{one['parts_s']:.4g} s when each is timed by itself, less {one['empty_call_s']:.2g} s that an empty call takes so; their floor is {one['floor_s']:.4g} s, by {one['gemm_peak']:.4g} FLOP/s and "
            f"{one['copy_rate']:.4g} B/s as measured here. Bytes are what a call must read and write, FLOP those of products.</p>")
    return "<h2>Where a step's time goes</h2>" + told + table(["part", "#calls", "#bytes", "#FLOP", "#floor, s", "#time, s", "#time/floor", ""], rows)


def rates(measured):
    rows = []
    for one in measured.get("rates", []):
        what = one["key"] + (f" from GPU {one['peer']}" if "peer" in one else "") + (f", NUMA node {one['numa']}" if "numa" in one else "")
        rows.append(cell(one.get("gpu", "")) + cell(one.get("model", "")) + cell(what) + cell(float(one["value"])) + cell(one["unit"]))
    for one in measured.get("gpu_steps", []):
        rows.append(cell(one["gpu"]) + cell(one["model"]) + cell(f"{one['repeats']} repeats of a step, {len(one['odd_repeats'])} with other bits") +
                    cell(one["digest"]) + cell(""))
    return "<h2>Rates</h2>" + table(["GPU", "model", "what", "#value", "unit"], rows) if rows else ""


def main():
    checks, benches = load("checks.json"), load("benches.json")
    told = checks if "time" in checks else benches
    measured = benches.get("measured", {})
    facts = [("node", told.get("node", "")), ("GPUs and driver", "; ".join(told.get("gpus", [])) or "none"),
             ("machine", f"{told.get('machine', '')}, Linux {told.get('kernel', '')}"), ("found", told.get("found", "")), ("time", told.get("time", ""))]
    none = ('<p class="none"><strong>No card was here.</strong> The host\'s processor stood in for a GPU, with tiny sizes, to show that the '
            "scripts run to their end. No number on this page says anything of a GPU.</p>") if not told.get("card") else ""
    body = (f"<h1>dttrain on a GPU</h1>{none}" + table(["", ""], [cell(name) + cell(value) for name, value in facts]) + trainings(measured) +
            (profile(measured["profile"]) if "profile" in measured else "") + rates(measured) + results("Benchmarks", benches["checks"]) +
            results("Checks", checks["checks"]))
    page = f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>dttrain on a GPU</title><style>{STYLE}</style></head><body>{body}</body></html>'
    with open(os.path.join(OUT, "index.html"), "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()
