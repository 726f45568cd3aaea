#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One command for this machine and for Slurm: train.py -name first [-slurm -slurm_nnodes 2 -slurm_ngpus 8].

Started by the user, this file submits itself; started by dtsubmit, it is the program of each rank."""
import argparse
import importlib.util
import os
import shutil
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "common"))
SAVED = 85


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("-name", default="first", help="of the experiment: it goes on where the last one of that name ended")
    parser.add_argument("-out", default="out", help="folder of experiments, seen by all nodes")
    parser.add_argument("-arch", choices=["linear", "mlp"], default="mlp")
    parser.add_argument("-epochs", type=int, default=3)
    parser.add_argument("-reset", action="store_true", help="start afresh")
    parser.add_argument("-tb", action="store_true", help="write for TensorBoard, if it is installed")
    parser.add_argument("-pause", type=float, default=0, help="seconds between steps, to have time to watch")
    parser.add_argument("-gpus", default="0", help="on this machine: e.g. 0,1,2")
    parser.add_argument("-slurm", action="store_true")
    parser.add_argument("-slurm_nnodes", type=int, default=1)
    parser.add_argument("-slurm_ngpus", type=int, default=1, help="on each node")
    parser.add_argument("-slurm_partition")
    return parser.parse_args()


def start(args):
    """Replaces this process with dtsubmit, which starts this file again as every rank."""
    if args.slurm:
        words = ["submit", "--nodes", str(args.slurm_nnodes), "--gpus-per-node", str(args.slurm_ngpus)]
        words += ["--partition", args.slurm_partition] if args.slurm_partition else []
    else:
        words = ["run", "--ntasks-per-node", str(len(args.gpus.split(",")))]
    os.execvp("dtsubmit", ["dtsubmit", *words, "--job-name", args.name, "--", sys.executable, os.path.abspath(__file__), *sys.argv[1:]])


class Experiment:
    """Weights, log and TensorBoard events of one experiment. Only rank 0 writes and prints."""

    def __init__(self, args, rank):
        self.folder, self.rank, self.board = os.path.join(args.out, args.name), rank, None
        # -reset applies to the first attempt: an attempt after a preemption must not lose what was done before.
        if rank == 0 and args.reset and os.environ["DTSUBMIT_ATTEMPT"] == "1":
            shutil.rmtree(self.folder, ignore_errors=True)
        if rank == 0:
            os.makedirs(self.folder, exist_ok=True)
        if rank == 0 and args.tb:
            if importlib.util.find_spec("tensorboard"):
                from torch.utils.tensorboard import SummaryWriter
                self.board = SummaryWriter(self.folder)
            else:
                self.say("no TensorBoard here")

    def say(self, text):
        if self.rank == 0:
            print(text, flush=True)
            with open(self.folder + "/log.txt", "a") as log:
                log.write(text + "\n")

    def loss(self, step, loss):
        if self.board:
            self.board.add_scalar("loss", loss, step)

    def save(self, **state):
        import torch
        if self.rank == 0:
            path = self.folder + "/weights.pt"
            with open(path + ".new", "wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(path + ".new", path)

    def saved(self):
        import torch
        path = self.folder + "/weights.pt"
        return torch.load(path, map_location="cpu") if os.path.exists(path) else None


def network(arch):
    from torch import nn
    if arch == "linear":
        return nn.Sequential(nn.Flatten(), nn.Linear(784, 10))
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))


def train(args):
    import fashion_mnist
    import process_group
    import torch
    import torch.distributed as dist
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel
    from torch.utils.data.distributed import DistributedSampler

    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    experiment = Experiment(args, rank)
    dist.barrier()  # -reset has removed the files before any rank reads them

    torch.manual_seed(1)
    model = DistributedDataParallel(network(args.arch))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    step = 0
    if state := experiment.saved():
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    experiment.say(f"attempt {os.environ['DTSUBMIT_ATTEMPT']}: {world} ranks, from step {step}")

    count, batch = 2560, 64
    images, labels = (torch.from_numpy(array) for array in fashion_mnist.load("train", count))
    sampler = DistributedSampler(range(count), seed=1, drop_last=True)
    per_epoch = count // batch
    while step < args.epochs * per_epoch:
        sampler.set_epoch(step // per_epoch)
        mine = torch.tensor(list(sampler)).split(batch // world)[step % per_epoch]
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[mine]), labels[mine])
        loss.backward()
        optimizer.step()
        step += 1
        told = torch.tensor([loss.item(), float(bool(asked))])
        dist.all_reduce(told)
        mean, stop = told[0].item() / world, told[1].item() > 0  # all stop after the same step, or none
        experiment.loss(step, mean)
        if step % 20 == 0:
            experiment.say(f"step {step:3}  loss {mean:.4f}")
        if stop:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # a late one would kill a rank that has saved
        if stop or step % per_epoch == 0:
            experiment.save(step=step, loss=mean, model=model.module.state_dict(), optimizer=optimizer.state_dict())
            dist.barrier()
        if stop:
            experiment.say(f"saved after step {step}")
            return SAVED
        time.sleep(args.pause)
    weights = sum(parameter.double().sum().item() for parameter in model.module.parameters())
    experiment.say(f"done: {step} steps, sum of weights {weights:.6f}")
    if experiment.board:
        experiment.board.close()
    process_group.leave()
    return 0


if __name__ == "__main__":
    arguments = options()
    sys.exit(train(arguments) if "DTSUBMIT_ATTEMPT" in os.environ else start(arguments))
