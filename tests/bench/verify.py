# SPDX-License-Identifier: Apache-2.0
"""What it costs that every rank's bits are checked: the same training with --verify-every 50 and with 0.

Usage: verify.py DTTRAIN [--model cnn2|gpt] [--before OTHER_DTTRAIN] [--windows N]

cnn2 is the worst case: no other model computes so little for each parameter.

A process each a window, in turn, so that both see the same neighbours; of each window the step that a tenth of its steps
undercut, which other load disturbs least, then medians over windows, and the median of the ratios of neighbouring windows. With --before a program of another commit runs beside them (it knows neither option)."""

import argparse
import os
import random
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from trainer_support import Trainer, events  # noqa: E402

WARM = 10  # steps not timed
# Steps of a window, and options.
MODELS = {"cnn2": (210, []), "gpt": (50, ["--model", "gpt2:char-mini", "--optimizer", "adamw", "--batch", "16", "--shards", "4"])}


def with_text(trainer, model):
    steps, options = MODELS[model]
    if model == "gpt":
        text = trainer.path("text.txt")
        letters = random.Random(1)
        with open(text, "w") as file:
            file.write("".join(letters.choice("abcdefgh \n") for _ in range(60000)))
        options = [*options, "--data", text]
    return steps, options


def quiet_step(trainer, program, ranks, threads, steps, options, name):
    """Milliseconds, as the trainer itself measures: computing, summing, updating, checking, digesting."""
    run = trainer.path(name)
    trainer.program = program
    trainer.run(ranks if ranks > 1 else 0, ["--steps", steps, "--evaluate-every", 1000, "--run-dir", run, *options], threads)
    return 1000 * statistics.quantiles((step["seconds"] for step in events(run, "step")[WARM:]), n=10)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--model", choices=MODELS, default="cnn2")
    parser.add_argument("--before")
    parser.add_argument("--windows", type=int, default=10)
    options = parser.parse_args()
    rows = [("checked", options.program, ["--verify-every", 50]), ("unchecked", options.program, ["--verify-every", 0])]
    if options.before:
        rows.append(("before", options.before, []))
    print(f"{options.model}, {options.windows} interleaved windows of {MODELS[options.model][0] - WARM} steps; load {os.getloadavg()[0]:.1f}")
    print(f"{'layout':<20}" + "".join(f"{name:>14}" for name, _, _ in rows) + "".join(f"{'checked/' + name:>20}" for name, _, _ in rows[1:]))
    with Trainer(options.program) as trainer:
        steps, more = with_text(trainer, options.model)
        for ranks, threads in ((1, 2), (1, 1), (2, 1)):
            times = [[quiet_step(trainer, program, ranks, threads, steps, [*words, *more], f"{ranks}x{threads}-{name}-{i}") for name, program, words in rows]
                     for i in range(options.windows)]
            medians = [statistics.median(column) for column in zip(*times)]
            ratios = [statistics.median(row[0] / row[k] for row in times) for k in range(1, len(rows))]
            print(f"{f'{ranks} ranks x {threads}':<20}" + "".join(f"{m:>11.2f} ms" for m in medians) + "".join(f"{r:>20.3f}" for r in ratios), flush=True)


if __name__ == "__main__":
    main()
