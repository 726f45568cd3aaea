#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Submission on a private cluster whose nodes are drained so that nothing runs, in whole processes, interleaved: `dtsubmit submit`
(run directory and durability included) and `sbatch` of the same script, and submitit in a process of its own; then one array.

  submit.py DTSUBMIT [ROUNDS=40] [ELEMENTS=1000]
  DTS_BENCH_PYTHON: a Python that has submitit; without it that is skipped."""
import glob
import os
import platform
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from private_cluster import PrivateCluster  # noqa: E402

PYTHON = os.environ.get("DTS_BENCH_PYTHON", sys.executable)
SUBMITIT = """import sys, submitit
executor = submitit.SlurmExecutor(folder=sys.argv[1])
executor.update_parameters(nodes=2, time=10)
executor.submit(print)
"""
# submitit's own way to many jobs: one process, and an array.
SUBMITIT_ARRAY = """import sys, time, submitit
executor = submitit.SlurmExecutor(folder=sys.argv[1], max_num_timeout=3)
executor.update_parameters(nodes=2, time=10, array_parallelism=4)
began = time.perf_counter()
executor.map_array(print, range(int(sys.argv[2])))
print((time.perf_counter() - began) * 1e3)
"""


def timed(words, **more):
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **more)
    return (time.perf_counter() - began) * 1e3


def say(name, times, base=None):
    ratio = "" if base is None else f"   rate {statistics.median(base) / statistics.median(times):5.2f} of sbatch's"
    print(f"{name:9} median {statistics.median(times):7.2f} ms   minimum {min(times):7.2f} ms   {len(times) / sum(times) * 1e3:7.1f} a second{ratio}", flush=True)


def has_submitit():
    there = subprocess.run([PYTHON, "-c", "import submitit"], capture_output=True).returncode == 0
    if not there:
        print(f"skipped: {PYTHON} has no submitit (DTS_BENCH_PYTHON names one that has)")
    return there


def single(ours, theirs, place, environment, rounds, with_submitit):
    times = {"dtsubmit": [], "sbatch": [], "submitit": []}
    for number in range(rounds):
        times["dtsubmit"].append(timed(ours, env=environment))
        times["sbatch"].append(timed(theirs, env=environment))
        if with_submitit and number % 10 == 0:  # slow, and steady
            times["submitit"].append(timed([PYTHON, "-c", SUBMITIT, place + "/submitit"], env=environment))
    say("dtsubmit", times["dtsubmit"], times["sbatch"])
    say("sbatch", times["sbatch"])
    if with_submitit:
        say("submitit", times["submitit"], times["sbatch"])
    print("goal: a rate of 0.8 of sbatch's for dtsubmit")
    return statistics.median(times["sbatch"])


def arrays(words, environment):
    """Five of them, each cancelled before the next: the controller takes 10000 jobs."""
    times = []
    for _ in range(5):
        subprocess.run(["scancel", "--user", str(os.getuid())], check=True, env=environment)
        times.append(timed(words, env=environment))
    return statistics.median(times)


def array(ours, place, environment, elements, sbatch, with_submitit):
    words = ours[:1] + ["--array", f"0-{elements - 1}%4"] + ours[1:]
    time_of_one = arrays(words, environment)
    loop = sbatch * elements
    print(f"array of {elements}: dtsubmit median {time_of_one:.2f} ms, {loop / time_of_one:.0f} times as fast as a loop of sbatch "
          f"({loop / 1e3:.1f} s; goal 50)")
    words = ours[:1] + ["--sweep", f"lr=1..{elements}"] + ours[1:-1] + ["echo", "{lr}"]
    time_of_one = arrays(words, environment)
    print(f"sweep of {elements}: dtsubmit median {time_of_one:.2f} ms, {loop / time_of_one:.0f} times as fast")
    if with_submitit:
        subprocess.run(["scancel", "--user", str(os.getuid())], check=True, env=environment)
        out = subprocess.run([PYTHON, "-c", SUBMITIT_ARRAY, place + "/submitit", str(elements)], check=True, capture_output=True, text=True, env=environment).stdout
        print(f"array of {elements}: submitit {float(out.split()[-1]):.0f} ms, start of Python not counted")


def main():
    dtsubmit = sys.argv[1]
    rounds, elements = [int(word) for word in sys.argv[2:]] + [40, 1000][len(sys.argv) - 2:]
    with PrivateCluster(dtsubmit, parent=os.getcwd()) as cluster:  # a disk, not a tmpfs: durability counts
        place, environment = cluster.place, cluster.environment
        subprocess.run(["scontrol", "update", "nodename=ALL", "state=drain", "reason=bench"], check=True, env=environment)
        ours = [dtsubmit, "--nodes", "2", "--gpus-per-node", "8", "--runs", place + "/runs", "--", "true"]
        timed(ours, env=environment)
        theirs = ["sbatch", glob.glob(place + "/runs/*/script.sbatch")[0]]
        timed(theirs, env=environment)
        with_submitit = has_submitit()
        print(f"machine   {platform.processor() or platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; {rounds} rounds, interleaved")
        sbatch = single(ours, theirs, place, environment, rounds, with_submitit)
        array(ours, place, environment, elements, sbatch, with_submitit)
        print(f"load at the end {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else sys.exit(__doc__)
