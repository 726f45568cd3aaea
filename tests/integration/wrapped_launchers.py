#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launchers of processes behind other programs, on two nodes of a private Slurm: one launcher per node, and one world.

torchrun is Debian's. uv and composer are not in Debian. They are stand-ins with the same command line: the first runs its arguments, the
second passes its arguments on to torchrun. With `real`, the programs are those of PyPI: accelerate, lightning and uv, beside a newer
torchrun."""
import glob
import os
import re
import sys

from checks import check, skip
from frameworks_support import PYTHON, TORCHRUN, need
from main_job_support import Cluster

SAY = f"""#!{PYTHON}
import os, sys
sys.stdout.write("process %s of %s\\n" % (os.environ["RANK"], os.environ["WORLD_SIZE"]))
"""

UV = """#!/bin/sh
[ "$1 $2 $3" = "run --with x" ] && shift 3 && exec "$@"
"""

COMPOSER = f"""#!{PYTHON}
import argparse, os, sys
options = argparse.ArgumentParser()
options.add_argument("-n", "--nproc", type=int, default=int(os.environ["LOCAL_WORLD_SIZE"]))
options.add_argument("--world_size", type=int, default=int(os.environ["WORLD_SIZE"]))
options.add_argument("--node_rank")
options.add_argument("--master_addr")
options.add_argument("--master_port")
options.add_argument("program", nargs=argparse.REMAINDER)
told = options.parse_args()
os.execv(os.path.dirname(sys.argv[0]) + "/torchrun", ["torchrun", "--nnodes", str(told.world_size // told.nproc),
         "--nproc_per_node", str(told.nproc), "--node_rank", told.node_rank, "--master_addr", told.master_addr,
         "--master_port", told.master_port, *told.program])
"""


def world(run):
    """(rank, size) of every process that reported them in the logs of the first attempt."""
    said = []
    for log in glob.glob(run.path + "/attempt-1/rank-*.log"):
        with open(log, errors="replace") as file:
            said += re.findall(r"^process (\d+) of (\d+)$", file.read(), re.M)
    return sorted((int(rank), int(size)) for rank, size in said)


def check_worlds(runs):
    for name, run in runs.items():
        check(run.finish()["done"], f"{name}: done")
        check(world(run) == [(rank, 4) for rank in range(4)], f"{name}: one world of 4: {world(run)}")


def real():
    """Commands as their users type them; with GPUs, accelerate assumes `--multi_gpu`."""
    print(*(f"{module} {need(module)}" for module in ("torch", "accelerate", "lightning")), sep=", ")
    programs = os.path.dirname(PYTHON)
    if not os.path.exists(programs + "/uv"):
        skip(f"no {programs}/uv")
    os.environ["PATH"] = programs + ":" + os.environ["PATH"]
    with Cluster("linuxproc", nodes=2, gpus=2, grace=20) as cluster:
        say = cluster.place + "/say.py"
        with open(say, "w") as file:
            file.write(SAY)
        accelerate = "accelerate launch --multi_gpu"
        cases = {
            "torchrun": ["torchrun", say],
            "python -m": [PYTHON, "-m", "torch.distributed.run", say],
            "bash -c": ["bash", "-c", f"cd / && A=b exec torchrun {say}"],
            "uv run": ["uv", "run", "--no-project", "--python", PYTHON, "torchrun", say],
            "accelerate": [*accelerate.split(), say],
            "accelerate with --num_processes": [*accelerate.split(), "--num_processes", "4", say],
            "accelerate in bash -c": ["bash", "-c", f"{accelerate} {say} | cat; exit ${{PIPESTATUS[0]}}"],
            "python -m accelerate": [PYTHON, "-m", "accelerate.commands.launch", "--multi_gpu", say],
            "fabric": ["fabric", "run", "--accelerator", "cpu", "--strategy", "ddp", say],
        }
        check_worlds({name: cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--", *command) for name, command in cases.items()})


def main():
    need("torch")
    with Cluster("linuxproc", nodes=2, gpus=2, grace=20) as cluster:
        place = cluster.place
        texts = {"torchrun": TORCHRUN, "say.py": SAY, "uv": UV, "composer": COMPOSER,
                 "train.sh": f"#!/bin/sh\nexec {place}/torchrun {place}/say.py\n"}
        for name, text in texts.items():
            with open(f"{place}/{name}", "w") as file:
                file.write(text)
            os.chmod(f"{place}/{name}", 0o755)
        torchrun, say, composer = f"{place}/torchrun", f"{place}/say.py", f"{place}/composer"
        cases = {
            "bash -c": ["bash", "-euo", "pipefail", "-c", f"cd / && A=b exec {torchrun} {say}"],
            "a chain of wrappers": ["env", "A=b", "nice", "-n", "1", "timeout", "5m", "stdbuf", "-oL", torchrun, say],
            "uv run": [f"{place}/uv", "run", "--with", "x", PYTHON, torchrun, say],
            "composer": [composer, say],
            "composer in bash -c": ["bash", "-c", f"{composer} {say} | cat; exit ${{PIPESTATUS[0]}}"],
        }
        layout = ["--nodes", "2", "--gpus-per-node", "2"]
        runs = {name: cluster.submit(*layout, "--", *command) for name, command in cases.items()}
        runs["--per-node"] = cluster.submit(*layout, "--per-node", "--", f"{place}/train.sh")
        check_worlds(runs)
        twice = cluster.dtsubmit("--runs", cluster.runs, *layout, "--ntasks-per-node", "2", "--", "env", torchrun, say, code=3)
        for words in ("2 of them on each node would start 4", "omit --ntasks-per-node", "--per-rank"):
            check(words in " ".join(twice.stderr.split()), f"one for each rank is refused: `{words}`")


if __name__ == "__main__":
    real() if sys.argv[1:] == ["real"] else main()
