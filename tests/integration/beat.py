# SPDX-License-Identifier: Apache-2.0
"""What is learnt from heartbeats: slow ranks, how often to save, and when to save before the time limit: beat.py SCENARIO."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, wait_for
from main_job_support import Cluster, DTSUBMIT, DTTRAIN, FEW, Run

STEPS = [*FEW, "--steps", "64"]  # more steps than fit before the stop, however fast the machine is


class Local:
    """A run of `dtsubmit run` on this machine, which ends with the block."""

    def __init__(self, *words):
        self.place = tempfile.mkdtemp(prefix="dts-beat-")
        self.process = subprocess.Popen([DTSUBMIT, "run", "--runs", self.place, *words], stdout=subprocess.DEVNULL)

    def __enter__(self):
        wait_for(60, "a run directory", lambda: os.path.isdir(self.place) and os.listdir(self.place))
        self.run = Run(None, f"{self.place}/{os.listdir(self.place)[0]}", 0)
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        shutil.rmtree(self.place)

    def status(self):
        return json.loads(subprocess.run([DTSUBMIT, "status", self.run.path, "--json"], check=True, capture_output=True, text=True).stdout)

    def told(self, verb):
        return subprocess.run([DTSUBMIT, verb, self.run.path], check=True, capture_output=True, text=True).stdout


def events(run, name):
    return [e for e in run.ledger() if e["event"] == name]


def slow_rank():
    """One rank of three works 600 ms longer in each step: it is named, although all step together."""
    return Local("--ntasks-per-node", "3", "--", DTTRAIN, "--limit-train", "128000", "--step-delay", "100", "--slow-rank", "2:600")


def check_slow_rank(local):
    found = wait_for(300, "a straggler", lambda: events(local.run, "straggler"))[0]
    check((found["rank"], found["phase"]) == (2, "compute"), found["detail"])
    check(found["node"] == events(local.run, "attempt_started")[0]["nodes"][0], f"on {found['node']}")
    check(found["seconds"]["own"] > 0.7, f"its own work takes {found['seconds']['own']} s")
    slow = local.status()["attempts"][0]["stragglers"]
    check([s["rank"] for s in slow] == [2], "status has it, and nobody else")
    check("rank 2 on" in local.told("status") and "rank 2 on" in local.told("why"), "status and why say it")


def limit(cluster, *words, save=6000, minutes=1):
    """A run whose saves take longer than the time that the site leaves a job after its end (KillWait 5 s), without a warning from Slurm."""
    return cluster.submit("--nodes", "2", "--ntasks-per-node", "2", "--time", str(minutes), "--signal-margin", "0", *words, "--",
                          DTTRAIN, *STEPS, "--step-delay", "800", "--save-every", "20", "--save-delay", str(save))


def check_limit(run, expected):
    wait_for(300, "the end of the attempt", lambda: events(run, "attempt_ended"))
    ended = events(run, "attempt_ended")[0]
    check(ended["cause"] == "time_limit" and "; every rank saved" in ended["detail"], f"attempt 1: {ended['cause']}: {ended['detail']}")
    check(ended["seconds"]["save"] >= 6, f"a save took {ended['seconds']['save']} s")
    status = run.finish()
    check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
    check(status["steps_lost"] == 0, "0 steps lost")
    check(not any(a["stragglers"] for a in status["attempts"]), "ranks that are all alike: none is called slow")
    return status


def environment(run, attempt):
    """The environment of one of the attempt's programs; None: there is none yet."""
    for pid, argv in run.processes():
        if os.path.basename(argv[0]) == "dttrain":
            found = dict(e.split("=", 1) for e in open(f"/proc/{pid}/environ").read().split("\0") if "=" in e)
            if found["DTSUBMIT_ATTEMPT"] == str(attempt):
                return found
    return None


def story():
    """A slow rank. Meanwhile, on a cluster, saves that must begin early, and the advice with which the second attempt begins."""
    with slow_rank() as local, Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        run = limit(cluster)
        expected = cluster.train_alone(*STEPS)
        check_slow_rank(local)
        wait_for(300, "attempt 2", lambda: len(events(run, "attempt_started")) == 2)
        told = wait_for(60, "its programs", lambda: environment(run, 2))
        # Attempt 1 may be asked to save for the time limit at the moment in which it learns how long a save takes.
        advised = wait_for(60, "the second attempt's advice", lambda: [e for e in events(run, "advised") if e["attempt"] == 2])[0]
        print("advice:", advised["detail"])
        check(int(told["DTSUBMIT_CHECKPOINT_EVERY"]) == round(advised["seconds"]["every"]), "attempt 2 began with it")
        check("advice" in cluster.dtsubmit("status", run.path).stdout, "status says it")
        check_limit(run, expected)


def elsewhere():
    """A slow rank on the second node, under srun: node and rank are named, and a requeued attempt names them again."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        run = cluster.submit("--nodes", "2", "--ntasks-per-node", "2", "--launcher", "srun", "--", DTTRAIN, "--limit-train", "128000",
                             "--step-delay", "100", "--slow-rank", "3:600")
        for attempt in (1, 2):
            found = wait_for(300, "a straggler", lambda a=attempt: [e for e in events(run, "straggler") if e["attempt"] == a])
            check([e["rank"] for e in found] == [3], found[0]["detail"])
            placed = json.load(open(f"{run.path}/attempt-{attempt}/placement.json"))["ranks"]
            check(found[0]["node"] == next(p["node"] for p in placed if p["rank"] == 3), f"on {found[0]['node']}")
            if attempt == 1:
                cluster.run("scontrol", "requeue", str(run.job))
        cluster.dtsubmit("cancel", run.path)


def moved():
    """The time limit changes in both directions while the job runs: the stop follows it."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        long = ["--limit-train", "384000", "--step-delay", "400", "--save-every", "10", "--save-delay", "2000"]
        run = cluster.submit("--nodes", "2", "--time", "1", "--signal-margin", "0", "--", DTTRAIN, *long)
        wait_for(120, "the ranks", lambda: events(run, "ranks_started"))
        began = time.time()
        cluster.run("scontrol", "update", f"JobId={run.job}", "TimeLimit=60")
        time.sleep(70)
        check(not events(run, "stop_requested"), "moved to an hour: no stop in the first minute")
        cluster.run("scontrol", "update", f"JobId={run.job}", "TimeLimit=2")
        wait_for(60, "the stop", lambda: events(run, "stop_requested"))
        check(time.time() - began < 120, f"moved to two minutes: stopped {time.time() - began:.0f} s after the start")
        wait_for(60, "the end of the attempt", lambda: events(run, "attempt_ended"))
        ended = events(run, "attempt_ended")[0]
        check(ended["cause"] == "time_limit" and "; every rank saved" in ended["detail"], f"{ended['cause']}: {ended['detail']}")
        cluster.dtsubmit("cancel", run.path)


def live():
    """A program that reads the page: no advice, a save, and the advice within seconds. A shell script reads it, too."""
    script = ("import os, subprocess, sys, time\n"
              "fd = os.open(os.environ['DTSUBMIT_BEAT'], os.O_RDWR)\n"
              "every = lambda: int.from_bytes(os.pread(fd, 8, 16), sys.byteorder) / 1000\n"
              "assert every() == 0 and 'DTSUBMIT_CHECKPOINT_EVERY' not in os.environ\n"
              "os.pwrite(fd, (2000).to_bytes(8, sys.byteorder), 8)\n"
              "while every() == 0: time.sleep(0.1)\n"
              "shown = subprocess.run([sys.argv[1], 'beat', '--every'], capture_output=True, text=True).stdout\n"
              "print('advised', every(), shown.strip(), flush=True)\n")
    place = tempfile.mkdtemp(prefix="dts-beat-")
    try:
        said = subprocess.run([DTSUBMIT, "run", "--runs", place, "--", "python3", "-c", script, DTSUBMIT], check=True, capture_output=True,
                              text=True, timeout=300).stdout
        every, shown = said.split("advised ")[1].split()
        check(500 < float(every) < 700, f"a save of 2 s: {every} s")  # sqrt(2 x 2 s x a day)
        check(int(shown) == round(float(every)), f"dtsubmit beat --every prints {shown}")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    {f.__name__: f for f in (story, elsewhere, moved, live)}[sys.argv[1]]()
