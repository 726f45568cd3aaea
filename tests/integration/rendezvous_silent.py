#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A node from which no rank ever arrives, under the real srun and the real mpirun, on a private Slurm in a network namespace in which a
node's address can be cut off. A node that cannot be reached ends the attempt, with the node's name, less than LIMIT seconds after it
began. For a node that is up but makes no progress, the attempt waits, and the log says so."""
import os
import signal
import subprocess
import sys

from checks import check, skip, wait_for
from main_job_support import Cluster
from rendezvous_faults import LIMIT, follow

CUT = {"no route": "ip route add unreachable {}/32 table local",  # as if a switch were gone
       "no answer": "ip route add {}/32 dev far table local"}     # as if the host were gone
INSIDE = "DTS_IN_NAMESPACE"


def enter_namespace():
    """Runs this script again in a namespace in which it may change the network."""
    if os.environ.get(INSIDE):
        return
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "ip", "link"], capture_output=True).returncode != 0:
        skip("network namespaces need root and iproute2")
    os.environ[INSIDE] = "1"
    words = ("ip link set lo up && ip link add near type veth peer name far && ip addr add 10.99.0.1/24 dev near && "
             "ip link set near up && ip link set far up && exec \"$@\"")
    os.execvp("unshare", ["unshare", "-n", "sh", "-c", words, "sh", sys.executable, *sys.argv])


class Nodes:
    """Two nodes, of which the second is removed just before the launcher starts."""

    def __init__(self, cluster):
        self.cluster = cluster
        answer = cluster.run("sinfo", "-N", "-h", "-o", "%N %o").stdout.split()
        self.addresses = dict(zip(answer[::2], answer[1::2]))
        self.path = cluster.environment["PATH"]
        self.bin = cluster.place + "/bin"
        os.mkdir(self.bin)
        for name in ("srun", "mpirun"):
            real = subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip()
            with open(f"{self.bin}/{name}", "w") as file:
                file.write(f"#!/bin/sh\n[ -e '{cluster.place}/before' ] && sh '{cluster.place}/before' && rm -f '{cluster.place}/before'\nexec {real} \"$@\"\n")
            os.chmod(f"{self.bin}/{name}", 0o755)

    def slurmd(self):
        with open(self.cluster.folder + "/run/n1.pid") as file:
            return int(file.read())

    def submit(self, launcher, before, *options):
        with open(self.cluster.place + "/before", "w") as file:
            file.write(before)
        self.cluster.environment["PATH"] = self.bin + ":" + self.path
        try:
            return self.cluster.submit("--nodes", "2", "--ntasks-per-node", "2", "--launcher", launcher, *options, "--", "sleep", "0.2")
        finally:
            self.cluster.environment["PATH"] = self.path

    def end(self, run):
        self.cluster.run("scancel", str(run.job), code=None)
        wait_for(60, "idle nodes", lambda: self.cluster.run("sinfo", "-h", "-o", "%t %D").stdout.strip() == "idle 2")


def agent_log(run):
    try:
        with open(run.path + "/attempt-1/agent.log") as file:
            return file.read()
    except FileNotFoundError:
        return ""


def cut_off(nodes, launcher, how):
    address = nodes.addresses["n1"]
    run = nodes.submit(launcher, CUT[how].format(address))
    cause, code, detail, seconds = follow(run.path, 60)
    print(f"{launcher:7} {how:10} {seconds:5.2f} s  {cause} {code}: {detail}", flush=True)
    subprocess.run(["ip", "route", "del", address + "/32", "table", "local"], check=True)
    check((cause, code) == ("launch_failed", 1), f"{launcher}, {how}: launch_failed")
    check("node n1 cannot be reached (" + address in detail, "the node and its address are named")
    check(seconds < LIMIT, f"within {LIMIT:.0f} s")
    wait_for(30, "the decision", lambda: any(e["event"] == "requeued" for e in run.ledger()))
    check("once more without n1" in open(run.path + "/ledger.jsonl").read(), "the job is requeued, to run without that node")
    nodes.end(run)


def asleep(nodes):
    run = nodes.submit("srun", f"kill -STOP {nodes.slurmd()}", "--start-timeout", "12")
    cause, code, detail, seconds = follow(run.path, 60)
    os.kill(nodes.slurmd(), signal.SIGCONT)
    print(f"srun    slurmd asleep, to the end {seconds:5.2f} s  {cause} {code}: {detail}", flush=True)
    check(cause == "launch_failed", "a slurmd that sleeps on: launch_failed")
    check("within 12 s" in detail and "of n1: up, but its slurmd does not answer" in detail, "the node is named, and what it does")
    nodes.end(run)


def awake_again(nodes):
    run = nodes.submit("srun", f"kill -STOP {nodes.slurmd()}")
    wait_for(60, "the warning", lambda: "no rank has come from n1" in agent_log(run))
    os.kill(nodes.slurmd(), signal.SIGCONT)
    check("up, but its slurmd does not answer" in agent_log(run), "a node that is late is in the log while it is waited for")
    cause, code, _, seconds = follow(run.path, 100)
    print(f"srun    slurmd asleep for a while  {seconds:5.2f} s  {cause} {code}", flush=True)
    check((cause, code) == ("completed", 0), "and its ranks are welcome when they come")
    nodes.end(run)


def main():
    enter_namespace()
    with Cluster("linuxproc", 2, 0, 20, "--conf", "AuthInfo=cred_expire=120") as cluster:  # otherwise srun itself gives up after 5 s
        nodes = Nodes(cluster)
        for launcher in ("srun", "mpirun"):
            for how in CUT:
                cut_off(nodes, launcher, how)
        awake_again(nodes)
        asleep(nodes)


if __name__ == "__main__":
    main()
