#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of the agent of 16 idle ranks: its processor time, and its queries to slurmctld (sdiag).

These are bounds, not measurements of speed: less than 0.5 % of a core, one query every 30 s."""
import os
import re
import time

from checks import check, wait_for
from fault_ground import Job
from main_job_support import Cluster

RANKS, SECONDS, SHARE, PERIOD = 16, 95, 0.005, 30
IDLE = ["python3", "-c", "import time; time.sleep(3600)"]


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def questions(cluster):
    """How many messages of each kind slurmctld has received."""
    section = cluster.run("sdiag").stdout.split("by message type")[1].split("by user")[0]
    return {name: int(count) for name, count in re.findall(r"(\w+)\s+\(\s*\d+\) count:(\d+)", section)}


def main():
    with Cluster("linuxproc", nodes=1, gpus=RANKS, grace=5) as cluster:
        job = Job(cluster.submit("--nodes", "1", "--gpus-per-node", str(RANKS), "--", *IDLE))
        wait_for(240, "the ranks", lambda: job.events("ranks_started"))
        time.sleep(5)  # until the start is over
        agent = job.agent()
        before, began, used = questions(cluster), time.monotonic(), processor_seconds(agent)
        time.sleep(SECONDS)
        used, took, after = processor_seconds(agent) - used, time.monotonic() - began, questions(cluster)
        cluster.run("scancel", str(job.job))
        wait_for(120, "the end of every process", lambda: not job.processes())
        asked = {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name, 0)}
        print(f"messages in {took:.0f} s: {asked}")
        check(used < SHARE * took, f"{used:.2f} s of processor time in {took:.0f} s: {100 * used / took:.2f} % of a core for {RANKS} ranks")
        most = int(took / PERIOD) + 1
        ours = {name: count for name, count in asked.items() if name not in ("REQUEST_STATS_INFO", "MESSAGE_NODE_REGISTRATION_STATUS", "REQUEST_PING")}
        check(set(ours) <= {"REQUEST_JOB_INFO_SINGLE"} and 1 <= ours.get("REQUEST_JOB_INFO_SINGLE", 0) <= most, f"asked for the job's record only, at most {most} times: {ours}")


if __name__ == "__main__":
    main()
