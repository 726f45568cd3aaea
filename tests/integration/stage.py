#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files staged to each node's own disk, on a private Slurm with three nodes: present and complete before any program starts, kept for a
restart in place, staged again after a preemption and on a node that replaces another, and removed whenever the job leaves its nodes."""
import glob
import os
import signal
import subprocess
import sys
import time

from checks import check, wait_for
from main_job_support import Cluster
from nodes import lose, slurmd

OPTIONS = sys.argv[1:]  # for every submission

# Reads the staged files as its rank's node has them.
LOOK = """#!/bin/sh
set -e
echo "$DTSUBMIT_STAGE_DIR on $SLURMD_NODENAME"
cmp "$DTSUBMIT_STAGE_DIR/tree/deep/large" {source}/tree/deep/large
[ "$(cat "$DTSUBMIT_STAGE_DIR/unpacked/b")" = packed ]
[ "$PREPARED" = packed ]
echo "attempt $DTSUBMIT_ATTEMPT has it"
{more}
"""

SAVE = """[ "$DTSUBMIT_ATTEMPT" = 2 ] && exit 0
trap 'exit 85' TERM
while :; do sleep 0.1; done
"""

CRASH = """[ "$DTSUBMIT_ATTEMPT" = 2 ] || { [ "$RANK" = 0 ] && kill -9 $$; sleep 1000; }
"""

WAIT = """[ "$DTSUBMIT_ATTEMPT" -ge 2 ] && exit 0
while :; do sleep 0.1; done
"""


def write(path, text, mode=0o644):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)


class Stage:
    def __init__(self, cluster):
        self.cluster = cluster
        self.source = cluster.place + "/source"
        self.base = cluster.place + "/local"
        os.makedirs(self.source + "/tree/deep")
        os.makedirs(self.base)
        cluster.environment["DTSUBMIT_STAGE_BASE"] = self.base
        with open(self.source + "/tree/deep/large", "wb") as file:
            file.write(os.urandom(20 << 20))
        write(self.source + "/b", "packed")
        subprocess.run(["tar", "-czf", self.source + "/data.tar.gz", "-C", self.source, "b"], check=True)
        self.options = [*OPTIONS, "--stage", "source/tree", "--stage", self.source + "/data.tar.gz:unpacked/",
                        "--setup", 'export PREPARED=$(cat "$DTSUBMIT_STAGE_DIR/unpacked/b")']

    def program(self, name, more):
        path = f"{self.cluster.place}/{name}.sh"
        write(path, LOOK.replace("{source}", self.source).replace("{more}", more), 0o755)
        return path

    def left(self):
        return [path for path in glob.glob(self.base + "/**", recursive=True) if path != self.base + "/"]

    def check_gone(self, what):
        check(not self.left(), f"{what}: nothing is left: {self.left()[:5]}")

    def nodes(self):
        return sorted(os.path.basename(path) for path in glob.glob(self.base + "/*/*"))


def rank_logs(run, attempt):
    return [open(path, errors="replace").read() for path in sorted(glob.glob(f"{run.path}/attempt-{attempt}/rank-*.log"))]


def set_up_logs(run, attempt):
    return [open(path, errors="replace").read() for path in sorted(glob.glob(f"{run.path}/attempt-{attempt}/set-up-*.log"))]


def check_all_have_it(run, attempt, ranks):
    logs = rank_logs(run, attempt)
    check(len(logs) == ranks and all(f"attempt {attempt} has it" in log for log in logs), f"every rank has it: {logs}")


def started(run, attempt):
    return [event for event in run.ledger() if event["event"] == "ranks_started" and event["attempt"] == attempt]


def ended(run):
    return [event for event in run.ledger() if event["event"] == "attempt_ended"]


def plain(stage):
    run = stage.cluster.submit(*stage.options, "--nodes", "2", "--ntasks-per-node", "2", "--", stage.program("plain", ""))
    check(run.finish()["done"], "a staged run is done")
    check_all_have_it(run, 1, 4)
    places = {log.split("\n")[0] for log in rank_logs(run, 1)}
    check(len(places) == 2, f"each node has its own: {places}")
    check(all("staged 20.0 MiB" in log and "2 files" not in log for log in set_up_logs(run, 1)), f"{set_up_logs(run, 1)}")
    stage.check_gone("done")


def preempted(stage):
    run = stage.cluster.submit(*stage.options, "--nodes", "3", "--", stage.program("save", SAVE))
    wait_for(120, "the ranks", lambda: started(run, 1))
    check(stage.nodes() == ["n0", "n1", "n2"], f"while it runs it is on the nodes: {stage.nodes()}")
    taken = stage.cluster.take_nodes(3, 0).stdout.split()[-1]
    wait_for(60, "the end of the attempt", lambda: ended(run))
    wait_for(30, "the removal", lambda: not stage.left())
    check(run.finish()["done"], "preempted and back, it is done")
    check(ended(run)[0]["cause"] == "preempted", f"it was preempted by {taken}: {ended(run)[0]}")
    check_all_have_it(run, 2, 3)
    check(all("staged 20.0 MiB" in log for log in set_up_logs(run, 2)), "it was staged again")
    stage.check_gone("after a preemption")


def crashed(stage):
    run = stage.cluster.submit(*stage.options, "--nodes", "2", "--on", "rank_killed=restart", "--", stage.program("crash", CRASH))
    check(run.finish()["done"], "after a crash the run is done")
    check_all_have_it(run, 2, 2)
    check(all("staged 0 B" in log and "20.0 MiB were there already" in log for log in set_up_logs(run, 2)),
          f"a restart in place copies nothing: {set_up_logs(run, 2)}")
    stage.check_gone("after a crash")


def failed(stage):
    run = stage.cluster.submit(*stage.options, "--nodes", "2", "--", stage.program("fail", "exit 3\n"))
    check(not run.finish()["done"], "a program that fails ends the run")
    stage.check_gone("after a failure")


def stopped(stage):
    run = stage.cluster.submit(*stage.options, "--nodes", "2", "--", stage.program("stop", SAVE))
    wait_for(120, "the ranks", lambda: started(run, 1))
    stage.cluster.dtsubmit("stop", run.path)
    run.finish()
    stage.check_gone("stopped")


def unreadable(stage):
    """If one node lacks a source, the run ends, and the node is named."""
    hidden = stage.cluster.place + "/hidden"
    os.mkdir(hidden)
    write(hidden + "/only", "here")
    process = f"/proc/{slurmd(stage.cluster, 'n1')}"
    enter = ["nsenter", f"--mount={process}/ns/mnt", f"--root={process}/root"]
    if os.geteuid() != 0 or os.stat(process + "/ns/mnt").st_ino == os.stat("/proc/self/ns/mnt").st_ino:
        print("skipped: a source that one node does not have: needs root and nodes with mounts of their own")
        return
    subprocess.run([*enter, "mount", "-t", "tmpfs", "tmpfs", hidden], check=True)
    check(os.path.exists(hidden + "/only"), "only n1 lacks it")
    run = stage.cluster.submit(*OPTIONS, "--nodes", "3", "--stage", hidden + "/only", "--", "echo", "a rank ran")
    status = run.finish()
    check(not status["done"] and ended(run)[0]["cause"] == "set_up_failed", f"{ended(run)}")
    check(ended(run)[0]["node"] == "n1", f"the node is named: {ended(run)[0]}")
    detail = ended(run)[0]["detail"]
    check(detail.startswith(f"set-up on n1: --stage {hidden}/only: cannot find {hidden}/only on this node"), detail)
    check("all nodes mount" in detail and "dts_" not in detail and "DTSUBMIT_" not in detail, "with what to do, and no line of shell")
    check(not any("a rank ran" in log for log in rank_logs(run, 1)), "no program ran")
    stage.check_gone("after a source that is not there")


def told(stage):
    """`dtsubmit status` shows the progress of the nodes. The copy on one of them is stopped half-way."""
    with open(stage.source + "/huge", "wb") as file:
        for _ in range(300):
            file.write(os.urandom(1 << 20))
    run = stage.cluster.submit(*OPTIONS, "--nodes", "2", "--stage", "source/huge", "--", "true")
    end, held = time.monotonic() + 60, None
    while held is None and time.monotonic() < end:
        held = hold_copy(run)
    check(held, "a copy that has begun is held up")
    try:
        words = wait_for(60, "the status", lambda: run.status()["attempts"][-1]["staging"])
        check("of the others" in words and " of 300.0 MiB)" in words, words)
        check(words in stage.cluster.dtsubmit("status", run.path).stdout, "it is in the table as well")
    finally:
        os.kill(held, signal.SIGCONT)
    check(run.finish()["done"], "it goes on")
    check(not run.status()["attempts"][-1]["staging"], "and is told no more")
    lines = sum(event["event"] == "staging" for event in run.ledger())
    check(lines <= 3, f"the ledger has few lines of it: {lines}")
    stage.check_gone("after a copy that was held up")


def hold_copy(run):
    """Stops one of the run's copies once it has reported how much there is to do; returns its process."""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            words = open(path).read().split("\0")
        except OSError:
            continue
        if words[1:4] == ["stage", "--run", run.path] and os.path.exists(words[5] + "/progress"):
            os.kill(int(path.split("/")[2]), signal.SIGSTOP)
            return int(path.split("/")[2])
    return None


def replaced(stage):
    run = stage.cluster.submit(*stage.options, "--nodes", "2", "--spares", "1", "--", stage.program("wait", WAIT))
    wait_for(120, "the ranks", lambda: started(run, 1))
    first = next(event["nodes"] for event in run.ledger() if event["event"] == "attempt_started")
    lose(stage.cluster, first[1])
    check(run.finish(400)["done"], "with the spare the run is done")
    last = [event for event in run.ledger() if event["event"] == "attempt_started"][-1]
    check(first[1] not in last["nodes"], f"{first}, then {last['nodes']}")
    check_all_have_it(run, last["attempt"], 2)  # 2, or 3 if the loss of the node was noticed late
    wait_for(30, "the removal", lambda: stage.nodes() in ([], [first[1]]))
    check(stage.nodes() == [first[1]], f"only the lost node still has it: {stage.nodes()}")


def main():
    with Cluster("linuxproc", nodes=3, gpus=0, grace=20) as cluster:
        stage = Stage(cluster)
        for scenario in (plain, told, preempted, crashed, failed, stopped, unreadable):
            began = time.monotonic()
            scenario(stage)
            print(f"{scenario.__name__}: {time.monotonic() - began:.1f} s", flush=True)
        replaced(stage)  # last, since it takes a node away


if __name__ == "__main__":
    main()
