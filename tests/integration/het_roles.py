#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roles as the components of a heterogeneous job, on a private Slurm with three nodes: a server without GPUs on one, the training with GPUs
on two. The job is preempted on all nodes or one of the training's; stopped, continued, requeued by hand, out of time; also submitted by
sbatch from the rendered script: het_roles.py SCENARIO [LAUNCHER]."""
import json
import os
import re
import sys

from checks import check, wait_for
from main_job_support import Cluster, Run
from roles import CLIENT, SERVER, SUM, write
from steps import causes, log_of, part, starts, states, submit, wait_for_ranks

# All ranks but the first wait until they are asked to save, or the first is done.
FIRST_ONLY = """
import os, signal, sys, time
done = os.environ["DTSUBMIT_CHECKPOINT_DIR"] + "/done"
if os.environ["RANK"] != "0":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(85))
    while not os.path.exists(done):
        time.sleep(0.1)
    sys.exit(0)
"""

# Each rank reports where it is and what it has.
TRAIN = """
import os
print("rank", os.environ["RANK"], "of", os.environ["WORLD_SIZE"], "on", os.environ.get("SLURMD_NODENAME", "here"),
      "GPUs", os.environ.get("CUDA_VISIBLE_DEVICES", "none"), flush=True)
""" + FIRST_ONLY + CLIENT + """
open(done, "w").close()
"""


def job(cluster, launcher, **more):
    write(cluster.place, SERVER, TRAIN)
    return {"heterogeneous": True, "partition": "low", "launcher": launcher, **more, "roles": [
        {"name": "server", "until": "others end", "mem": "100M", "command": [sys.executable, cluster.place + "/server.py"]},
        {"name": "train", "nodes": 2, "ntasks_per_node": 2, "gpus_per_node": 2, "mem": "200M",
         "command": [sys.executable, cluster.place + "/client.py"]}]}


def check_resources(cluster, run):
    """Slurm's own records: two components, and GPUs only for the second."""
    records = cluster.run("scontrol", "-d", "--oneliner", "show", "job", str(run.job)).stdout.splitlines()
    check(len(records) == 2 and all(f"HetJobId={run.job} " in record for record in records), "\n".join(records))
    gpus = [re.search(r"(TRES|TresPerNode)=\S*gpu", record) is not None for record in records]
    check(gpus == [False, True], "\n".join(records))
    check("MinMemoryNode=100M" in records[0] and "MinMemoryNode=200M" in records[1], "\n".join(records))
    check("NumNodes=1 " in records[0] and "NumNodes=2 " in records[1], "\n".join(records))


def check_end(cluster, run, why):
    server, train = part(run, "server"), part(run, "train")
    check(run.finish()["done"], f"{run.ledger()}")
    check(causes(run) == [why, "completed"], f"{causes(run)}")
    check(SUM in log_of(train, 2), log_of(train, 2))
    check("starts with 0" not in log_of(server, 2), log_of(server, 2))
    check(states(cluster, run) == {"server": "done", "train": "done"}, f"{states(cluster, run)}")
    for attempt in (1, 2):
        said = [log_of(train, attempt, rank).splitlines()[0].split() for rank in range(4)]
        check([(line[1], line[3], line[7]) for line in said] == [("0", "4", "0"), ("1", "4", "1"), ("2", "4", "0"), ("3", "4", "1")],
              f"{said}")
        check(len({line[5] for line in said}) == 2, f"two nodes: {said}")


def begin(cluster, run):
    server, train = part(run, "server"), part(run, "train")
    wait_for(90, "work done", lambda: os.path.exists(train.path + "/checkpoints/state"))
    nodes = [one.status()["attempts"][0]["nodes"] for one in (server, train)]
    check([len(names) for names in nodes] == [1, 2] and not set(nodes[0]) & set(nodes[1]), f"nodes of their own: {nodes}")
    return nodes


def preempted(launcher):
    """Preempted in the middle by a job that takes all nodes: both roles come back, and the sum is right."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=20) as cluster:
        run = submit(cluster, **job(cluster, launcher))
        begin(cluster, run)
        check_resources(cluster, run)
        cluster.take_nodes(3, 1)
        check_end(cluster, run, "preempted")


def component(launcher):
    """Preempted by a job that takes one node of the training: the server comes back as well."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=20) as cluster:
        run = submit(cluster, **job(cluster, launcher))
        nodes = begin(cluster, run)
        cluster.run("sbatch", "-p", "high", "-w", nodes[1][1], "--gpus-per-node=2", "-o", "/dev/null", "--wrap", "sleep 1")
        check_end(cluster, run, "preempted")


def orders(launcher):
    """`stop`, `requeue`, `list`, `why` and `logs` by job id; `scontrol requeue`."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        run = submit(cluster, **job(cluster, launcher))
        begin(cluster, run)
        server, train = part(run, "server"), part(run, "train")
        check(str(run.job) in cluster.dtsubmit("list", "--runs", cluster.runs).stdout, "listed")
        for name, one in ((str(run.job), run), (f"{run.job}+0", server), (f"{run.job}+1", train)):
            seen = json.loads(cluster.dtsubmit("status", "--runs", cluster.runs, name, "--json").stdout)
            check(seen["run_directory"] == one.path, f"{name}: {seen}")
        check("server on" in cluster.dtsubmit("logs", "--runs", cluster.runs, f"{run.job}+0").stdout, "its output")
        cluster.dtsubmit("stop", "--runs", cluster.runs, "--wait", str(run.job), code=None)
        check(causes(run) == ["stopped"], f"{run.ledger()}")
        check("stop" in cluster.dtsubmit("why", "--runs", cluster.runs, str(run.job), code=None).stdout, "why")
        cluster.dtsubmit("requeue", run.path, "--time", "20")
        wait_for_ranks(train, 2)
        wait_for_ranks(server, 2)
        cluster.run("scontrol", "requeue", str(run.ledger()[-1].get("job", run.job)))
        wait_for_ranks(train, 3)
        check(run.finish()["done"], f"{run.ledger()}")
        check(causes(train) == ["stopped", "requeued", "completed"], f"{causes(train)}")


def out_of_time(launcher):
    """At the time limit: warned, saved, continued."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        asked = job(cluster, launcher, time="2", signal_margin="30s")
        write(cluster.place, SERVER, TRAIN.replace("time.sleep(0.2)", "time.sleep(3)"))
        run = submit(cluster, **asked)
        begin(cluster, run)
        check_end(cluster, run, "time_limit")


def lost_node(launcher):
    """A node of the training is lost: the whole job comes back on other nodes."""
    from nodes import lose
    with Cluster("linuxproc", nodes=4, gpus=2, grace=5) as cluster:
        run = submit(cluster, **job(cluster, launcher))
        nodes = begin(cluster, run)
        lose(cluster, nodes[1][1])
        train = part(run, "train")
        check(run.finish()["done"], f"{run.ledger()}")
        # Slurm kills the agent 5 s (KillWait) after it has requeued the job, perhaps before the agent knows why. A restart of the training
        # before Slurm misses the node is a launch that fails, and names it.
        ended = next(event for event in run.ledger() if event["event"] == "attempt_ended")
        named = ended["cause"] == "launch_failed" and ended["node"] == nodes[1][1] and nodes[1][1] + " starts no task" in ended["detail"]
        check(named or ended["cause"] in ("node_failed", "agent_lost"), f"{ended} {causes(train)}")
        used = train.status()["attempts"][-1]["nodes"]
        check(nodes[1][1] not in used, f"not on the lost one: {used}")
        check(SUM in log_of(train, starts(train)), "the sum is right")


# Prints the variables that a GPU program reads.
SHOWS = "env | grep -E '^(CUDA_VISIBLE_DEVICES|SLURM_(JOB_GPUS|JOB_NUM_NODES|NTASKS|MEM_PER_NODE|JOB_PARTITION)|SLURM_[A-Z_]*HET[A-Z_0-9]*)=' | sort"


def variables(launcher):
    """GPUs only for the first role, and a partition for each. Programs see the variables of their component."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        run = submit(cluster, heterogeneous=True, launcher=launcher, partition="low", roles=[
            {"name": "learner", "gpus_per_node": 2, "ntasks_per_node": 1, "mem": "300M", "command": ["sh", "-c", SHOWS]},
            {"name": "actor", "nodes": 2, "partition": "high", "mem": "100M", "command": ["sh", "-c", SHOWS]}])
        check(run.finish(90)["done"], f"{run.ledger()}")
        learner, actor = log_of(part(run, "learner")), log_of(part(run, "actor"))
        check("CUDA_VISIBLE_DEVICES=0,1" in learner and "SLURM_JOB_PARTITION=low" in learner and "SLURM_MEM_PER_NODE=300" in learner, learner)
        check("SLURM_JOB_PARTITION=high" in actor and "SLURM_MEM_PER_NODE=100" in actor and "SLURM_JOB_NUM_NODES=2" in actor, actor)
        check("CUDA_VISIBLE_DEVICES=0" not in actor and "SLURM_JOB_GPUS" not in actor and "HET" not in learner + actor, actor)


def worlds(launcher):
    """A program of MPICH in both roles: each component is an MPI world of its own, which comes back after a preemption."""
    from mpich import STEPS, build
    with Cluster("linuxproc", nodes=3, gpus=2, grace=20) as cluster:
        role = {"ntasks_per_node": 2, "mem": "200M", "command": [build(cluster.place), str(STEPS)]}
        run = submit(cluster, heterogeneous=True, launcher=launcher, partition="low", roles=[
            {"name": "narrow", **role}, {"name": "wide", "nodes": 2, "gpus_per_node": 2, **role}])
        part(run, "wide").reach_step(STEPS // 4)
        cluster.take_nodes(3, 1)
        check(run.finish()["done"] and causes(run) == ["preempted", "completed"], f"{run.ledger()}")
        for name, ranks in (("narrow", 2), ("wide", 4)):
            for rank in range(ranks):
                before, after = (log_of(part(run, name), attempt, rank) for attempt in (1, 2))
                check(f"rank {rank} of {ranks}, sum {ranks}, RANK {rank}, from step 0\n" in before, f"{name}: {before}")
                check(f"rank {rank} of {ranks}, sum {ranks}, RANK {rank}, from step " in after and f"ends after step {STEPS}" in after
                      and "from step 0\n" not in after, f"{name}: {after}")


def chained(launcher):
    """The next job of a chain is heterogeneous as well, waits for the first, and is removed with it; `cancel` removes both."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        run = submit(cluster, **job(cluster, launcher), chain=2)
        begin(cluster, run)

        def waiting():
            lines = cluster.run("squeue", "-h", "-t", "PENDING", "-o", "%i %r").stdout.splitlines()
            return [line for line in lines if not line.startswith(str(run.job))]

        wait_for(60, "the next job", lambda: len(waiting()) == 2)
        check("Dependency" in waiting()[0], f"{waiting()}")
        check(run.finish()["done"], f"{run.ledger()}")
        check(not waiting(), f"{waiting()}")
        other = submit(cluster, **job(cluster, launcher))
        begin(cluster, other)
        cluster.dtsubmit("cancel", "--runs", cluster.runs, str(other.job))
        wait_for(60, "the end of both components", lambda: set(cluster.job_state(other.job).split()) == {"CANCELLED"})


def drilled(launcher):
    """A fire drill reaches the nodes of the second component."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        run = submit(cluster, **job(cluster, launcher))
        begin(cluster, run)
        said = cluster.dtsubmit("drill", "--yes", "--limit", "60s", "rank-kill", part(run, "train").path).stdout
        check("rank_killed" in said and "restart" in said, said)
        check(run.finish()["done"], f"{run.ledger()}")


def rendered(launcher):
    """The script is that of a heterogeneous job for sbatch as well, and `dtsubmit render` prints it."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        with open(cluster.place + "/job.json", "w") as file:
            json.dump(job(cluster, launcher), file)
        text = cluster.dtsubmit("render", "job.json").stdout
        check(text.count("#SBATCH hetjob\n") == 1, text)
        with open(cluster.place + "/script", "w") as file:
            file.write(text)
        said = cluster.run("sbatch", "--test-only", "script", code=None)
        check("allocation failure" not in said.stderr, said.stderr)
        script = cluster.place + "/plain"
        with open(script, "w") as file:
            file.write(text[:text.index("\n", text.rindex("#SBATCH"))].replace(cluster.runs, cluster.place) + "\nsleep 60\n")
        number = cluster.run("sbatch", "--parsable", "-o", "/dev/null", script).stdout.strip()
        wait_for(30, "the job", lambda: "RUNNING" in cluster.job_state(number))
        check_resources(cluster, Run(cluster, "", number))


def refused():
    """Impossible requests are refused before submission, with advice on what to do instead."""
    with Cluster("linuxproc", nodes=3, gpus=2, grace=5) as cluster:
        roles = job(cluster, "auto")["roles"]

        def said(words=(), **asked):
            with open(cluster.place + "/job.json", "w") as file:
                json.dump(asked, file)
            return cluster.dtsubmit("submit", "--runs", cluster.runs, *words, "job.json", code=3).stderr

        text = said(roles=roles)
        check("job.json:1:12: roles[0]: `mem`: " in text and "heterogeneous = true" in text, text)
        text = said(heterogeneous=True, roles=roles[1:])
        check("two roles or more" in text, text)
        text = said(heterogeneous=True, command=["true"])
        check("two roles or more" in text, text)
        here = {"heterogeneous": True, "roles": [{**role, "nodes": 1, "ntasks_per_node": 1} for role in roles]}
        for role in here["roles"]:
            role.pop("gpus_per_node", None)
        with open(cluster.place + "/here.json", "w") as file:
            json.dump(here, file)
        cluster.dtsubmit("run", "--runs", cluster.place + "/here", "here.json")
        text = said(heterogeneous=True, spares=1, roles=roles)
        check("--spares" in text, text)
        text = said(["--array", "0-3"], heterogeneous=True, roles=roles)
        check("--array" in text and "cannot be an array" in text, text)
        text = said(heterogeneous=True, roles=[roles[0], {**roles[1], "partition": "hihg"}])
        check("roles[1].partition: no partition `hihg`" in text and "did you mean `high`" in text, text)
        text = said(heterogeneous=True, roles=[roles[0], {**roles[1], "requeue": False}])
        check("belongs to the whole job" in text, text)
        text = said(heterogeneous=True, roles=[roles[0], {**roles[1], "gpus_per_node": 3}])
        check("roles[1].gpus_per_node: 3 GPUs" in text, text)


if __name__ == "__main__":
    scenario, *launcher = sys.argv[1:]
    {f.__name__: f for f in (preempted, component, orders, out_of_time, lost_node, variables, worlds, chained, drilled, rendered, refused)}[scenario](*launcher)
