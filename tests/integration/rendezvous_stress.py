#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DTS_JOBS (50) jobs with two ranks each, submitted at once to a private Slurm whose two nodes are this machine and claim cores for all of
them: every rank binds the ports that it was given and meets only its own job."""
import glob
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from checks import check, wait_for
from main_job_support import Cluster

JOBS = int(os.environ.get("DTS_JOBS", "50"))
MEMBER = os.path.dirname(os.path.abspath(__file__)) + "/rendezvous_member.py"


def together(runs):
    """The largest number of attempts that were under way at the same time, according to the ledgers."""
    changes = []
    for run in runs:
        for event in run.ledger():
            changes += [(event["time"], {"attempt_started": 1, "attempt_ended": -1}.get(event["event"], 0))]
    most = now = 0
    for _, change in sorted(changes, key=lambda one: (one[0], -one[1])):
        now += change
        most = max(most, now)
    return most


def main():
    with Cluster("linuxproc", 2, 0, 20, "--cpus-per-node", "64") as cluster:
        began = time.time()

        def submit(number):
            return cluster.submit("--nodes", "2", "--ntasks-per-node", "1", "-c", "1", "-J", f"job-{number}", "--", sys.executable, MEMBER, f"job-{number}")
        with ThreadPoolExecutor(4) as pool:
            runs = list(pool.map(submit, range(JOBS)))
        print(f"{JOBS} jobs submitted in {time.time() - began:.1f} s", flush=True)
        wait_for(240, "the end of all", lambda: all(run.is_over() for run in runs))
        ends = [[e for e in run.ledger() if e["event"] in ("attempt_ended", "decided")] for run in runs]
        logs = {path: open(path).read() for path in glob.glob(cluster.runs + "/*/attempt-*/rank-*.log")}
        taken = [text for text in logs.values() if "port" in text]
        strangers = [text for text in logs.values() if "met" in text or "was called" in text]
        ports = [e["detail"].rsplit(" ", 1)[1] for run in runs for e in run.ledger() if e["event"] == "ranks_started"]
        print(f"{JOBS} jobs ended in {time.time() - began:.1f} s, up to {together(runs)} at once; {len(taken)} ports taken, "
              f"{len(strangers)} wrong worlds, {len(set(ports))} different MASTER_PORTs", flush=True)
        check(not taken, f"no port was taken by another {taken[:3]}")
        check(not strangers, f"no rank met another job {strangers[:3]}")
        check(len(logs) == 2 * JOBS, "every rank ran, once")
        bad = [end for end in ends if [e.get("cause", e.get("decision")) for e in end] != ["completed", "done"]]
        check(not bad, f"every job completed at its first attempt {json.dumps(bad[:2])}")


if __name__ == "__main__":
    main()
