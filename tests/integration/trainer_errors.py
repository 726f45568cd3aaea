# SPDX-License-Identifier: Apache-2.0
"""Bad data and full disks: the right exit code on all ranks, one message, nothing half-written."""

import os
import shutil
import subprocess
import sys

from trainer_support import DATA, Trainer, environment, events, on_small_disk


def bad_data(trainer):
    _, err = trainer.run(2, ["--data", trainer.path("nowhere")], expect=3)
    assert err.count("train-images-idx3-ubyte.gz") == 1, err
    copy = trainer.path("data")
    shutil.copytree(DATA, copy)
    os.truncate(os.path.join(copy, "train-images-idx3-ubyte.gz"), 1000000)
    _, err = trainer.run(3, ["--data", copy], expect=3)
    assert "train-images-idx3-ubyte.gz: " in err and err.count("gzip") == 1, err


def unwritable(trainer):
    _, err = trainer.run(2, ["--steps", 2, "--checkpoint-dir", "/proc/here"], expect=74)
    assert err.count("/proc/here") == 1, err
    _, err = trainer.run(2, ["--steps", 2, "--run-dir", "/proc/here"], expect=74)
    assert err.count("/proc/here") == 1, err


def full_disk(trainer):
    probe = on_small_disk(trainer, 'mount -t tmpfs -o size=1m tmpfs "$1"')
    if probe.returncode != 0:
        print("skipped the full disk: no mount namespaces here: " + probe.stderr.strip())
        return
    mpirun = 'run() { mpirun --oversubscribe --bind-to none -np 2 "$@"; }\n'
    script = mpirun + 'set -u; small=$1; program=$2; mount -t tmpfs -o size=4m tmpfs "$small" || exit 1\n' \
        'options="--steps 9 --save-every 2 --keep 9 --step-delay 1"\n' \
        'run "$program" $options --checkpoint-dir "$small/c"; code=$?\n' \
        'ls "$small/c" >&2; cp -r "$small/c" "$3"; exit $code'
    kept = trainer.path("kept")
    done = on_small_disk(trainer, script, trainer.program, kept)
    assert done.returncode == 74, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.stderr.count("No space left on device") == 1, done.stderr
    assert sorted(os.listdir(kept)) == ["step-000000002", "step-000000004"], os.listdir(kept)
    out, err = trainer.run(1, ["--steps", 9, "--checkpoint-dir", kept])
    assert "resumed from checkpoint step-000000004" in out and not err, out + err


def full_disk_for_metrics(trainer):
    if not os.path.exists("/dev/full"):
        return
    os.makedirs(trainer.path("full"))
    os.symlink("/dev/full", trainer.path("full/metrics.jsonl"))
    _, err = trainer.run(2, ["--steps", 5, "--run-dir", trainer.path("full")], expect=74)
    assert err.count("metrics.jsonl: No space left on device") == 1, err


def no_memory(trainer):
    """A model of 7 billion parameters, although a process may only have 6 GB."""
    command = ["bash", "-c", 'ulimit -v 6000000; exec "$@"', "bash", *trainer.command(0, ["--model", "llama"])]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 70 and "not enough memory on this node for the 6738415616 parameters of llama" in done.stderr, done


def asks_no_display(trainer):
    """MPI_Init lets hwloc look for GPUs, but without hwloc's plug-ins for X displays and OpenCL."""
    _, err = trainer.run(0, ["--steps", 1], env={"HWLOC_PLUGINS_VERBOSE": "1"})
    for name in ("hwloc_gl", "hwloc_opencl"):
        assert f"`{name}' ready" not in err, err


with Trainer(sys.argv[1]) as trainer:
    asks_no_display(trainer)
    no_memory(trainer)
    bad_data(trainer)
    unwritable(trainer)
    full_disk(trainer)
    full_disk_for_metrics(trainer)
    trainer.run(0, ["--steps", 2, "--run-dir", trainer.path("fine")])
    assert len(events(trainer.path("fine"), "done")) == 1
