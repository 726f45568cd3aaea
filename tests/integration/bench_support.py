# SPDX-License-Identifier: Apache-2.0
"""Starts `dttrain bench` and reads its measurements."""

import json
import os
import statistics
import subprocess
import tempfile

from trainer_support import environment

NODE_KEYS = ["cores", "clock", "clock_slowest", "gemm_fp32_core", "gemm_fp32", "gemm_bf16_core", "gemm_bf16", "memory",
             "write", "read", "write", "read", "clock_offset"]
GPU_KEYS = ["gpus", "h2d", "d2h", "hbm"]
UNITS = {"cores": "", "clock": "Hz", "clock_slowest": "Hz", "gemm_fp32_core": "FLOP/s", "gemm_fp32": "FLOP/s",
         "gemm_bf16_core": "FLOP/s", "gemm_bf16": "FLOP/s", "memory": "B/s", "write": "B/s", "read": "B/s",
         "clock_offset": "s"}
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n, "broadcast": lambda n: 1}


def mpirun(ranks):
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]


def run(words, env=None, expect=0, limit=300):
    done = subprocess.run(words, env={**environment(), **(env or {})}, capture_output=True, text=True, timeout=limit, check=False)
    assert done.returncode == expect, f"{words}: exit {done.returncode}, not {expect}\n{done.stdout}\n{done.stderr}"
    return done


def measured(program, ranks, *options):
    """The facts of a quick run."""
    with tempfile.TemporaryDirectory(prefix="bench_") as folder:
        words = (mpirun(ranks) if ranks else []) + [program, "bench", "--quick", "--run-dir", folder, "--scratch", folder]
        done = run(words + ["--output", f"{folder}/check.json", *map(str, options)])
        assert os.listdir(folder) == ["check.json"], os.listdir(folder)
        with open(f"{folder}/check.json", encoding="utf-8") as file:
            return json.load(file), done.stdout.splitlines()


def undisturbed(measure, facts_of=lambda found: found):
    """The result of `measure`, which is repeated if other programs on the machine used the processors for too long to measure everything
    undisturbed."""
    for _ in range(3):
        found = measure()
        notes = [note for node in facts_of(found)["nodes"] for note in node["notes"] if "other programs" in note]
        if not notes:
            break
        busiest = run(["ps", "-eo", "pid,ppid,pcpu,etimes,args", "--sort=-pcpu"]).stdout.splitlines()[:4]
        print("other programs:", *notes, *(line[:160] for line in busiest), sep="\n  ", flush=True)
    return found


def value(node, key, what=None):
    return next(m["value"] for m in node["measures"] if m["key"] == key and (what is None or m["what"] == what))


def against_others(facts, rank, key, what=None):
    """A rank's value as a fraction of the others' median."""
    others = [value(node, key, what) for node in facts["nodes"] if node["rank"] != rank]
    return value(facts["nodes"][rank], key, what) / statistics.median(others)


def check_node(node, ranks):
    """Checks an entry of `nodes` in which all phases were measured."""
    notes = " ".join(node["notes"])
    node = {**node, "measures": [m for m in node["measures"] if m["key"] not in GPU_KEYS]}  # bench_gpu.py
    keys = [m["key"] for m in node["measures"]]
    expected = [key for key in NODE_KEYS if (ranks > 1 and node["rank"] > 0) or key != "clock_offset"]
    if "bf16" in notes:
        expected = [key for key in expected if "bf16" not in key]
    once = [key for i, key in enumerate(keys) if key != "memory" or keys[i - 1] != "memory"]  # one per NUMA node
    assert once == expected, (keys, node["notes"])
    for measure in node["measures"]:
        assert measure["unit"] == UNITS[measure["key"]], measure
        assert measure["key"] == "clock_offset" or measure["value"] > 0, measure
        assert ("numa" in measure) == (measure["key"] == "memory"), measure
        assert (measure.get("what") in ("run", "scratch")) == (measure["key"] in ("write", "read")), measure
        assert ("path" in measure) == ("what" in measure), measure
    assert node["cores"] == value(node, "cores") and node["cpu"], node
    assert value(node, "clock_slowest") <= value(node, "clock"), node
    steps = node["steps"]
    assert 3 <= steps["repeats"] <= 10 and len(steps["digest"]) == 16 and steps["odd_repeats"] == [], steps


def check_facts(facts, ranks):
    assert list(facts) == ["schema", "trainer", "began", "seconds", "quick", "nodes", "pairs", "collectives", "notes"], list(facts)
    assert facts["schema"] == 1 and facts["quick"] is True and facts["notes"] == [], facts
    assert [node["rank"] for node in facts["nodes"]] == list(range(ranks)), facts["nodes"]
    for node in facts["nodes"]:
        check_node(node, ranks)
    assert len({node["steps"]["digest"] for node in facts["nodes"]}) == 1, "digests"
    names = [node["node"] for node in facts["nodes"]]
    assert len(set(names)) == ranks, names
    pairs = sorted((names.index(p["a"]), names.index(p["b"])) for p in facts["pairs"])
    assert pairs == [(a, b) for a in range(ranks) for b in range(a + 1, ranks)], pairs
    assert all(p["latency"] > 0 and p["bandwidth"] > 0 for p in facts["pairs"]), facts["pairs"]
    rows = facts["collectives"]
    assert {row["operation"] for row in rows} == (set(FACTORS) if ranks > 1 else set()), rows
    for row in rows:
        rate = row["bytes"] / row["time"]
        assert abs(row["algbw"] / rate - 1) < 1e-6, row
        assert abs(row["busbw"] / (rate * FACTORS[row["operation"]](ranks)) - 1) < 1e-6, row
