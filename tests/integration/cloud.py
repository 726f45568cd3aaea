# SPDX-License-Identifier: Apache-2.0
"""A site that powers nodes down, as clouds do: what is said while they are powered up; cloud.py whole: and what becomes of a node that does
not come up."""
import json
import os
import stat
import sys
import time

from checks import check, skip, wait_for
from main_job_support import Cluster
from plan import WAYS
from why import FOR_EVER

BOOT, LIMIT = 6, 20  # seconds: until a node is up, and ResumeTimeout

# What Slurm calls as root with a host list. A node whose file `broken` exists never comes up.
SUSPEND = """#!/bin/sh
export SLURM_CONF={folder}/slurm.conf
for node in $(scontrol show hostnames "$1"); do kill $(cat {folder}/run/$node.pid); done
"""
RESUME = """#!/bin/sh
export SLURM_CONF={folder}/slurm.conf DTSUBMIT_CLUSTER={folder} PATH=/usr/sbin:/usr/bin:/sbin:/bin
cd {folder}
for node in $(scontrol show hostnames "$1"); do
  [ -e {place}/broken-$node ] && continue
  (sleep {boot}; exec setsid unshare --uts --mount sh -c \\
    "mount --bind {folder}/hosts /etc/hosts; hostname $node; exec slurmd -D -b -N $node -f {folder}/slurm.conf") </dev/null >>{folder}/log/$node.out 2>&1 &
done
"""


class Cloud(Cluster):
    def __init__(self):
        if os.geteuid() != 0:
            skip("needs root: Slurm starts nodes under host names of their own")
        super().__init__("linuxproc", 4, 2, 10)
        for name, text in (("SuspendProgram", SUSPEND), ("ResumeProgram", RESUME)):
            path = f"{self.place}/{name}"
            with open(path, "w") as file:
                file.write(text.format(folder=self.folder, place=self.place, boot=BOOT))
            os.chmod(path, stat.S_IRWXU)
            self.up += ["--conf", f"{name}={path}"]
        for line in (f"ResumeTimeout={LIMIT}", "SuspendTimeout=2", "SuspendTime=3600", "SuspendRate=0", "ResumeRate=0", "AuthInfo=cred_expire=5"):
            self.up += ["--conf", line]

    def power_down(self, nodes):
        self.run("scontrol", "update", f"NodeName={nodes}", "State=POWER_DOWN")
        wait_for(60, f"{nodes} without power", lambda: set(self.run("sinfo", "-h", "-n", nodes, "-p", "low", "-o", "%t").stdout.split()) == {"idle~"})

    def forecast(self, *words):
        return json.loads(self.dtsubmit("plan", "--json", *words).stdout)

    def is_configuring(self, job):
        return self.job_state(job) == "CONFIGURING"


def powered_up(cluster):
    """What is said before, meanwhile and after."""
    cluster.power_down("n[2-3]")
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        plan = cluster.forecast("--nodes", "4", "--", "true")
        check(plan["queue"]["away"] == 0 and not any("away" in one for one in plan["warnings"]), f"{way}: nodes without power are not away")
        check(plan["start"]["powered_down"] == 2 and plan["start"]["power_up_s"] == LIMIT, f"{way}: they are powered up first: {plan['start']}")
    run = cluster.submit("--nodes", "2", "--nodelist", "n[2-3]", "--", "sleep", "3")
    wait_for(30, "its nodes are powered up", lambda: cluster.is_configuring(run.job))
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        check(cluster.forecast("--nodes", "4", "--", "true")["queue"]["away"] == 0, f"{way}: nor are nodes that are powered up")
        check("being powered up" in cluster.dtsubmit("why", run.path).stdout, f"{way}: why says that it waits for them")
        check("being powered up" in cluster.dtsubmit("status", run.path).stdout, f"{way}: so does status")
        check("pending" in cluster.dtsubmit("list", "--runs", cluster.runs).stdout, f"{way}: the list has it as pending")
        check("already" in cluster.dtsubmit("requeue", run.path).stdout and cluster.is_configuring(run.job), f"{way}: requeue leaves it alone")
    status = run.finish()
    check(status["done"] and len(status["attempts"]) == 1, "it ran once they were up")
    check(run.ledger()[-1]["seconds"]["queued"] >= BOOT, "their start counts as waiting")


def stopped(cluster, ways):
    """A job that has not begun has nothing to save: it is not awaited."""
    for way in ways:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        cluster.power_down("n[2-3]")
        run = cluster.submit("--nodes", "2", "--nodelist", "n[2-3]", *FOR_EVER)
        wait_for(30, "its nodes are powered up", lambda run=run: cluster.is_configuring(run.job))
        began = time.monotonic()
        said = cluster.dtsubmit("stop", run.path).stdout
        check("is cancelled" in said and time.monotonic() - began < 3, f"{way}: it is cancelled at once: {said}")
        check("No attempt ever began" in cluster.dtsubmit("why", run.path).stdout, f"{way}: and never began")
        wait_for(60, "idle nodes", lambda: "#" not in cluster.run("sinfo", "-h", "-o", "%t").stdout)


def broken(cluster):
    """Slurm gives up a node that does not come up in time, and the job runs on others."""
    cluster.power_down("n3")
    with open(cluster.place + "/broken-n3", "w"):
        pass
    run = cluster.submit("--nodes", "4", "--", "sleep", "3")
    wait_for(30, "its nodes are powered up", lambda: cluster.is_configuring(run.job))
    wait_for(2 * LIMIT + 60, "the node is given up", lambda: cluster.job_state(run.job) == "PENDING")
    os.remove(cluster.place + "/broken-n3")
    wait_for(30, "why names it", lambda: "3 nodes are up, and it needs 4" in cluster.dtsubmit("why", run.path).stdout)
    cluster.run("scontrol", "update", "NodeName=n3", "State=RESUME")
    status = run.finish()
    check(status["done"] and len(status["attempts"]) == 1, "it ran once the node was back")


def main(whole):
    with Cloud() as cluster:
        powered_up(cluster)
        stopped(cluster, WAYS if whole else WAYS[:1])
        if whole:
            broken(cluster)


if __name__ == "__main__":
    main(sys.argv[1:] == ["whole"])
