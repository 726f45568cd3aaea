#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker of the launcher: trains a linear classifier with DistributedDataParallel."""
import argparse
import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import fashion_mnist
import process_group

STEPS, BATCH = 60, 64
DO_NOT_RESTART = 93


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.02)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = DistributedDataParallel(nn.Sequential(nn.Flatten(), nn.Linear(784, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    images, labels = (torch.from_numpy(array) for array in fashion_mnist.load("train", STEPS * BATCH))
    for step in range(STEPS):
        mine = slice(step * BATCH + rank, (step + 1) * BATCH, world)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[mine]), labels[mine])
        loss.backward()
        optimizer.step()
        mean = loss.detach()
        dist.all_reduce(mean)
        if not torch.isfinite(mean):  # every worker sees the same mean, so all end here
            print(f"worker {rank} of {world}: the loss is {mean.item()} after step {step + 1}", flush=True)
            return DO_NOT_RESTART
        if rank == 0 and step % 20 == 19:
            print(f"step {step + 1:2}  loss {mean.item() / world:.4f}", flush=True)
    print(f"worker {rank} of {world} done, {torch.get_num_threads()} threads", flush=True)
    dist.barrier()
    process_group.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
