# SPDX-License-Identifier: Apache-2.0
"""Gradients in buckets of any size, sent during or after the computation of others, directly or by node first, have the bits of one
process. A flipped bit is still found.

Usage: trainer_buckets.py DTTRAIN"""

import itertools
import random
import sys

from contract import CORRUPTED
from trainer_support import Trainer, digest, events, split

# Bucket sizes of one chunk, of several chunks, and of more than there is.
SIZES = ("4K", "60K", "whole")
MODELS = {"cnn2": ["--model", "cnn2"],
          "gpt2": ["--model", "gpt2:char-mini,n_layer=2", "--optimizer", "lamb", "--clip-norm", 1]}
SHARDS = 6


def text(trainer):
    numbers = random.Random(1)
    with open(trainer.path("t.txt"), "w", encoding="ascii") as file:
        file.write("".join(numbers.choice("abcdefgh \n") for _ in range(60000)))
    return trainer.path("t.txt")


def ways(seed):
    """As many combinations as are needed for each pair of values to occur, drawn by `seed`."""
    every = list(itertools.product((1, 3, 5), ("mpi", "shm", "hier", "hier flat"), (1, 2), SIZES, ("on", "off")))
    random.Random(seed).shuffle(every)

    def pairs(way):
        return set(itertools.combinations(enumerate(way), 2))

    chosen, missing = [], set().union(*map(pairs, every))
    while missing:
        chosen.append(max(every, key=lambda way: len(pairs(way) & missing)))
        missing -= pairs(chosen[-1])
    return chosen


def chained(trainer, model, words):
    """Each combination makes one step and saves it, and the next one continues from there."""
    layouts = ways(model)
    always = [*words, "--shards", SHARDS, "--batch", 12, "--warmup", 0, "--schedule", "constant", "--save-every", 1, "--limit-train", 600]
    whole = trainer.path(f"{model}-whole")
    trainer.run(0, [*always, "--steps", len(layouts), "--run-dir", whole, "--checkpoint-dir", whole + "-c"])
    expected = [save["digest"] for save in events(whole, "save")]
    run = trainer.path(model)
    for step, (ranks, kind, threads, size, overlap) in enumerate(layouts, 1):
        transport, hierarchy = (*kind.split(), "auto")[:2]
        options = [*always, "--run-dir", run, "--checkpoint-dir", run + "-c", "--steps", step, "--transport", transport,
                   "--hierarchy", hierarchy, "--bucket-size", size, "--overlap", overlap, "--audit", step % 2]
        env = {"DTSUBMIT_ATTEMPT": str(step), **split(transport)}
        out, err = trainer.run(ranks, options, threads, env=env)
        told = f"{model}, step {step}: {ranks} ranks x {threads} threads over {kind}, buckets of {size}, overlap {overlap}"
        print(told, flush=True)
        assert digest(out) == expected[step - 1], f"{told}: {out}\n{err}"
        assert events(run, "start")[-1]["hierarchy"] == ("node" if kind == "hier" and ranks > 1 else "flat"), told


FAULTS = (("message:fc1.weight:1@9:1", -1, "that rank 0 sent to rank 1 on "),
          ("gradient:conv1.weight:3@9:2", 2, "the gradient of conv1.weight "),
          ("gradient:fc2.bias:9@9:0", 0, "the gradient of fc2.bias "),
          ("weight:fc1.weight:77777@9:1", 1, "the weights of fc1.weight "),
          ("momentum:fc1.weight:77777@9", None, "the momentum of fc1.weight "))


# From rank 2's relay on the other node, which has added up the gradients of ranks 0 and 1.
RELAYED = (("message:fc1.weight:1@9:2", -1, "that rank 0 sent to rank 2 on "),)


def flipped(trainer, kind, overlap, faults, ranks=3):
    base = ["--model", "cnn2", "--steps", 12, "--verify-every", 5, "--transport", kind, "--bucket-size", "60K", "--overlap", overlap]
    env = split(kind)
    for fault, rank, words in faults:
        run = trainer.path(f"{fault}-{kind}-{overlap}".replace(":", "_"))
        _, err = trainer.run(ranks, [*base, "--run-dir", run, "--inject", fault], expect=CORRUPTED, env=env)
        found = events(run, "corruption")
        assert len(found) == 1 and words in found[0]["what"] + " ", f"{fault}: {found}\n{err}"
        assert rank in (None, found[0]["rank"]) and found[0]["step"] < 14, f"{fault}: {found}"


def tuned(trainer):
    """The first steps are measured, with the same result on all ranks, and the bits remain; a flipped bit is not sealed as if it were
    right."""
    words = ["--model", "cnn2", "--steps", 30]
    expected = digest(trainer.run(0, words)[0])
    for ranks, overlap, rows in ((2, "auto", 2), (3, "off", 1), (3, "on", 1)):
        out, err = trainer.run(ranks, [*words, "--transport", "mpi", "--bucket-size", "auto", "--overlap", overlap])
        assert digest(out) == expected, f"{out}\n{err}"
        assert f" {4 * rows}  --bucket-size auto:" in out and out.count("  chosen") == 1, f"{out}\n{err}"
        assert len([line for line in out.splitlines() if line.split()[1:2] in (["on"], ["off"])]) == rows, out
    out, err = trainer.run(3, [*words, "--transport", "hier", "--bucket-size", "auto", "--overlap", "on"], env=split("hier"))
    rows = [line.split()[1:3] for line in out.splitlines() if line.split()[1:2] in (["on"], ["off"])]
    assert digest(out) == expected and rows == [["on", "node"], ["on", "flat"]] and "--bucket-size auto:" in out, f"{out}\n{err}"
    out, _ = trainer.run(1, [*words, "--bucket-size", "auto"])
    assert digest(out) == expected and "chosen" not in out, out
    for fault in ("weight:fc1.weight:77777@4:1", "momentum:fc1.weight:9@8"):
        _, err = trainer.run(3, [*words, "--bucket-size", "auto", "--overlap", "on", "--inject", fault], expect=CORRUPTED)
        assert err.count("bits are wrong") == 1, err


def refused(trainer):
    _, err = trainer.run(0, ["--bucket-size", "4X"], expect=2)
    assert "--bucket-size: '4X' is not valid" in err, err
    each = ["--steps", 3, "--bucket-size"]
    _, err = trainer.run(2, [[*each, "1M"], [*each, "2M"]], expect=3)
    assert "bucket-size" in err, err
    each = ["--steps", 3, "--hierarchy"]
    _, err = trainer.run(2, [[*each, "flat"], [*each, "node"]], expect=3)
    assert "hierarchy" in err, err


with Trainer(sys.argv[1], few=True) as trainer:
    MODELS["gpt2"] += ["--data", text(trainer)]
    for name, words in MODELS.items():
        chained(trainer, name, words)
    flipped(trainer, "mpi", "on", FAULTS)
    flipped(trainer, "hier", "on", FAULTS[:4])
    flipped(trainer, "hier", "off", RELAYED, ranks=4)
    flipped(trainer, "shm", "off", FAULTS[:1])
    tuned(trainer)
    refused(trainer)
