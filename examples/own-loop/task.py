# SPDX-License-Identifier: Apache-2.0
"""What all programs here train: a network that learns a function, and the batches of each step."""
import os
import time

import torch
from torch import nn

STEPS, BATCH, WIDTH = 40, 48, 16
PAUSE = float(os.environ.get("PAUSE", "0"))  # seconds before each step, to have time to preempt it


def network():
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(WIDTH, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))


def batch(step, rank, world):
    """Inputs and targets of a rank. They are the same over all ranks together, whatever their number, and after a restart."""
    time.sleep(PAUSE)
    inputs = torch.randn(BATCH, WIDTH, generator=torch.Generator().manual_seed(step))
    targets = inputs[:, :4].sum(1, keepdim=True).sin()
    return inputs[rank::world], targets[rank::world]
