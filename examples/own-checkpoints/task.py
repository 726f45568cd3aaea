# SPDX-License-Identifier: Apache-2.0
"""What all programs here train, where they save, and what they report."""
import json
import os

import numpy

STEPS, EVERY, BATCH, WIDTH = 40, 10, 8, 16  # a checkpoint after every 10 steps; a batch of each rank
PAUSE = float(os.environ.get("PAUSE", "0"))  # seconds before each step, to have time to preempt it
FOLDER = os.path.abspath(os.environ.get("DTSUBMIT_CHECKPOINT_DIR", "checkpoints"))  # the same in all attempts of a run


def data():
    inputs = numpy.random.default_rng(1).standard_normal((4096, WIDTH), dtype=numpy.float32)
    return inputs, inputs[:, :4].sum(axis=1, keepdims=True)


def tensors():
    import torch
    torch.set_num_threads(1)
    return tuple(torch.from_numpy(part) for part in data())


def network():
    import torch
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))


def report(rank, event, step, **more):
    """For `dtsubmit status`: what was lost, how far it is. Events are start, step and done."""
    if rank == 0:
        line = {"event": event, "attempt": int(os.environ.get("DTSUBMIT_ATTEMPT", "1")), "step": step, **more}
        with open(os.path.join(os.environ.get("DTSUBMIT_RUN_DIR", "."), "metrics.jsonl"), "a") as file:
            file.write(json.dumps(line) + "\n")
