#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cost that `dtsubmit plan` predicts, through both plug-ins, is what Slurm bills for running jobs: by each rule of PriorityFlags, with
weights for a type of GPU, and for whole nodes. This needs accounting, without which Slurm does not count GPUs."""
import os
import re
import shutil

from checks import skip, wait_for
from main_job_support import Cluster
from plan import CORES, GPUS, WAYS, Asker, conf

NODES, TYPE = 2, "a100"
WEIGHTS = ("CPU=1.0,Mem=0.25G,GRES/gpu=2.5", "CPU=0.1,Node=3,Mem=4G", f"GRES/gpu=12,GRES/gpu:{TYPE}=1.5", f"CPU=1,GRES/gpu:{TYPE}=8")
PARTITIONS = ("high", "whole")
JOBS = (["--nodes", "2", "--ntasks-per-node", "2", "--cpus-per-task", "3", "--gpus-per-node", "2", "--mem", "900M"],
        ["--nodes", "1", "--ntasks-per-node", "1", "--cpus-per-task", "1", "--gpus-per-node", f"{TYPE}:1", "--mem", "600M"],
        ["--nodes", "1", "--ntasks-per-node", "1", "--cpus-per-task", "1", "--gpus-per-node", "0", "--mem", "10M", "--exclusive"])


def billed(cluster, asker):
    """What Slurm bills for the job once it has nodes."""
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", asker.script).stdout.strip()

    def amount():
        shown = cluster.run("scontrol", "show", "job", job).stdout
        found = re.search(r"^ *(?:Alloc)?TRES=\S*billing=(\d+)", shown, re.M)
        return None if "JobState=PENDING" in shown else found

    found = wait_for(30, "the job has nodes", amount)
    cluster.run("scancel", job)
    return int(found[1])


def cost_is_billed(cluster, rule):
    asker = Asker(cluster)
    for partition in PARTITIONS:
        for weights in WEIGHTS:
            cluster.run("scontrol", "update", f"PartitionName={partition}", f"TRESBillingWeights={weights}")
            for job in JOBS:
                words = [*job, "-p", partition, "--time", "10"]
                costs = [asker.plan(way, *words)["cost"] for way in WAYS]
                assert costs[0] == costs[1] and costs[0]["rule"] == rule and not costs[0]["not_counted"], costs
                asker.write_script(words)
                real = billed(cluster, asker)
                assert costs[0]["units_an_hour"] == real, f"{weights} {words}: Slurm bills {real}, plan says {costs[0]}"
    print(f"ok: Slurm bills what plan says of {len(PARTITIONS) * len(WEIGHTS) * len(JOBS)} jobs, by the rule `{rule}`")


def set_flags(cluster, flags):
    path = cluster.environment["SLURM_CONF"]
    with open(path) as file:
        lines = [line for line in file if not line.startswith("PriorityFlags=")]
    with open(path, "w") as file:
        file.writelines([*lines, f"PriorityFlags={flags}\n"])
    cluster.run("scontrol", "reconfigure")


def release(cluster):
    """(22, 5)"""
    return tuple(int(number) for number in cluster.run("scontrol", "--version").stdout.split()[-1].split(".")[:2])


def main():
    for program in ("slurmdbd", "mariadbd"):
        if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
            skip(f"no {program} here (Debian 12: apt install --no-install-recommends slurmdbd mariadb-server-core mariadb-client-core)")
    counted = conf("PriorityType=priority/multifactor", f"AccountingStorageTRES=gres/gpu,gres/gpu:{TYPE}", "SelectTypeParameters=CR_Core_Memory",
                   "PartitionName=whole Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE")
    with Cluster("linuxproc", NODES, GPUS, 20, "--cpus-per-node", str(CORES), "--gpu-type", TYPE, "--accounting", *counted) as cluster:
        cost_is_billed(cluster, "sum")
        set_flags(cluster, "MAX_TRES")
        cost_is_billed(cluster, "largest")
        if release(cluster) < (24, 5):
            print(f"not tried: PriorityFlags=MAX_TRES_GRES, which Slurm has since 24.05, and this is {'.'.join(map(str, release(cluster)))}")
            return
        set_flags(cluster, "MAX_TRES_GRES")
        cost_is_billed(cluster, "largest_and_gpus")


if __name__ == "__main__":
    main()
