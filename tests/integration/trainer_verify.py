# SPDX-License-Identifier: Apache-2.0
"""dttrain verify: equal runs with 1 and 3 ranks, runs that differ from a known step on, and invalid files."""

import os
import re
import shutil
import sys

from trainer_support import Trainer, events

COMMON = ["--model", "mlp,hidden_size=32", "--batch", 64, "--shards", 8, "--steps", 30, "--limit-train", 1280, "--warmup", 0,
          "--save-every", 10]


with Trainer(sys.argv[1]) as trainer:
    def train(name, ranks, *more):
        run = trainer.path(name)
        trainer.run(ranks, COMMON + ["--run-dir", run, "--checkpoint-dir", run + "/checkpoints"] + list(more))
        return run

    def verify(there, here, expect):
        return trainer.run(0, ["verify", there, here], expect=expect)

    def refused(there, here, expect, what):
        out, err = verify(there, here, expect)
        assert what in err and out == "", (out, err)

    one, three = train("one", 1, "--schedule", "wsd"), train("three", 3, "--schedule", "wsd")
    out, _ = verify(one, three, 0)
    assert out == "equal: 30 steps by their digests, 3 checkpoints\n", out
    out, _ = verify(one + "/checkpoints/step-000000020", three + "/checkpoints/step-000000020", 0)
    assert out == "equal: 0 steps by their digests, 1 checkpoints\n", out

    # The learning rate of wsd falls from step 29 of 30 on.
    constant = train("constant", 1, "--schedule", "constant")
    out, _ = verify(one, constant, 1)
    assert "step 29 is the first that differs (root " in out and "; step 28 is equal\n" in out, out
    roots = [next(e["root"] for e in events(run, "step") if e["step"] == 29) for run in (one, constant)]
    assert f"root {roots[0]} there, {roots[1]} here" in out, out
    assert "the configurations differ: schedule: wsd over 30 steps there, constant here" in out, out
    found = re.search(r"checkpoints of step 30: (\d+) of 12 tensors differ, first model.layers.0.weight, in its chunk (\d+) "
                      r"\(elements (\d+) to (\d+)\), (\d+) of them;\n  element (\d+) is (\S+) there, (\S+) here", out)
    assert found, out
    chunk, begin, end, count, element = (int(found.group(i)) for i in (2, 3, 4, 5, 6))
    assert begin == 1024 * chunk and end == begin + 1023 and begin <= element <= end and 0 < count <= 1024, out
    other = train("seed", 1, "--seed", "2")
    out, _ = verify(other, constant, 1)
    assert "step 1 is the first that differs" in out and "no earlier step is in both" in out, out
    assert "checkpoints of step 10" in out, out
    adam = train("adam", 1, "--optimizer", "adamw")
    out, _ = verify(adam, constant, 1)
    assert "checkpoints of step 10 have other tensors" in out, out
    out, _ = verify(adam + "/checkpoints", constant + "/checkpoints", 1)
    assert "is the first that differs" not in out and "checkpoints of step 10 have other tensors" in out, out

    # Invalid files.
    refused(one, trainer.path("nowhere"), 6, "nowhere has neither metrics.jsonl nor checkpoints")
    refused(one + "/checkpoints/step-000000010", three + "/checkpoints/step-000000020", 3, "have no step in common")
    damaged = trainer.path("damaged")
    shutil.copytree(constant, damaged)
    os.truncate(damaged + "/checkpoints/step-000000030/state.safetensors", 5000)
    _, err = verify(one, damaged, 3)
    assert "damaged/checkpoints/step-000000030: state.safetensors: 5000 bytes, manifest says " in err, err
    with open(damaged + "/checkpoints/step-000000030/manifest.json", "w", encoding="ascii") as file:
        file.write("[" * 100000)
    refused(one, damaged, 3, "damaged/checkpoints/step-000000030: manifest.json: not a JSON object")
    with open(damaged + "/metrics.jsonl", "a", encoding="ascii") as file:
        file.write('{"step":31,"root":"x"}\n')
    lines = len(open(damaged + "/metrics.jsonl", encoding="ascii").readlines())
    refused(one, damaged, 3, f"damaged/metrics.jsonl: line {lines}: root is not 16 hexadecimal digits")
    _, err = trainer.run(0, ["verify", one], expect=2)
    assert "two folders" in err, err
    _, err = trainer.run(0, ["verify", one, "--all"], expect=2)
