#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A convolutional net on CPUs, as processes x threads: each rank uses the cores that it is bound to.

It computes no core numbers: dtsubmit has bound the process, and OMP_NUM_THREADS is the number of its cores."""
import argparse
import os
import sys
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import fashion_mnist
import process_group


def cores_of_threads():
    """The cores (by their first CPU) that any thread of this process may use: OpenMP's threads must stay on ours."""
    cores = set()
    for thread in os.listdir("/proc/self/task"):
        for cpu in os.sched_getaffinity(int(thread)):
            with open(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list") as file:
                cores.add(int(file.read().replace("-", ",").split(",")[0]))
    return cores


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--images", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=128, help="of all processes together")
    args = parser.parse_args()
    dist.init_process_group("gloo", init_method="env://")
    rank, world = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(1)
    model = DistributedDataParallel(nn.Sequential(
        nn.Conv2d(1, 16, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(32 * 7 * 7, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    images, labels = (torch.from_numpy(array) for array in fashion_mnist.load("train", args.images))
    images = images.unsqueeze(1)
    batches = torch.tensor(list(DistributedSampler(range(args.images), seed=1, drop_last=True))).split(args.batch // world)

    dist.barrier()
    begin = time.monotonic()
    for batch in batches:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
    loss = loss.detach()
    dist.all_reduce(loss)
    seconds = time.monotonic() - begin

    cores = ",".join(str(core) for core in sorted(cores_of_threads()))
    print(f"rank {rank}: cores {cores}, {torch.get_num_threads()} threads", flush=True)
    dist.barrier()
    if rank == 0:
        print(f"{world} x {torch.get_num_threads()}: {len(batches) * args.batch / seconds:.0f} images/s, "
              f"loss {loss.item() / world:.4f}", flush=True)
    process_group.leave()


if __name__ == "__main__":
    main()
