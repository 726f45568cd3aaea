# SPDX-License-Identifier: Apache-2.0
"""Compares the simulator with reality: a campaign of kills at exponential times on the private Slurm, and `dtsubmit simulate` with what was
measured there: fault_goodput.py [SEED].

The simulator kills a node at any time and restarts at once. Here, the program of the only rank is killed, and the agent restarts it. The
spread of the simulator's own runs of the same length shows how much one campaign differs by chance. The two goodputs may differ by three
times that, and by a hundredth because the ledger has whole seconds."""
import json
import math
import os
import random
import signal
import sys
import time

from checks import check
from main_job_support import Cluster

STEPS, STEP, EVERY, SAVE = 700, 0.2, 5, 0.2
MTTF = 25.0
NO_PROGRESS = 9.0  # two consecutive gaps below this would be two crashes without a checkpoint, which end a run
STEADY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support/steady_job.py")
REPEAT = 1000


def gaps_of(seed):
    """As many exponential times as a campaign can need, from the first sequence that no rule of the run ends early."""
    while True:
        source = random.Random(seed)
        gaps = [source.expovariate(1 / MTTF) for _ in range(20)]
        if all(max(pair) > NO_PROGRESS for pair in zip(gaps, gaps[1:])):
            return seed, gaps
        seed += 1


def program_of(run):
    return [pid for pid, argv in run.processes() if len(argv) > 1 and os.path.basename(argv[1]) == "steady_job.py" and "python" in argv[0]]


def campaign(run, gaps):
    """Kills the program until the run is over; returns the number of kills."""
    began, at, kills = time.monotonic(), 0.0, 0
    for gap in gaps:
        at += gap
        while time.monotonic() - began < at:
            if run.is_over():
                return kills
            time.sleep(0.05)
        while not run.is_over():  # if the time is within a start, the program is killed as soon as it exists
            pids = program_of(run)
            if pids:
                os.kill(pids[0], signal.SIGKILL)
                kills += 1
                break
            time.sleep(0.05)
    raise AssertionError("the campaign has no end")


def metrics_of(run, event):
    with open(run.path + "/metrics.jsonl") as file:
        return [line["seconds"] for line in map(json.loads, file) if line["event"] == event]


def simulate(cluster, **options):
    words = [word for name, value in options.items() for word in ("--" + name.replace("_", "-"), f"{value:.6g}")]
    told = json.loads(cluster.dtsubmit("simulate", "--json", "--nodes", "1", "--repeat", str(REPEAT), *words).stdout)
    return told["policies"][0]


def main():
    seed, gaps = gaps_of(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
    with Cluster("linuxproc", 1, 0, 5) as cluster:
        run = cluster.submit("--nodes", "1", "--ntasks-per-node", "1", "--on", "crash=restart:100", "--",
                             "/usr/bin/python3", STEADY, str(STEPS), str(STEP), str(EVERY), str(SAVE))
        run.reach_step(1)
        kills = campaign(run, gaps)
        status = run.finish()
        check(status["done"], f"the run came back from {kills} kills")
        spent, attempts = status["seconds"], len(status["attempts"])
        wall = spent["wall"] - spent["queued"]
        measured = spent["computing"] / wall
        save = sum(metrics_of(run, "save")) / len(metrics_of(run, "save"))
        step = sum(metrics_of(run, "step")) / len(metrics_of(run, "step"))
        start = (spent["starting"] + spent["down"]) / attempts
        mttf = sum(gaps[:kills + 1]) / (kills + 1)
        told = simulate(cluster, days=wall / 86400, failure_rate=86.4e6 / mttf, checkpoint_every=EVERY * step, save_time=save,
                        start_time=start, detect=0, requeue_delay=0)
        spread = told["goodput_error"] / 1.96 * math.sqrt(REPEAT)
        tolerance = 3 * spread + 0.01
    print(f"seed {seed}: {kills} kills in {wall:.0f} s, one in {mttf:.1f} s; a start takes {start:.2f} s, a save {save:.3f} s every {EVERY * step:.2f} s")
    print(f"goodput measured {measured:.4f}, simulated {told['goodput']:.4f}, expected by the closed form {told['expected_goodput']:.4f}")
    print("seconds measured ", {name: round(value, 1) for name, value in spent.items()})
    print("seconds simulated", {name: round(value, 1) for name, value in told["time_s"].items()})
    difference = abs(measured - told["goodput"])
    check(kills >= 3, f"{kills} kills say something")
    check(difference <= tolerance, f"they differ by {difference:.4f}, at most {tolerance:.4f} = 3 x {spread:.4f} + 0.01")


if __name__ == "__main__":
    main()
