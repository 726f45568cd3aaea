#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Injects every fault of fault_cells.py on a private Slurm: faults.py [--flavour F] [--only PATTERN] [--list].

Each cell is a new job; there is one cluster per flavour. DTS_REPEAT: how often each cell is run (1)."""
import argparse
import fnmatch
import glob
import json
import os
import subprocess
import sys
import time
import traceback

import fault_torch
from checks import wait_for
from fault_cells import ORDINARY, cells
from fault_ground import Clock, Ground, Job
from fault_training import REACHED, STEPS, TRAIN, submission, uses_torch
from frameworks_support import TORCHRUN

OVER = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "PREEMPTED", "NODE_FAIL", "")


class Round:
    """One run of a cell: what was observed, and the problems."""

    def __init__(self, cell, ground):
        self.cell, self.ground = cell, ground
        self.cause = self.decision = "-"
        self.lost, self.recovery = -1, -1.0
        self.problems = []

    def demand(self, condition, problem):
        if not condition:
            self.problems.append(problem)

    def play(self):
        disk = self.ground.disk if self.cell.disk else None
        self.job = None
        try:
            self.ground.settle()
            usual = self.ground.runs, self.ground.environment
            clock = Clock(self.ground.place) if self.cell.clock else None
            if disk:
                self.ground.runs = disk.folder
            if clock:
                self.ground.environment = {**usual[1], **clock.environment}
            self.job = Job(self.ground.submit(*submission(self.cell, self.ground.torchrun)))
            self.ground.runs, self.ground.environment = usual
            self.job.disk, self.job.clock = disk, clock
            self.disturb()
            self.judge()
        except Exception as error:  # a cell that fails must not keep the others from running
            self.problems.append(f"{error}" if isinstance(error, AssertionError) else traceback.format_exc())
        finally:
            if self.job and self.problems:
                self.tell()
            if self.job:
                self.job.end_all()
            if disk:
                disk.empty()
        return self

    def disturb(self):
        cell, job = self.cell, self.job
        if not cell.squat:
            wait_for(240, f"step {REACHED}", lambda: job.last_step() >= REACHED)
        began = time.monotonic()
        cell.inject(job)
        if cell.by_hand:
            wait_for(300, "the end of the job", lambda: self.note_recovery(began) or job.job_state() in OVER or len(job.events("attempt_started")) > 1)
            if job.job_state() in OVER and not job.status()["done"]:
                self.ground.dtsubmit("requeue", job.path)
        wait_for(480, "the end of the run", lambda: self.note_recovery(began) or job.is_over())
        # Slurm misses a batch daemon only after 100 s; the agent of the job's second run has nothing left to do.
        wait_for(300, "the end of the job", lambda: job.job_state() in OVER)
        wait_for(cell.end_limit, "the end of every process", lambda: not job.processes())

    def note_recovery(self, began):
        if self.recovery < 0 and any(attempt > 1 for attempt, _ in self.job.steps()):
            self.recovery = time.monotonic() - began
        return False

    def judge(self):
        cell = self.cell
        status = self.job.status()
        first = status["attempts"][0]
        self.cause, self.decision, self.lost = first["cause"], first["decision"] or "", status["steps_lost"]
        self.demand(self.cause in cell.causes, f"cause {self.cause}, not {' or '.join(cell.causes)}: {first['detail']}")
        self.demand(self.decision in cell.decisions, f"decision {self.decision or 'none'}, not {' or '.join(cell.decisions)}")
        most = 0 if self.ground.flavour in cell.warned else cell.most_lost
        self.demand(0 <= self.lost <= most, f"{self.lost} steps lost, at most {most}")
        expected = self.ground.digests[uses_torch(cell)]
        self.demand(status["done"] and status["digest"] == expected, f"done {status['done']}, digest {status['digest']}, undisturbed {expected}")
        ended = [event["attempt"] for event in self.job.events("attempt_ended")]
        started = [event["attempt"] for event in self.job.events("attempt_started")]
        self.demand(sorted(ended) == sorted(set(started)), f"attempts {started} began, {ended} ended")
        if cell.words:
            logs = [f"{self.job.path}/attempt-{n}/rank-0.log" for n in started[1:]]
            said = "".join(open(log, errors="replace").read() for log in logs if os.path.exists(log))
            self.demand(cell.words in said, f"`{cell.words}` is not said in {logs}")

    def line(self):
        recovery = f"{self.recovery:6.1f} s" if self.recovery >= 0 else "       -"
        name = f"{self.cell.name}.{self.ground.flavour}"
        end = "FAILED: " + "; ".join(self.problems).strip().replace("\n", " | ")[-400:] if self.problems else "ok"
        return f"{name:40} {self.cause:13} {self.decision or '-':9} lost {self.lost:2} back after {recovery} {end}" + (f" ({self.cell.note})" if self.cell.note else "")

    def tell(self):
        """Writes progress to standard error, so that standard output has only the table."""
        print(f"--- {self.cell.name}.{self.ground.flavour}: {self.job.path}", file=sys.stderr)
        for event in self.job.ledger():
            print(json.dumps(event), file=sys.stderr)
        print("processes:", self.job.processes(), file=sys.stderr)
        for number in (1, 2, 3):
            path = f"{self.job.path}/attempt-{number}/agent.log"
            if os.path.exists(path):
                print(open(path, errors="replace").read()[-3000:], file=sys.stderr)
        for path in sorted(glob.glob(f"{self.job.path}/attempt-*/rank-*.log")):
            print(f"{path[len(self.job.path):]}: {open(path, errors='replace').read()[-700:]}", file=sys.stderr)
        sys.stderr.flush()


def play_all(flavour, chosen, repeat):
    lines, failed = [], 0
    with Ground(flavour) as ground:
        ground.torchrun = ground.place + "/torchrun"
        with open(ground.torchrun, "w") as file:
            file.write(TORCHRUN)
        os.chmod(ground.torchrun, 0o755)
        ground.digests = {True: fault_torch.digest_after(STEPS, 2), False: ground.train_alone(*TRAIN)}
        for cell in chosen:
            for _ in range(repeat):
                played = Round(cell, ground).play()
                failed += bool(played.problems)
                lines.append(played.line())
                print(lines[-1], flush=True)
    return lines, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flavour", choices=["linuxproc", "cgroup"], action="append")
    parser.add_argument("--only", action="append", help="pattern of names, as mpirun.* or *.kill-*; may be repeated")
    parser.add_argument("--ordinary", action="store_true", help="the few of every test run")
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    chosen = [cell for cell in cells()
              if (not options.only or any(fnmatch.fnmatch(cell.name, pattern) for pattern in options.only)) and (not options.ordinary or cell.name in ORDINARY)]
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        print(f"note: {sys.executable} has no torch, so no cell that needs it is done")
        chosen = [cell for cell in chosen if not uses_torch(cell)]
    if options.list:
        return print("\n".join(cell.name for cell in chosen))
    lines, failed = [], 0
    for flavour in options.flavour or ["linuxproc", "cgroup"]:
        more, worse = play_all(flavour, chosen, int(os.environ.get("DTS_REPEAT", "1")))
        lines, failed = lines + more, failed + worse
    print("\n".join(["", *lines]))
    print(f"{len(lines)} cells, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
