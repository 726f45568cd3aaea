#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time from the start of the agent to the main of the last rank, against bare mpirun, in the same
allocation form: `dtsubmit run` and mpirun on this machine, interleaved. The program is compiled here and
writes when its main began: a shell that calls date would count its own start, all at a time.

  launch.py DTSUBMIT [ROUNDS=15] [RANKS=16]"""
import glob
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

RANKS = int(sys.argv[3]) if len(sys.argv) > 3 else 16
LIMIT = 15  # seconds a launch
GOAL = 1.3 if RANKS <= 16 else 1.5
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int main(int argc, char** argv) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  char path[4096];
  snprintf(path, sizeof path, "%s/start-%s", argv[1], getenv("OMPI_COMM_WORLD_RANK"));
  FILE* file = fopen(path, "w");
  fprintf(file, "%ld.%09ld", (long)now.tv_sec, now.tv_nsec);
  return fclose(file);
}
"""


def last_start(place):
    starts = [float(open(f).read()) for f in glob.glob(place + "/start-*")]
    assert len(starts) == RANKS, starts
    for f in glob.glob(place + "/start-*"):
        os.unlink(f)
    return max(starts)


def main():
    dtsubmit, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 15
    place = tempfile.mkdtemp(prefix="dts-bench-")
    subprocess.run(["cc", "-O2", "-x", "c", "-o", place + "/main", "-"], input=PROGRAM, text=True, check=True)
    program = [place + "/main", place]
    mpirun = ["mpirun", "--np", str(RANKS), "--bind-to", "none", "--oversubscribe", "--host", f"localhost:{RANKS}"] + program
    ours = [dtsubmit, "run", "--ntasks-per-node", str(RANKS), "--runs", place + "/runs", "--"] + program
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    times = {"dtsubmit": [], "mpirun": []}
    hung = dict.fromkeys(times, 0)
    try:
        for round_number in range(rounds + 1):
            for name, words in (("dtsubmit", ours), ("mpirun", mpirun)):
                began = time.time()
                try:
                    subprocess.run(words, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=LIMIT)
                except subprocess.TimeoutExpired:
                    hung[name] += 1  # after its ranks had ended, as Open MPI 4.1 does now and then with 256: the start still counts
                if round_number > 0:  # the first one warms the caches
                    times[name].append((last_start(place) - began) * 1e3)
                else:
                    last_start(place)
        print(f"machine   {platform.processor() or platform.machine()}, {os.cpu_count()} cores; {RANKS} ranks, {rounds} rounds, interleaved")
        for name, values in times.items():
            print(f"{name:9} median {statistics.median(values):7.1f} ms   minimum {min(values):7.1f} ms   did not end by itself: {hung[name]}")
        ratio = statistics.median(times["dtsubmit"]) / statistics.median(times["mpirun"])
        print(f"ratio     median {ratio:7.2f}   (goal {GOAL})")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else sys.exit(__doc__)
