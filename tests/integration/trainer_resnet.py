# SPDX-License-Identifier: Apache-2.0
"""ResNet-20 and similar networks in PyTorch, and the augmentation of images, for comparison with core/train in tests and benchmarks."""

import gzip
import os

import numpy
import torch
from torch.nn import functional

import few_images
from trainer_reference import WORD, mix, of, sample_index

MEAN = {1: [0.2860], 3: [0.4914, 0.4822, 0.4465]}
DEVIATION = {1: [0.3530], 3: [0.2470, 0.2435, 0.2616]}


class Block(torch.nn.Module):
    def __init__(self, planes_in, planes):
        super().__init__()
        stride = 1 if planes_in == planes else 2
        self.conv1 = torch.nn.Conv2d(planes_in, planes, 3, stride, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(planes)
        self.conv2 = torch.nn.Conv2d(planes, planes, 3, padding=1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(planes)

    def forward(self, x):
        out = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        planes = out.shape[1]
        if x.shape[1] != planes:
            x = functional.pad(x[:, :, ::2, ::2], (0, 0, 0, 0, planes // 4, planes // 4))
        return torch.relu(out + x)


class ResNet(torch.nn.Module):
    """Names and shortcuts as in Y. Idelbayev's pytorch_resnet_cifar10."""

    def __init__(self, depth=20, channels=1, width=16):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(width)
        planes = width
        for stage in range(3):
            blocks = []
            for _ in range((depth - 2) // 6):
                blocks.append(Block(planes, width << stage))
                planes = width << stage
            setattr(self, f"layer{stage + 1}", torch.nn.Sequential(*blocks))
        self.linear = torch.nn.Linear(planes, 10)

    def forward(self, x):
        x = torch.relu(self.bn1(self.conv1(x)))
        return self.linear(self.layer3(self.layer2(self.layer1(x))).mean((2, 3)))


def placement(seed, epoch, index, crops=True, flips=True):
    """core/train/data/augmentation.cpp, written again: rows down, columns to the right, mirrored."""
    bits = mix(mix(mix((seed ^ 0x63726F70666C6970) & WORD) ^ epoch) ^ index)
    shift = [(part * 9 >> 32) - 4 if crops else 0 for part in (bits >> 32, bits & 0xFFFFFFFF)]
    return (*shift, bool(flips and mix(bits) & 1))


def augmented(pixels, seed, epoch, index):
    """[channels][side][side], as bytes."""
    down, right, is_flipped = placement(seed, epoch, index)
    side = pixels.shape[-1]
    if is_flipped:
        pixels = pixels[:, :, ::-1]
    padded = numpy.pad(pixels, ((0, 0), (4, 4), (4, 4)))
    return padded[:, 4 + down:4 + down + side, 4 + right:4 + right + side]


def normalised(pixels):
    """[n][channels][side][side], from bytes, as dttrain feeds them."""
    channels = pixels.shape[1]
    mean, deviation = (numpy.array(of[channels], numpy.float32).reshape(1, -1, 1, 1) for of in (MEAN, DEVIATION))
    return torch.from_numpy((pixels.astype(numpy.float32) / 255 - mean) / deviation)


def read_idx(path, offset):
    with gzip.open(path) as file:
        return numpy.frombuffer(file.read(), numpy.uint8, offset=offset)


def fashion(train, test, folder):
    """The first of Fashion-MNIST's images, in a folder of their own: pixels and labels for training and evaluation."""
    few_images.make(folder, train, test)
    sets = []
    for prefix in ("train", "t10k"):
        pixels = read_idx(os.path.join(folder, f"{prefix}-images-idx3-ubyte.gz"), 16).reshape(-1, 1, 28, 28)
        sets.append((pixels, read_idx(os.path.join(folder, f"{prefix}-labels-idx1-ubyte.gz"), 8)))
    return sets


def batches(train, count, size, augments=False, seed=1):
    """Images and labels of each step."""
    pixels, labels = train
    steps = len(labels) // size
    for step in range(count):
        epoch, first = step // steps, step % steps * size
        drawn = [sample_index(seed, epoch, first + i, len(labels)) for i in range(size)]
        images = [augmented(pixels[i], seed, epoch, i) for i in drawn] if augments else pixels[drawn]
        yield normalised(numpy.stack(images)), torch.from_numpy(labels[drawn].astype(numpy.int64))


def model_of(tensors, channels):
    model = ResNet(20, channels)
    named = {**of(tensors, "model."), **of(tensors, "running.")}
    missing, unexpected = model.load_state_dict({n: torch.from_numpy(v.copy()) for n, v in named.items()}, strict=False)
    assert not unexpected and all("num_batches" in n or "running" in n for n in missing), (missing, unexpected)
    return model
