# SPDX-License-Identifier: Apache-2.0
"""GPUs of a type on a node that has two kinds according to NVML: a recorded machine in place of this one, and a library that stands in for
NVML. The first two GPUs are A100s, the others H100s; the private Slurm calls all of them a100."""
import glob
import os
import re

from checks import check, wait_for
from main_job_support import DTSUBMIT, Cluster

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINE = HERE + "/../data/topologies/uneven.xml"
STAND_IN = os.path.dirname(DTSUBMIT) + "/../tests/libnvml_fixture.so"
SHOW = ["--", "sh", "-c", "echo GPU=$CUDA_VISIBLE_DEVICES"]


def pretend(cluster):
    """The environment of a node with the four GPUs of the stand-in."""
    with open(MACHINE) as file:
        text = file.read()
    gpus = re.findall(r'pci_busid="(0000:[0-9a-f]{2}:00.0)" pci_type="0302 \[10de', text)
    check(len(gpus) == 4, f"{MACHINE} has four GPUs: {gpus}")
    for number, gpu in enumerate(gpus):
        text = text.replace(gpu, f"0000:{0x3b + number:02x}:00.0")
    with open(cluster.place + "/node.xml", "w") as file:
        file.write(text)
    os.mkdir(cluster.place + "/lib")
    os.symlink(STAND_IN, cluster.place + "/lib/libnvidia-ml.so.1")
    cluster.environment.update(HWLOC_XMLFILE=cluster.place + "/node.xml", HWLOC_COMPONENTS="xml,stop", HWLOC_THISSYSTEM="1",
                               LD_LIBRARY_PATH=cluster.place + "/lib", NVML_FIXTURE_NODE="mixed")


def seen(folder):
    """What the ranks printed, in rank order."""
    logs = sorted(glob.glob(folder + "/**/rank-*.log", recursive=True))
    return [line for log in logs for line in open(log).read().split("\n") if line.startswith("GPU=")]


def main():
    with Cluster("linuxproc", 1, 4, 5, "--gpu-type", "a100") as cluster:
        pretend(cluster)
        shown = cluster.dtsubmit("topo", "--gpus-per-node", "h100:2", "--json").stdout
        check(shown.count("H100") == 2 and shown.count("A100") == 2, "`dtsubmit topo` names the products")

        run = cluster.submit("--nodes", "1", "--gpus-per-node", "a100:2", *SHOW)
        wait_for(120, "the run's end", run.is_over)
        check(run.status()["done"], "two GPUs that are what was asked for are used")
        check(seen(run.path) == ["GPU=0", "GPU=1"], f"by their numbers: {seen(run.path)}")

        run = cluster.submit("--nodes", "1", "--gpus-per-node", "a100:4", *SHOW)
        wait_for(120, "the run's end", run.is_over)
        ended = [e for e in run.ledger() if e["event"] == "attempt_ended"][0]
        check(not run.status()["done"] and ended["cause"] == "launch_failed", f"with GPUs of another kind among them, none is started: {ended}")
        for words in ("n0: GPU 2 (0000:3d:00.0) is NVIDIA H100 80GB HBM3, not of the requested type a100", "GPU 3"):
            check(words in ended["detail"], words)

        cluster.dtsubmit("run", "--runs", cluster.place + "/here", "--gpus-per-node", "h100:2", *SHOW)
        check(seen(cluster.place + "/here") == ["GPU=2", "GPU=3"], f"where all are there to choose from, those of the type are: {seen(cluster.place + '/here')}")

        done = cluster.dtsubmit("run", "--runs", cluster.place + "/own", "--gpus-per-node", "gold:2", *SHOW)
        logs = "".join(open(log).read() for log in glob.glob(cluster.place + "/own/**/*.log", recursive=True))
        said = (done.stdout + done.stderr + logs).count("has `gold` in its product's name")
        check(seen(cluster.place + "/own") == ["GPU=0", "GPU=1"] and said == 1, f"a name of the site's own is used, with one warning: {said}")


if __name__ == "__main__":
    main()
