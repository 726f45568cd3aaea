#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What --log-timestamps costs: one rank writes SIZE MB of lines as fast as it can, with and without; side by side. The
program's own time for it, from its first byte to its last, is what is measured.

  log_timestamps.py DTSUBMIT [SIZE=1000] [ROUNDS=3]"""
import glob
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

GOAL = 100  # MB/s
FLOOD = r"""
import json, os, sys, time
size, told, line = int(sys.argv[1]) * 1000000, sys.argv[2], b"x" * 79 + b"\n"
block = line * 800
began = time.time()
for _ in range(size // len(block)):
    os.write(1, block)
json.dump({"seconds": time.time() - began, "bytes": size // len(block) * len(block)}, open(told, "w"))
"""


def flood(dtsubmit, place, size, options):
    shutil.rmtree(place + "/runs", ignore_errors=True)
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    subprocess.run([dtsubmit, "run", *options, "--ranks", "1", "--runs", place + "/runs", "--", sys.executable, "-c", FLOOD, str(size), place + "/told"],
                   env=environment, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(place + "/told") as file:
        told = json.load(file)
    logged = os.path.getsize(glob.glob(place + "/runs/*/attempt-1/rank-0.log")[0])
    lines = told["bytes"] // 80
    if logged != told["bytes"] + (25 * lines if options else 0):
        sys.exit(f"{logged} bytes in the log of {told['bytes']}: not all came through")
    return told["bytes"] / 1e6 / told["seconds"]


def main():
    size, rounds = (int(sys.argv[2]) if len(sys.argv) > 2 else 1000), (int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    place = tempfile.mkdtemp(prefix="dts-bench-")
    try:
        rates = {name: [] for name in ("plain", "timestamps")}
        for _ in range(rounds):
            rates["plain"].append(flood(sys.argv[1], place, size, []))
            rates["timestamps"].append(flood(sys.argv[1], place, size, ["--log-timestamps"]))
        plain, stamped = (statistics.median(one) for one in rates.values())
        print(f"{size} MB of 80-byte lines: {plain:.0f} MB/s plain, {stamped:.0f} MB/s with timestamps (ratio {stamped / plain:.2f}; goal {GOAL} MB/s)")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else sys.exit(__doc__)
