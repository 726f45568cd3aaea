#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A small convolutional network on Fashion-MNIST: the same losses and weights, to the bit, on any number of ranks.

Ranks are defined by RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT (env://). Stopped by SIGTERM it saves and exits with
code 85; started again, with as many ranks as before or not, it goes on."""
import argparse
import hashlib
import os
import signal
import sys
import time

import torch
import torch.distributed as dist
from torch import nn

import invariant

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import fashion_mnist
import process_group
from run_files import Checkpoints, Journal

SAVED, DO_NOT_RESTART = 85, 93


def network():
    # Normalises each image on its own. Statistics of a batch (BatchNorm) would be those of a shard; running ones of a rank.
    return nn.Sequential(
        nn.Conv2d(1, 8, 3, 2, 1), nn.GroupNorm(4, 8), nn.SiLU(), nn.Conv2d(8, 16, 3, 2, 1), nn.GroupNorm(4, 16), nn.SiLU(),
        nn.Flatten(), nn.Dropout(0.1), nn.Linear(784, 10))


def repeatable(threads):
    """One shard is to have the same bits on every rank: the same machine, release of PyTorch and number of threads."""
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.benchmark = False
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # read when CUDA begins


class Data:
    """Images in an order that seed and step determine, whatever the number of ranks and restarts."""

    def __init__(self, count, batch, seed, device):
        images, labels = fashion_mnist.load("train", count)
        self.images, self.labels = torch.from_numpy(images).unsqueeze(1).to(device), torch.from_numpy(labels).to(device)
        self.batch, self.seed, self.epoch, self.order = batch, seed, None, None

    def batch_of(self, step):
        epoch, index = divmod(step, len(self.labels) // self.batch)
        if epoch != self.epoch:
            self.epoch = epoch
            self.order = torch.randperm(len(self.labels), generator=torch.Generator().manual_seed(self.seed * 1000003 + epoch))
        return self.order[index * self.batch:(index + 1) * self.batch]


def digest(model):
    """Of all weights, the same on all ranks; a difference would be a defect of this example."""
    weights = b"".join(p.detach().cpu().numpy().tobytes() for p in model.parameters())
    return hashlib.sha256(weights).hexdigest()[:16]


def options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--batch", type=int, default=64, help="of all ranks together")
    parser.add_argument("--shards", type=int, default=8, help="of a batch; the losses depend on it, as on the batch")
    parser.add_argument("--images", type=int, default=2048)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="of a rank; the losses may depend on it")
    parser.add_argument("--checkpoints", help="their folder [DTSUBMIT_CHECKPOINT_DIR]")
    parser.add_argument("--pause", type=float, default=0, help="seconds before each step, to have time to preempt it")
    return parser.parse_args()


def main():
    asked = []
    signal.signal(signal.SIGTERM, lambda *_: asked.append(True))  # the save happens below, between two steps
    args = options()
    repeatable(args.threads)
    cuda = torch.cuda.is_available()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count()) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    dist.init_process_group("nccl" if cuda else "gloo", init_method="env://")
    rank, world = dist.get_rank(), dist.get_world_size()
    if args.batch % args.shards or args.images < args.batch or args.shards < world:
        print(f"a batch of {args.batch} cannot be {args.shards} equal shards on {world} ranks", file=sys.stderr)
        return DO_NOT_RESTART

    sums = invariant.Invariant(args.shards)
    torch.manual_seed(args.seed)
    model = network().to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    data = Data(args.images, args.batch, args.seed, device)
    checkpoints, journal, done = Checkpoints(args.checkpoints), Journal(rank == 0), 0
    if newest := checkpoints.newest():
        state = torch.load(newest, map_location=device)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        done = state["step"]
    journal.note("start", done, f"{world} ranks on {device.type}, {args.shards} shards, from step {done}", total=args.steps)

    while done < args.steps:
        time.sleep(args.pause)
        batch = data.batch_of(done).view(args.shards, -1)

        def loss_of_shard(shard):
            torch.manual_seed((args.seed * 1000003 + done) * args.shards + shard)  # of dropout: the shard's, not the rank's
            return nn.functional.cross_entropy(model(data.images[batch[shard]]), data.labels[batch[shard]])

        loss, stop = invariant.step(sums, model, loss_of_shard, extra=float(bool(asked)))
        optimizer.step()
        done += 1
        journal.note("step", done, f"step {done:4}/{args.steps}  loss {loss:.4f}" if done % 10 == 0 else None, loss=loss, bits=loss.hex())
        if stop or done == args.steps:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Python ends with the default handler: a late signal would kill a rank that has saved
            if rank == 0:
                checkpoints.save(done, model=model.state_dict(), optimizer=optimizer.state_dict())
            dist.barrier()  # no rank reports "saved" before the file exists
        if stop and done < args.steps:
            journal.note("stop", done, f"asked to stop: saved after step {done}")
            process_group.leave()
            return SAVED

    journal.note("done", done, f"done: {done} steps, weights {digest(model)}", digest=digest(model))
    process_group.leave()
    return 0


if __name__ == "__main__":
    sys.exit(main())
