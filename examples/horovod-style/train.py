#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A script in the style of Horovod: a shard of the data for each rank, learning rate x size, initial state from rank 0."""
import os
import sys

import torch
from torch import nn

try:
    import horovod.torch as hvd
except ImportError:
    import tiny_hvd as hvd

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import fashion_mnist

IMAGES, BATCH, EPOCHS, RATE = 4096, 16, 2, 0.01  # BATCH and RATE are per rank


def accuracy(model, images, labels):
    with torch.no_grad():
        return (model(images).argmax(1) == labels).float().mean()


def shard(part, count):
    """Every size-th image, beginning with number rank: no image is seen by two ranks, and all have the same number."""
    images, labels = (torch.from_numpy(array) for array in fashion_mnist.load(part, count))
    mine = slice(hvd.rank(), count // hvd.size() * hvd.size(), hvd.size())
    return images[mine], labels[mine]


def main():
    hvd.init()
    if torch.cuda.is_available():  # a rank may see only its own GPU, whose number is then 0, not local_rank
        torch.cuda.set_device(hvd.local_rank() % torch.cuda.device_count())
    torch.manual_seed(1 + hvd.rank())  # different on each rank, until rank 0's weights are broadcast
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 64), nn.ReLU(), nn.Linear(64, 10))
    hvd.broadcast_parameters(model.state_dict(), root_rank=0)

    images, labels = shard("train", IMAGES)
    test = shard("t10k", 2000)
    steps, total = len(images) // BATCH, EPOCHS * (len(images) // BATCH)
    optimizer = hvd.DistributedOptimizer(
        torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9), named_parameters=model.named_parameters())
    for step in range(total):
        # Warm up to size times the rate of one rank over the first tenth of the steps: training may diverge otherwise.
        warm = min(1.0, (step + 1) / (total / 10))
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 + (hvd.size() - 1) * warm)
        first = step % steps * BATCH
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images[first:first + BATCH]), labels[first:first + BATCH])
        loss.backward()
        optimizer.step()
        mean = hvd.allreduce(loss.detach(), op=hvd.Average).item()
        if hvd.rank() == 0 and (step + 1) % (steps // 2) == 0:
            print(f"step {step + 1:3}/{total}  loss {mean:.4f}", flush=True)

    share = accuracy(model, *test)
    mean = hvd.allreduce(share, op=hvd.Average).item()
    weights = sum(parameter.double().sum().item() for parameter in model.parameters())
    print(f"rank {hvd.rank()} of {hvd.size()}: {len(images)} images, own accuracy {100 * share.item():.2f} %, "
          f"of all {100 * mean:.2f} %, sum of weights {weights:.6f}", flush=True)
    hvd.shutdown()


if __name__ == "__main__":
    main()
