#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A preemption at every moment: preempt_moments.py [--flavour F] [--launcher L] [--phase P] [--nodes N] [--from MS] [--to MS]
[--step MS].

Each try is a job that is preempted for real, with a grace time, at one moment after: its start, the beginning of a
checkpoint's load, or of a save. It has to be told at once, to save, to come back by itself and to lose no step. A save takes
longer than what is left once the grace time is over, so that a preemption that nobody heard of costs steps.
`preempt_moments.py rank` is the program."""
import argparse
import json
import os
import signal
import subprocess
import sys
import time

from checks import SKIPPED, wait_for

GRACE, KILL_WAIT, LOAD, SAVE, EVERY, STEP = 15, 5, 2.0, 4.5, 15, 0.1
HEARD = 4  # seconds from the preemption to the request to save, on a loaded machine
PHASES = ("start", "load", "save")
OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "")


class Program:
    """One rank: steps of 0.1 s, a save every 15 of them and at a stop, a load at its start."""

    def __init__(self):
        self.stop = False
        signal.signal(signal.SIGTERM, self.on_stop)
        self.rank, self.attempt = int(os.environ["RANK"]), int(os.environ["DTSUBMIT_ATTEMPT"])
        self.run, self.folder = os.environ["DTSUBMIT_RUN_DIR"], os.environ["DTSUBMIT_CHECKPOINT_DIR"]
        self.state, self.step, self.total = f"{self.folder}/state-{self.rank}", 0, 40

    def on_stop(self, *_):
        self.stop = True

    def tell(self, event):
        if self.rank == 0:
            with open(self.run + "/metrics.jsonl", "a") as file:
                file.write(json.dumps({"event": event, "attempt": self.attempt, "step": self.step, "total": self.total}) + "\n")

    def mark(self, phase):
        """For the test: this phase of this attempt begins."""
        if self.rank == 0:
            open(f"{self.run}/{phase}-{self.attempt}", "w").close()

    def pause(self, seconds):
        end = time.monotonic() + seconds  # a signal cuts no sleep short
        while time.monotonic() < end:
            time.sleep(min(0.1, max(0.0, end - time.monotonic())))

    def load(self):
        if os.path.exists(self.state):
            self.mark("load")
            self.pause(LOAD)
            with open(self.state) as file:
                self.step = int(file.read())

    def save(self):
        self.mark("save")
        self.pause(SAVE)
        with open(self.state + ".new", "w") as file:
            file.write(str(self.step))
        os.rename(self.state + ".new", self.state)

    def main(self):
        self.load()
        self.tell("start")
        while self.step < self.total:
            if self.stop:
                self.save()
                sys.exit(85)
            time.sleep(STEP)
            self.step += 1
            self.tell("step")
            if self.step % EVERY == 0 and self.step < self.total:
                self.save()
        self.tell("done")


class Try:
    """One job, preempted once at `moment` seconds after the beginning of `phase`."""

    def __init__(self, cluster, launcher, phase, moment):
        self.cluster, self.launcher, self.phase, self.moment = cluster, launcher, phase, moment
        self.problems, self.heard, self.lost = [], None, -1

    def demand(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def play(self):
        words = ["--nodes", str(self.cluster.size), "--gpus-per-node", "1", "-p", "low", "-J", self.phase]
        program = [sys.executable, os.path.abspath(__file__), "rank"]
        if self.launcher == "torchrun":
            program = [self.cluster.torchrun, "--no-python", *program]
        else:
            words += ["--launcher", self.launcher]
        self.job = self.cluster.submit(*words, "--", *program)
        try:
            self.preempt()
            wait_for(180, "the end of the run", lambda: self.job.is_over() or self.state() in OVER)
            wait_for(60, "the end of the job", lambda: self.state() in OVER)
            self.judge()
        except AssertionError as error:
            self.problems.append(str(error))
        if self.problems:
            self.cluster.run("scancel", str(self.job.job), code=None)
            time.sleep(KILL_WAIT + 2)
        return self

    def state(self):
        return self.cluster.job_state(self.job.job)

    def began(self):
        """The phase of interest; a load is that of the second attempt, which a preemption in the first one brings about."""
        if self.phase == "start":
            return self.state() == "RUNNING"
        return os.path.exists(f"{self.job.path}/{self.phase}-{2 if self.phase == 'load' else 1}")

    def await_phase(self):
        end = time.monotonic() + 120
        while not self.began():
            if time.monotonic() > end:
                raise AssertionError(f"the {self.phase} does not begin")
            time.sleep(0.01)

    def preempt(self):
        if self.phase == "load":
            wait_for(60, "the first save", lambda: os.path.exists(f"{self.job.path}/save-1"))
            self.cluster.take_nodes(self.cluster.size, 1)
        self.await_phase()
        time.sleep(self.moment)
        self.told_before = len(self.requests())
        self.preempted_at = time.time()
        self.cluster.take_nodes(self.cluster.size, 1)

    def requests(self):
        """When each stop was asked for, or an attempt ended without one."""
        times = {}
        for event in self.job.ledger():
            if event["event"] in ("stop_requested", "attempt_ended"):
                times.setdefault(event["attempt"], event["time"])
        return [times[attempt] for attempt in sorted(times)]

    def judge(self):
        status = self.job.status()
        attempts = status["attempts"]
        self.lost = status["steps_lost"]
        self.demand(status["done"], f"not done, the job is {self.state()}: {[(one['cause'], one['decision'], one['detail']) for one in attempts]}")
        self.demand(self.lost == 0, f"{self.lost} steps lost")
        requests = self.requests()
        if len(requests) > self.told_before:
            told = requests[self.told_before]
            self.heard = time.mktime(time.strptime(told[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone - int(self.preempted_at)
            self.demand(self.heard <= HEARD, f"heard after {self.heard:.0f} s")
        # One that came before the agent began needs no attempt to end.
        self.demand(all(one["cause"] in ("preempted", "completed") for one in attempts), f"causes {[one['cause'] for one in attempts]}")

    def line(self):
        words = "FAILED: " + "; ".join(self.problems).replace("\n", " | ")[:600] if self.problems else "ok"
        heard = "-" if self.heard is None else f"{self.heard:.0f} s"
        return f"{self.launcher}.{self.phase} +{1000 * self.moment:4.0f} ms  heard {heard:>4}  lost {self.lost}  {words}"


def new_cluster(flavour, nodes):
    from main_job_support import Cluster
    return Cluster(flavour, nodes, 1, GRACE, "--conf", f"KillWait={KILL_WAIT}", "--conf", f"FirstJobId={os.getpid() % 60000 * 1000 + 1}")


def find_torchrun(cluster):
    """torchrun as the ranks' interpreter has it; None: it has none."""
    from frameworks_support import PYTHON, TORCHRUN
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        return None
    path = cluster.place + "/torchrun"
    with open(path, "w") as file:
        file.write(TORCHRUN)
    os.chmod(path, 0o755)
    return path


def sweep(options):
    failed, count, lost = 0, 0, 0
    moments = [moment / 1000 for moment in range(options.begin, options.end + 1, options.step)]
    for flavour in options.flavour:
        with new_cluster(flavour, options.nodes) as cluster:
            cluster.torchrun, cluster.size = find_torchrun(cluster), options.nodes
            for launcher in options.launcher:
                if launcher == "torchrun" and not cluster.torchrun:
                    print(f"{flavour}: torchrun skipped: no PyTorch here")
                    continue
                for phase in options.phase:
                    for moment in moments:
                        played = Try(cluster, launcher, phase, moment).play()
                        count, lost = count + 1, lost + max(0, played.lost)
                        failed += bool(played.problems)
                        print(f"{flavour}.{played.line()}", flush=True)
                        if played.problems:
                            cluster.tell_all()
    print(f"{count} tries, {failed} failed, {lost} steps lost")
    return failed, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flavour", choices=["linuxproc", "cgroup"], action="append")
    parser.add_argument("--launcher", choices=["mpirun", "srun", "torchrun"], action="append")
    parser.add_argument("--phase", choices=PHASES, action="append")
    parser.add_argument("--nodes", type=int, choices=[1, 2], default=2, help="one under mpirun: a sentinel step listens [2]")
    parser.add_argument("--from", dest="begin", type=int, default=0, help="ms [0]")
    parser.add_argument("--to", dest="end", type=int, default=5000, help="ms [5000]")
    parser.add_argument("--step", type=int, default=10, help="ms [10]")
    options = parser.parse_args()
    options.flavour = options.flavour or ["linuxproc", "cgroup"]
    options.launcher = options.launcher or ["mpirun", "srun", "torchrun"]
    options.phase = options.phase or list(PHASES)
    failed, count = sweep(options)
    sys.exit(SKIPPED if count == 0 else 1 if failed else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["rank"]:
        Program().main()
    else:
        main()
