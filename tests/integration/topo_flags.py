# SPDX-License-Identifier: Apache-2.0
"""The flags that `dtsubmit topo --emit` prints bind as they say: topo_flags.py openmpi|slurm."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, skip
from main_job_support import Cluster, DTSUBMIT

TELL = ["sh", "-c", "echo RANK_VARIABLE $(grep Cpus_allowed_list /proc/self/status)"]


def topo(*words):
    return subprocess.run([DTSUBMIT, "topo", *words], check=True, capture_output=True, text=True).stdout


def expected(*words):
    """The CPUs of each rank, as sets."""
    return [set(rank["cpus"]) for rank in json.loads(topo("--json", *words))["ranks"]]


def numbers(text):
    """{0, 1, 5} for "0-1,5"."""
    found = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found.update(range(int(first), int(last or first) + 1))
    return found


def told(output):
    """By rank: what the processes reported about themselves."""
    lines = sorted(line.split() for line in output.splitlines() if "Cpus_allowed_list:" in line)
    return [numbers(line[2]) for line in lines]


def tell(variable):
    return [word.replace("RANK_VARIABLE", variable) for word in TELL]


def requests():
    """A rank for each CPU in the node's order and in reverse, and one rank on all CPUs."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        skip("needs two CPUs, to tell one binding from another")
    yield "--ranks", "2", "--bind", "compact"
    yield "--bind", f"map:{cpus[1]};{cpus[0]}", "--ranks", "2"
    yield "--ranks", "1"


def openmpi():
    if not shutil.which("mpirun"):
        skip("no mpirun (Debian package openmpi-bin)")
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.NamedTemporaryFile("w", prefix="dts-rankfile-") as file:
        for words in requests():
            rankfile = topo(*words, "--emit", "openmpi")
            file.seek(0)
            file.truncate()
            file.write(rankfile)
            file.flush()
            # The command is in the file's first line.
            call = rankfile.splitlines()[0].lstrip("# ").replace("FILE", file.name).replace(" PROGRAM", "")
            ran = subprocess.run(call.split() + tell("$OMPI_COMM_WORLD_RANK"), env=environment, capture_output=True, text=True)
            check(ran.returncode == 0, f"mpirun takes it {ran.stderr}")
            check(told(ran.stdout) == expected(*words), f"{' '.join(words)}: each rank of mpirun is where it should be: {told(ran.stdout)}")


def slurm():
    cpus = len(os.sched_getaffinity(0))
    with Cluster("linuxproc", 1, 0, 0, "--cpus-per-node", str(cpus), "--conf", "TaskPlugin=task/affinity") as cluster:
        for words in requests():
            flags = topo(*words, "--emit", "slurm").split()
            ran = cluster.run("salloc", "--exclusive", "--nodes=1", "--quiet", "srun", *flags, *tell("$SLURM_PROCID"))
            check(told(ran.stdout) == expected(*words), f"{' '.join(words)}: each task of srun is where it should be: {told(ran.stdout)}")


if __name__ == "__main__":
    {"openmpi": openmpi, "slurm": slurm}[sys.argv[1]]()
