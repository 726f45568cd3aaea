# SPDX-License-Identifier: Apache-2.0
"""Nodes that are unfit, in quarantine or spare, on a private real Slurm: nodes.py SCENARIO."""
import os
import subprocess
import sys

from checks import check, skip, wait_for
from main_job_support import Cluster


def events(run, *names):
    return [e for e in run.ledger() if e["event"] in names]


def slurmd(cluster, node):
    with open(f"{cluster.folder}/run/{node}.pid") as file:
        return int(file.read())


def on_node(cluster, node, *words):
    """Runs a command that sees the file systems that this node sees."""
    subprocess.run(["nsenter", f"--mount=/proc/{slurmd(cluster, node)}/ns/mnt", *words], check=True)


def need_root():
    if os.geteuid() != 0:
        skip("needs root, to change what one node sees of the file system")


def preflight():
    """/dev/shm of one node is full: no program starts, the node is named, and the job goes elsewhere."""
    need_root()
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        on_node(cluster, "n1", "mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", "/dev/shm")
        for launcher in ("mpirun", "srun"):
            run = cluster.submit("--nodes", "2", "--launcher", launcher, "--", "sh", "-c", "echo on $SLURMD_NODENAME")
            wait_for(120, "the run's end", run.is_over)
            ended = events(run, "attempt_ended")
            check(ended[0]["cause"] == "launch_failed" and ended[0]["node"] == "n1", f"{launcher}: {ended[0]['cause']}: {ended[0]['detail']}")
            check("/dev/shm" in ended[0]["detail"] and "MiB free" in ended[0]["detail"], "it is said what was measured")
            unfit = events(run, "node_unfit")
            check([e["node"] for e in unfit] == ["n1"], "the ledger names the unfit node")
            check(not events(run, "ranks_started") or events(run, "ranks_started")[0]["attempt"] == 2, "no program started before")
            first, second = (e["nodes"] for e in events(run, "attempt_started"))
            check("n1" in first and "n1" not in second, f"attempt 1 on {first}, attempt 2 on {second}")
            check(run.status()["done"], "the run is done")


if __name__ == "__main__":
    {f.__name__: f for f in (preflight,)}[sys.argv[1]]()
