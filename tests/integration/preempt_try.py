# SPDX-License-Identifier: Apache-2.0
"""One try of preempt_moments.py: a job that is really preempted at one moment, and the outcome."""
import os
import sys
import time

from checks import wait_for
from preempt_ground import SAVING

HEARD = 4  # seconds from the preemption to the request to save
LATEST = 3 * HEARD  # if busy processors explain it
BUSY = 0.8  # share of time in which some process always waited for a processor
OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "")
CAUSES = {"crash": ("preempted", "completed", "rank_killed")}  # causes of attempts, if these are more than the first two
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "preempt_program.py")


class Try:
    """One job on one pair of nodes, preempted once at `moment` seconds after the beginning of `phase`."""

    def __init__(self, ground, pair, launcher, phase, moment):
        self.ground, self.pair, self.launcher, self.phase, self.moment = ground, pair, launcher, phase, moment
        self.problems, self.late, self.heard, self.lost, self.job = [], "", None, -1, None

    def demand(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def play(self, load):
        words = ["--nodes", str(self.ground.size), "--gpus-per-node", "1", "-p", f"low{self.pair}", "-J", self.phase]
        program = [sys.executable, PROGRAM, *(["crash"] if self.phase == "crash" else [])]
        if self.launcher == "torchrun":
            program = [self.ground.torchrun, "--no_python", *program]
        else:
            words += ["--launcher", self.launcher]
        try:
            self.job = self.ground.submit(*words, "--", *program)
            self.preempt()
            wait_for(180, "the end of the run", lambda: self.job.is_over() or self.state() in OVER)
            wait_for(60, "the end of the job", lambda: self.state() in OVER)
            self.judge(load)
        except (AssertionError, OSError, ValueError, KeyError) as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        if self.problems and self.job:
            self.ground.run("scancel", str(self.job.job), code=None)
            time.sleep(SAVING + 2)  # until its nodes are free again
        return self

    def state(self):
        return self.ground.job_state(self.job.job)

    def began(self):
        """When the phase began; a load is that of the second attempt, which follows a preemption in the first."""
        if self.phase == "start":
            return self.state() == "RUNNING"
        return os.path.exists(f"{self.job.path}/{self.phase}-{2 if self.phase == 'load' else 1}")

    def await_phase(self):
        end = time.monotonic() + 120
        while not self.began():
            if time.monotonic() > end:
                raise AssertionError(f"the {self.phase} does not begin, the job is {self.state()}")
            time.sleep(0.01)

    def preempt(self):
        if self.phase == "load":
            wait_for(120, "the first save", lambda: os.path.exists(f"{self.job.path}/save-1"))
            self.ground.preempt(self.pair)
        self.await_phase()
        time.sleep(self.moment)
        self.told_before = len(self.requests())
        self.asked_at = time.time()
        self.ground.preempt(self.pair)

    def requests(self):
        """When each stop was requested, or an attempt ended without a request."""
        times = {}
        for event in self.job.ledger():
            if event["event"] in ("stop_requested", "attempt_ended"):
                times.setdefault(event["attempt"], event["time"])
        return [times[attempt] for attempt in sorted(times)]

    def judge(self, load):
        status = self.job.status()
        attempts = status["attempts"]
        self.lost = status["steps_lost"]
        self.demand(status["done"], f"not done, the job is {self.state()}: {[(one['cause'], one['decision'], one['detail']) for one in attempts]}")
        self.demand(self.lost == 0, f"{self.lost} steps lost")
        # A request that came before the agent began does not need an attempt to end.
        self.demand(all(one["cause"] in CAUSES.get(self.phase, ("preempted", "completed")) for one in attempts), f"causes {[one['cause'] for one in attempts]}")
        requests = self.requests()
        if len(requests) > self.told_before:
            self.judge_time(requests[self.told_before], load)

    def judge_time(self, told, load):
        told = time.mktime(time.strptime(told[:19], "%Y-%m-%dT%H:%M:%S")) - time.timezone
        preempted = self.ground.preempted_at(self.job.job, self.asked_at)
        self.heard = told - int(preempted)
        if self.heard <= HEARD:
            return
        share = load.share(preempted, told)
        words = f"heard {self.heard:.0f} s after Slurm's preemption, which came {preempted - self.asked_at:.1f} s after the request"
        if share is not None and share >= BUSY and self.heard <= LATEST:
            self.late = f"{words}; processors were waited for {100 * share:.0f} % of that time"
        else:
            self.problems.append(words)

    def line(self):
        verdict = "FAILED: " + "; ".join(self.problems).replace("\n", " | ")[:900] if self.problems else "ok"
        if self.late:
            verdict = f"LATE: {self.late}" + (f"; {verdict}" if self.problems else "")
        heard = "-" if self.heard is None else f"{self.heard:.0f} s"
        return f"{self.ground.flavour}.{self.launcher}.{self.phase} +{1000 * self.moment:4.0f} ms  heard {heard:>4}  lost {self.lost}  {verdict}"

    def evidence(self):
        """All records about this job."""
        if not self.job:
            return ""
        parts = []
        for folder, _, names in os.walk(self.job.path):
            for name in sorted(names):
                if name.endswith((".log", "ledger.jsonl")):
                    with open(os.path.join(folder, name), errors="replace") as file:
                        parts.append(f"--- {folder}/{name}\n{file.read()[-4000:]}")
        return "\n".join([*parts, "--- slurmctld", *self.ground.controller_lines(self.job.job)])
