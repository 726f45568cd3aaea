# SPDX-License-Identifier: Apache-2.0
"""A NaN in one sample: the run stops and names step, shard, rank and tensor, or continues without this step on all ranks."""

import json
import os
import sys

from contract import NO_RESTART
from trainer_support import Trainer, digest, events

BASE = ["--steps", 20, "--save-every", 4]


def folders(trainer, name):
    return ["--run-dir", trainer.path(name), "--checkpoint-dir", trainer.path(name + "-checkpoints")]


def stops(trainer, whole):
    for ranks, shard, rank in ((1, 15, 0), (2, 8, 1), (4, 5, 1), (5, 15, 4)):
        name = f"stops-{ranks}"
        _, err = trainer.run(ranks, BASE + folders(trainer, name) + ["--inject", f"nan:{shard}@7"], expect=NO_RESTART)
        assert f"step 7: the batch's bn1.running_mean of shard {shard} (rank {rank}) is not finite" in err, err
        assert err.count("not finite") == 1, err
        assert os.listdir(trainer.path(name + "-checkpoints")) == ["step-000000004"]
        found = events(trainer.path(name), "not_finite")
        assert [(e["step"], f"shard {shard} (rank {rank})" in e["what"]) for e in found] == [(7, True)], found
        assert [e["step"] for e in events(trainer.path(name), "step")] == list(range(1, 7))
    out, _ = trainer.run(3, BASE + folders(trainer, "stops-2"))
    assert "resumed from checkpoint step-000000004" in out and digest(out) == whole, out


def diverges(trainer):
    _, err = trainer.run(2, BASE + folders(trainer, "diverges") + ["--lr", 1000, "--warmup", 0], expect=NO_RESTART)
    assert err.count(" is not finite") == 1 and "the state of step " in err, err
    text = open(trainer.path("diverges/metrics.jsonl"), encoding="utf-8").read()
    assert "null" not in text, text


def skips(trainer, whole):
    """The same bits on any number of ranks; counting continues when a checkpoint is resumed."""
    skip = ["--skip-nonfinite", 1, "--inject", "nan:3@7"]
    out, _ = trainer.run(0, BASE + folders(trainer, "skips") + skip)
    expected = digest(out)
    assert expected != whole and "step      7  skipped: " in out and "(1 of at most 1)" in out, out
    assert [(e["step"], e["skipped"]) for e in events(trainer.path("skips"), "skip")] == [(7, 1)]
    for ranks in (2, 3, 4, 8):
        out, _ = trainer.run(ranks, BASE + skip)
        assert digest(out) == expected, f"{ranks} ranks: {out}"
    manifest = json.load(open(trainer.path("skips-checkpoints/step-000000020/manifest.json"), encoding="utf-8"))
    assert manifest["skipped"] == 1, manifest
    resumed = trainer.path("skips-checkpoints/step-000000020")
    os.rename(resumed, trainer.path("later"))
    again = ["--skip-nonfinite", 1, "--inject", "nan:3@18"]
    _, err = trainer.run(3, BASE + folders(trainer, "skips") + again, expect=NO_RESTART)
    assert "step 18: " in err and "1 of at most 1 steps were skipped before" in err, err


with Trainer(sys.argv[1], few=True) as trainer:
    whole = digest(trainer.run(0, BASE)[0])
    stops(trainer, whole)
    diverges(trainer)
    skips(trainer, whole)
