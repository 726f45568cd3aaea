#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that Slurm itself confines to their cores (task/affinity, task/cgroup, ConstrainCores): binding_slurm.py SCENARIO."""
import os
import shutil
import sys

from binding import ask, build, findings, report
from checks import check, skip, wait_for
from main_job_support import Cluster

MACHINE = sorted(os.sched_getaffinity(0))


def need_two_cores():
    if MACHINE != list(range(os.cpu_count())) or len(MACHINE) < 2:
        skip(f"needs a machine of two cores and more, all of them allowed, not {MACHINE}")


def constrained(nodes, *more):
    need_two_cores()
    if not os.path.exists("/sys/fs/cgroup/cpuset/tasks"):
        skip("no cpuset hierarchy of cgroup v1 here")
    return Cluster("cgroup", nodes, 0, 5, "--constrain-cores", "--cpus-per-node", "2", *more)


def settled(run, ranks):
    """A reading of all ranks' programs."""
    def look():
        if run.ledger()[-1]["event"] == "decided":
            raise AssertionError(run.ledger()[-3:])
        if report(run.path) is None:
            return None
        ask(run.path)
        told = report(run.path)
        works = [g for g in told["groups"] if any(t["program"] == "spin" and t["working"] for t in g["found"]["threads"])]
        return told if told["settled"] and works == told["groups"] and sum(ranks_of(g) for g in works) == ranks else None
    return wait_for(120, "a reading of the programs", look)


def ranks_of(group):
    return sum(int(part.split("-")[-1]) - int(part.split("-")[0]) + 1 for part in group["ranks"].split(","))


def masks(run):
    """By process name: the CPUs on which, according to the kernel, threads of the ranks and their children may run."""
    found = {}
    for pid, argv in run.processes():
        name = os.path.basename(argv[0])
        if name == "dtsubmit" and argv[1:2] != ["rank"]:
            continue
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/status") as file:
                found.setdefault(name, set()).add(next(line for line in file if line.startswith("Cpus_allowed_list")).split()[1])
    return found


def warnings(run):
    with open(run.path + "/attempt-1/agent.log") as file:
        return [line for line in file if "binding: " in line and ("warning" in line or "mask" in line or "leaves" in line)]


def check_run(run, ranks, cpus, what):
    told = settled(run, ranks)
    check(not findings(told), f"{what}: nothing is found to be wrong")
    for group in told["groups"]:
        check({group["planned"]["cpus"], group["found"]["cpus"]} == {group["found"]["cpus"]} and group["found"]["cgroup"] in cpus,
              f"{what}: ranks {group['ranks']} are on {group['found']['cpus']} of {group['found']['cgroup']}")
    seen = masks(run)
    check(set(seen) >= {"dtsubmit", "spin"} and all(mask in cpus for one in seen.values() for mask in one), f"{what}: the kernel says so: {seen}")
    check(not warnings(run), f"{what}: no word of warning")
    return told


def side_by_side(cluster, spin, until, look):
    """Two jobs of one core each at the same time: each has its own core, under each launcher, according to look(run, launcher)."""
    words = ("--nodes", "1", "--ntasks-per-node", "1", "-c", "1", "--strict-binding")
    jobs = [cluster.submit(*words, "--launcher", launcher, "--", "env", "UNTIL=" + until, spin) for launcher in ("mpirun", "srun")]
    found = [look(run, launcher) for run, launcher in zip(jobs, ("mpirun", "srun"))]
    check(sorted(found) == ["0", "1"], f"each job has a core of its own: {found}")
    open(until, "w").close()
    for run in jobs:
        check(run.finish()["done"], "done")
    os.remove(until)


def leaked_variable(cluster, spin, until):
    """A mask for one core in the environment of `submit`, as in a shell that srun has started, does not reach the ranks."""
    cluster.environment["SLURM_CPU_BIND"] = "quiet,map_cpu:0"
    whole_nodes(cluster, spin, until, 1, "srun", "SLURM_CPU_BIND around submit")
    del cluster.environment["SLURM_CPU_BIND"]


def whole_nodes(cluster, spin, until, nodes, launcher, what):
    run = cluster.submit("--nodes", str(nodes), "--ntasks-per-node", "1", "-c", "2", "--strict-binding", "--launcher", launcher, "--", "env", "UNTIL=" + until, spin)
    check_run(run, nodes, {"0-1", "0,1"}, what)
    open(until, "w").close()
    check(run.finish()["done"], "done")
    os.remove(until)


def core_of_cgroup(run, launcher):
    return check_run(run, 1, {"0", "1"}, f"one core, {launcher}")["groups"][0]["found"]["cgroup"]


def alone():
    with constrained(1) as cluster:
        spin = build(cluster.place)
        side_by_side(cluster, spin, cluster.place + "/until", core_of_cgroup)
        leaked_variable(cluster, spin, cluster.place + "/until")


def core_of_record(run, launcher):
    told = settled(run, 1)
    check(not findings(told), f"{launcher}: nothing is found to be wrong")
    planned = told["groups"][0]["planned"]["cpus"]
    check(told["groups"][0]["found"]["cpus"] == planned, f"{launcher}: the rank is on {planned}")
    with open(run.path + "/attempt-1/agent.log") as file:
        check(f"only processors {planned}, which the scheduler gave" in file.read(), "the log says whose word that is")
    return planned


def unconfined():
    """TaskPlugin=task/none: nothing confines a job to its cores, so two jobs on a node must avoid each other's."""
    need_two_cores()
    with Cluster("linuxproc", 1, 0, 5, "--cpus-per-node", "2") as cluster:
        side_by_side(cluster, build(cluster.place), cluster.place + "/until", core_of_record)


def narrowed():
    """A site's srun that lets Slurm bind the tasks of a step by a variable: the mask that Slurm sets is reported, with the variable."""
    with constrained(2) as cluster:
        # mpirun's own srun requests no cores, so its daemons, and thus the ranks, have all cores of the job.
        whole_nodes(cluster, build(cluster.place), cluster.place + "/until", 2, "mpirun", "two cores of two nodes, mpirun")
        tools = cluster.place + "/tools"
        os.mkdir(tools)
        with open(tools + "/srun", "w") as file:
            file.write(f"""#!/bin/sh
case " $* " in *" rank "*)
  SLURM_CPU_BIND=quiet,map_cpu:0; export SLURM_CPU_BIND
  for word do shift; [ "$word" = --cpu-bind=none ] || set -- "$@" "$word"; done
esac
exec {shutil.which('srun')} "$@"
""")
        os.chmod(tools + "/srun", 0o755)
        cluster.environment["PATH"] = tools + ":" + cluster.environment["PATH"]
        run = cluster.submit("--nodes", "2", "-c", "2", "--strict-binding", "--launcher", "srun", "--", "sleep", "1000")
        wait_for(120, "the run's end", run.is_over)
        ended = [e for e in run.ledger() if e["event"] == "attempt_ended"]
        check(len(ended) == 1 and ended[0]["cause"] == "wrong_binding"
              and "on core 0 only, but has 2 cores: SLURM_CPU_BIND=quiet,map_cpu:0 leaked" in ended[0]["detail"], ended[0]["detail"])


if __name__ == "__main__":
    {f.__name__: f for f in (alone, narrowed, unconfined)}[sys.argv[1]]()
