# SPDX-License-Identifier: Apache-2.0
"""Jobs that exceed a limit of their partition: Slurm accepts them and never starts them, so dtsubmit refuses them, through both plug-ins."""
from checks import check, wait_for
from main_job_support import Cluster
from plan import WAYS, conf

# A partition with a limit, options beyond it, and the option that is to blame.
BEYOND = [("MaxNodes=1", ["--nodes", "2"], "--nodes"), ("MinNodes=2", ["--nodes", "1"], "--nodes"),
          ("MaxMemPerNode=500", ["--nodes", "1", "--mem", "600M"], "--mem"),
          ("MaxTime=10", ["--nodes", "1", "--time", "11"], "--time")]


def reason(cluster, words):
    """Why Slurm lets such a job wait."""
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", *words, "--wrap", "true").stdout.strip()

    def waits():
        found = cluster.run("squeue", "-h", "-o", "%T %r", "-j", job).stdout.split()
        return found[1] if found and found[0] == "PENDING" and found[1] not in ("None", "Priority") else None

    found = wait_for(30, "a reason to wait", waits)
    cluster.run("scancel", job)
    return found


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
    main()
