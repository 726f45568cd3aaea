#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launchers that were not visible at submission: they are started once per rank, and start the same ranks again.

second_launcher.py local: in scripts, under other names, and as a Python file that spawns, below `dtsubmit run`; and programs that only
look like this.
second_launcher.py slurm: one on each of two nodes of a private Slurm, which do or do not know of each other."""
import glob
import json
import os
import socket
import subprocess
import sys
import tempfile

from checks import check
from frameworks_support import PYTHON, TORCHRUN, need
from main_job_support import DTSUBMIT, Cluster

# A training that lives for SECONDS; each of its processes reports this.
TRAIN = f"""#!{PYTHON}
import os, sys, time
print("process", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], flush=True)
time.sleep(float(sys.argv[1]))
"""

# Starts two processes of one world, as a program without torchrun would.
SPAWN = f"""#!{PYTHON}
import os, subprocess, sys
world = dict(os.environ, WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT="12355")
all = [subprocess.Popen([sys.executable, "train.py", sys.argv[1]], env=dict(world, RANK=str(i))) for i in range(2)]
sys.exit(max(one.wait() for one in all))
"""

# Data loaders by fork and by exec, and a server of one process beside each rank.
LOADERS = f"""#!{PYTHON}
import multiprocessing, os, subprocess, sys, time
if __name__ == "__main__":
    alone = dict(os.environ, RANK="0", WORLD_SIZE="1")
    all = [subprocess.Popen([sys.executable, "train.py", "6"], env=env) for env in (os.environ, alone)]
    loader = multiprocessing.get_context(sys.argv[1]).Process(target=time.sleep, args=(6,))
    loader.start()
    loader.join()
    sys.exit(max(one.wait() for one in all))
"""


def write(folder):
    texts = {"torchrun": TORCHRUN, "launch.py": TORCHRUN, "train.py": TRAIN, "spawn.py": SPAWN, "loaders.py": LOADERS}
    for name, text in texts.items():
        script(folder, name, text)


def script(folder, name, text):
    with open(f"{folder}/{name}", "w") as file:
        file.write(text)
    os.chmod(f"{folder}/{name}", 0o755)


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def ended(run):
    with open(run + "/ledger.jsonl") as file:
        return [event for event in map(json.loads, file) if event["event"] == "attempt_ended"]


def run_ranks(folder, text, ranks=2):
    """The exit code and run directory of `ranks` ranks that run a script with this text."""
    write(folder)
    script(folder, "train.sh", "#!/bin/sh\n" + text + "\n")
    runs = tempfile.mkdtemp(prefix="runs-", dir=folder)
    words = [DTSUBMIT, "run", "--ntasks-per-node", str(ranks), "--runs", runs, "--", "./train.sh"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=200)
    return done.returncode, glob.glob(runs + "/*-*")[0], done.stderr


def check_named(said, what, words):
    check(all(word in said for word in words), f"{what} names {', '.join(words)}")


def refused(name, text, words, by="torchrun"):
    with tempfile.TemporaryDirectory(prefix="dts-second-") as folder:
        code, run, log = run_ranks(folder, text)
        ends = ended(run)
        check(len(ends) == 1, f"{name}: one attempt")
        check((ends[0]["cause"], code) == ("second_launcher", 3), f"{name}: {ends[0]['cause']}, code {code}: {ends[0]['detail']}")
        node = ends[0]["detail"].split(" on ")[1].split(",")[0]
        words = [*words, "ranks 0,1 on " + node, "--ntasks-per-node 1"]
        check(by in ends[0]["detail"], f"{name}: the ledger has `{by}`")
        check_named(ends[0]["detail"], f"{name}: the ledger", words)
        check_named(log, f"{name}: the log", words)
        for command in ("status", "why"):
            said = subprocess.run([DTSUBMIT, command, run], capture_output=True, text=True).stdout
            check_named(" ".join(said.split()), f"{name}: `{command}`", words)


def accepted(name, text):
    with tempfile.TemporaryDirectory(prefix="dts-second-") as folder:
        code, run, log = run_ranks(folder, text)
        check((ended(run)[-1]["cause"], code) == ("completed", 0), f"{name}: runs to its end {log if code else ''}")


def local():
    need("torch")
    twice = ["torchrun", "0,1 of 2"]
    refused("torchrun in a script", "./torchrun --standalone --nproc_per_node 2 train.py 60", twice)
    refused("one that finds its port taken", f"./torchrun --master_port {free_port()} --nproc_per_node 2 train.py 60", twice)
    refused("one whose training is short", "./torchrun --standalone --nproc_per_node 2 train.py 2", ["torchrun", "of 2"])  # one may be over when the other begins
    refused("a launcher under another name", "./launch.py --standalone --nproc_per_node 2 train.py 60", twice, "launch.py")
    refused("a program that spawns", "./spawn.py 60", ["0,1 of 2"], "spawn.py")
    apart = "./torchrun --standalone --nproc_per_node 2 train.py"
    accepted("two trainings, each with a launcher", f"exec {apart} 4.$RANK")
    accepted("torchruns of one process that know of each other",
             "exec ./torchrun --nnodes 2 --node_rank $RANK --nproc_per_node 1 --master_addr 127.0.0.1 --master_port $((MASTER_PORT + 7)) train.py 4")
    accepted("a launcher below one rank only", f"[ $RANK != 0 ] || exec {apart} 4")
    for way in ("fork", "spawn"):
        accepted(f"loaders of data by {way}", f"exec ./loaders.py {way}")


def slurm():
    need("torch")
    with Cluster("linuxproc", nodes=2, gpus=0, grace=20) as cluster:
        write(cluster.place)
        options = ["--nodes", "2", "--ntasks-per-node", "1"]
        script(cluster.place, "train.sh", "#!/bin/sh\n./torchrun --standalone --nproc_per_node 2 train.py 60\n")
        run = cluster.submit(*options, "--", "./train.sh")
        status = run.finish(120)
        ends = ended(run.path)
        check(len(ends) == 1 and ends[0]["cause"] == "second_launcher", f"not tried again: {ends}")
        check_named(ends[0]["detail"], "the ledger", ["ranks 0,1 on n[0-1]", "torchrun", "0,1 of 2", "--nnodes"])
        check(not status["done"], "the run is not done")
        script(cluster.place, "train.sh",
               "#!/bin/sh\n./torchrun --nnodes 2 --node_rank $NODE_RANK --master_addr $MASTER_ADDR --master_port $MASTER_PORT"
               " --nproc_per_node 2 train.py 8\n")
        run = cluster.submit(*options, "--", "./train.sh")
        check(run.finish(120)["done"], "launchers that know of each other run to their end")


if __name__ == "__main__":
    {"local": local, "slurm": slurm}[sys.argv[1]]()
