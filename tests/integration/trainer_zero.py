# SPDX-License-Identifier: Apache-2.0
"""Gradients and weights divided among the ranks (--zero): the bits of one process at every stage, resumed at another; less memory from
stage to stage; faults are still found.

Usage: trainer_zero.py DTTRAIN"""

import random
import sys

from contract import CORRUPTED, NO_RESTART
from trainer_pairwise import covering
from trainer_support import Trainer, digest, events, ranks_of, split, wait_for_step

SHARDS = 6
MODELS = {"cnn2": ["--model", "cnn2"],
          "gpt2": ["--model", "gpt2:char-mini,n_layer=2", "--optimizer", "lamb", "--clip-norm", 1],
          "llama": ["--model", "llama:char-mini,num_hidden_layers=1", "--optimizer", "adamw"]}
FACTORS = {"zero": [1, 2, 3], "ranks": [2, 3, 4, 6], "transport": ["mpi", "shm", "hier"], "threads": [1, 2],
           "buckets": ["4K", "60K", "whole"], "overlap": ["on", "off"], "servers": [0, 2]}


def text(trainer, letters=60000):
    numbers = random.Random(1)
    path = trainer.path(f"{letters}.txt")
    with open(path, "w", encoding="ascii") as file:
        file.write("".join(numbers.choice("abcdefgh \n") for _ in range(letters)))
    return ["--data", path]


def chained(trainer, model, layouts):
    """Each layout makes one step and saves it, and the next one continues from there."""
    always = [*MODELS[model], "--shards", SHARDS, "--batch", 12, "--warmup", 0, "--schedule", "constant", "--save-every", 1,
              "--limit-train", 600]
    whole = trainer.path(f"{model}-whole")
    trainer.run(0, [*always, "--steps", len(layouts), "--run-dir", whole, "--checkpoint-dir", whole + "-c"])
    expected = [save["digest"] for save in events(whole, "save")]
    run = trainer.path(model)
    for step, row in enumerate(layouts, 1):
        way = ["--zero", row["zero"], "--transport", row["transport"], "--bucket-size", row["buckets"], "--overlap", row["overlap"],
               *(["--servers", row["servers"]] if row["servers"] else [])]
        out, err = trainer.run(row["ranks"], [*always, *way, "--run-dir", run, "--checkpoint-dir", run + "-c", "--steps", step],
                               row["threads"], env={"DTSUBMIT_ATTEMPT": str(step), **split(row["transport"])})
        told = f"{model}, step {step}: {row['ranks']} ranks x {row['threads']} threads {' '.join(map(str, way))}"
        print(told, flush=True)
        assert digest(out) == expected[step - 1], f"{told}: {out}\n{err}"
        assert events(run, "start")[-1]["step"] == step - 1, err


def flipped(trainer):
    # Rank 1 owns the middle of a bucket, and there is only one bucket.
    faults = (("message:fc1.weight:1@4:1", (-1,), "that rank 0 sent to rank 1 on "),
              ("gradient:fc1.weight:3@4:2", (2,), "the gradient of fc1.weight "),
              ("weight:fc1.weight:100000@4:1", (1,), "the weights of fc1.weight "),
              ("momentum:fc1.weight:77777@4", (0, 1, 2), "the momentum of fc1.weight "))
    for stage in (2, 3):
        for fault, ranks, words in faults:
            run = trainer.path(f"{fault}-{stage}".replace(":", "_"))
            options = ["--model", "cnn2", "--steps", 6, "--limit-train", 1000, "--bucket-size", "whole", "--zero", stage]
            _, err = trainer.run(3, [*options, "--run-dir", run, "--inject", fault], expect=CORRUPTED)
            found = events(run, "corruption")
            assert len(found) == 1 and words in found[0]["what"] + " " and found[0]["rank"] in ranks, f"{stage}, {fault}: {found}\n{err}"


def not_finite(trainer):
    for stage in (2, 3):
        options = ["--steps", 8, "--limit-train", 2000, "--evaluate-every", 100, "--zero", stage, "--inject", "nan:5@7"]
        _, err = trainer.run(3, options, expect=NO_RESTART)
        assert "step 7: the batch's bn1.running_mean of shard 5 (rank " in err, err


def peak(pid, reset=False):
    """The peak memory of a process since the last reset, in MiB."""
    if reset:
        with open(f"/proc/{pid}/clear_refs", "w", encoding="ascii") as refs:
            refs.write("5")
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM:")) / 1024


def train(trainer, stage, steps, save_every, ranks=4):
    """A GPT of 3.2 million parameters with AdamW, evaluations and gradient noise, from the last save to this step."""
    run = trainer.path(f"memory-{stage}")
    model = "gpt2,vocab_size=256,n_positions=16,n_embd=256,n_layer=4,n_head=4"
    return run, trainer.start(ranks, ["--model", model, *text(trainer, 6000), "--optimizer", "adamw", "--batch", 8,
                                      "--shards", 8, "--steps", steps, "--schedule", "constant", "--transport", "mpi",
                                      "--zero", stage, "--bucket-size", "256K", "--evaluate-every", 5, "--limit-train", 100,
                                      "--step-delay", 50, "--run-dir", run, "--checkpoint-dir", run + "-c", "--save-every", save_every])


def memory(trainer, stage):
    """A rank's peak memory until the second step, until the sixth with a save, within some more steps, and after a resumption."""
    run, process = train(trainer, stage, 18, 4)
    try:
        wait_for_step(process, run, 2, 300)
        fresh = max(map(peak, ranks_of(process.pid)))
        wait_for_step(process, run, 6, 300)
        pids = ranks_of(process.pid)
        begun = max(map(peak, pids))
        for pid in pids:
            peak(pid, reset=True)
        wait_for_step(process, run, 11, 300)
        steps = max(map(peak, pids))
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    finally:
        process.kill()
    run, process = train(trainer, stage, 22, 100)
    try:
        wait_for_step(process, run, 19, 300)
        resumed = max(map(peak, ranks_of(process.pid)))
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err
    finally:
        process.kill()
    return begun, steps, fresh, resumed, digest(out)


def saves_memory(trainer):
    found = {stage: memory(trainer, stage) for stage in (1, 2, 3)}
    for stage, (begun, steps, fresh, resumed, _) in found.items():
        print(f"--zero {stage}: {begun:.0f} MiB to the sixth step, {steps:.0f} MiB in the next five; {fresh:.0f} MiB to the second "
              f"step, {resumed:.0f} MiB resumed", flush=True)
    assert len({bits for *_, bits in found.values()}) == 1, found
    parameters = 12.3  # MiB
    for when in (0, 1):
        # Two arrays of a rank's gradients and the others' for its share, instead of arrays of its share and some buckets.
        assert found[1][when] - found[2][when] > 1.8 * parameters, found
        # Two arrays of weights, for its shares of them and some buckets.
        assert found[2][when] - found[3][when] > 1.2 * parameters, found
    # Each rank reads what it owns, so none has more of the state than during training.
    for _, _, fresh, resumed, _ in found.values():
        assert resumed - fresh < 0.4 * parameters, found


def refused(trainer):
    for words, told in ((["--zero", 4], "--zero: '4' is not valid"), (["--zero", 2, "--audit", 1], "--audit and --zero 2 exclude"),
                        (["--zero", 3, "--bucket-size", "auto"], "--bucket-size auto and --zero 3 exclude")):
        _, err = trainer.run(0, words, expect=2)
        assert told in err, err
    _, err = trainer.run(2, [["--steps", 2, "--zero", 1], ["--steps", 2, "--zero", 2]], expect=3)
    assert "zero: 1 on rank 0; 2 on rank 1" in err, err


with Trainer(sys.argv[1], few=True) as trainer_:
    data = text(trainer_)
    MODELS["gpt2"] += data
    MODELS["llama"] += data
    saves_memory(trainer_)
    rows = covering(FACTORS, 0)
    for place, name in enumerate(MODELS):
        chained(trainer_, name, rows[place::len(MODELS)])
    flipped(trainer_)
    not_finite(trainer_)
    refused(trainer_)
