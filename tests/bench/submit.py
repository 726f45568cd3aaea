#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of `dtsubmit submit` (run directory and durability included) against `sbatch` of the same
script, whole processes, interleaved, on a private cluster whose nodes are drained so that nothing runs.

  submit.py DTSUBMIT [ROUNDS=40]"""
import glob
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def timed(words, **more):
    began = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **more)
    return (time.perf_counter() - began) * 1e3


def main():
    dtsubmit, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40
    place = tempfile.mkdtemp(prefix="dts-bench-", dir=os.getcwd())  # a disk, not a tmpfs: durability counts
    folder = place + "/cluster"
    line = subprocess.run([dtsubmit, "cluster", "up", "--folder", folder], check=True, capture_output=True, text=True).stdout
    environment = dict(os.environ, SLURM_CONF=line.split("=", 1)[1].strip().strip("'"))
    try:
        subprocess.run(["scontrol", "update", "nodename=ALL", "state=drain", "reason=bench"], check=True, env=environment)
        ours = [dtsubmit, "--nodes", "2", "--gpus-per-node", "8", "--runs", place + "/runs", "--", "true"]
        timed(ours, env=environment)
        script = glob.glob(place + "/runs/*/script.sbatch")[0]
        theirs = ["sbatch", script]
        timed(theirs, env=environment)
        a, b = [], []
        for _ in range(rounds):
            a.append(timed(ours, env=environment))
            b.append(timed(theirs, env=environment))
        print(f"machine   {platform.processor() or platform.machine()}, {os.cpu_count()} cores; {rounds} rounds, interleaved")
        print(f"dtsubmit  median {statistics.median(a):6.2f} ms   minimum {min(a):6.2f} ms")
        print(f"sbatch    median {statistics.median(b):6.2f} ms   minimum {min(b):6.2f} ms")
        print(f"ratio     median {statistics.median(a) / statistics.median(b):6.2f}      minimum {min(a) / min(b):6.2f}   (goal 1.2)")
    finally:
        subprocess.run([dtsubmit, "cluster", "down", "--folder", folder], check=True)
        shutil.rmtree(place)


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else sys.exit(__doc__)
