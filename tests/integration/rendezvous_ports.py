#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A site whose Slurm reserves ports for each step (slurm.conf, MpiParams=ports): the ranks of a real srun meet at one of them, and jobs
side by side at different ones. If all are taken, they meet at another port, which the log reports."""
import re
import socket
import sys

from checks import check
from main_job_support import Cluster

FIRST, LAST = 23000, 23039
PROGRAM = ("import os, socket\n"
           "if os.environ['RANK'] == '0': socket.create_server(('', int(os.environ['MASTER_PORT'])))\n"
           "print('meets', os.environ['MASTER_PORT'], os.environ.get('SLURM_STEP_RESV_PORTS'))")


def meet(run):
    check(run.finish()["done"], "the job is done")
    with open(run.path + "/attempt-1/rank-0.log") as file:
        port, reserved = re.search(r"meets (\d+) (\S+)", file.read()).groups()
    with open(run.path + "/attempt-1/agent.log") as file:
        return int(port), reserved, re.findall(r"MASTER_PORT .*", file.read())


def main():
    with Cluster("linuxproc", 2, 0, 20, "--conf", f"MpiParams=ports={FIRST}-{LAST}") as cluster:
        def submit():
            return cluster.submit("--nodes", "2", "--ntasks-per-node", "1", "-c", "1", "--launcher", "srun", "--", sys.executable, "-c", PROGRAM)
        runs = [submit() for _ in range(3)]
        met = [meet(run) for run in runs]
        for port, reserved, said in met:
            print(f"SLURM_STEP_RESV_PORTS={reserved}: {said}", flush=True)
            check(FIRST <= port <= LAST, f"MASTER_PORT {port} is one of those that Slurm keeps")
            check(said and f"MASTER_PORT {port}: one of SLURM_STEP_RESV_PORTS={reserved}" in said[0], "the log says which and why")
        taken = [socket.create_server(("", port)) for port in range(FIRST, LAST + 1)]
        port, reserved, said = meet(submit())
        print(f"all taken: {said}", flush=True)
        for one in taken:
            one.close()
        check(not FIRST <= port <= LAST, f"where strangers have taken them all the ranks meet elsewhere: {port}")
        check(said and f"MASTER_PORT {port}: none of SLURM_STEP_RESV_PORTS={reserved} is free" in said[0], "the log says that too")


if __name__ == "__main__":
    main()
