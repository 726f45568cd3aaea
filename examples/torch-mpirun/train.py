#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small EfficientNet on Fashion-MNIST with DistributedDataParallel on any number of machines.

Ranks are defined by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (env://): the script does not depend on the launcher."""
import argparse
import os
import signal
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data.distributed import DistributedSampler

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import fashion_mnist
import process_group
from run_files import Checkpoints, Journal

SAVED, DO_NOT_RESTART = 85, 93


def norm(channels):
    # Normalises each image on its own: batch normalisation would depend on how a batch is divided among ranks.
    return nn.GroupNorm(4, channels)


class Block(nn.Module):
    """Inverted bottleneck: widen, depthwise convolution, squeeze and excite, narrow."""

    def __init__(self, channels, out, stride, widen=3):
        super().__init__()
        wide = widen * channels
        self.depthwise = nn.Sequential(
            nn.Conv2d(channels, wide, 1, bias=False), norm(wide), nn.SiLU(),
            nn.Conv2d(wide, wide, 3, stride, 1, groups=wide, bias=False), norm(wide), nn.SiLU())
        self.excite = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(wide, wide // 4, 1), nn.SiLU(), nn.Conv2d(wide // 4, wide, 1), nn.Sigmoid())
        self.narrow = nn.Sequential(nn.Conv2d(wide, out, 1, bias=False), norm(out))
        self.shortcut = stride == 1 and channels == out

    def forward(self, x):
        h = self.depthwise(x)
        y = self.narrow(h * self.excite(h))
        return x + y if self.shortcut else y


def efficient_net():
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, 2, 1, bias=False), norm(8), nn.SiLU(),
        Block(8, 16, 2), Block(16, 16, 1), Block(16, 32, 2),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


def tensors(part, count, device):
    images, labels = fashion_mnist.load(part, count)
    return torch.from_numpy(images).unsqueeze(1).to(device), torch.from_numpy(labels).to(device)


def agree(loss, asked, device):
    """The mean loss, and whether any rank was asked to stop: all ranks must stop after the same step."""
    pair = torch.tensor([loss, float(asked)], device=device)
    dist.all_reduce(pair)
    return pair[0].item() / dist.get_world_size(), pair[1].item() > 0


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--images", type=int, default=4096)
    parser.add_argument("--batch", type=int, default=64, help="of all ranks together")
    parser.add_argument("--lr", type=float, default=4e-3)
    return parser.parse_args()


def main():
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))  # the save happens below, between two steps
    args = options()
    cuda = torch.cuda.is_available()
    # Under dtsubmit a rank sees only its own GPU, whose number is not LOCAL_RANK; otherwise it may see all.
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()) if cuda else torch.device("cpu")
    dist.init_process_group("nccl" if cuda else "gloo", init_method="env://")
    rank, world = dist.get_rank(), dist.get_world_size()
    if args.batch % world:
        print(f"batch {args.batch} cannot be shared by {world} ranks", file=sys.stderr)
        return DO_NOT_RESTART

    torch.manual_seed(1)
    model = DistributedDataParallel(efficient_net().to(device))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    images, labels = tensors("train", args.images, device)
    sampler = DistributedSampler(range(args.images), seed=1, drop_last=True)
    steps_per_epoch = args.images // args.batch
    total = args.epochs * steps_per_epoch

    checkpoints, journal, step = Checkpoints(), Journal(rank == 0), 0
    if newest := checkpoints.newest():
        state = torch.load(newest, map_location=device)
        model.module.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]
    whence = f"resumed after step {step}" if step else "from the beginning"
    journal.note("start", step, f"{world} ranks on {device.type}, {total} steps of {args.batch} images, {whence}", total=total)

    while step < total:
        epoch = step // steps_per_epoch
        sampler.set_epoch(epoch)
        # Batch k, over all ranks, contains the same images for any number of ranks.
        for batch in torch.tensor(list(sampler)).split(args.batch // world)[step % steps_per_epoch:steps_per_epoch]:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step()
            step += 1
            mean, stop = agree(loss.item(), bool(asked), device)
            journal.note("step", step, f"step {step:4}/{total}  loss {mean:.4f}" if step % 16 == 0 else None, loss=mean)
            if stop:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Python ends with the default handler: a late one would kill a rank that has saved
            if stop or step % steps_per_epoch == 0:
                if rank == 0:
                    checkpoints.save(step, model=model.module.state_dict(), optimizer=optimizer.state_dict())
                dist.barrier()  # no rank reports "saved" before the file exists
            if stop:
                journal.note("stop", step, f"asked to stop: saved after step {step}")
                return SAVED

    if rank == 0:
        test_images, test_labels = tensors("t10k", 2000, device)
        with torch.no_grad():
            accuracy = (model.module(test_images).argmax(1) == test_labels).float().mean().item()
        journal.note("done", step, f"done: {step} steps, loss {mean:.4f}, test accuracy {100 * accuracy:.2f} %", accuracy=accuracy)
    dist.barrier()
    process_group.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
