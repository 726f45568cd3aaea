# SPDX-License-Identifier: Apache-2.0
"""Ranks share the CPUs of a node that Slurm gives to jobs, through both plug-ins: nodes of two hardware threads per core, of which a job uses
all or one; cores reserved for the system; a partition's MaxCPUsPerNode. Slurm starts each job of that size, and refuses a larger one."""
import sys

from checks import check, wait_for
from main_job_support import Cluster
from plan import WAYS, Asker, conf

NODES, GPUS, CPUS = 2, 4, 16
# Options, and the CPUs of a rank: without reserved cores, and with one.
ALL = [([], 4, 3), (["--hint", "multithread"], 4, 3), (["--hint", "nomultithread"], 2, 1), (["--hint", "compute_bound"], 2, 1),
       (["--threads-per-core", "1"], 2, 1), (["--extra-node-info", "*:*:1"], 2, 1), (["-p", "narrow"], 3, 3),
       (["-p", "narrow", "--hint", "nomultithread"], 2, 1), (["--ntasks-per-core", "1"], 4, 2)]
# The same on a site with CR_ONE_TASK_PER_CORE and a reserved core.
WHOLE = [([], 2), (["--ntasks-per-core", "1"], 2), (["--ntasks-per-core", "2"], 3), (["--hint", "nomultithread"], 1),
         (["--hint", "multithread"], 2)]


def starts(cluster, words):
    """Whether Slurm finds nodes for the job of `words` according to sbatch, without our own opinion."""
    job = ["sbatch", "--test-only", "--nodes", str(NODES), "--ntasks-per-node", str(GPUS), "--gpus-per-node", str(GPUS), *words,
           "--wrap", "/bin/true"]
    return cluster.run(*job, code=None).returncode == 0


def shared_by_ranks(cluster, rows):
    asker = Asker(cluster)
    for options, expected in rows:
        for way in WAYS:
            plan = asker.plan(way, "--nodes", str(NODES), "--gpus-per-node", str(GPUS), *options)
            check(plan["plan"]["cpus_per_task"] == expected, f"{way}, {options}: {plan['plan']['cpus_per_task']} CPUs a rank; expected {expected}")
            check(plan["start"]["answer"] == "expected", f"{way}, {options}: {plan['start']}")
        check(starts(cluster, ["--cpus-per-task", str(expected), *options]), f"{options}: Slurm starts {expected} CPUs a rank")
        more = ["--cpus-per-task", str(expected + 1), *options]
        check(not starts(cluster, more), f"{options}: Slurm has no {expected + 1} CPUs a rank")
        said = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", str(NODES), "--gpus-per-node", str(GPUS), *more, "--", "true", code=3).stderr
        check("--cpus-per-task" in said, f"{options}: nor has dtsubmit: {said}")


def whole_cores():
    with Cluster("linuxproc", NODES, GPUS, 20, "--cpus-per-node", str(CPUS), "--threads-per-core", "2", "--reserved-cores", "1",
                 *conf("SelectTypeParameters=CR_Core,CR_ONE_TASK_PER_CORE")) as cluster:
        shared_by_ranks(cluster, WHOLE)
        for way in WAYS:  # Slurm lifts the rule with this hint, but not for jobs with GPUs
            plan = Asker(cluster).plan(way, "--nodes", str(NODES), "--ntasks-per-node", str(CPUS - 2), "--hint", "multithread")
            check(plan["start"]["answer"] == "expected", f"{way}: a rank for each hardware thread: {plan['start']}")
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            run = cluster.submit("--cpus-per-task", "1", "--", "true")
            wait_for(120, f"{way}: the run's end", run.is_over)
            check(run.status()["done"] and len(run.processes()) == 0, f"{way}: a rank for each core runs")


def main(reserved):
    narrow = conf(f"PartitionName=narrow Nodes=ALL MaxTime=INFINITE State=UP MaxCPUsPerNode={CPUS - 4}")
    with Cluster("linuxproc", NODES, GPUS, 20, "--cpus-per-node", str(CPUS), "--threads-per-core", "2", "--reserved-cores", str(reserved),
                 *narrow) as cluster:
        shared_by_ranks(cluster, [(options, each[reserved]) for options, *each in ALL])
        run = cluster.submit("--nodes", str(NODES), "--gpus-per-node", str(GPUS), "--hint", "nomultithread", "--", "true")
        wait_for(120, "the run's end", run.is_over)
        check(run.status()["done"], "such a job runs")


if __name__ == "__main__":
    whole_cores() if sys.argv[1] == "whole" else main(int(sys.argv[1]))
