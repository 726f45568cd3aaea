# SPDX-License-Identifier: Apache-2.0
"""The all-reduce of `dttrain bench` against a plain loop of MPI_Allreduce, in turn on the same ranks.

Usage: collectives.py DTTRAIN MPI_ALLREDUCE [WINDOWS]

The column of bench is what the cluster's MPI can do; a ratio far from 1 would mean that it measures itself."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from trainer_support import environment  # noqa: E402

RANKS = 2


def run(words):
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(RANKS)]
    done = subprocess.run(launcher + words, env=environment(), capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


def ours(program, folder):
    run([program, "bench", "--phase", "collectives", "--output", f"{folder}/check.json"])
    with open(f"{folder}/check.json", encoding="utf-8") as file:
        return {row["bytes"]: row["time"] for row in json.load(file)["collectives"] if row["operation"] == "all_reduce"}


def main():
    program, peer = sys.argv[1:3]
    windows = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    us, them = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(windows):
            us.append(ours(program, folder))
            lines = run([peer, *map(str, us[-1])]).split("\n")
            them.append({int(bytes_): float(time) for bytes_, time in (line.split() for line in lines if line)})
    print(f"all-reduce on {RANKS} ranks, {os.cpu_count()} cores; medians of {windows} interleaved windows; load {os.getloadavg()[0]:.1f}")
    print(f"{'bytes':>12}{'bench':>14}{'MPI_Allreduce':>16}{'ratio':>8}")
    for size in sorted(set.intersection(*(set(times) for times in us))):
        mine, theirs = (statistics.median(times[size] for times in side) for side in (us, them))
        print(f"{size:>12}{mine * 1e6:>11.1f} us{theirs * 1e6:>13.1f} us{theirs / mine:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
