#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Goodput of one job that is preempted a minute after each of its starts: dtsubmit, and the recipes of submitit and Lightning, side by side on one
private real Slurm. Goodput: seconds that the steps take, by the seconds from the first step to the last.

The job sleeps its steps and saves, so that all run at once, each on a node of its own, and none takes the others' time. A
preemption is a job of higher priority on its node; it has GRACE seconds, and the signal that submitit and Lightning ask for
(SlurmctldParameters=preempt_send_user_signal).

  goodput.py DTSUBMIT [ROUNDS=3] [WORK=150]     WORK: seconds of steps
  DTS_BENCH_PYTHON: a Python that has submitit and pytorch_lightning; without it, or without one of them, that one is skipped."""
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from private_cluster import PrivateCluster  # noqa: E402

SUPPORT = os.path.join(HERE, "../support")
STEP, EVERY, SAVE = 0.5, 20, 1.0
EACH, GRACE, LIMIT = 60, 20, 900
PYTHON = os.environ.get("DTS_BENCH_PYTHON", sys.executable)


class Cluster(PrivateCluster):
    def __init__(self, dtsubmit, nodes):
        super().__init__(dtsubmit, "--nodes", str(nodes), "--gpus-per-node", "0", "--cpus-per-node", "1", "--grace", str(GRACE),
                         "--conf", "SlurmctldParameters=preempt_send_user_signal")
        self.dtsubmit = dtsubmit
        self.environment.update(PYTHONPATH=SUPPORT, PYTHONDONTWRITEBYTECODE="1")

    def run(self, *words, check=True):
        return subprocess.run(words, env=self.environment, cwd=self.place, check=check, capture_output=True, text=True).stdout


class Job:
    """One job: where it tells of its steps, and when it began."""

    def __init__(self, name, job, metrics):
        self.name, self.job, self.metrics = name, str(job), metrics
        self.began = self.ended = self.started = None
        self.starts = self.preempted = 0

    def events(self):
        try:
            with open(self.metrics) as file:
                return [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []

    def look(self, cluster, steps):
        """Notes its begin and end, and preempts it a minute after it has started, whatever its imports took."""
        events = self.events()
        now = time.monotonic()
        starts = sum(event["event"] == "start" for event in events)
        if starts > self.starts:
            self.starts, self.started = starts, now
            self.began = self.began or now
        if self.began is None or self.ended is not None:
            return
        if any(event["event"] == "step" and event["step"] >= steps for event in events):
            self.ended = now
        elif self.started is not None and now - self.started >= EACH:
            node = cluster.run("squeue", "-h", "-t", "running", "-o", "%N", "-j", self.job, check=False).strip()  # a job that is over is no job
            if node:
                cluster.run("sbatch", "-p", "high", "-w", node, "-n", "1", "-o", "/dev/null", "--wrap", "sleep 1")
                self.started = None
                self.preempted += 1


def dtsubmit(cluster, folder, sizes):
    words = [cluster.dtsubmit, "submit", "--json", "--runs", folder, "--partition", "low", "--nodes", "1", "--ntasks-per-node", "1", "--time", "60", "--",
             sys.executable, SUPPORT + "/steady_job.py", *sizes]
    answer = json.loads(cluster.run(*words))
    return Job("dtsubmit", answer["job"], answer["run_directory"] + "/metrics.jsonl")


def submitit(cluster, folder, sizes):
    answer = cluster.run(PYTHON, HERE + "/goodput_submitit.py", folder, *sizes)
    return Job("submitit", answer.split()[-1], folder + "/metrics.jsonl")


def lightning(cluster, folder, sizes):
    script = folder + "/job.sh"
    with open(script, "w") as file:
        file.write("#!/bin/bash\n#SBATCH --partition=low --nodes=1 --ntasks-per-node=1 --time=60\n#SBATCH --signal=SIGUSR1@90 --requeue --open-mode=append\n"
                   f"#SBATCH --output={folder}/log\nsrun {PYTHON} {HERE}/goodput_lightning.py {folder} {' '.join(sizes)}\n")
    return Job("Lightning", cluster.run("sbatch", "--parsable", script).strip(), folder + "/metrics.jsonl")


def has(module):
    return subprocess.run([PYTHON, "-c", "import " + module], capture_output=True).returncode == 0


def main():
    ours, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    work = float(sys.argv[3]) if len(sys.argv) > 3 else 150
    steps = round(work / STEP)
    sizes = [str(steps), str(STEP), str(EVERY), str(SAVE)]
    ways = [dtsubmit]
    for way, module in ((submitit, "submitit"), (lightning, "pytorch_lightning")):
        if has(module):
            ways.append(way)
        else:
            print(f"skipped: {PYTHON} has no {module} (DTS_BENCH_PYTHON names one that has)")
    with Cluster(ours, rounds * len(ways)) as cluster:
        jobs = []
        for number in range(rounds):
            for way in ways:
                folder = f"{cluster.place}/{way.__name__}-{number}"
                os.makedirs(folder)
                jobs.append(way(cluster, folder, sizes))
        until = time.monotonic() + LIMIT
        while any(job.ended is None for job in jobs) and time.monotonic() < until:
            for job in jobs:
                job.look(cluster, steps)
            time.sleep(0.5)
        print(f"{platform.node()}, {platform.machine()}, {os.cpu_count()} CPUs; {work:.0f} s of steps of {STEP} s, a save of {SAVE:.0f} s every {EVERY} steps, "
              f"a preemption {EACH} s after each start with {GRACE} s of grace; medians of {rounds}", flush=True)
        print(f"{'':10} {'goodput':>8} {'wall':>8} {'preempted':>9} {'steps twice':>11} {'finished':>8}")
        for way in ways:
            name = "Lightning" if way is lightning else way.__name__
            mine = [job for job in jobs if job.name == name]
            walls = [(job.ended or time.monotonic()) - (job.began or time.monotonic()) for job in mine]
            told = [[event["step"] for event in job.events() if event["event"] == "step"] for job in mine]
            goodputs = [len(set(one)) * STEP / wall if wall else 0 for one, wall in zip(told, walls)]
            print(f"{name:10} {statistics.median(goodputs):8.3f} {statistics.median(walls):6.0f} s {statistics.median(job.preempted for job in mine):9.0f} "
                  f"{statistics.median(len(one) - len(set(one)) for one in told):11.0f} {sum(job.ended is not None for job in mine):5} of {len(mine)}")
        if os.environ.get("DTS_BENCH_KEEP"):
            shutil.copytree(cluster.place, os.environ["DTS_BENCH_KEEP"], ignore=shutil.ignore_patterns("cluster"))


if __name__ == "__main__":
    main()
