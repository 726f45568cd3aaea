# SPDX-License-Identifier: Apache-2.0
"""The products of matrices and convolutions of a training step against what this machine's own oneDNN reaches in a square product.

Usage: gemm_share.py DTTRAIN TIMED_SGEMM.so [--models gpt,resnet,cnn2] [--threads N] [-- OPTION_OF_DTTRAIN...]

oneDNN reports how long each of its primitives took (DNNL_VERBOSE), and a preloaded library its sgemm; of each shape the median counts, which
other load disturbs least. Operations follow from their shapes, with padding. The peer is `dttrain bench`: the same library's product of square matrices on all cores, a thread's share of it. What a step
spends besides is itemised: other primitives of oneDNN (reorders, pooling), and what is no primitive (attention's softmax, norms,
activations, sums, the optimizer)."""

import argparse
import collections
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from train_models import MODELS, WARM, of_both  # noqa: E402
from train_throughput import processor  # noqa: E402
from trainer_support import environment, events  # noqa: E402

STEPS = {"gpt": 8, "resnet": 20, "cnn2": 400}
CNN2 = ["--limit-train", "8192"]


def extents(text):
    """{"mb": 16, "ic": 3, ...} of mb16_ic3oc16_ih32oh32kh3sh1..."""
    return {name: int(value) for name, value in re.findall(r"([a-z]+)(\d+)", text)}


def operations(kind, shape):
    """Floating-point operations of one execution; 0 for what is no product."""
    if kind == "matmul":
        a, b, _ = shape.split(":")
        *batch, rows, inner = map(int, a.split("x"))
        return 2 * math.prod(batch) * rows * inner * int(b.split("x")[-1])
    at = extents(shape)
    if kind == "inner_product":
        return 2 * at["mb"] * at["oc"] * at["ic"] * at.get("ih", 1) * at.get("iw", 1)
    if kind == "convolution":
        return 2 * at["mb"] * at["oc"] * at["oh"] * at["ow"] * at["ic"] * at["kh"] * at["kw"]
    return 0


def primitives(output):
    """What oneDNN executed, by kind and shape and all else: how often, the median of the seconds, operations of one."""
    durations, found = collections.defaultdict(list), {}
    for line in output.splitlines():
        fields = line.split(",")
        if fields[0] == "sgemm":
            *shape, count = map(int, fields[1:5])
            found["sgemm", *shape] = count, float(fields[5]) / 1000, 2 * math.prod(shape)
        elif len(fields) > 9 and fields[0] in ("dnnl_verbose", "onednn_verbose") and "exec" in fields[1:4]:
            durations[tuple(fields[fields.index("exec") + 2:-1])].append(float(fields[-1]) / 1000)
    for key, each in durations.items():
        found[key] = len(each), statistics.median(each), operations(key[0], key[-1])
    return found


def peak(program, threads, precision):
    """FLOP/s of a thread."""
    done = subprocess.run([program, "bench", "--phase", "gemm"], env=environment(), capture_output=True, text=True, timeout=300, check=True)
    found = {one["key"]: one["value"] for one in json.loads(done.stdout)["nodes"][0]["measures"]}
    return found[f"gemm_{precision}"] / threads


def train(program, words, threads, steps, library=None):
    """Its steps, and what oneDNN and `library` say, unless that is None."""
    told = {} if library is None else {"DNNL_VERBOSE": "1", "LD_PRELOAD": os.path.abspath(library)}
    with tempfile.TemporaryDirectory() as run:
        done = subprocess.run([program, *words, "--threads", str(threads), "--steps", str(steps), "--evaluate-every", "100000", "--run-dir", run],
                              env={**environment(threads), **told}, capture_output=True, text=True, timeout=600, check=True)
        return events(run, "step"), done.stdout


def itemise(program, library, name, words, threads, precision):
    count = STEPS[name]
    steps, _ = train(program, words, threads, WARM + count)
    step = statistics.median(one["seconds"] for one in steps[WARM:])
    seconds, work = collections.Counter(), collections.Counter()
    # Of a longer run without those of a shorter one: each evaluates in the end.
    short, long = (primitives(train(program, words, threads, number, library)[1]) for number in (WARM, WARM + count))
    for key, (number, took, done) in long.items():
        more = (number - short.get(key, (0,))[0]) / count
        seconds[key[0]] += more * took
        work[key[0]] += more * done
    best = peak(program, threads, precision)
    products = [kind for kind in seconds if work[kind]]
    took, done = sum(seconds[kind] for kind in products), sum(work[kind] for kind in products)
    print(f"{name}: a step {1000 * step:.1f} ms, {threads} threads; {best / 1e9:.0f} GFLOP/s a thread in a square product")
    print(f"  {'':28}{'ms a thread':>12}{'of the step':>13}{'GFLOP/s':>9}{'of the peak':>13}")

    def row(what, took, rate=None):
        print(f"  {what:28}{1000 * took / threads:12.2f}{took / threads / step:13.1%}" + (f"{rate / 1e9:9.0f}{rate / best:13.1%}" if rate else ""))

    for kind in sorted(seconds, key=seconds.get, reverse=True):
        row(kind, seconds[kind], work[kind] / seconds[kind])
    row("all products", took, done / took)
    row("no primitive", step * threads - sum(seconds.values()))
    print(f"  at the peak all products would take {1000 * done / best / threads:.2f} ms; a step of nothing else would be "
          f"{step / (done / best / threads):.2f} times as fast", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("library")
    parser.add_argument("--models", default="gpt,resnet,cnn2")
    parser.add_argument("--threads", type=int, default=2)
    options, of_dttrain = of_both(parser)
    print(f"{processor()}; {options.threads} threads; load {os.getloadavg()[0]:.1f}", flush=True)
    precision = "bf16" if "bf16" in of_dttrain else "fp32"
    for name in options.models.split(","):
        words = [*MODELS[name][0], "--batch", str(MODELS[name][1])] if name in MODELS else CNN2
        itemise(options.program, options.library, name, [*map(str, words), *of_dttrain], options.threads, precision)


if __name__ == "__main__":
    main()
