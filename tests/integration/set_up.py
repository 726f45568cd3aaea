#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The set-up of nodes on a private Slurm with two nodes: once on each before any rank, kept for all its ranks, repeated in each attempt. A
failure on one node ends the run and names the node. Tear-down, and limits of programs."""
import glob
import os
import subprocess
import sys

from checks import check, wait_for
from main_job_support import Cluster

OPTIONS = sys.argv[1:]  # for every submission

SITE_MODULE = """module() { [ "$1 $2" = "load train/1.0" ] && export LOADED="${LOADED-}<$2>"; }
module load "$dts_value"
"""

SAY = "import os, sys; print('said', os.environ.get('LOADED'), sys.prefix, os.environ.get('PREPARED'), flush=True)"

TWICE = """#!/bin/sh
echo "attempt $DTSUBMIT_ATTEMPT prepared $PREPARED"
[ "$DTSUBMIT_ATTEMPT" = 2 ] && exit 0
trap 'exit 85' TERM
while :; do sleep 0.1; done
"""


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def lines(path):
    try:
        with open(path) as file:
            return file.read().split("\n")[:-1]
    except FileNotFoundError:
        return []


def logs(run, attempt=1):
    return [open(path, errors="replace").read() for path in sorted(glob.glob(f"{run.path}/attempt-{attempt}/rank-*.log"))]


def ended(run):
    return [event for event in run.ledger() if event["event"] == "attempt_ended"]


def kept(cluster, place):
    """Module, virtual environment and a file: both ranks on both nodes see what one shell per node has set up."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place + "/venv"], check=True)
    os.symlink("python3", place + "/venv/bin/only-there")
    write(place + "/prepare.sh", f"echo once >>{place}/once\nexport PREPARED='yes, \"it\" is'\n")
    run = cluster.submit(*OPTIONS, "--nodes", "2", "--ntasks-per-node", "2", "--module", "train/1.0", "--venv", place + "/venv",
                         "--setup", "./prepare.sh", "--setup", "export PREPARED=\"$PREPARED!\"",
                         "--teardown", f"echo \"$PREPARED\" >>{place}/down", "--", "only-there", "-c", SAY)
    check(run.finish()["done"], "with module, venv and set-up the run is done")
    said = f"said <train/1.0> {place}/venv yes, \"it\" is!\n"
    check(len(logs(run)) == 4 and all(said in log for log in logs(run)), f"every rank sees the set-up: {logs(run)}")
    check(len(lines(place + "/once")) == 2, "it ran once on each node")
    check(lines(place + "/down") == ['yes, "it" is!'] * 2, "the tear-down ran once on each node, with its environment")


def fails(cluster, place):
    run = cluster.submit(*OPTIONS, "--nodes", "2", "--ntasks-per-node", "2", "--setup", f"mkdir {place}/first || cat /no/such/file",
                         "--teardown", f"echo down >>{place}/down-2", "--", "echo", "a rank ran")
    status = run.finish()
    end = ended(run)
    check(len(end) == 1 and end[0]["cause"] == "set_up_failed", f"one attempt, ended by the set-up: {end}")
    check(end[0]["node"] in ("n0", "n1"), "the ledger names the node")
    words = ["set-up on " + end[0]["node"], f"--setup mkdir {place}/first", "`cat /no/such/file`", "exited 1",
             "No such file or directory"]
    for command in ("status", "why"):
        said = " ".join(cluster.dtsubmit(command, run.path, code=None).stdout.split())
        for word in words:
            check(word in said, f"`{command}` has {word}: {said}")
    check(not status["done"] and not any("a rank ran" in log for log in logs(run)), "no rank ran")
    check(len(lines(place + "/down-2")) == 2, "the tear-down ran all the same")


def repeated(cluster, place):
    write(place + "/twice.sh", TWICE)
    run = cluster.submit(*OPTIONS, "--nodes", "2", "--setup", f"echo again >>{place}/again; export PREPARED=now", "--", "./twice.sh")
    wait_for(120, "the ranks", lambda: any(event["event"] == "ranks_started" for event in run.ledger()))
    cluster.run("scontrol", "requeue", str(run.job))
    check(run.finish()["done"], "after a requeue the run is done")
    check(all("attempt 2 prepared now" in log for log in logs(run, 2)), "the second attempt is set up, too")
    check(len(lines(place + "/again")) == 4, "once on each node in each attempt")


def stopped(cluster, place):
    run = cluster.submit(*OPTIONS, "--setup", f"touch {place}/begun; sleep 1000", "--", "echo", "a rank ran")
    wait_for(120, "the set-up", lambda: os.path.exists(place + "/begun"))
    cluster.dtsubmit("stop", run.path)
    run.finish(120)
    check(ended(run)[-1]["cause"] == "stopped", f"a stop during the set-up is one: {ended(run)}")
    wait_for(60, "the end of its processes", lambda: not run.processes())


def limits(cluster):
    run = cluster.submit(*OPTIONS, "--ulimit", "nofile=321:654", "--ulimit", "core=0", "--umask", "027", "--", "sh", "-c",
                         "echo limits $(ulimit -Sn) $(ulimit -Hn) $(ulimit -c) $(umask)")
    check(run.finish()["done"] and "limits 321 654 0 0027" in logs(run)[0], f"limits and umask of the program: {logs(run)}")


def main():
    with Cluster("linuxproc", nodes=2, gpus=0, grace=20) as cluster:
        os.mkdir(cluster.place + "/site")
        write(cluster.place + "/site/module.sh", SITE_MODULE)
        cluster.environment["DTSUBMIT_SETUP_FOLDER"] = cluster.place + "/site"
        kept(cluster, cluster.place)
        fails(cluster, cluster.place)
        repeated(cluster, cluster.place)
        stopped(cluster, cluster.place)
        limits(cluster)


if __name__ == "__main__":
    main()
