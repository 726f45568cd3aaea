# SPDX-License-Identifier: Apache-2.0
"""What checkpoints cost a training that goes on meanwhile, against the same training without them.

Usage: saves.py DTTRAIN [--models gpt,ballast] [--steps N] [--every N] [--ranks R] [-- OPTION_OF_DTTRAIN...]

A save stalls the ranks while the state is verified, copied and digested (`phases.save` in metrics.jsonl); then a thread of each rank writes
and syncs its file, and steps beside it are slower. The best of each is what other load disturbs least.
`gpt` has a state of 128 MB (weights and AdamW's moments), `ballast` is cnn2 with 300 MB more, which change at each step."""

import argparse
import os
import statistics
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from train_models import MODELS, WARM, of_both  # noqa: E402
from train_throughput import processor  # noqa: E402
from trainer_support import Trainer, events  # noqa: E402

THREADS = 2
WORDS = {"gpt": [*MODELS["gpt"][0], "--batch", MODELS["gpt"][1]], "ballast": ["--ballast", 300, "--batch", 512]}


def train(trainer, name, options, every, run):
    ranks = options.ranks
    saving = ["--save-every", every, "--checkpoint-dir", run + "-checkpoints", "--keep", 1] if every else []
    trainer.run(ranks if ranks > 1 else 0, [*WORDS[name], "--steps", WARM + options.steps, "--evaluate-every", 100000, "--run-dir", run, *saving,
                                            *options.of_dttrain], max(1, THREADS // ranks))
    return events(run, "step")[WARM:], events(run, "save")


def row(what, seconds, of):
    if seconds:
        middle, worst = statistics.median(seconds), max(seconds)
        print(f"  {what:34}{1000 * middle:10.1f}{1000 * worst:10.1f}{1000 * min(seconds):10.1f}{middle / of:12.1%}")


def compare(trainer, name, options):
    plain, _ = train(trainer, name, options, 0, trainer.path(name))
    steps, saves = train(trainer, name, options, options.every, trainer.path(name + "-saves"))
    saves = [save for save in saves if WARM < save["step"] < WARM + options.steps]  # the last one is waited for
    stalls = [step["phases"]["save"] for step in steps if step["phases"]["save"] > 0]
    usual = statistics.median(step["seconds"] for step in plain)
    busy = set()
    for save in saves:  # steps of which some part ran beside a writer
        left, at = save["until_committed"] - save["seconds"], save["step"]
        for step in (step for step in steps if step["step"] > at and left > 0):
            busy.add(step["step"])
            left -= step["seconds"]
            if left <= 0:
                break
    size = sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(trainer.path(name + "-saves-checkpoints")) for file in files)
    print(f"{name}: {size / 1e6:.0f} MB, {options.ranks} ranks, {len(saves)} saves, one every {options.every} steps")
    print(f"  {'milliseconds':34}{'median':>10}{'worst':>10}{'best':>10}{'of a step':>12}")
    row("a step without saves", [step["seconds"] for step in plain], usual)
    row("a step between saves", [step["seconds"] for step in steps if step["step"] not in busy], usual)
    row("a step beside a writer", [step["seconds"] for step in steps if step["step"] in busy], usual)
    row("a save stalls", stalls, usual)
    row("  of it, copied and digested", [save["seconds"] - save["waited"] for save in saves], usual)
    row("  of it, waits for the save before", [save["waited"] for save in saves], usual)
    row("a save until it is committed", [save["until_committed"] for save in saves], usual)
    print(f"  stalls are {statistics.mean(stalls) / options.every / usual:.2%} of all steps' time", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--models", default="gpt,ballast")
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--every", type=int, default=8)
    parser.add_argument("--ranks", type=int, default=1)
    options, options.of_dttrain = of_both(parser)
    print(f"{processor()}; {THREADS} threads; load {os.getloadavg()[0]:.1f}", flush=True)
    with Trainer(options.program) as trainer:
        for name in options.models.split(","):
            compare(trainer, name, options)


if __name__ == "__main__":
    main()
