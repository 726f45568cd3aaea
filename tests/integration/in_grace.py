# SPDX-License-Identifier: Apache-2.0
"""How a run ends or comes back if its job is being preempted, reaches its time limit or is requeued: in_grace.py [TIMES [LAUNCHER]].

Since 24.05, Slurm starts a batch script again that ends during this time, and 24.11 once more after a requeue of its own. No program of
a run that has ended may run again. Each ending has a node of its own, and all are preempted side by side."""
import os
import re
import sys
import textwrap
import time
from typing import NamedTuple

from checks import check, wait_for
from main_job_support import DTSUBMIT, Cluster, Run

GRACE = 20
AGAIN = 12  # seconds within which Slurm would start a requeued job: AuthInfo=cred_expire=5, and one round of its scheduler

# At first, it does on SIGTERM what ENDING says; when it runs again, it is done at once.
PROGRAM = textwrap.dedent("""
    import os, signal, subprocess, sys, time
    ending, lives = sys.argv[1], os.path.join(os.environ["DTSUBMIT_RUN_DIR"], "lives")
    with open(lives, "a") as file: file.write("x")
    if os.path.getsize(lives) > 1: sys.exit(0)
    def end(number, frame):
        if ending == "stay": return
        if ending == "0": subprocess.run([os.environ["DTSUBMIT"], "beat", "--done"], check=True)
        sys.exit(int(ending))
    signal.signal(signal.SIGTERM, end)
    open(os.path.join(os.environ["DTSUBMIT_RUN_DIR"], "ready"), "w").close()
    while True: time.sleep(0.1)
    """)

class Ending(NamedTuple):
    """What the program does on SIGTERM, what happens to the job, how often the program runs, and how the run ends."""
    program: str
    order: str = "preempt"
    lives: int = 2
    decision: str | None = "done"
    options: tuple = ()


ENDINGS = {
    "done": Ending("0", lives=1),
    "saved": Ending("85"),
    "failed": Ending("1"),
    "stays": Ending("stay"),
    "no_more": Ending("93", lives=1, decision="stop"),
    "stopped": Ending("85", "stop", lives=1, decision="stop"),
    "cancelled": Ending("85", "cancel", lives=1, decision=None),
    "by_hand": Ending("85", "requeue"),
    "at_limit": Ending("85", "wait", options=("--time", "2", "--signal-margin", "5")),
    "limit_of_93": Ending("93", "wait", lives=1, decision="stop", options=("--time", "2", "--signal-margin", "5")),
    "element": Ending("85", options=("--array", "3")),
}


def lives(run):
    try:
        return os.path.getsize(run.path + "/lives")
    except FileNotFoundError:
        return 0


def begin(cluster, launcher, ending, node):
    # The bare program's save need not be a checkpoint: only the number of its runs matters.
    run = cluster.submit("--nodes", "1", "--nodelist", node, "--launcher", launcher, "-J", ending, *ENDINGS[ending].options, "--", sys.executable, "-c", PROGRAM, ENDINGS[ending].program)
    element = ENDINGS[ending].options[1] if "--array" in ENDINGS[ending].options else None
    return Run(cluster, f"{run.path}/{element}", f"{run.job}_{element}") if element else run


def disturb(cluster, ending, run, node):
    order = ENDINGS[ending].order
    if order == "wait":  # for the job's time limit
        return
    if order == "requeue":  # `scontrol requeue` by a user, without a preemption
        cluster.run("scontrol", "requeue", str(run.job))
        return
    # A command is given during the job's grace time.
    if order == "stop":
        cluster.dtsubmit("stop", run.path)
    elif order == "cancel":
        cluster.run("scancel", str(run.job))
    cluster.run("sbatch", "-p", "high", "-w", node, "-o", "/dev/null", "--wrap", "sleep 1")


def shown(cluster, run):
    text = cluster.run("scontrol", "show", "job", str(run.job)).stdout
    return {key: value for key, value in re.findall(r"(\S+?)=(\S*)", text)}


def is_over(cluster, run):
    return shown(cluster, run)["JobState"] in ("COMPLETED", "FAILED", "CANCELLED", "PREEMPTED", "TIMEOUT")


def judge(cluster, ending, run):
    times, decision = ENDINGS[ending].lives, ENDINGS[ending].decision
    last = [e for e in run.ledger() if e["event"] == "decided"][-1:]
    check(lives(run) == times, f"{ending}: the program ran {lives(run)} of {times} times")
    if decision:
        check(last and last[0]["decision"] == decision, f"{ending}: the run ended as {decision}: {last[0].get('detail') if last else 'no decision'}")
    if ending == "stays":
        said = [e["detail"] for e in run.ledger() if e["event"] == "attempt_ended"][0]
        stacks = f"{run.path}/attempt-1/stacks-rank-0.txt"
        check(f"; its stacks are in {stacks}" in said, f"what it did instead of ending is said: {said}")
        with open(stacks) as file:
            check("state S" in file.read(), "and its stacks are there")
    job = shown(cluster, run)
    check(int(job["Restarts"]) <= times - 1, f"{ending}: Slurm started job {run.job} {job['Restarts']} times more, and ended it as {job['JobState']}")


def once(cluster, launcher, nodes):
    runs = {ending: (begin(cluster, launcher, ending, node), node) for ending, node in zip(ENDINGS, nodes)}
    for ending, (run, _) in runs.items():
        wait_for(120, f"{ending}: the program", lambda run=run: os.path.exists(run.path + "/ready"))
    for ending, (run, node) in runs.items():
        disturb(cluster, ending, run, node)
    for ending, (run, _) in runs.items():
        wait_for(240, f"{ending}: {ENDINGS[ending].lives} lives and the job's end", lambda run=run, ending=ending: lives(run) >= ENDINGS[ending].lives and is_over(cluster, run))
    time.sleep(AGAIN)
    for ending, (run, _) in runs.items():
        wait_for(60, f"{ending}: the job's end", lambda run=run: is_over(cluster, run))
        judge(cluster, ending, run)


if __name__ == "__main__":
    os.environ["DTSUBMIT"] = DTSUBMIT
    with Cluster("linuxproc", nodes=len(ENDINGS), gpus=0, grace=GRACE) as ground:
        names = ground.run("sinfo", "-h", "-N", "-p", "low", "-o", "%N").stdout.split()
        times, starter = sys.argv[1:] + ["1", "srun"][len(sys.argv) - 1:]
        for turn in range(int(times)):
            once(ground, starter, names)
