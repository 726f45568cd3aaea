# SPDX-License-Identifier: Apache-2.0
"""Limits of QOS, associations and partitions, one after another: a job that Slurm accepts and never starts is refused, and a job that Slurm
starts is not. Each row is tried with sbatch and with dtsubmit, through both plug-ins."""
import os
import signal
import time

from accounting import USER, ServedCluster
from checks import check
from partition_limits import runs
from plan import WAYS

# What is set for the row only, as words of sacctmgr; the job's options (sbatch has the same); the option at fault, or None if the job runs.
ROWS = [
    (["qos small MaxTRES=cpu=2"], "--qos small --cpus-per-task 4", "--cpus-per-task"),
    (["qos small MaxTRES=cpu=2"], "--qos small --cpus-per-task 2", None),
    (["qos small MaxTRES=mem=500M"], "--qos small --nodes 2 --mem 300", "--mem"),
    (["qos small MaxTRES=node=1"], "--qos small --nodes 2", "--nodes"),
    # Each CPU is one billing unit if the partition sets no weights.
    (["qos small MaxTRES=billing=2"], "--qos small --cpus-per-task 3", "--cpus-per-task"),
    (["qos small MaxTRES=billing=10"], "--qos small -p billed --cpus-per-task 3", "--cpus-per-task"),
    (["qos small MaxTRES=billing=10"], "--qos small -p billed --cpus-per-task 2", None),
    (["account default MaxTRES=billing=10"], "-p billed --cpus-per-task 1 --gpus-per-node 1", "--gpus-per-node"),
    (["qos small MaxTRESMins=billing=40"], "--qos small -p billed --cpus-per-task 2 --time 6", "--cpus-per-task"),
    (["qos small MaxTRESMins=billing=48"], "--qos small -p billed --cpus-per-task 2 --time 6", None),
    (["account default MaxTRESPerNode=gres/gpu=2"], "--nodes 2 --gpus-per-node 3", "--gpus-per-node"),
    (["account default MaxTRESPerNode=gres/gpu=2"], "--nodes 2 --gpus-per-node 2", None),
    (["qos small MinTRES=gres/gpu=2"], "--qos small --gpus-per-node 1", "--gpus-per-node"),
    (["qos small MinTRES=gres/gpu=2"], "--qos small --gpus-per-node 2", None),
    (["qos small MaxTRESPU=cpu=2"], "--qos small --cpus-per-task 3", "--cpus-per-task"),
    (["qos small MaxTRESPA=cpu=2"], "--qos small --cpus-per-task 3", "--cpus-per-task"),
    (["qos small MaxTRESMins=cpu=10"], "--qos small --cpus-per-task 2 --time 6", "--cpus-per-task"),
    (["qos small MaxTRESMins=cpu=10"], "--qos small --cpus-per-task 2 --time 5", None),
    (["qos small GrpTRESRunMins=cpu=10"], "--qos small --cpus-per-task 2 --time 6", "--cpus-per-task"),
    (["qos small GrpTRESMins=cpu=10"], "--qos small --cpus-per-task 2 --time 6", None),  # Slurm ends it when they are used up
    (["account default MaxWall=5"], "--time 6", "--time"),
    # The account, and the one above it.
    (["account root GrpTRES=cpu=1"], "--cpus-per-task 2", "--cpus-per-task"),
    (["account default GrpTRES=node=1"], "--nodes 2", "--nodes"),
    # A job that requests no time has the partition's default.
    (["qos small MaxWall=1"], "-p timed --qos small", "--time"),
    (["qos small MaxWall=2"], "-p timed --qos small", None),
    (["qos small MaxTRESMins=cpu=3"], "-p timed --qos small --cpus-per-task 2", "--cpus-per-task"),
    (["qos small MaxTRESMins=cpu=4"], "-p timed --qos small --cpus-per-task 2", None),
    # A QOS overrides what associations say of the same resource, and only that.
    (["account default MaxTRES=cpu=1", "qos small MaxTRES=cpu=4"], "--qos small --cpus-per-task 2", None),
    (["account default MaxTRES=cpu=1", "qos small MaxTRES=mem=4G"], "--qos small --cpus-per-task 2 --mem 300", "--cpus-per-task"),
    (["account default MaxTRES=cpu=1", "qos small LimitFactor=2"], "--qos small --cpus-per-task 2", None),
    (["account default MaxTRES=cpu=1", "qos small LimitFactor=2"], "--qos small --cpus-per-task 3", "--cpus-per-task"),
    (["account default MaxWall=5", "qos small MaxWall=20"], "--qos small --time 6", None),
    # The partition's QOS comes first, or second if the job's says so.
    (["qos ofpart MaxTRES=cpu=2"], "-p withqos --cpus-per-task 3", "--cpus-per-task"),
    (["qos ofpart MaxTRES=cpu=2", "qos small MaxTRES=cpu=1"], "-p withqos --qos small --cpus-per-task 2", None),
    (["qos ofpart MaxTRES=cpu=2", "qos small MaxTRES=cpu=4", "qos small Flags=OverPartQOS"], "-p withqos --qos small --cpus-per-task 3", None),
    (["qos ofpart MaxTRES=cpu=4", "account default MaxTRES=cpu=1"], "-p withqos,low --cpus-per-task 2", None),
    # The default QOS lifts a limit of the partition.
    ([], "-p short --time 6", "--time"),
    (["qos normal Flags=PartitionTimeLimit"], "-p short --time 6", None),
    # Who may use a partition.
    ([], "-p accounts", "--account"),
    ([], "-p noaccounts", "--account"),
    ([], "-p qos", "--qos"),
    ([], "-p qos --qos small", None),
    ([], "-p noqos", "--qos"),
    # Refused by Slurm itself.
    (["qos small MaxWall=5", "qos small Flags=DenyOnLimit"], "--qos small --time 6", "--time"),
    (["qos small GrpWall=5", "qos small Flags=DenyOnLimit"], "--qos small --time 6", "--time"),
    (["account default GrpSubmitJobs=1"], "--array 1-2", "--array"),
]
PARTITIONS = ["PartitionName=short Nodes=ALL State=UP MaxTime=5", "PartitionName=withqos Nodes=ALL State=UP QOS=ofpart",
              "PartitionName=timed Nodes=ALL State=UP DefaultTime=2", "PartitionName=billed Nodes=ALL State=UP TRESBillingWeights=CPU=4,Mem=1G,GRES/gpu=20",
              "PartitionName=accounts Nodes=ALL State=UP AllowAccounts=other", "PartitionName=noaccounts Nodes=ALL State=UP DenyAccounts=default", "PartitionName=qos Nodes=ALL State=UP AllowQos=small",
              "PartitionName=noqos Nodes=ALL State=UP DenyQos=normal"]


def words_of(setting, undone):
    """ "qos small MaxTRES=cpu=2" as the words of sacctmgr that set it, or that undo it."""
    entity, name, what = setting.replace("USER", USER).split()
    if undone:
        what = what.replace("Flags=", "Flags-=") if what.startswith("Flags=") else what.rsplit("=", 1)[0] + "=-1"
    return ["modify", entity, name, "set", what]


def refuses_alike(cluster, limits, words, option):
    """Both ways refuse the job before it is submitted, and name the limit; or neither does."""
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        what = ["submit", "--runs", cluster.runs, *words, "--", "sleep", "60"] if option else ["plan", *words, "--", "sleep", "60"]
        done = cluster.dtsubmit(*what, code=3 if option else 0)
        if option:
            check(f"error: {option}: " in done.stderr, f"{way}: {limits} {words} is refused for {option}: {done.stderr}")


def main():
    with ServedCluster(2, 4, "--cpus-per-node", "4", "--accounting", "--conf", "SelectTypeParameters=CR_Core_Memory") as cluster:
        cluster.sacctmgr("add", "qos", "ofpart")
        cluster.sacctmgr("add", "account", "other")
        cluster.allow("small")
        cluster.reconfigure(*PARTITIONS)
        for limits, words, option in ROWS:
            for limit in limits:
                cluster.sacctmgr(*words_of(limit, undone=False))
            given = ["--ntasks-per-node", "1", *words.split()]
            given += [] if "--cpus-per-task" in given else ["--cpus-per-task", "1"]
            given += [] if "--mem" in given else ["--mem", "100"]
            check(runs(cluster, given) == (option is None), f"{limits} {words}: Slurm {'starts' if option is None else 'never starts'} it")
            refuses_alike(cluster, limits, given, option)
            for limit in limits:
                cluster.sacctmgr(*words_of(limit, undone=True))
        changed(cluster)
        slow_accounting(cluster)


def changed(cluster):
    """A requeue with options that Slurm would never start is refused, too."""
    run = cluster.submit("--nodes", "1", "--ntasks-per-node", "1", "--", "sh", "-c", "trap 'exit 85' TERM; while :; do sleep 0.1; done")
    cluster.sacctmgr(*words_of("qos normal MaxTRES=node=1", undone=False))
    try:
        refused = cluster.dtsubmit("requeue", run.path, "--nodes", "2", code=3).stderr
        check("error: --nodes: " in refused, refused)
    finally:
        cluster.sacctmgr(*words_of("qos normal MaxTRES=node=1", undone=True))
    cluster.dtsubmit("cancel", run.path)


def slow_accounting(cluster):
    """An accounting that does not answer delays a submission by seconds, and does not prevent it."""
    pid = int(open(cluster.folder + "/run/slurmdbd.pid").read())
    os.kill(pid, signal.SIGSTOP)
    try:
        began = time.monotonic()
        cluster.dtsubmit("submit", "--runs", cluster.runs, "--ntasks-per-node", "1", "--", "true")
        check(time.monotonic() - began < 10, f"submitted after {time.monotonic() - began:.1f} s")
    finally:
        os.kill(pid, signal.SIGCONT)


if __name__ == "__main__":
    main()
