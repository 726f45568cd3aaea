# SPDX-License-Identifier: Apache-2.0
"""Nodes whose Prolog runs at the first process of a step, and for longer than srun waits for it: the launch is not counted as a crash of
the program, and the next one is made when the nodes are ready."""
import os
import sys

from checks import check
from main_job_support import Cluster
from nodes import events

PROLOG = """#!/bin/sh
case $SLURMD_NODENAME in n1 | n3) sleep 60 ;; esac
"""


def main():
    place = os.path.join(os.getcwd(), f"slow-prolog-{os.getpid()}.sh")
    with open(place, "w") as file:
        file.write(PROLOG)
    os.chmod(place, 0o755)
    try:
        with Cluster("linuxproc", 4, 0, 20, "--conf", f"Prolog={place}", "--conf", "MessageTimeout=3") as cluster:
            launchers = {"srun": "n[0-1]", "mpirun": "n[2-3]"}
            runs = {launcher: cluster.submit("-p", "low", "--nodes", "2", "--gpus-per-node", "0", "--ntasks-per-node", "1", "--launcher", launcher,
                                             "--nodelist", nodes, "--", "sh", "-c", "sleep 1") for launcher, nodes in launchers.items()}
            for launcher, run in runs.items():
                run.finish(240)
                first, *more = events(run, "attempt_ended")
                print(launcher, first, more, flush=True)
                check(first["cause"] == "launch_failed" and "Prolog" in first["detail"], f"{launcher}: the nodes were slow, and the program is not blamed")
                check(len(more) == 1 and more[0]["cause"] == "completed", f"{launcher}: the second launch was made when they were ready")
    finally:
        os.remove(place)


if __name__ == "__main__":
    main(*sys.argv[1:])
