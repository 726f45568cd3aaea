# SPDX-License-Identifier: Apache-2.0
"""ResNet-20 at the usual learning rate of 0.1, where a rounding error grows tenfold with every step or two, until losses differ by tenths.
Our results and PyTorch's in fp32 are equally far from PyTorch's in float64, from the same weights on the same images, in the weights
after the first step and in 50 losses.

If a sum near zero rounds to the other side of ReLU's kink, ours or theirs, this distance is hundreds of times as large. Therefore the
median of several starts is used."""

import math
import statistics
import sys

from trainer_support import Trainer, events, skip

try:
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_resnet
from trainer_reference import of, read_checkpoint, read_safetensors

STEPS, BATCH, RATE = 50, 16, 0.1
STARTS = (1, 2, 3)


def of_pytorch(dtype, tensors, train, seed):
    """The losses, and the parameters after the first step."""
    torch.set_default_dtype(dtype)
    model = trainer_resnet.model_of(tensors, 1).to(dtype)
    torch.set_default_dtype(torch.float32)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE, momentum=0.9)
    losses = []
    for images, labels in trainer_resnet.batches(train, STEPS, BATCH, seed=seed):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images.to(dtype)), labels)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
        if len(losses) == 1:
            first = {name: value.detach().double().clone() for name, value in model.named_parameters()}
    return losses, first


def distance(some, others):
    return math.sqrt(sum(((value - others[name]) ** 2).sum().item() for name, value in some.items()))


def compare(trainer, train, seed):
    """How many times farther ours are from float64 than PyTorch's in fp32: the first step's weights, and losses by their geometric mean."""
    folder, run = trainer.path(f"checkpoints-{seed}"), trainer.path(f"run-{seed}")
    arguments = ["--model", "resnet:20", "--data", trainer.path("fashion"), "--seed", seed]
    trainer.run(0, arguments + ["--export-weights", folder + ".safetensors"])
    arguments += ["--batch", BATCH, "--shards", 1, "--lr", RATE, "--warmup", 0, "--schedule", "constant", "--evaluate-every", 1000]
    trainer.run(0, arguments + ["--steps", STEPS, "--run-dir", run])
    trainer.run(0, arguments + ["--steps", 1, "--checkpoint-dir", folder])
    tensors = read_safetensors(folder + ".safetensors")
    exact, exact_first = of_pytorch(torch.float64, tensors, train, seed)
    theirs, their_first = of_pytorch(torch.float32, tensors, train, seed)
    ours = [event["loss"] for event in events(run, "step")]
    our_first = {name: torch.from_numpy(value.copy()).double() for name, value in of(read_checkpoint(f"{folder}/step-{1:09}"), "model.").items()}
    first = distance(our_first, exact_first) / distance(their_first, exact_first)
    apart = [(abs(a - e) / e, abs(b - e) / e) for a, b, e in zip(ours, theirs, exact)]
    grown = math.exp(statistics.mean(math.log(a / b) for a, b in apart if a > 0 and b > 0))
    print(f"start {seed}: times as far from float64 as PyTorch's of fp32: the weights after a step {first:.2f}, {STEPS} losses {grown:.2f}; "
          f"the largest distances {max(a for a, _ in apart):.1e} and {max(b for _, b in apart):.1e}", flush=True)
    assert len(ours) == STEPS
    return first, grown


with Trainer(sys.argv[1]) as trainer:
    torch.set_num_threads(1)
    train, _ = trainer_resnet.fashion(1500, 250, trainer.path("fashion"))
    first, grown = zip(*(compare(trainer, train, seed) for seed in STARTS))
    print(f"medians: {statistics.median(first):.2f}, {statistics.median(grown):.2f}")
    assert statistics.median(first) < 2 and statistics.median(grown) < 2
