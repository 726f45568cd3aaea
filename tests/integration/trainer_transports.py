# SPDX-License-Identifier: Apache-2.0
"""Shared memory, MPI or both carry the same bits. A rank that does not arrive, or makes another call, is named and ends the run.

Usage: trainer_transports.py DTTRAIN [whole], with every layout one after another instead of a few."""

import itertools
import os
import random
import signal
import subprocess
import sys
import time

from trainer_support import Trainer, digest, environment, events, ranks_of, split, wait_for_step

KINDS = ("mpi", "shm", "hier")
STEPS = 3
LOST = 74
MISMATCH = 70


def same_bits(trainer, layouts):
    expected = digest(trainer.run(0, ["--steps", STEPS])[0])
    for ranks, kind, threads in layouts:
        out, err = trainer.run(ranks, ["--steps", STEPS, "--transport", kind], threads, env=split(kind))
        assert (" (node first), " in out) == (kind == "hier"), out
        assert digest(out) == expected, f"{ranks} ranks x {threads} threads over {kind}: {out}\n{err}"


def chained(trainer):
    """Every layout makes one step and saves it, and the next one continues from there: each step has the digest of an undisturbed run."""
    layouts = list(itertools.product((1, 2, 3, 4, 5, 8, 16), KINDS, (1, 2), (0, 1)))
    random.Random(1).shuffle(layouts)
    always = ["--schedule", "constant", "--save-every", 1]
    trainer.run(0, [*always, "--steps", len(layouts), "--run-dir", trainer.path("whole"), "--checkpoint-dir", trainer.path("whole-c")])
    expected = [save["digest"] for save in events(trainer.path("whole"), "save")]
    folders = ["--run-dir", trainer.path("chain"), "--checkpoint-dir", trainer.path("chain-c")]
    for step, (ranks, kind, threads, audit) in enumerate(layouts, 1):
        words = [*always, *folders, "--steps", step, "--transport", kind, "--audit", audit]
        out, err = trainer.run(ranks, words, threads, env={**split(kind), "DTSUBMIT_ATTEMPT": str(step)})
        told = f"step {step}: {ranks} ranks x {threads} threads over {kind}, audit {audit}"
        print(told, flush=True)
        assert events(folders[1], "start")[-1]["step"] == step - 1, f"{told}\n{err}"
        assert digest(out) == expected[step - 1], f"{told}: {out}\n{err}"
    print(f"{len(layouts)} layouts, a step each, resumed {len(layouts) - 1} times: digests equal")


def refused(trainer):
    _, err = trainer.run(2, ["--steps", STEPS, "--transport", "shm"], env=split("hier"), expect=2)
    assert err.count("--transport shm, but the ranks are on several nodes") == 1, err
    each = ["--steps", STEPS, "--transport"]
    _, err = trainer.run(2, [[*each, "mpi"], [*each, "shm"]], expect=3)
    assert err.count("the ranks do not agree on --transport") == 1, err


def other_call(trainer, kind):
    """Rank 1 calls a barrier before its third step: this is reported long before the deadline of 600 s."""
    _, err = trainer.run(3, ["--steps", 20, "--transport", kind, "--inject", "call@3:1"], env=split(kind), expect=MISMATCH)
    here = ["rank 1 makes call", ", barrier"]
    there = [", barrier: rank ", " makes call", ", scatter of partial sums of "]
    assert all(word in err for word in here) or all(word in err for word in there), err
    assert "calls of this rank: " in err and " gather of slices of " in err, err


def start(trainer, name, *options):
    run = trainer.path(name)
    process = trainer.start(3, ["--steps", 400, "--step-delay", 20, "--run-dir", run, *options])
    wait_for_step(process, run, 3)
    return process


def stopped(trainer, kind):
    """One of three ranks stops for good."""
    process = start(trainer, f"stopped-{kind}", "--comm-timeout", 3, "--transport", kind)
    os.kill(ranks_of(process.pid)[1], signal.SIGSTOP)
    _, err = process.communicate(timeout=60)
    assert process.returncode == LOST, f"exit {process.returncode}\n{err}"
    assert "rank 1 did not " in err and " within 3 s" in err, err
    assert "rank 0 did not" not in err and "rank 2 did not" not in err, err
    assert "calls of this rank: " in err, err


def prepared(trainer, name, line, *options):
    """Three ranks, of which rank 1 first executes `line` in a shell."""
    script = trainer.path(name)
    with open(script, "w", encoding="ascii") as text:
        text.write(f'#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" = 1 ] && {line}\nexec {trainer.program} "$@"\n')
    os.chmod(script, 0o755)
    words = trainer.command(3, ["--steps", STEPS, *options])
    words[words.index(trainer.program)] = script
    return subprocess.run(words, capture_output=True, text=True, env=environment(), timeout=120, check=False)


def late(trainer):
    """One of three ranks starts later than the deadline of calls."""
    ended = prepared(trainer, "late.sh", "sleep 3", "--comm-timeout", 1)
    assert ended.returncode == 0, f"exit {ended.returncode}\n{ended.stderr}"


def without_memory(trainer):
    """One of three ranks cannot create memory for messages (files of at most 16 KiB): all use MPI and report this, unless told not to."""
    limit = "trap '' XFSZ && ulimit -f 32"
    ended = prepared(trainer, "auto.sh", limit, "--transport", "auto")
    assert ended.returncode == 0, f"exit {ended.returncode}\n{ended.stderr}"
    assert ended.stderr.count("; messages go over MPI") == 1 and "warning: rank 1: cannot make " in ended.stderr, ended.stderr
    assert digest(ended.stdout) == digest(trainer.run(0, ["--steps", STEPS])[0]), ended.stdout
    ended = prepared(trainer, "shm.sh", limit, "--transport", "shm")
    assert ended.returncode == LOST and ended.stderr.count(": cannot make ") == 1, f"exit {ended.returncode}\n{ended.stderr}"


def suspended(trainer):
    """All ranks are stopped for longer than the deadline, as by `scontrol suspend`: none counts as late."""
    process = start(trainer, "suspended", "--comm-timeout", 3, "--steps", 40)
    ranks = ranks_of(process.pid)
    for pid in ranks:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(5)
    for pid in ranks:
        os.kill(pid, signal.SIGCONT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, f"exit {process.returncode}\n{err}"
    assert digest(out) == digest(trainer.run(0, ["--steps", 40])[0]), out


def memory_of(pid):
    """The inodes of this process's shared memory."""
    found = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        path = f"/proc/{pid}/fd/{name}"
        if os.path.islink(path) and "/memfd:dttrain" in os.readlink(path):
            found.add(os.stat(path).st_ino)
    return found


def holders(inodes):
    """Processes that map one of them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/maps", encoding="utf-8", errors="replace") as maps:
                if any("/memfd:dttrain" in line and int(line.split()[4]) in inodes for line in maps):
                    found.append(pid)
        except OSError:
            pass
    return found


def killed(trainer):
    """kill -9 of a rank while messages are under way: the others end, and no process holds the memory."""
    process = start(trainer, "killed", "--transport", "shm")
    ranks = ranks_of(process.pid)
    inodes = set.union(*map(memory_of, ranks))
    assert len(inodes) > len(ranks), f"an inbox each, the samples, and arrays that others read: {inodes}"
    assert len(holders(inodes)) == len(ranks)
    os.kill(ranks[2], signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode != 0
    assert holders(inodes) == [], holders(inodes)


def stops_well(trainer, kind):
    """A stop while ranks wait for each other's messages."""
    process = start(trainer, f"stop-{kind}", "--transport", kind)
    os.kill(ranks_of(process.pid)[2], signal.SIGTERM)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 85, f"exit {process.returncode}\n{err}"
    assert len(events(trainer.path(f"stop-{kind}"), "stop")) == 1


with Trainer(sys.argv[1], few=True) as program:
    if sys.argv[2:] == ["whole"]:
        chained(program)
    else:
        same_bits(program, [(2, "auto", 1), (5, "shm", 1), (5, "hier", 2), (3, "mpi", 1), (16, "shm", 1)])
        refused(program)
        for carrier in ("mpi", "hier"):
            other_call(program, carrier)
        for carrier in ("mpi", "shm"):
            stopped(program, carrier)
        late(program)
        without_memory(program)
        suspended(program)
        killed(program)
        stops_well(program, "shm")
