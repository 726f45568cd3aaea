# SPDX-License-Identifier: Apache-2.0
"""Starts dttrain alone or under a real mpirun, and reads the files that it leaves."""

import contextlib
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

from checks import skip
from few_images import DATA, of_build


def environment(threads=1):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("OMPI_", "PMIX_", "DTSUBMIT_", "SLURM_"))}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS=str(threads))
    return env


def has_bf16():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        return "avx512_bf16" in info.read()


class Trainer:
    """A program under test, with a folder of its own for each run; `few`: on few images, unless others are given."""

    def __init__(self, program, few=False):
        if not os.path.isdir(DATA):
            skip(f"no {DATA} (Debian package dataset-fashion-mnist)")
        self.program = program
        self.default = of_build(program) if few else []
        self.folder = tempfile.mkdtemp(prefix="dttrain_")

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            shutil.rmtree(self.folder)
        else:
            print(f"left for inspection: {self.folder}")

    def path(self, name):
        return os.path.join(self.folder, name)

    def command(self, ranks, arguments):
        """`arguments` for each rank, if they are a list of lists, or for all of them."""
        each = arguments if arguments and isinstance(arguments[0], list) else [arguments]
        words = ["mpirun", "--oversubscribe", "--bind-to", "none"] if ranks > 0 else []
        for i, own in enumerate(each):
            words += ([":"] if i > 0 else []) + (["-np", str(ranks // len(each))] if ranks > 0 else [])
            words += [self.program] + [str(a) for a in [*self.default, *own]]  # if an option is given twice, the last one counts
        return words

    def start(self, ranks, arguments, threads=1, env=None):
        return subprocess.Popen(self.command(ranks, arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env={**environment(threads), **(env or {})})

    def run(self, ranks, arguments, threads=1, expect=0, env=None, limit=600):
        """Standard output and error; `ranks` 0: without mpirun; `expect` None: any exit code."""
        process = self.start(ranks, arguments, threads, env)
        out, err = process.communicate(timeout=limit)
        assert expect in (None, process.returncode), f"{arguments}: exit {process.returncode}, not {expect}\n{out}\n{err}"
        return out, err


def on_small_disk(trainer, script, *arguments):
    """Runs a script in a mount namespace of its own, in which $1 can become a small disk."""
    small = trainer.path("small")
    os.makedirs(small, exist_ok=True)
    # There we are root, and the folder in /tmp that Open MPI would use may belong to the real root.
    own = {**environment(), "TMPDIR": trainer.path("")}
    return subprocess.run(["unshare", "-Urm", "bash", "-c", script, "bash", small, *arguments], env=own,
                          capture_output=True, text=True, timeout=240, check=False)


def split(kind):
    """Two nodes made from one, so that messages take both ways."""
    return {"DTTRAIN_SPLIT_NODE": "2"} if kind == "hier" else {}


def digest(out):
    return re.search(r"digest ([0-9a-f]{16})", out).group(1)


def events(folder, kind):
    with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as lines:
        return [event for event in map(json.loads, lines) if event["event"] == kind]


def children_of(pid):
    """The children of all its threads."""
    found = []
    for path in glob.glob(f"/proc/{pid}/task/*/children"):
        with contextlib.suppress(OSError), open(path, encoding="ascii") as children:
            found += [int(child) for child in children.read().split()]
    return found


def rank_of(pid):
    with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as environ:
        for variable in environ.read().split(b"\0"):
            if variable.startswith(b"OMPI_COMM_WORLD_RANK="):
                return int(variable.split(b"=")[1])
    return None


def ranks_of(launcher_pid):
    """Pids of the ranks below mpirun, in rank order. Open MPI 6 starts them from a thread of its own."""
    below, ranks = [launcher_pid], {}
    while below:
        pid = below.pop()
        rank = rank_of(pid)
        if rank is None:
            below += children_of(pid)
        else:
            ranks[rank] = pid
    return [pid for _, pid in sorted(ranks.items())]


def wait_for_step(process, folder, step, limit=120):
    """Waits until metrics.jsonl has this step. If the program ends before, or never gets there, the error has its output."""
    deadline = time.monotonic() + limit
    while time.monotonic() < deadline:
        ended = process.poll()
        try:
            steps = events(folder, "step")
            if steps and steps[-1]["step"] >= step:
                return
        except (FileNotFoundError, json.JSONDecodeError):
            pass
        if ended is not None:
            out, err = process.communicate()
            raise AssertionError(f"exit {ended} before step {step}\n{out}\n{err}")
        time.sleep(0.02)
    process.terminate()
    out, err = process.communicate(timeout=60)
    raise AssertionError(f"no step {step} within {limit} s\n{out}\n{err}")
