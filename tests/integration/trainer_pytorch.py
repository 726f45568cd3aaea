# SPDX-License-Identifier: Apache-2.0
"""The first ten losses are PyTorch's, from the same weights on the same data in fp32."""

import json
import struct
import sys

from trainer_support import Trainer, events, skip

try:
    import numpy
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_cnn2

STEPS = 10
BATCH = 64
TOLERANCE = 2e-5  # of losses near 2; fp32 rounds at 1e-7, ten steps of momentum amplify it


WORD = (1 << 64) - 1


def mix(x):
    """SplitMix64's finaliser."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def sample_index(seed, epoch, index, count):
    """core/train/sampler.hpp, written again: a Feistel network of six rounds, walked until below count."""
    key = mix(mix(seed) ^ epoch)
    half = ((count - 1).bit_length() + 1) // 2
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(6):
            left, right = right, left ^ (mix(key ^ mix(right + (turn << 56))) & mask)
        index = left << half | right
        if index < count:
            return index


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        body = file.read()
    header.pop("__metadata__")
    return {name: numpy.frombuffer(body[slice(*t["data_offsets"])], numpy.float32).reshape(t["shape"])
            for name, t in header.items()}


def losses_of_pytorch(weights, order):
    images, labels = trainer_cnn2.load("train")
    model = trainer_cnn2.from_tensors({k[len("model."):]: v for k, v in weights.items() if k.startswith("model.")})
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    losses = []
    for step in range(STEPS):
        batch = order[step * BATCH:(step + 1) * BATCH]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


with Trainer(sys.argv[1]) as trainer:
    weights = trainer.path("initial.safetensors")
    trainer.run(0, ["--export-weights", weights])
    common = ["--shards", 1, "--batch", BATCH, "--steps", STEPS, "--lr", 0.01, "--warmup", 0, "--schedule", "constant"]
    samples = [sample_index(seed=1, epoch=0, index=i, count=60000) for i in range(STEPS * BATCH)]
    trainer.run(0, common + ["--run-dir", trainer.path("run")])
    ours = [event["loss"] for event in events(trainer.path("run"), "step")]
    theirs = losses_of_pytorch(read_safetensors(weights), samples)
    worst = max(abs(a - b) for a, b in zip(ours, theirs))
    print(f"largest difference of {STEPS} losses: {worst:.2e}")
    assert len(ours) == STEPS and worst < TOLERANCE, f"{ours}\n{theirs}"
