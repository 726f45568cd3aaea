# SPDX-License-Identifier: Apache-2.0
"""Layouts of which each pair of values occurs together: for each model one training of which every step is made by another one, and
resumed from the checkpoint of the one before. Each step has the digest of an undisturbed training.

Usage: trainer_pairwise.py DTTRAIN"""

import itertools
import random
import sys

from trainer_support import Trainer, digest, events, split

LLAMA = ("llama,vocab_size=256,hidden_size=64,intermediate_size=128,num_hidden_layers=2,num_attention_heads=4,num_key_value_heads=2,"
         "max_position_embeddings=64")
MODELS = {"cnn2": [], "resnet:20": ["--augment", "crop,flip"], "gpt2:char-mini": ["--data"], LLAMA: ["--data"]}
FACTORS = {
    "model": list(MODELS),
    "ranks": [1, 2, 3, 4, 5, 6, 8, 16],
    "transport": ["shm", "mpi", "hier"],
    "threads": [1, 2],
    "zero": [1, 2, 3],
    "servers": [0, 1, 2],  # 0: every rank owns a part; otherwise a parameter server
    "audit": [0, 1],
    "buckets": ["whole", "64K", "1M", "4M"],
    "overlap": ["on", "off"],
    "hierarchy": ["node", "flat"],
}
FEWEST = 64


def pairs(row):
    return set(itertools.combinations(sorted(row.items(), key=lambda item: item[0]), 2))


def covering(factors, fewest, seed=1):
    """Rows in which each two values of two factors occur together, and more until there are `fewest`: at each turn the one of some
    random rows that covers the most pairs."""
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


def layout_of(row):
    words = ["--transport", row["transport"], "--bucket-size", row["buckets"], "--overlap", row["overlap"], "--hierarchy",
             row["hierarchy"], "--zero", row["zero"]]
    if row["audit"] and row["zero"] == 1:  # whole gradients of a shard are compared, which exist at this stage alone
        words += ["--audit", 1]
    if row["servers"]:
        words += ["--servers", row["servers"]]
    return words


def chain(trainer, rows):
    name = rows[0]["model"].split(",")[0].replace(":", "-")
    own = [*words_of(trainer, rows[0]), "--save-every", 1]
    trainer.run(0, [*own, "--steps", len(rows), "--run-dir", trainer.path(f"{name}-whole"), "--checkpoint-dir", trainer.path(f"{name}-w")])
    expected = [save["digest"] for save in events(trainer.path(f"{name}-whole"), "save")]
    assert len(set(expected)) == len(rows), expected
    folders = ["--run-dir", trainer.path(name), "--checkpoint-dir", trainer.path(f"{name}-c")]
    for step, row in enumerate(rows, 1):
        ranks, threads = row["ranks"], row["threads"]
        out, err = trainer.run(ranks, [*own, *folders, *layout_of(row), "--steps", step], threads,
                               env={**split(row["transport"]), "DTSUBMIT_ATTEMPT": str(step)})
        print(f"{name} step {step}: {ranks} ranks x {threads} threads, {' '.join(map(str, layout_of(row)))}", flush=True)
        assert events(folders[1], "start")[-1]["step"] == step - 1, err
        assert digest(out) == expected[step - 1], f"{out}\n{err}"


def main():
    with Trainer(sys.argv[1]) as trainer:
        draw = random.Random(1)
        with open(trainer.path("text.txt"), "w", encoding="ascii") as file:
            file.write("".join(draw.choice("abcdefgh \n") for _ in range(60000)))
        rows = covering(FACTORS, FEWEST)
        for model in MODELS:
            chain(trainer, [row for row in rows if row["model"] == model])
        covered = len(set().union(*map(pairs, rows)))
        print(f"{len(rows)} layouts with all of {covered} pairs of values, a step each, each but the first of a model resumed: digests equal")


if __name__ == "__main__":
    main()
