# SPDX-License-Identifier: Apache-2.0
"""The first ten losses are PyTorch's, from the same weights on the same data in fp32. So are the losses after a checkpoint, and the
accuracy of its weights on the test images."""

import glob
import sys

from trainer_support import Trainer, events, skip

try:
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_cnn2
from trainer_reference import of, read_checkpoint, read_safetensors, sample_index

STEPS = 10
SAVED = 5  # the step of the checkpoint from which PyTorch continues
BATCH = 64
TOLERANCE = 2e-5  # of losses near 2; fp32 rounds at 1e-7, which ten steps of momentum amplify


def model_of(tensors):
    return trainer_cnn2.from_tensors({**of(tensors, "model."), **of(tensors, "running.")})


def losses_of_pytorch(tensors, order, first=0):
    """The losses of the steps from `first` on, whose state is in the tensors, including the momentum."""
    images, labels = trainer_cnn2.load("train")
    model = model_of(tensors)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    momentum = of(tensors, "momentum.")
    for name, parameter in model.named_parameters():
        if first > 0 and name in momentum:
            optimizer.state[parameter]["momentum_buffer"] = torch.from_numpy(momentum[name].copy())
    losses = []
    for step in range(first, STEPS):
        batch = order[step * BATCH:(step + 1) * BATCH]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[batch]), labels[batch])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def compare(ours, theirs, what):
    worst = max(abs(a - b) for a, b in zip(ours, theirs))
    print(f"largest difference of {len(ours)} losses {what}: {worst:.2e}")
    assert len(ours) == len(theirs) and worst < TOLERANCE, f"{ours}\n{theirs}"


def compare_accuracy(folder, accuracy):
    """The accuracy of the checkpoint's weights and running statistics on the test images; up to two near ties may be decided differently.
    """
    images, labels = trainer_cnn2.load("t10k")
    model = model_of(read_checkpoint(folder)).eval()
    with torch.no_grad():
        correct = sum((model(images[i:i + 1000]).argmax(1) == labels[i:i + 1000]).sum().item() for i in range(0, len(labels), 1000))
    files = len(glob.glob(folder + "/state*.safetensors"))
    print(f"checkpoint of {files} files: accuracy {accuracy}, PyTorch {correct / len(labels)}")
    assert abs(correct - accuracy * len(labels)) <= 2


def compare_safetensors(folder):
    """The package of this name reads the same as this script."""
    try:
        from safetensors.torch import load_file
    except ImportError as error:
        return print(f"skipped the package safetensors: {error}")
    for path in glob.glob(folder + "/state*.safetensors"):
        ours, theirs = read_safetensors(path), load_file(path)
        assert ours.keys() == theirs.keys(), path
        assert all(torch.equal(torch.from_numpy(ours[name].copy()), theirs[name]) for name in ours), path
    return print("the package safetensors reads the same tensors")


with Trainer(sys.argv[1]) as trainer:
    weights = trainer.path("initial.safetensors")
    trainer.run(0, ["--export-weights", weights])
    common = ["--batch", BATCH, "--steps", STEPS, "--lr", 0.01, "--warmup", 0, "--schedule", "constant"]
    samples = [sample_index(seed=1, epoch=0, index=i, count=60000) for i in range(STEPS * BATCH)]
    saving = ["--save-every", SAVED, "--checkpoint-dir", trainer.path("checkpoints")]
    trainer.run(0, common + saving + ["--shards", 1, "--run-dir", trainer.path("run")])
    ours = [event["loss"] for event in events(trainer.path("run"), "step")]
    assert len(ours) == STEPS
    compare(ours, losses_of_pytorch(read_safetensors(weights), samples), "from the initial weights")
    saved = read_checkpoint(trainer.path(f"checkpoints/step-{SAVED:09}"))
    compare(ours[SAVED:], losses_of_pytorch(saved, samples, SAVED), "from a checkpoint")
    trainer.run(3, common + ["--shards", 4, "--checkpoint-dir", trainer.path("parts"), "--run-dir", trainer.path("run-3")])
    for folder, run in (("checkpoints", "run"), ("parts", "run-3")):
        newest = trainer.path(f"{folder}/step-{STEPS:09}")
        compare_accuracy(newest, events(trainer.path(run), "done")[0]["accuracy"])
        compare_safetensors(newest)
