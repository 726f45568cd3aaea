# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments while checkpoints are written, resumed on another number of ranks: the digest is that of an undisturbed run,
and no checkpoint is ever damaged.

trainer_kills.py DTTRAIN [TRIES [MIB]]: MIB of state in addition to the model's. DTS_REPEAT has the same meaning as TRIES."""

import glob
import os
import random
import shutil
import signal
import sys
import time

from trainer_support import Trainer, digest, events, ranks_of, wait_for_step

TRIES = int(sys.argv[2] if len(sys.argv) > 2 else os.environ.get("DTS_REPEAT", "6"))
BALLAST = int(sys.argv[3]) if len(sys.argv) > 3 else 0
RANKS = (1, 2, 3) if BALLAST else (1, 2, 3, 4)
STEPS = 12 if BALLAST else 40
TRAIN = ["--steps", STEPS, "--save-every", 2 if BALLAST else 1, "--keep", 2, "--limit-train", 4096, "--ballast", BALLAST]


def kill(process):
    """Kills one rank (mpirun ends the others), all of them, or mpirun as well."""
    what = random.choice(("rank", "ranks", "everything"))
    pids = ranks_of(process.pid)
    if what == "rank":
        pids = [random.choice(pids)] if pids else []
    if what == "everything":
        pids.append(process.pid)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.communicate(timeout=120)
    return what


def attempt(trainer, folders, duration):
    """(ranks, what was killed, saves under way), or None if the run was already over."""
    ranks = random.choice(RANKS)
    process = trainer.start(ranks, TRAIN + folders)
    wait_for_step(process, folders[1], 1)
    time.sleep(random.uniform(0, duration))
    if process.poll() is not None:
        process.communicate()
        return None
    what = kill(process)
    return ranks, what, len(glob.glob(folders[3] + "/attempt-*.tmp.*/step-*"))


def resume(trainer, folders, ranks, expected):
    """Resumes on another number of ranks: (ranks, step resumed from)."""
    other = random.choice([n for n in RANKS if n != ranks])
    out, err = trainer.run(other, TRAIN + folders, env={"DTSUBMIT_ATTEMPT": "2"})
    assert "refused" not in err, err
    assert digest(out) == expected, f"digest {digest(out)}, undisturbed {expected}\n{out}"
    left = [name for name in os.listdir(folders[3]) if not name.startswith("step-")]
    assert not left, left
    return other, events(folders[1], "start")[-1]["step"]


def main(trainer):
    seed = int(os.environ.get("DTS_SEED", time.time_ns() % 1000000))
    random.seed(seed)
    print(f"DTS_SEED={seed} repeats this sequence", flush=True)
    whole = ["--run-dir", trainer.path("whole"), "--checkpoint-dir", trainer.path("whole-c")]
    process = trainer.start(2, TRAIN + whole)
    wait_for_step(process, whole[1], 1)
    began = time.monotonic()
    out, err = process.communicate(timeout=600)
    duration = time.monotonic() - began
    assert process.returncode == 0, err
    expected = digest(out)
    shutil.rmtree(whole[3])
    done = in_flight = 0
    while done < TRIES:
        folders = ["--run-dir", trainer.path(f"try-{done}"), "--checkpoint-dir", trainer.path(f"try-{done}-c")]
        killed = attempt(trainer, folders, duration)
        if killed:
            other, step = resume(trainer, folders, killed[0], expected)
            done += 1
            in_flight += killed[2] > 0
            print(f"{done:3} {killed[1]:10} of {killed[0]} ranks, {killed[2]} in flight, resumed on {other} from step {step}", flush=True)
        for folder in (folders[1], folders[3]):
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{done} kills, {in_flight} of them while a checkpoint was written, {done} digests equal; state with {BALLAST} MiB more")


with Trainer(sys.argv[1], few=True) as trainer:
    main(trainer)
