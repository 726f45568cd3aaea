# SPDX-License-Identifier: Apache-2.0
"""Jobs that exceed a limit of their partition: Slurm accepts them and never starts them, so dtsubmit refuses them, through both plug-ins."""
import sys

from checks import check, wait_for
from main_job_support import Cluster
from plan import WAYS, Asker, conf

# A partition with a limit, options beyond it, and the option that is to blame.
BEYOND = [("MaxNodes=1", ["--nodes", "2"], "--nodes"), ("MinNodes=2", ["--nodes", "1"], "--nodes"),
          ("MaxMemPerNode=500", ["--nodes", "1", "--mem", "600M"], "--mem"),
          ("MaxTime=10", ["--nodes", "1", "--time", "11"], "--time")]

# The memory that a job gets if it requests none, options of two nodes with one GPU each, and the CPUs of a rank (each node has 4 CPUs); or the option
# to which the refusal of what Slurm refuses, or never starts, points.
MEMORY = [("MaxMemPerNode=500", [], "--mem"), ("MaxMemPerNode=500 DefMemPerNode=400", [], 4), ("MaxMemPerNode=500", ["--mem-per-cpu", "200"], 2),
          ("MaxMemPerNode=500", ["--mem-per-cpu", "200", "--cpus-per-task", "4"], "--mem-per-cpu"),
          ("MaxMemPerNode=999999", [], 4), ("MaxMemPerCPU=100", [], "--mem"), ("MaxMemPerCPU=100", ["--mem", "500"], "--mem"),
          ("MaxMemPerCPU=100", ["--mem", "300"], 4), ("MaxMemPerCPU=100", ["--mem-per-cpu", "150"], 2), ("MaxMemPerCPU=100 DefMemPerCPU=100", [], 4),
          ("DefMemPerCPU={half}", [], 1), ("DefMemPerCPU={half}", ["--cpus-per-task", "4"], "--mem"), ("DefMemPerGPU=999999", [], "--mem"),
          ("DefMemPerNode=999999", [], "--mem"), ("DefCpuPerGPU=2", [], 2), ("DefCpuPerGPU=2 OverSubscribe=EXCLUSIVE", [], 4)]


def reason(cluster, words):
    """Why Slurm lets such a job wait."""
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", *words, "--wrap", "true").stdout.strip()

    def waits():
        found = cluster.run("squeue", "-h", "-o", "%T %r", "-j", job).stdout.split()
        return found[1] if found and found[0] == "PENDING" and found[1] not in ("None", "Priority") else None

    found = wait_for(30, "a reason to wait", waits)
    cluster.run("scancel", job)
    return found


def memory():
    with Cluster("linuxproc", 2, 1, 20, "--cpus-per-node", "4", *conf("SelectTypeParameters=CR_Core_Memory")) as cluster:
        half = int(cluster.run("sinfo", "-hNo", "%m").stdout.split()[0]) // 2 + 1
        limits = [limit.format(half=half) for limit, *_ in MEMORY]
        cluster.reconfigure(*(f"PartitionName=p{i} Nodes=ALL State=UP {limit}" for i, limit in enumerate(limits)))
        for i, (limit, words, expected) in enumerate(MEMORY):
            words = ["-p", f"p{i}", "--nodes", "2", "--gpus-per-node", "1", *words]
            for way in WAYS:
                cluster.environment["DTSUBMIT_SCHEDULER"] = way
                if isinstance(expected, str):
                    err = cluster.dtsubmit("submit", "--runs", cluster.runs, *words, "--", "true", code=3).stderr
                    check(f"error: {expected}: " in err, f"{way}: {limits[i]} {words}: {err}")
                else:
                    run = cluster.submit(*words, "--", "true")
                    wait_for(60, f"{way}: {limits[i]} {words}: the run's end", run.is_over)
                    shown = dict(word.split("=", 1) for word in cluster.run("scontrol", "-o", "show", "job", str(run.job)).stdout.split() if "=" in word)
                    plan = Asker(cluster).plan(way, *words)["plan"]["cpus_per_task"]
                    check(run.status()["done"] and plan == expected, f"{way}: {limits[i]} {words}: {plan} CPUs a rank, {shown['CPUs/Task']} of Slurm")
            if isinstance(expected, str):
                # Slurm, too, refuses such a job, or lets it wait for ever.
                given = [] if "--cpus-per-task" in words else ["--cpus-per-task", "4"]
                check(not runs(cluster, ["--ntasks-per-node", "1", *given, *words]), f"{limits[i]} {words}: Slurm never starts it")


def runs(cluster, words):
    """Whether Slurm starts such a job."""
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", *words, "--wrap", "true", code=None)
    if job.returncode != 0:
        return False
    job = job.stdout.strip()
    wait_for(30, "an answer", lambda: cluster.run("squeue", "-h", "-t", "all", "-o", "%T %r", "-j", job).stdout.split() not in (
        ["PENDING", "None"], ["PENDING", "Priority"]))
    state = cluster.job_state(job)
    cluster.run("scancel", job)
    return state != "PENDING"


def several():
    """Two partitions that each take a part of the request only."""
    lines = conf("PartitionName=short Nodes=ALL State=UP MaxTime=10", "PartitionName=narrow Nodes=ALL State=UP MaxTime=60 MaxNodes=1")
    with Cluster("linuxproc", 2, 1, 20, *lines) as cluster:
        words = ["-p", "short,narrow", "--nodes", "2", "--time", "20"]
        check(not runs(cluster, words), "Slurm never starts it")
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            err = cluster.dtsubmit("submit", "--runs", cluster.runs, *words, "--", "true", code=3).stderr
            check("none of them takes the job" in err, f"{way}: {err}")


def steps():
    """MaxTasksPerNode is of a step: srun starts no more ranks on a node, mpirun does, by one daemon a node. Partitions that are down, or have no
    nodes."""
    with Cluster("linuxproc", 2, 1, 20, "--cpus-per-node", "4", *conf("MaxTasksPerNode=3", "PartitionName=later State=UP")) as cluster:
        said = cluster.run("srun", "--nodes", "1", "--ntasks", "4", "true", code=None).stderr
        check("Task count specification invalid" in said, f"Slurm refuses such a step: {said}")
        words = ["--runs", cluster.runs, "--ntasks-per-node", "4"]
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            err = cluster.dtsubmit("submit", *words, "--launcher", "srun", "--", "true", code=3).stderr
            check("error: --ntasks-per-node: " in err and "(MaxTasksPerNode)" in err, f"{way}: {err}")
            told = cluster.dtsubmit("submit", *words, "--", "true").stdout
            check("not by srun: srun starts at most 3 ranks on a node" in told, f"{way}: {told}")
            run = cluster.submit("--ntasks-per-node", "4", "--launcher", "mpirun", "--", "true")
            wait_for(60, f"{way}: the run's end", run.is_over)
            check(run.status()["done"], f"{way}: mpirun starts them")
        cluster.run("scontrol", "update", "PartitionName=high", "State=DOWN")
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            told = cluster.dtsubmit("submit", "--runs", cluster.runs, "-p", "high", "--", "true").stdout
            check("waits: partition high is not up now" in told, f"{way}: {told}")
            told = cluster.dtsubmit("submit", "--runs", cluster.runs, "-p", "later", "--", "true").stdout
            check("waits: partition later has no nodes now" in told, f"{way}: {told}")


def main():
    # Slurm refuses what exceeds MaxCPUsPerNode only sometimes: see node_cpus.py.
    names = [limit.split("=")[0] for limit, *_ in BEYOND]
    lines = conf("SelectTypeParameters=CR_Core_Memory", *(f"PartitionName={name} Nodes=ALL State=UP {limit}" for name, (limit, *_) in zip(names, BEYOND)))
    with Cluster("linuxproc", 2, 1, 20, "--cpus-per-node", "4", *lines) as cluster:
        for name, (limit, words, option) in zip(names, BEYOND):
            said = reason(cluster, ["-p", name, *words])
            check(said.startswith(("Partition", "MaxMemPerLimit")), f"Slurm lets a job beyond {limit} wait: {said}")
            for way in WAYS:
                cluster.environment["DTSUBMIT_SCHEDULER"] = way
                err = cluster.dtsubmit("submit", "--runs", cluster.runs, "-p", name, *words, "--", "true", code=3).stderr
                check(f"error: {option}: " in err and f"partition {name}" in err, f"{way}: {err}")


if __name__ == "__main__":
    {"limits": main, "memory": memory, "several": several, "steps": steps}[sys.argv[1]]()
