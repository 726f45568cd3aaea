#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The ways in which a world of ranks can go wrong, each provoked on a private Slurm: the run ends with the right cause and code less than
LIMIT seconds after the attempt began, or if the fault is harmless, the job runs on. Ranks, agent and channel are real;
rendezvous_launcher.py starts the ranks in place of mpirun."""
import glob
import json
import os
import subprocess
import sys
import time

from checks import check, wait_for
from main_job_support import DTSUBMIT, Cluster

LIMIT = 5.0
HERE = os.path.dirname(os.path.abspath(__file__))
PEERS = f"{sys.executable} {HERE}/rendezvous_peers.py"


def rank(number, world=2, local=None, node=None, **more):
    """The description of a rank. Each rank is on a node of its own unless something else is given."""
    return {"rank": number, "world": world, "local": local or 0, "node": node or f"n{number}", **more}


def pairs(**of_last):
    """Two nodes with two ranks each; the last rank as given."""
    world = [rank(r, 4, r % 2, f"n{r // 2}") for r in range(4)]
    world[3].update(of_last)
    return world


def follow(path, limit):
    """(cause, code, detail, seconds) of attempt 1. The seconds are from the agent's log to the ledger's record, as it appears."""
    log, ledger = path + "/attempt-1/agent.log", path + "/ledger.jsonl"
    wait_for(60, "the agent", lambda: os.path.exists(log))
    began = os.stat(path + "/attempt-1/epoch").st_mtime if os.path.exists(path + "/attempt-1/epoch") else time.time()
    end = time.time() + limit
    while time.time() < end:
        with open(ledger) as file:
            for line in file:
                if line.endswith("\n") and json.loads(line)["event"] == "attempt_ended":
                    event = json.loads(line)
                    return event["cause"], event.get("exit_code", 0), event.get("detail", ""), time.time() - began
        time.sleep(0.02)
    raise AssertionError(f"{path}: attempt 1 has not ended within {limit} s")


class Faults:
    def __init__(self, cluster):
        self.cluster = cluster
        self.table = []
        self.path = cluster.environment["PATH"]
        self.fake = cluster.place + "/bin"
        os.mkdir(self.fake)
        os.symlink(HERE + "/rendezvous_launcher.py", self.fake + "/mpirun")

    def submit(self, world, tasks=1, program=("true",), **environment):
        self.cluster.environment.update(PATH=self.fake + ":" + self.path, DTS_WORLD=json.dumps(world), **environment)
        try:
            return self.cluster.submit("--nodes", "2", "--ntasks-per-node", str(tasks), "--launcher", "mpirun", "--", *program)
        finally:
            for name in ("DTS_WORLD", *environment):
                del self.cluster.environment[name]
            self.cluster.environment["PATH"] = self.path

    def expect(self, name, cause, code, words, world, **more):
        run = self.submit(world, **more)
        got, exit_code, detail, seconds = follow(run.path, 30)
        self.table.append((name, got, exit_code, seconds, detail))
        print(f"{name:44} {seconds:5.2f} s  {got} {exit_code}: {detail}", flush=True)
        check((got, exit_code) == (cause, code), f"{name}: {cause}, code {code}")
        check(all(word in detail for word in words), f"{name}: named ({', '.join(words)})")
        with open(run.path + "/attempt-1/agent.log") as file:
            check(detail in file.read(), f"{name}: in the agent's log too")
        check(seconds < LIMIT, f"{name}: within {LIMIT:.0f} s")
        self.cluster.run("scancel", str(run.job), code=None)
        return run


def peak_kib(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))


def hostile(faults):
    """A stranger at the port before the ranks arrive and while they run."""
    run = faults.submit([rank(0, delay=3), rank(1, delay=3)], program=("sleep", "4"), DTS_FIRST=PEERS + " hostile")
    agent = wait_for(60, "the agent", lambda: [pid for pid, argv in run.processes() if len(argv) > 1 and argv[1] == "agent"])[0]
    peak = 0
    while not run.is_over():
        try:
            peak = max(peak, peak_kib(agent))
        except (OSError, StopIteration):
            pass
        time.sleep(0.05)
    cause, _, _, seconds = follow(run.path, 1)
    with open(run.path + "/attempt-1/agent.log") as file:
        text = file.read()
    turned_away = text.count("turned away")
    print(f"hostile peers: {cause} after {seconds:.2f} s, {turned_away} lines refused, agent's VmHWM {peak / 1024:.1f} MiB, its log {len(text)} bytes", flush=True)
    check(cause == "completed", "the job ran on beside hostile peers")
    check(turned_away > 10, "which were heard and turned away")
    check("not logged" in text and len(text) < 50000, "its log stays short")
    check(peak < 40 * 1024, "the agent's memory stays bounded")


def half_hellos(faults):
    """A world so large that thousands of strangers are let in: each holds little, and the total is bounded."""
    peaks = {}
    for name, first in (("nobody", "sleep 60"), ("half hellos", PEERS + " halves")):
        runs = f"{faults.cluster.place}/{name.split()[0]}"
        environment = dict(faults.cluster.environment, PATH=faults.fake + ":" + faults.path, DTS_FIRST=first, DTS_WORLD=json.dumps([rank(0, 2000, absent=True)]))
        with subprocess.Popen([DTSUBMIT, "run", "--runs", runs, "--ntasks-per-node", "2000", "--start-timeout", "6", "--", "true"],
                              env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as agent:
            ledger = wait_for(30, "a run", lambda: glob.glob(runs + "/*-*/ledger.jsonl"))[0]
            wait_for(60, "the attempt's end", lambda: '"attempt_ended"' in open(ledger).read())
            peaks[name] = peak_kib(agent.pid) / 1024
            agent.kill()
    print(f"agent's VmHWM: {peaks['nobody']:.1f} MiB with nobody, {peaks['half hellos']:.1f} MiB with 2,064 half hellos of 16 KB", flush=True)
    check(peaks["half hellos"] < peaks["nobody"] + 8, "strangers' half lines cost the agent a few MiB, not 33")


def refused(faults):
    one = rank(0, 1, node="n0")
    faults.expect("duplicate ranks", "wrong_ranks", 3, ["rank 0 on n1", "taken", "held by rank 0 on n0"], [rank(0, node="n0"), rank(0, node="n1", delay=0.2)])
    faults.expect("worlds of one", "wrong_ranks", 3, ["world has 1 rank, planned are 2"], [one, dict(one, node="n1")])
    faults.expect("three ranks on one node, one on the other", "wrong_ranks", 3, ["node n0", "3 ranks, 2 planned"],
                  [rank(0, 4, 0, "n0"), rank(1, 4, 1, "n0"), rank(2, 4, 2, "n0"), rank(3, 4, 0, "n1")], tasks=2)
    faults.expect("variables that contradict each other", "wrong_ranks", 3, ["a rank on n1", "two launchers have set this process's variables"],
                  [rank(0), rank(1, under="env PMIX_RANK=7")])
    faults.expect("ranks missing, the launcher waits", "launch_failed", 1, ["ranks 3 did not say hello", "n1"], pairs(absent=True), tasks=2)
    faults.expect("ranks missing, the launcher has ended", "launch_failed", 1, ["before ranks 1 said hello"],
                  [rank(0), rank(1, absent=True)], DTS_LEAVE="1")
    faults.expect("a rank dies between hello and go", "rank_killed", 137, ["rank 1 on n0: its process vanished"],
                  [rank(0, 4, 0, "n0", delay=1.5), rank(1, 4, 1, "n0", die=1.0), rank(2, 4, 0, "n1", delay=1.5), rank(3, 4, 1, "n1", delay=1.5)], tasks=2)
    if os.geteuid() == 0:
        faults.expect("loopback addresses across nodes", "launch_failed", 1, ["no address of n0", "loopback addresses only"],
                      [rank(0, under=PEERS + " alone"), rank(1)])


def names_do_not_matter(faults):
    nowhere = "nowhere.invalid"
    world = [rank(0, node=nowhere), rank(1, node="elsewhere.invalid")]
    if os.geteuid() == 0:
        for one in world:
            one["under"] = f"unshare -u sh -c 'hostname {one['node']} && exec \"$@\"' sh"
    run = faults.submit(world, program=("sh", "-c", "echo $MASTER_ADDR"))
    cause, code, _, seconds = follow(run.path, 30)
    print(f"{'names that nobody can resolve':44} {seconds:5.2f} s  {cause} {code}", flush=True)
    check((cause, code) == ("completed", 0), "hosts whose names nobody can resolve meet all the same")
    check(seconds < LIMIT, f"within {LIMIT:.0f} s")


def main():
    with Cluster("linuxproc", nodes=2, gpus=0, grace=20) as cluster:
        faults = Faults(cluster)
        refused(faults)
        names_do_not_matter(faults)
        hostile(faults)
        half_hellos(faults)
        print(f"slowest to be named: {max(row[3] for row in faults.table):.2f} s of {LIMIT:.0f} s")


if __name__ == "__main__":
    main()
