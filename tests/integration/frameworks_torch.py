#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch over Gloo with env://: the loss curve is that of one process on the same data.

frameworks_torch.py local: four ranks of `dtsubmit run`.
frameworks_torch.py slurm [OPTION...]: two nodes with four ranks each on a private Slurm, with these options of `dtsubmit submit`.
frameworks_torch.py torchrun [OPTION...]: two nodes on which torchrun starts two processes each.
frameworks_torch.py library NAME [OPTION...]: two nodes with two ranks each, for accelerate, deepspeed or horovod without a launcher of
its own."""
import gzip
import os
import sys
import time

from few_images import DATA
from frameworks_support import PYTHON, TORCHRUN, check, heard, need, run_ranks, skip, tell

STEPS, BATCH = 50, 64
TOLERANCE = 1e-9  # of losses near 1 in fp64, so that a wrong sample or a lost gradient is noticed


def data():
    import numpy
    import torch
    with gzip.open(os.path.join(DATA, "train-images-idx3-ubyte.gz")) as file:
        pixels = numpy.frombuffer(file.read(16 + STEPS * BATCH * 784), numpy.uint8, offset=16)
    with gzip.open(os.path.join(DATA, "train-labels-idx1-ubyte.gz")) as file:
        labels = numpy.frombuffer(file.read(8 + STEPS * BATCH), numpy.uint8, offset=8)
    images = (pixels.reshape(-1, 784).astype(numpy.float64) / 255 - 0.2860) / 0.3530
    return torch.from_numpy(images), torch.from_numpy(labels.astype(numpy.int64))


def train(rank, size, wrap, mean):
    """The loss of each step over the whole batch, of which this rank computes one sample in `size`. `wrap` makes model and optimizer work
    over all ranks."""
    import torch
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)).double()
    model, optimizer = wrap(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    images, labels = data()
    losses = []
    for step in range(STEPS):
        mine = slice(step * BATCH + rank, (step + 1) * BATCH, size)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[mine]), labels[mine])
        loss.backward()
        optimizer.step()
        losses.append(mean(loss.detach()))
    time.sleep(0.1)  # PyTorch 1.13 hangs if gloo's thread still needs the GIL, for its last tensor, when the process ends
    return losses


def by_ddp():
    """Rank, size, `wrap` and `mean` for train(), with PyTorch alone."""
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    if not dist.is_initialized():
        dist.init_process_group("gloo", init_method="env://")

    def mean(loss):
        dist.all_reduce(loss)
        return loss.item() / dist.get_world_size()

    return dist.get_rank(), dist.get_world_size(), lambda model, optimizer: (DistributedDataParallel(model), optimizer), mean


def by_accelerate():
    from accelerate import Accelerator
    accelerator = Accelerator(cpu=True)
    return (accelerator.process_index, accelerator.num_processes, accelerator.prepare,
            lambda loss: accelerator.reduce(loss, "mean").item())


def by_deepspeed():
    """DeepSpeed reads its identity from variables, or gets it from MPI, and sets up torch.distributed."""
    os.environ["DS_ACCELERATOR"] = "cuda"  # "cpu" would first compile an extension; no GPU is needed here
    import deepspeed
    deepspeed.init_distributed(dist_backend="gloo")
    return by_ddp()


def by_horovod():
    import horovod.torch as hvd
    hvd.init()

    def wrap(model, optimizer):
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        return model, hvd.DistributedOptimizer(optimizer, named_parameters=model.named_parameters())

    return hvd.rank(), hvd.size(), wrap, lambda loss: hvd.allreduce(loss).item()


WAYS = {"ddp": by_ddp, "accelerate": by_accelerate, "deepspeed": by_deepspeed, "horovod": by_horovod}


def rank_main():
    rank, size, wrap, mean = WAYS[sys.argv[2] if len(sys.argv) > 2 else "ddp"]()
    tell({"rank": rank, "size": size, "losses": train(rank, size, wrap, mean),
          "interface": os.environ.get("GLOO_SOCKET_IFNAME"), "threads": os.environ.get("OMP_NUM_THREADS"),
          "launcher": [name for name in os.environ if name.startswith("OMPI_COMM_WORLD")]})


def check_curves(ranks, size, alone):
    check([told["rank"] for told in ranks] == list(range(size)), "each rank is who its log says")
    check({told["size"] for told in ranks} == {size}, f"one world of {size}")
    check(len({told["interface"] for told in ranks}) == 1, f"all talk over {ranks[0]['interface']}")
    worst = max(abs(ours - theirs) for told in ranks for ours, theirs in zip(told["losses"], alone))
    check(all(len(told["losses"]) == STEPS for told in ranks) and worst < TOLERANCE,
          f"{STEPS} losses of {size} ranks, {alone[0]:.3f} to {alone[-1]:.3f}, differ by {worst:.1e} at most from those of one process")


def local(alone):
    check_curves(run_ranks(4, __file__), 4, alone)
    long = ["x" * 1000] * 200  # more than mpirun can take on its command line
    ranks = run_ranks(2, __file__, "ddp", *long, environment={"GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "7", "RANK": "5", "WORLD_SIZE": "6"})
    check_curves(ranks, 2, alone)
    check({(told["interface"], told["threads"]) for told in ranks} == {("lo", "7")}, "the user's own interface and threads stay, his ranks do not")


def slurm(alone, options):
    from main_job_support import Cluster
    with Cluster("linuxproc", nodes=2, gpus=0, grace=20) as cluster:
        run = cluster.submit("--nodes", "2", "--ntasks-per-node", "4", *options, "--", PYTHON, os.path.abspath(__file__), "rank")
        status = run.finish()
        check(status["done"], f"the job is done {' '.join(options)}")
        check_curves(heard(run.path), 8, alone)


def torchrun(alone, options):
    """Two tasks that start two processes each, which find each other by our PET_* variables alone."""
    from main_job_support import Cluster
    with Cluster("linuxproc", nodes=2, gpus=2, grace=20) as cluster:
        program = cluster.place + "/torchrun"
        with open(program, "w") as file:
            file.write(TORCHRUN)
        os.chmod(program, 0o755)
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", *options, "--", program, os.path.abspath(__file__), "rank")
        check(run.finish()["done"], f"torchrun on two nodes is done {' '.join(options)}")
        ranks = heard(run.path, each=2)
        check_curves(ranks, 4, alone)
        check(not any(told["launcher"] for told in ranks), f"no process has mpirun's numbers of its parent: {ranks[0]['launcher']}")


def library(alone, name, options):
    from main_job_support import Cluster
    print(name, need(name))
    with Cluster("linuxproc", nodes=2, gpus=0, grace=20) as cluster:
        run = cluster.submit("--nodes", "2", "--ntasks-per-node", "2", *options, "--", PYTHON, os.path.abspath(__file__), "rank", name)
        check(run.finish()["done"], f"{name} on two nodes is done {' '.join(options)}")
        check_curves(heard(run.path), 4, alone)


def main():
    if not os.path.isdir(DATA):
        skip(f"no {DATA} (Debian package dataset-fashion-mnist)")
    print("PyTorch", need("torch"))
    alone = train(0, 1, lambda model, optimizer: (model, optimizer), lambda loss: loss.item())
    check(alone[-1] < alone[0] / 2, "one process alone learns")
    if sys.argv[1] == "slurm":
        slurm(alone, sys.argv[2:])
    elif sys.argv[1] == "torchrun":
        torchrun(alone, sys.argv[2:])
    elif sys.argv[1] == "library":
        library(alone, sys.argv[2], sys.argv[3:])
    else:
        local(alone)


rank_main() if sys.argv[1:2] == ["rank"] else main()
