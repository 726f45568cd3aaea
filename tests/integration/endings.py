#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends that nobody planned, on a private real Slurm, as those see them who follow the run: endings.py SCENARIO [LAUNCHER]."""
import os
import shutil
import subprocess
import sys
import time

from checks import check, wait_for
from main_job_support import DTSUBMIT, Cluster, Run
from nodes import events

DOZE = ["--", "sh", "-c", "sleep 600"]
QUICK = ["--conf", "KillWait=2"]


class Follower:
    """A command that follows a run; what it says and how it ends."""

    def __init__(self, cluster, *words):
        self.process = subprocess.Popen([DTSUBMIT, *words], env=cluster.environment, cwd=cluster.place, text=True,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def end(self):
        said = self.process.communicate(timeout=120)[0]
        print(f"--- {' '.join(self.process.args[1:3])}, {self.process.returncode}\n{said}---", flush=True)
        return self.process.returncode, said


def waited_for(cluster, *words):
    """A job that is waited for from its submission on, and the waiting command."""
    waiting = Follower(cluster, "submit", "--runs", cluster.runs, "--wait", *words)
    path = wait_for(60, "the run directory", lambda: [one for one in listed(cluster.runs) if os.path.exists(one + "/ledger.jsonl")])[0]
    run = Run(cluster, path, 0)
    run.job = wait_for(60, "its job", lambda: [e["job"] for e in events(run, "submitted")])[0]
    return waiting, run


def listed(folder):
    return [f"{folder}/{name}" for name in (os.listdir(folder) if os.path.isdir(folder) else []) if not name.startswith(".")]


def asked(cluster, verb, what, code):
    """From a folder where nothing of the run is."""
    result = cluster.run(DTSUBMIT, verb, str(what), code=None)
    said = result.stdout + result.stderr
    print(f"--- {verb} {what}: {result.returncode}\n{said}---", flush=True)
    check(result.returncode == code, f"{verb} exits {code}")
    return said


def vanished(launcher):
    """The run directory is removed, or moved, while ranks run on two nodes."""
    with Cluster("linuxproc", 2, 0, 5, *QUICK) as cluster:
        for how in ("removed", "moved"):
            waiting, run = waited_for(cluster, "--nodes", "2", "--launcher", launcher, *DOZE)
            wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
            logs = Follower(cluster, "logs", "-f", run.path)
            time.sleep(1)
            os.rename(run.path, cluster.place + "/" + how)
            if how == "removed":
                shutil.rmtree(cluster.place + "/" + how)
            began = time.time()
            code, said = waiting.end()
            print(f"{launcher}, {how}: --wait ended after {time.time() - began:.1f} s", flush=True)
            check(code == 74, "--wait ends with the code of an I/O error")
            check(f"{run.path} has vanished: it was removed, moved or unmounted" in said, "and says why in plain words")
            check("No such file" not in said and "error: " not in said, "and not how a read failed")
            code, said = logs.end()
            check(code == 74 and f"{run.path} has vanished: it was removed, moved or unmounted" in said, "logs -f too")
            check(cluster.job_state(run.job) == "FAILED", "the job is over")
            shown = cluster.run("scontrol", "show", "job", str(run.job)).stdout
            check("ExitCode=74:0" in shown, "with that code")
            check(not run.processes(), "no process of the run is left")
            check(not os.path.exists(run.path), "the folder stays away")
            for verb in ("status", "why"):
                said = asked(cluster, verb, run.job, 6)
                check(f"{run.path} has vanished" in said and "74" in said, f"{verb} by job id says what is known")
            if how == "moved":
                said = asked(cluster, "why", cluster.place + "/" + how, 0)
                check("run_vanished" in said, "where it was moved to the cause is in the last lines of its batch script")
                check("vanished or could not be written" in said, "where it was moved to by Slurm's record")


if __name__ == "__main__":
    {f.__name__: f for f in (vanished,)}[sys.argv[1]](*sys.argv[2:])
