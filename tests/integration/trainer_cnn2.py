# SPDX-License-Identifier: Apache-2.0
"""cnn2 in PyTorch, for comparison with core/train in tests and benchmarks."""

import gzip
import os

import numpy
import torch

from few_images import DATA


def load(prefix, folder=DATA):
    """Images [n][1][28][28], normalised as dttrain does, and labels."""
    with gzip.open(os.path.join(folder, f"{prefix}-images-idx3-ubyte.gz")) as file:
        pixels = numpy.frombuffer(file.read(), numpy.uint8, offset=16).reshape(-1, 1, 28, 28)
    with gzip.open(os.path.join(folder, f"{prefix}-labels-idx1-ubyte.gz")) as file:
        labels = numpy.frombuffer(file.read(), numpy.uint8, offset=8)
    images = (pixels.astype(numpy.float32) / 255 - 0.2860) / 0.3530
    return torch.from_numpy(images), torch.from_numpy(labels.astype(numpy.int64))


class Cnn2(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(1, 16, 3, padding=1, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(16)
        self.conv2 = torch.nn.Conv2d(16, 32, 3, padding=1, bias=False)
        self.bn2 = torch.nn.BatchNorm2d(32)
        self.fc1 = torch.nn.Linear(32 * 7 * 7, 128)
        self.fc2 = torch.nn.Linear(128, 10)

    def forward(self, x):
        pool = torch.nn.functional.max_pool2d
        x = pool(torch.relu(self.bn1(self.conv1(x))), 2)
        x = pool(torch.relu(self.bn2(self.conv2(x))), 2)
        return self.fc2(torch.relu(self.fc1(x.flatten(1))))


def from_tensors(tensors):
    """A Cnn2 with dttrain's weights, and its running statistics if they are among the tensors."""
    model = Cnn2()
    model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in tensors.items()}, strict=False)
    return model
