# SPDX-License-Identifier: Apache-2.0
"""The GPUs that a rank's program sees, on a private Slurm whose nodes have two each: programs that take the one whose number is their local
rank, as under torchrun, and those that take the first. A package stands in for the parts of PyTorch that a GPU would be needed for."""
import glob
import os

from checks import check, wait_for
from main_job_support import Cluster

TORCH = '''import os
class cuda:
    @staticmethod
    def set_device(number):
        seen = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
        if int(number) >= len(seen):
            raise RuntimeError("CUDA error: invalid device ordinal")
        print("RANK %s GPU %s" % (os.environ["RANK"], seen[int(number)]), flush=True)
'''
BY_LOCAL_RANK = "import os, torch\ntorch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n"
FILES = {
    "packages/torch/__init__.py": TORCH,
    "packages/installed/__init__.py": "",
    "packages/installed/train.py": BY_LOCAL_RANK,
    "train.py": BY_LOCAL_RANK,
    "deep.py": "from util.misc import init\ninit()\n",
    "util/misc.py": "import os, torch\ndef init():\n    torch.cuda.set_device(int(os.environ['LOCAL_RANK']))\n",
    "first.py": "import torch\ntorch.cuda.set_device(0)\n",
}
OWN = ["RANK 0 GPU 0", "RANK 1 GPU 1", "RANK 2 GPU 0", "RANK 3 GPU 1"]


def write(place):
    for name, text in FILES.items():
        os.makedirs(os.path.dirname(f"{place}/{name}"), exist_ok=True)
        with open(f"{place}/{name}", "w") as file:
            file.write(text)


def ended(run):
    return [e for e in run.ledger() if e["event"] == "attempt_ended"]


def taken(run, attempt=1):
    """What the ranks have taken."""
    logs = glob.glob(f"{run.path}/attempt-{attempt}/rank-*.log")
    return sorted(line for log in logs for line in open(log).read().split("\n") if line.startswith("RANK "))


def finish(cluster, *words):
    run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", *words)
    wait_for(180, "the run's end", run.is_over)
    return run


def main():
    with Cluster("linuxproc", 2, 2, 5) as cluster:
        write(cluster.place)
        cluster.environment["PYTHONPATH"] = cluster.place + "/packages"
        for script in ("train.py", "deep.py", "first.py"):
            run = finish(cluster, "--", "python3", f"{cluster.place}/{script}")
            check(run.status()["done"] and len(ended(run)) == 1, f"{script}: one attempt is enough: {ended(run)}")
            check(taken(run) == OWN, f"{script}: each rank has its own GPU: {taken(run)}")

        run = finish(cluster, "--", "python3", "-m", "installed.train")
        causes = [e["cause"] for e in ended(run)]
        check(run.status()["done"] and causes == ["gpu_unseen", "completed"], f"a program that is not looked at is shown all GPUs after its error: {ended(run)}")
        check(taken(run, 2) == OWN, f"and each rank has its own: {taken(run, 2)}")
        check(not any(e["event"] == "node_unfit" or e.get("exclude") for e in run.ledger()), "no node is blamed")

        run = finish(cluster, "--gpu-view", "node", "--", "python3", "-m", "installed.train")
        check(run.status()["done"] and taken(run) == OWN and len(ended(run)) == 1, f"asked for, they are shown at once: {taken(run)}")

        run = finish(cluster, "--gpu-view", "rank", "--", "python3", f"{cluster.place}/train.py")
        check([e["cause"] for e in ended(run)] == ["user_exit"], f"asked for, each rank sees its own only: {ended(run)}")
        why = cluster.dtsubmit("why", run.path).stdout
        check("--gpu-view node" in why, f"and it is said what to write: {why}")


if __name__ == "__main__":
    main()
