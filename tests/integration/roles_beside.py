#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roles on the same nodes, on a private Slurm: a server with one GPU beside the training with three, on both nodes. Each rank has cores and
GPUs that no other rank of its node has; preempted, the job comes back: roles_beside.py SCENARIO [LAUNCHER]."""
import json
import os
import sys
import time

from binding_slurm import constrained
from checks import check, wait_for
from het_roles import FIRST_ONLY
from main_job_support import Cluster
from roles import CLIENT, SERVER, SUM, write
from steps import causes, log_of, part, starts, states, submit, wait_for_ranks

HAS = """
import os
print("on", os.environ.get("SLURMD_NODENAME", "here"), "has", os.environ.get("CUDA_VISIBLE_DEVICES") or "none",
      ",".join(map(str, sorted(os.sched_getaffinity(0)))), flush=True)
"""


def job(cluster, nodes, **more):
    write(cluster.place, HAS + FIRST_ONLY + SERVER, HAS + FIRST_ONLY + CLIENT + "open(done, 'w').close()\n")
    return {**more, "roles": [
        {"name": "server", "until": "others end", "nodes": nodes, "gpus_per_node": 1, "command": [sys.executable, cluster.place + "/server.py"]},
        {"name": "train", "beside": "server", "gpus_per_node": 3, "command": [sys.executable, cluster.place + "/client.py"]}]}


def check_shares(run, nodes, attempt=1):
    """By node: the GPUs 0 to 3, each once, the first for the server, and cores that are a single role's."""
    found = {}
    for name, ranks in (("server", nodes), ("train", 3 * nodes)):
        for rank in range(ranks):
            words = next(line for line in log_of(part(run, name), attempt, rank).splitlines() if line.startswith("on ")).split()
            found.setdefault(words[1], []).append((name, words[3], set(words[4].split(","))))
    check(len(found) == nodes, f"{found}")
    for node, ranks in found.items():
        gpus = [(name, gpu) for name, gpu, _ in ranks]
        check(gpus == [("server", "0"), ("train", "1"), ("train", "2"), ("train", "3")], f"{node}: {ranks}")
        of_role = {name: set().union(*(cpus for one, _, cpus in ranks if one == name)) for name in ("server", "train")}
        check(all(of_role.values()) and not of_role["server"] & of_role["train"], f"{node}: {ranks}")


def preempted(launcher):
    """Both roles run on both nodes at once, the job asks for what they need together, and all comes back after a preemption."""
    with Cluster("linuxproc", nodes=2, gpus=4, grace=20) as cluster:
        run = submit(cluster, **job(cluster, 2, partition="low", launcher=launcher))
        record = cluster.run("scontrol", "--oneliner", "show", "job", str(run.job)).stdout
        check("CPUs/Task=4 " in record and "TresPerNode=gres:gpu:4" in record, record)
        wait_for(60, "work done", lambda: os.path.exists(part(run, "train").path + "/checkpoints/state"))
        check_shares(run, 2)
        cluster.take_nodes(2, 1)
        check(run.finish()["done"], f"{run.ledger()}")
        check(causes(run) == ["preempted", "completed"], f"{causes(run)}")
        check(SUM in log_of(part(run, "train"), 2), log_of(part(run, "train"), 2))
        check("starts with 0" not in log_of(part(run, "server"), 2), log_of(part(run, "server"), 2))
        check_shares(run, 2, 2)
        check(states(cluster, run) == {"server": "done", "train": "done"}, f"{states(cluster, run)}")


def restarts():
    """A role that crashes is started again beside the one that goes on, with the same cores and GPUs."""
    crashes = HAS + "import time\nif os.environ['DTSUBMIT_ATTEMPT'] == '1':\n    time.sleep(2)\n    os.kill(os.getpid(), 11)\ntime.sleep(2)\n"
    with Cluster("linuxproc", nodes=1, gpus=4, grace=5) as cluster:
        parts = job(cluster, 1, launcher="srun")
        with open(cluster.place + "/client.py", "w") as file:
            file.write(crashes)
        parts["roles"][1]["on_failure"] = "alone"
        run = submit(cluster, **parts)
        check(run.finish(120)["done"], f"{run.ledger()}")
        check((starts(part(run, "train")), starts(part(run, "server"))) == (2, 1), f"{part(run, 'train').ledger()}")
        words = [next(line for line in log_of(part(run, "train"), attempt).splitlines() if line.startswith("on ")) for attempt in (1, 2)]
        check(words[0] == words[1], f"{words}")


def confined():
    """Slurm confines the job to its cores and counts its memory: the steps of both roles run at once, each role on its own cores."""
    together = HAS + "import time\nopen(os.environ['DTSUBMIT_JOB_DIR'] + '/' + os.environ['DTSUBMIT_ROLE'], 'w').close()\n" \
        "while not all(os.path.exists(os.environ['DTSUBMIT_JOB_DIR'] + '/' + name) for name in 'ab'):\n    time.sleep(0.1)\n"
    with constrained(1, "--conf", "SelectTypeParameters=CR_Core_Memory", "--conf", "DefMemPerNode=500") as cluster:
        role = {"command": [sys.executable, "-c", together]}
        run = submit(cluster, launcher="srun", mem="200M", roles=[{"name": "a", **role}, {"name": "b", "beside": "a", **role}])
        check(run.finish(120)["done"], f"{run.ledger()}")
        check([log_of(part(run, name)).split()[4] for name in "ab"] == ["0", "1"], log_of(part(run, "a")) + log_of(part(run, "b")))


def independent():
    """A role that fails for good does not end the others: they are preempted, come back without it and end; then the run has failed. A
    requeue runs that role again, and only it."""
    fails = ["sh", "-c", "sleep 1; echo $DTSUBMIT_ATTEMPT >>$DTSUBMIT_JOB_DIR/tries; test -e $DTSUBMIT_JOB_DIR/mended || exit 9"]
    works = ["sh", "-c", "trap 'exit 85' TERM; while [ $DTSUBMIT_ATTEMPT = 1 ]; do sleep 0.1; done; sleep 1"]
    with Cluster("linuxproc", nodes=1, gpus=2, grace=20) as cluster:
        run = submit(cluster, partition="low", launcher="srun", gpus_per_node=1, roles=[
            {"name": "a", "on_failure": "none", "command": fails}, {"name": "b", "beside": "a", "on_failure": "none", "command": works}])
        wait_for(60, "the failure", lambda: causes(part(run, "a")) == ["user_exit"])
        time.sleep(2)
        check(causes(part(run, "b")) == [] and not run.is_over(), f"{part(run, 'b').ledger()}")
        cluster.take_nodes(1, 1)
        status = run.finish(120)
        check(not status["done"] and causes(run) == ["preempted", "user_exit"], f"{run.ledger()}")
        check(causes(part(run, "b")) == ["preempted", "completed"] and starts(part(run, "a")) == 1, f"{part(run, 'a').ledger()}")
        check(states(cluster, run)["b"] == "done" and "role `a`: " in (why := cluster.dtsubmit("why", run.path).stdout), why)
        open(run.path + "/mended", "w").close()
        cluster.dtsubmit("requeue", run.path)
        check(run.finish(120)["done"], f"{run.ledger()}")
        check((starts(part(run, "a")), starts(part(run, "b"))) == (2, 2), f"{part(run, 'a').ledger()}")


def here():
    """On one machine without Slurm."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        with open(cluster.place + "/job.json", "w") as file:
            json.dump(job(cluster, 1), file)
        cluster.dtsubmit("run", "--runs", cluster.runs, "job.json")
        check(SUM in cluster.dtsubmit("logs", "last/train", "--runs", cluster.runs).stdout, "the sum is right")
        shown = cluster.dtsubmit("logs", "last/server", "--runs", cluster.runs).stdout
        check(" has 0 " in shown, shown)
        with open(cluster.place + "/job.json", "w") as file:
            role = {"gpus_per_node": 1, "command": [sys.executable, "-c", HAS]}
            json.dump({"roles": [{"name": "a", **role}, {"name": "b", **role}]}, file)
        cluster.dtsubmit("run", "--runs", cluster.runs, "job.json")
        shown = [cluster.dtsubmit("logs", f"last/{name}", "--runs", cluster.runs).stdout for name in "ab"]
        check(" has 0 " in shown[0] and " has 1 " in shown[1], f"roles of one machine that are not beside each other: {shown}")
        with open(cluster.place + "/job.json", "w") as file:
            json.dump({"roles": [{"name": "a", "on_failure": "none", "command": ["test", "-e", "mended"]}, {"name": "b", "command": ["true"]}]}, file)
        cluster.dtsubmit("run", "--runs", cluster.runs, "job.json", code=1)
        open(cluster.place + "/mended", "w").close()
        cluster.dtsubmit("run", "--runs", cluster.runs, "--continue", "last")


if __name__ == "__main__":
    {f.__name__: f for f in (preempted, restarts, confined, independent, here)}[sys.argv[1]](*sys.argv[2:])
