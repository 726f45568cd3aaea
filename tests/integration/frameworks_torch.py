#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch DDP over Gloo with env://, four ranks: the loss curve is that of one process on the same data."""
import gzip
import os
import sys

from frameworks_support import DATA, check, need, run_ranks, skip, tell

STEPS, BATCH, RANKS = 50, 64, 4
TOLERANCE = 1e-5  # of losses near 1; fp32 rounds at 1e-7 and 50 steps amplify it


def data():
    import numpy
    import torch
    with gzip.open(os.path.join(DATA, "train-images-idx3-ubyte.gz")) as file:
        pixels = numpy.frombuffer(file.read(16 + STEPS * BATCH * 784), numpy.uint8, offset=16)
    with gzip.open(os.path.join(DATA, "train-labels-idx1-ubyte.gz")) as file:
        labels = numpy.frombuffer(file.read(8 + STEPS * BATCH), numpy.uint8, offset=8)
    images = (pixels.reshape(-1, 784).astype(numpy.float32) / 255 - 0.2860) / 0.3530
    return torch.from_numpy(images), torch.from_numpy(labels.astype(numpy.int64))


def train(rank, size, wrap, mean):
    """The loss of each step over the whole batch, of which this rank computes one sample in `size`."""
    import torch
    torch.manual_seed(1)
    model = wrap(torch.nn.Sequential(torch.nn.Linear(784, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images, labels = data()
    losses = []
    for step in range(STEPS):
        mine = slice(step * BATCH + rank, (step + 1) * BATCH, size)
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[mine]), labels[mine])
        loss.backward()
        optimizer.step()
        losses.append(mean(loss.detach()))
    return losses


def rank_main():
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel
    dist.init_process_group("gloo", init_method="env://")

    def mean(loss):
        dist.all_reduce(loss)
        return loss.item() / dist.get_world_size()

    losses = train(dist.get_rank(), dist.get_world_size(), DistributedDataParallel, mean)
    tell({"rank": dist.get_rank(), "size": dist.get_world_size(), "losses": losses,
          "interface": os.environ.get("GLOO_SOCKET_IFNAME")})
    dist.destroy_process_group()


def main():
    if not os.path.isdir(DATA):
        skip(f"no {DATA} (Debian package dataset-fashion-mnist)")
    print("PyTorch", need("torch"))
    import torch
    torch.set_num_threads(1)
    alone = train(0, 1, lambda model: model, lambda loss: loss.item())
    ranks = run_ranks(RANKS, __file__)
    check([told["rank"] for told in ranks] == list(range(RANKS)), "each rank is who its log says")
    check({told["size"] for told in ranks} == {RANKS}, f"one world of {RANKS}")
    check(len({told["interface"] for told in ranks}) == 1, f"all talk over {ranks[0]['interface']}")
    for told in ranks:
        worst = max(abs(ours - theirs) for ours, theirs in zip(told["losses"], alone))
        check(len(told["losses"]) == STEPS and worst < TOLERANCE,
              f"rank {told['rank']}: {STEPS} losses, {alone[0]:.3f} to {alone[-1]:.3f}, differ by {worst:.1e} at most")
    check(alone[-1] < alone[0] / 2, "and the model learns")


rank_main() if sys.argv[1:2] == ["rank"] else main()
