# SPDX-License-Identifier: Apache-2.0
"""Layouts in which each pair of values occurs together. For each model, one training is stopped by SIGTERM after a step or two, and resumed
in another layout, if possible with another number of ranks and at another stage of ZeRO. Each state has the digest of an undisturbed
training.

Usage: trainer_pairwise.py DTTRAIN"""

import itertools
import os
import random
import signal
import sys

from contract import CHECKPOINTED
from trainer_support import Trainer, digest, events, ranks_of, split, wait_for_step

LLAMA = ("llama,vocab_size=256,hidden_size=64,intermediate_size=128,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,"
         "max_position_embeddings=64")
MODELS = {"cnn2": [], "resnet:20": ["--augment", "crop,flip"], "gpt2:char-mini": ["--data"], LLAMA: ["--data"]}
SCHEMES = {"data parallel": {}, "ZeRO 1": {"--zero": 1}, "ZeRO 2": {"--zero": 2}, "ZeRO 3": {"--zero": 3}, "one server": {"--servers": 1},
           "two servers": {"--servers": 2}, "two servers, ZeRO 2": {"--servers": 2, "--zero": 2},
           "two servers, ZeRO 3": {"--servers": 2, "--zero": 3}}
FACTORS = {
    "model": list(MODELS),
    "ranks": [1, 2, 3, 4, 5, 6, 8, 16],
    "network": ["shm", "mpi", "hier flat", "hier node"],  # the last two with two nodes simulated on one
    "scheme": list(SCHEMES),
    "threads": [1, 2],
    "audit": [0, 1],
    "buckets": ["whole", "64K", "1M", "4M"],
    "overlap": ["on", "off"],
}
RESUMED = 10  # for each model at least, with a change of ranks and stage
FEWEST = 64


def pairs(row):
    return set(itertools.combinations(sorted(row.items(), key=lambda item: item[0]), 2))


def covering(factors, fewest, seed=1):
    """Rows in which each two values of two factors occur together, and more until there are `fewest`. Each turn adds the row that covers
    the most pairs, out of some random ones."""
    draw = random.Random(seed)
    missing = {pair for a, b in itertools.combinations(sorted(factors), 2) for pair in itertools.product(
        [(a, value) for value in factors[a]], [(b, value) for value in factors[b]])}
    rows = []
    while missing or len(rows) < fewest:
        drawn = [{name: draw.choice(values) for name, values in factors.items()} for _ in range(200)]
        if missing:
            wanted = dict(min(missing, key=repr))
            drawn = [{**row, **wanted} for row in drawn]
        rows.append(max(drawn, key=lambda row: len(pairs(row) & missing)))
        missing -= pairs(rows[-1])
    return rows


def words_of(trainer, row):
    extra = MODELS[row["model"]]
    words = ["--model", row["model"], *extra, *([trainer.path("text.txt")] if extra == ["--data"] else [])]
    return [*words, "--batch", 32, "--shards", 16, "--schedule", "constant", "--warmup", 0, "--limit-train", 512, "--evaluate-every", 1000]


def stage_of(row):
    return SCHEMES[row["scheme"]].get("--zero", 1)


def layout_of(row):
    transport, hierarchy = (*row["network"].split(), "auto")[:2]
    words = ["--transport", transport, "--hierarchy", hierarchy, "--bucket-size", row["buckets"], "--overlap", row["overlap"]]
    if row["audit"] and stage_of(row) == 1:  # audits compare whole gradients of a shard, which only exist at this stage
        words += ["--audit", 1]
    return [*words, *itertools.chain(*SCHEMES[row["scheme"]].items())]


def differ(one, other):
    return one["ranks"] != other["ranks"] and stage_of(one) != stage_of(other)


def in_turn(rows):
    """The same rows, ordered so that ranks and stage change from one to the next, as long as possible."""
    ordered, left = [], list(rows)
    while left:
        def rank(row):  # rows whose values most other rows have come first
            return (not ordered or differ(ordered[-1], row), sum(stage_of(one) == stage_of(row) for one in left))
        ordered.append(max(left, key=rank))
        left.remove(ordered[-1])
    return ordered


def stop(trainer, number, words, row, run):
    """The step after which this attempt was stopped, and its digest."""
    begun = events(run, "stop")[-1]["step"] if number > 1 else 0
    process = trainer.start(row["ranks"], [*words, *layout_of(row), "--step-delay", 100], row["threads"],
                            env={**split(row["network"].split()[0]), "DTSUBMIT_ATTEMPT": str(number)})
    wait_for_step(process, run, begun + 1, 300)
    os.kill(ranks_of(process.pid)[number % row["ranks"]], signal.SIGTERM)
    out, err = process.communicate(timeout=300)
    assert process.returncode == CHECKPOINTED, f"exit {process.returncode}\n{out}\n{err}"
    assert events(run, "start")[-1]["step"] == begun, err
    return events(run, "stop")[-1]["step"], digest(out)


def chain(trainer, rows):
    name = rows[0]["model"].split(",")[0].replace(":", "-")
    steps = 4 * len(rows)
    own = [*words_of(trainer, rows[0]), "--steps", steps]
    trainer.run(0, [*own, "--save-every", 1, "--run-dir", trainer.path(f"{name}-whole"), "--checkpoint-dir", trainer.path(f"{name}-w")])
    expected = {save["step"]: save["digest"] for save in events(trainer.path(f"{name}-whole"), "save")}
    assert len(set(expected.values())) == steps, expected
    run = trainer.path(name)
    for number, row in enumerate(rows, 1):
        step, bits = stop(trainer, number, [*own, "--run-dir", run, "--checkpoint-dir", trainer.path(f"{name}-c")], row, run)
        told = f"{name} to step {step}: {row['ranks']} ranks x {row['threads']} threads, {' '.join(map(str, layout_of(row)))}"
        print(told, flush=True)
        assert bits == expected[step], f"{told}: {bits} instead of {expected[step]}"
    resumed = sum(differ(*two) for two in itertools.pairwise(rows))
    assert resumed >= RESUMED, f"{name}: {resumed}"
    print(f"{name}: {len(rows)} layouts, {resumed} times with other ranks and at another stage", flush=True)


def main():
    with Trainer(sys.argv[1]) as trainer:
        draw = random.Random(1)
        with open(trainer.path("text.txt"), "w", encoding="ascii") as file:
            file.write("".join(draw.choice("abcdefgh \n") for _ in range(60000)))
        rows = covering(FACTORS, FEWEST)
        for model in MODELS:
            chain(trainer, in_turn([row for row in rows if row["model"] == model]))
        covered = len(set().union(*map(pairs, rows)))
        print(f"{len(rows)} layouts with all of {covered} pairs of values, each but the first of a model resumed after a stop: digests equal")


if __name__ == "__main__":
    main()
