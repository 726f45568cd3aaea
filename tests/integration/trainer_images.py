# SPDX-License-Identifier: Apache-2.0
"""ResNet-20 on Fashion-MNIST's images and on files in CIFAR-10's format: 50 steps are PyTorch's, from the same weights, with one shard and
with eight that are normalised separately, with and without augmentation. The bits are the same for any number of ranks and threads, also
if a training continues with another number. Damaged files are named once for all ranks."""

import os
import sys

from trainer_support import Trainer, digest, events, skip

try:
    import numpy
    import torch
except ImportError as error:
    skip(f"{sys.executable} cannot import PyTorch: {error}")
import trainer_resnet
from trainer_reference import read_checkpoint, read_safetensors

STEPS = 50
TOLERANCE = 1e-5  # relative, of losses
# Rounding errors grow with every step, above all at ReLU's kinks: at a rate of 0.002, the losses of PyTorch in single and in double
# precision differ by 1e-4 after 13 steps and by 1e-3 after 24, as do ours and either of them.
RATE = 0.00003  # trainer_rounding.py compares at the usual rate
TRAIN, TEST = 1500, 250
PER_FILE = TRAIN // 5


def cifar(folder):
    """Made up, since Debian does not have it: each class has a pattern of its own, with noise."""
    os.makedirs(folder)
    random = numpy.random.default_rng(1)
    patterns = random.integers(0, 256, (10, 3, 32, 32))
    sets = []
    for count, files in ((TRAIN, [f"data_batch_{i}.bin" for i in range(1, 6)]), (TEST, ["test_batch.bin"])):
        labels = random.integers(0, 10, count).astype(numpy.uint8)
        pixels = ((patterns[labels] + random.integers(0, 1024, (count, 3, 32, 32))) // 5).astype(numpy.uint8)
        records = numpy.concatenate([labels[:, None], pixels.reshape(count, -1)], 1)
        for i, name in enumerate(files):
            records[i * count // len(files):(i + 1) * count // len(files)].tofile(os.path.join(folder, name))
        sets.append((pixels, labels))
    return sets


def losses_of_pytorch(tensors, train, size, shards, augments, lr):
    """Each shard is normalised separately; the loss is that of the whole batch."""
    model = trainer_resnet.model_of(tensors, train[0].shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
    losses = []
    for images, labels in trainer_resnet.batches(train, STEPS, size, augments):
        optimizer.zero_grad()
        total = 0.0
        for x, y in zip(images.chunk(shards), labels.chunk(shards)):
            loss = torch.nn.functional.cross_entropy(model(x), y, reduction="sum") / size
            loss.backward()
            total += loss.item()
        optimizer.step()
        losses.append(total)
    return losses


def compare_accuracy(folder, test, accuracy):
    """With the checkpoint's weights and running statistics; near ties may be decided differently."""
    images, labels = trainer_resnet.normalised(test[0]), torch.from_numpy(test[1].astype(numpy.int64))
    with torch.no_grad():
        correct = (trainer_resnet.model_of(read_checkpoint(folder), images.shape[1]).eval()(images).argmax(1) == labels).sum().item()
    print(f"accuracy {accuracy}, PyTorch {correct / TEST}")
    assert abs(correct - accuracy * TEST) <= 2


def compare(trainer, name, data, arguments, size, shards, lr):
    train, test = data
    weights, run, folder = (trainer.path(name + end) for end in (".safetensors", "-run", "-checkpoints"))
    arguments = [*arguments, "--data", trainer.path("cifar" if train[0].shape[1] == 3 else "fashion")]
    trainer.run(0, arguments + ["--export-weights", weights])
    common = arguments + ["--batch", size, "--shards", shards, "--lr", lr, "--warmup", 0, "--schedule", "constant"]
    alone, _ = trainer.run(0, common + ["--steps", STEPS, "--run-dir", run, "--checkpoint-dir", folder, "--save-every", 20])
    ours = [event["loss"] for event in events(run, "step")]
    theirs = losses_of_pytorch(read_safetensors(weights), train, size, shards, "--augment" in arguments, lr)
    worst = max(abs(a - b) / b for a, b in zip(ours, theirs))
    print(f"{name}: largest relative difference of {STEPS} losses {worst:.1e}; loss {ours[0]:.3f} to {ours[-1]:.3f}")
    assert len(ours) == STEPS and worst < TOLERANCE, f"{ours}\n{theirs}"
    compare_accuracy(f"{folder}/step-{STEPS:09}", test, events(run, "done")[0]["accuracy"])
    return common, digest(alone)


def same_for_any_ranks(trainer, common, expected):
    """Begun on two ranks, ended by a NaN, continued on three."""
    folder = trainer.path("parts")
    part = common + ["--steps", STEPS, "--checkpoint-dir", folder, "--save-every", 20]
    _, err = trainer.run(2, part + ["--inject", "nan:3@21"], expect=93)
    assert "the batch's bn1.running_mean of shard 3 (rank 0) is not finite" in err, err
    out, _ = trainer.run(3, part)
    assert "resumed from checkpoint step-000000020" in out and digest(out) == expected, out
    short = common + ["--steps", 6, "--audit", 0.5]
    alone, _ = trainer.run(0, short)
    for ranks, threads in [(0, 2), (2, 2), (3, 1), (8, 1)]:
        out, _ = trainer.run(ranks, short, threads)
        assert digest(out) == digest(alone), f"{ranks} ranks x {threads} threads: {out}"
    _, err = trainer.run(0, [*part, "--augment", "crop"], expect=3)
    assert "augment: " in err, err


def learns(trainer):
    """Shows that the model learns, which the small rate above does not show."""
    arguments = ["--model", "resnet,depth=8", "--data", trainer.path("fashion"), "--augment", "crop,flip", "--batch", 64, "--shards", 2,
                 "--steps", 80, "--lr", 0.1, "--warmup", 10, "--run-dir", trainer.path("learns")]
    trainer.run(0, arguments)
    accuracy = events(trainer.path("learns"), "done")[0]["accuracy"]
    print(f"accuracy after 80 steps: {accuracy}")
    assert accuracy > 0.55


def damaged(trainer):
    path = trainer.path("cifar/data_batch_4.bin")
    with open(path, "rb") as file:
        whole = file.read()
    cut = bytearray(whole)
    cut[3073 * 7] = 10
    for content, words in ((whole[:-1], f"{path}: {len(whole) - 1} bytes are not a whole number of records of 3073 bytes"),
                           (bytes(cut), f"{path}: record 7 has label 10, the last is 9")):
        with open(path, "wb") as file:
            file.write(content)
        for ranks in (0, 3):
            _, err = trainer.run(ranks, ["--model", "resnet:cifar20", "--data", trainer.path("cifar")], expect=3)
            assert err.count(words) == 1, err
    _, err = trainer.run(2, ["--model", "resnet:20", "--data", trainer.path("cifar")], expect=3)
    assert err.count("has images of CIFAR-10, the model reads those of Fashion-MNIST") == 1, err
    _, err = trainer.run(0, ["--model", "resnet:cifar20", "--data", trainer.path("fashion")], expect=3)
    assert "fashion/data_batch_1.bin: No such file" in err, err


with Trainer(sys.argv[1]) as trainer:
    fashion_mnist, cifar_10 = trainer_resnet.fashion(TRAIN, TEST, trainer.path("fashion")), cifar(trainer.path("cifar"))
    compare(trainer, "resnet-1", fashion_mnist, ["--model", "resnet:20"], 16, 1, RATE)
    compare(trainer, "resnet-8", fashion_mnist, ["--model", "resnet:20"], 32, 8, RATE)
    common, expected = compare(trainer, "cifar-8", cifar_10, ["--model", "resnet:cifar20", "--augment", "crop,flip"], 32, 8, RATE)
    same_for_any_ranks(trainer, common, expected)
    learns(trainer)
    damaged(trainer)
