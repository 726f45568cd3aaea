# SPDX-License-Identifier: Apache-2.0
"""`dtsubmit check` on a private cluster: check.py SCENARIO."""
import json
import os
import signal
import subprocess
import sys
import time

from checks import check, skip, wait_for
from drill import broken_tree
from main_job_support import DTSUBMIT, DTTRAIN, Cluster

# Stands in for `dttrain bench`: rank 0 writes measurements, with a fault if INJECT names a node.
STAND_IN = """#!/usr/bin/python3
import json, os, sys, time
assert sys.argv[1] == "bench", sys.argv
rank, world, odd = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), os.environ.get("INJECT")
if rank == 0:
    for phase in ("cores", "memory", "steps"):
        print(phase, flush=True)
        time.sleep(0.5)
    time.sleep(float(os.environ.get("LASTS", "0")))
    nodes = [f"n{i}" for i in range(world)]
    def measures(i, node):
        memory = 2.1e10 * (1 + 0.001 * i) * (0.48 if node == odd else 1)
        return [{"key": "cores", "value": 8, "unit": ""}, {"key": "memory", "numa": 0, "value": memory, "unit": "B/s"}]
    facts = {"schema": 1, "trainer": "0", "began": "2026-11-23T15:40:00Z", "seconds": 1, "quick": False, "pairs": [], "collectives": [], "notes": [],
             "nodes": [{"node": node, "rank": i, "cpu": "x", "measures": measures(i, node), "steps": {"repeats": 2, "digest": "aa", "odd_repeats": []},
                        "notes": []} for i, node in enumerate(nodes)]}
    with open(os.environ["DTSUBMIT_RUN_DIR"] + "/check.json", "w") as file:
        json.dump(facts, file)
"""


def with_stand_in(cluster):
    """A copy of our programs, with the stand-in as their trainer."""
    program = broken_tree(cluster.place + "/tree")
    with open(os.path.dirname(program) + "/dttrain", "w") as file:
        file.write(STAND_IN)
    return program


def named():
    """A fault on each node in turn is reported, put into quarantine and compared with the baseline; Ctrl-C ends the job."""
    with Cluster("linuxproc", 4, 0, 5) as cluster:
        program = with_stand_in(cluster)
        words = [program, "check", "--nodes", "4", "--runs", cluster.runs, "-p", "low"]
        said = cluster.run(*words, "--save-baseline")
        check("4 nodes: all fit" in said.stdout, said.stdout)
        for phase in ("check: cores", "check: memory", "check: steps", "submitted job"):
            check(phase in said.stderr, f"progress: {phase}\n{said.stderr}")
        check(os.path.exists(cluster.place + "/state/dtsubmit/baseline/" + cluster.run("scontrol", "show", "config").stdout.split("ClusterName")[1].split()[1] + ".json"), "the cluster's baseline is there")
        for node in ("n0", "n2", "n3"):
            cluster.environment["INJECT"] = node
            answer = json.loads(cluster.run(*words, "--json", code=1).stdout)
            check(len(answer["faults"]) == 1 and answer["faults"][0].startswith(f"{node}: memory bandwidth of NUMA node 0 is 4"), answer["faults"])
            check(answer["baseline"], "compared with the baseline")
        cluster.run(*words, "--quarantine", code=1)
        check(" n3 " in cluster.dtsubmit("nodes").stdout, "n3 is in quarantine")
        cluster.environment["LASTS"] = "300"
        checking = subprocess.Popen(words[:3] + ["3"] + words[4:], env=cluster.environment, cwd=cluster.place, stderr=subprocess.PIPE, text=True)
        wait_for(120, "a running job", lambda: "RUNNING" in cluster.run("squeue", "-h", "-o", "%T").stdout)
        time.sleep(2)
        checking.send_signal(signal.SIGINT)
        words = checking.communicate(timeout=120)[1]
        check(checking.returncode == 130, f"Ctrl-C: {checking.returncode}\n{words}")
        wait_for(120, "no job", lambda: not cluster.run("squeue", "-h").stdout.strip())


def trainer():
    """Real measurements: facts of every node, and no false alarm."""
    if "bench" not in subprocess.run([DTTRAIN, "bench", "--help"], capture_output=True, text=True).stdout:
        skip("this dttrain has no `bench`")
    with Cluster("linuxproc", 4, 0, 5) as cluster:
        done = cluster.dtsubmit("check", "--nodes", "4", "--quick", "--runs", cluster.runs, "-p", "low", "--json")
        answer = json.loads(done.stdout)
        check(len(answer["nodes"]) == 4 and answer["fit"], answer["faults"])
        here = cluster.dtsubmit("check", "--here", "--quick")
        check(here.stdout.count("\n") == 1 and ": fit (" in here.stdout, here.stdout)


def allocation():
    """In the shell of an allocation, and in one of its steps, on its nodes: without a submission and without ssh."""
    with Cluster("linuxproc", 3, 0, 5) as cluster:
        words = [DTSUBMIT, "check", "--quick", "--json"]
        inside = ["salloc", "-Q", "-N", "3", "-p", "low"]
        for shell in (inside, inside + ["srun", "-N", "1", "-n", "1"]):
            answer = json.loads(cluster.run(*shell, *words, code=None).stdout)
            check([node["node"] for node in answer["nodes"]] == ["n0", "n1", "n2"], f"{shell[-1]}: the allocation's nodes")
            check(len(answer["facts"]["pairs"]) == 3 and not answer["run_directory"], "every pair, no job")
        answer = json.loads(cluster.run(*inside, *words, "--nodes", "2", code=None).stdout)
        check([node["node"] for node in answer["nodes"]] == ["n0", "n1"], "--nodes: fewer of them")
        done = cluster.run(*inside, *words, "--nodes", "4", code=2)
        check("--nodes 4, but this allocation has 3" in done.stderr, done.stderr)
        done = cluster.run(*inside, *words, "-p", "high", code=2)
        check("--partition is for a check that is submitted" in done.stderr, done.stderr)


def alarms():
    """A healthy cluster causes no alarm: 50 checks beside one busy program, 50 beside four."""
    for load in (1, 4):
        busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(load)]
        try:
            with Cluster("linuxproc", 4, 0, 5) as cluster:
                for number in range(50):
                    done = cluster.run(DTSUBMIT, "check", "--nodes", "4", "--quick", "--runs", cluster.runs, "-p", "low", "--json", code=None)
                    check(done.returncode == 0, f"check {number + 1} at load {load} ({os.getloadavg()[0]:.1f}): {json.loads(done.stdout)['faults']}")
        finally:
            for program in busy:
                program.kill()
                program.wait()


if __name__ == "__main__":
    {"named": named, "trainer": trainer, "allocation": allocation, "alarms": alarms}[sys.argv[1]]()
