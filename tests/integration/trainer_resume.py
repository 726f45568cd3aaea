# SPDX-License-Identifier: Apache-2.0
"""Killed, stopped, damaged, fenced: the run continues to the same digest, or says why not."""

import json
import os
import shutil
import signal
import sys

from contract import CHECKPOINTED, NO_RESTART
from trainer_support import DATA, Trainer, digest, events, ranks_of, wait_for_step

STEPS = 60
BASE = ["--steps", STEPS, "--save-every", 10]


def folders(trainer, name):
    return ["--run-dir", trainer.path(name), "--checkpoint-dir", trainer.path(name + "-checkpoints")]


def checkpoints(trainer, name):
    return sorted(os.listdir(trainer.path(name + "-checkpoints")))


def killed(trainer, expected):
    """kill -9 of one of three ranks; resumed on five."""
    where = folders(trainer, "killed")
    process = trainer.start(3, BASE + where + ["--step-delay", 20])
    wait_for_step(process, trainer.path("killed"), 25)
    os.kill(ranks_of(process.pid)[1], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0
    last = events(trainer.path("killed"), "step")[-1]["step"]
    out, _ = trainer.run(5, BASE + where, env={"DTSUBMIT_ATTEMPT": "2"})
    start = events(trainer.path("killed"), "start")[-1]
    assert start["attempt"] == 2 and start["step"] % 10 == 0, start
    # The save under way may be lost, in addition to the steps since the last one.
    assert last - start["step"] <= 20, f"{last - start['step']} steps lost"
    assert digest(out) == expected, out


def stopped(trainer, expected, number):
    """A signal to one of four ranks stops all after the same step; resumed on two, nothing lost."""
    name = f"stopped-{number.name}"
    where = folders(trainer, name)
    process = trainer.start(4, BASE + where + ["--step-delay", 20])
    wait_for_step(process, trainer.path(name), 13)
    os.kill(ranks_of(process.pid)[2], number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == CHECKPOINTED, f"exit {process.returncode}\n{out}\n{err}"
    stop = events(trainer.path(name), "stop")[0]
    assert stop["root"] == events(trainer.path(name), "step")[-1]["root"]
    out, _ = trainer.run(2, BASE + where)
    start = events(trainer.path(name), "start")[-1]
    assert start["step"] == stop["step"], f"{stop['step'] - start['step']} steps lost"
    seen = [event["step"] for event in events(trainer.path(name), "step")]
    assert seen == list(range(1, STEPS + 1)), "a step was lost or repeated"
    assert digest(out) == expected, out


def storm(trainer):
    """Thousands of signals while ranks compute: no frame of a handler is written where oneDNN's products keep their data."""
    large = ["--data", DATA, "--batch", 16384, "--limit-train", 32768, "--steps", 3, "--warmup", 0]
    whole, _ = trainer.run(0, large + folders(trainer, "calm"))
    where = folders(trainer, "storm")
    process = trainer.start(0, large + where, threads=2)
    wait_for_step(process, trainer.path("storm"), 1)
    while process.poll() is None:
        process.send_signal(signal.SIGUSR1)
        process.send_signal(signal.SIGTERM)
    out, err = process.communicate()
    assert process.returncode == CHECKPOINTED, f"exit {process.returncode}\n{out}\n{err}"
    out, _ = trainer.run(0, large + where)
    assert digest(out) == digest(whole), out


def superseded(trainer, expected):
    """A second attempt starts while the first one writes a checkpoint: only what the second one commits counts."""
    where = folders(trainer, "superseded")
    process = trainer.start(3, ["--steps", STEPS, "--save-every", 2, "--step-delay", 200, "--save-delay", 300] + where)
    wait_for_step(process, trainer.path("superseded"), 5)
    out, _ = trainer.run(2, BASE + folders(trainer, "superseded")[2:] + ["--run-dir", trainer.path("heir"), "--attempt", 2])
    _, err = process.communicate(timeout=120)
    assert process.returncode == NO_RESTART and "a later start of this training has taken over" in err, (process.returncode, err)
    assert digest(out) == expected, out
    assert checkpoints(trainer, "superseded") == [f"step-{step:09}" for step in (40, 50, 60)]
    for name in checkpoints(trainer, "superseded"):
        with open(trainer.path(f"superseded-checkpoints/{name}/manifest.json"), encoding="utf-8") as manifest:
            assert json.load(manifest)["attempt"] == 2


def overlapping(trainer):
    """Training continues while a checkpoint is written; the next save waits for it, and reports this."""
    trainer.run(2, ["--steps", 3, "--save-every", 1, "--save-delay", 2000] + folders(trainer, "overlapping"))
    with open(trainer.path("overlapping/metrics.jsonl"), encoding="utf-8") as lines:
        told = [(event["event"], event["step"]) for event in map(json.loads, lines)]
    assert told.index(("step", 2)) < told.index(("save", 1)) < told.index(("step", 3)) < told.index(("save", 2)), told
    first, second, _ = events(trainer.path("overlapping"), "save")
    assert first["waited"] < 0.5 < second["waited"] <= second["seconds"] and first["until_committed"] >= 2, (first, second)
    assert checkpoints(trainer, "overlapping") == [f"step-{step:09}" for step in (1, 2, 3)]


def damaged(trainer, expected):
    """The newest checkpoint is truncated: it is refused by name, and the previous one is used."""
    where = folders(trainer, "whole")
    newest = "state-00002-of-00002.safetensors"
    os.truncate(trainer.path(f"whole-checkpoints/step-{STEPS:09}/{newest}"), 2048)
    out, err = trainer.run(2, BASE + where)
    assert f"step-{STEPS:09} refused: {newest}: 2048 bytes, manifest says" in err, err
    assert events(trainer.path("whole"), "start")[-1]["step"] == STEPS - 10
    assert digest(out) == expected, out


def seen_otherwise(trainer):
    """One of three ranks reads other bytes than rank 0: its node is at fault, and no checkpoint is given up because of it."""
    trainer.run(3, BASE + folders(trainer, "shared"))
    shutil.copytree(trainer.path("shared-checkpoints"), trainer.path("elsewhere-checkpoints"))
    newest = trainer.path(f"elsewhere-checkpoints/step-{STEPS:09}/state-00002-of-00003.safetensors")
    with open(newest, "r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read(1)[0]
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last ^ 1]))
    each = [BASE + folders(trainer, name) for name in ("shared", "elsewhere", "shared")]
    _, err = trainer.run(3, each, expect=74)  # EX_IOERR
    assert err.count("this rank cannot read what rank 0 reads of ") == 1 and "rank 1: " in err, err
    assert newest.rsplit("/", maxsplit=1)[-1] + ": hash " in err and "refused" not in err, err


def of_another_state(trainer, expected):
    """Whole files whose manifest has another digest: all ranks together detect this, and use the previous checkpoint."""
    where = folders(trainer, "whole")
    path = trainer.path(f"whole-checkpoints/step-{STEPS:09}/manifest.json")
    for ranks, stage in ((3, 3), (0, 1)):
        with open(path, encoding="utf-8") as file:
            manifest = json.load(file)
        with open(path, "w", encoding="utf-8") as file:
            json.dump({**manifest, "digest": "0123456789abcdef"}, file)
        out, err = trainer.run(ranks, BASE + where + ["--zero", stage])
        assert f"step-{STEPS:09} refused: state digest {expected}, manifest says 0123456789abcdef" in err, err
        assert events(trainer.path("whole"), "start")[-1]["step"] == STEPS - 10
        assert digest(out) == expected, out


def fenced(trainer):
    """A newer attempt has taken over: all ranks exit with "do not restart", and nothing is committed."""
    where = folders(trainer, "fenced")
    os.makedirs(trainer.path("fenced-checkpoints"))
    with open(trainer.path("fenced-checkpoints/fence"), "w", encoding="ascii") as fence:
        fence.write("5\n")
    _, err = trainer.run(2, BASE + where + ["--attempt", 4], expect=NO_RESTART)
    assert err.count("attempt 5") == 1 and "attempt 4" in err, err
    assert checkpoints(trainer, "fenced") == ["fence"]


def configured_otherwise(trainer):
    _, err = trainer.run(2, BASE + folders(trainer, "whole") + ["--seed", 2], expect=3)
    assert err.count("seed: 1 there, 2 here") == 1, err


def narrower(trainer):
    """On processors with fewer instructions, the run continues and reports that the bits will differ."""
    where = folders(trainer, "narrower")
    trainer.run(2, ["--steps", 10] + where)
    _, err = trainer.run(2, ["--steps", 10, "--instruction-set", "portable"] + where)
    used = events(trainer.path("narrower"), "start")
    if used[0]["instruction_set"] == "portable":
        return print("note: this processor has nothing but portable kernels")
    assert used[1]["instruction_set"] == "portable" and used[1]["step"] == 10, used
    assert err.count(f"was computed with {used[0]['instruction_set']}, these ranks use portable") == 1, err


with Trainer(sys.argv[1], few=True) as trainer:
    whole, _ = trainer.run(2, BASE + folders(trainer, "whole"))
    assert checkpoints(trainer, "whole") == [f"step-{step:09}" for step in (40, 50, 60)]
    killed(trainer, digest(whole))
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2):
        stopped(trainer, digest(whole), number)
    storm(trainer)
    damaged(trainer, digest(whole))
    seen_otherwise(trainer)
    of_another_state(trainer, digest(whole))
    configured_otherwise(trainer)
    fenced(trainer)
    superseded(trainer, digest(whole))
    overlapping(trainer)
    narrower(trainer)
