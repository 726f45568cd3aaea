#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for a faulty mpirun: starts real rank processes with the world in DTS_WORLD, a list of {"rank", "world", "local", "node"} with,
as the case needs, "delay" (seconds before the rank is started), "die" (seconds before it is killed), "under" (a command that starts it)
and "absent" (only a process that sleeps). With DTS_LEAVE, the launcher ends at once. DTS_FIRST: a command that is started before the
ranks, and ended after them."""
import json
import os
import shlex
import subprocess
import sys
import time


def start(command, one):
    if one.get("absent"):
        return subprocess.Popen(["sleep", "60"])
    environment = dict(os.environ, OMPI_COMM_WORLD_RANK=str(one["rank"]), OMPI_COMM_WORLD_SIZE=str(one["world"]),
                       OMPI_COMM_WORLD_LOCAL_RANK=str(one["local"]), SLURMD_NODENAME=one["node"])
    return subprocess.Popen(shlex.split(one.get("under", "")) + command, env=environment)


def main():
    if "--version" in sys.argv:
        print("mpirun (Open MPI) 4.1.4")
        return 0
    command = sys.argv[sys.argv.index("rank") - 1:]
    first = os.environ.get("DTS_FIRST")
    before = subprocess.Popen(shlex.split(first)) if first else None
    began = time.time()
    running, left = [], sorted(json.loads(os.environ["DTS_WORLD"]), key=lambda one: one.get("delay", 0))
    while left or any(process.poll() is None for process, _ in running):
        passed = time.time() - began
        while left and passed >= left[0].get("delay", 0):
            running.append((start(command, left[0]), left.pop(0)))
        for process, one in running:
            if "die" in one and passed >= one["die"] and process.poll() is None:
                process.kill()
        failed = [process.returncode for process, _ in running if (process.poll() or 0) > 0]
        if failed:  # like mpirun: all ranks end with the first that fails
            for process, _ in running:
                process.kill()
            break
        if os.environ.get("DTS_LEAVE") and not left:
            time.sleep(0.5)
            return 0
        time.sleep(0.01)
        if os.getppid() == 1:
            return 1
    if before:
        before.terminate()
        before.wait()
    return failed[0] if failed else max(abs(process.wait()) for process, _ in running)


if __name__ == "__main__":
    sys.exit(main())
