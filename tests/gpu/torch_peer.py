# SPDX-License-Identifier: Apache-2.0
"""What torch_gpt2.py and torch_resnet20.py share: where PyTorch computes, a step of a training, and how long one takes. Exits with 77, and
says why, where PyTorch or a GPU of its is missing.

GPU_CHECKS_HOST=1: on the processor and not compiled, so that the scripts are known to run to their end without a card."""

import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../integration"))  # the tests' own networks and readers
HOST = os.environ.get("GPU_CHECKS_HOST") == "1"
DEVICE = "cpu" if HOST else "cuda"
try:
    import numpy  # noqa: F401: PyTorch does without, the tests' readers do not
    import torch
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(77)
if not HOST and not torch.cuda.is_available():
    print(f"skipped: PyTorch {torch.__version__} finds no GPU")
    sys.exit(77)
torch.manual_seed(1)
torch.set_float32_matmul_precision("high")


def compiled(model, **how):
    return model if HOST else torch.compile(model, **how)


def adamw(model, **settings):
    """On a GPU fused, and such that a CUDA graph can hold its step."""
    return torch.optim.AdamW(model.parameters(), **settings, **({} if HOST else {"fused": True, "capturable": True}))


def step(forward, optimizer, parts):
    """Of the means of the parts' gradients; returns the mean of what `forward` says is the loss of each part."""
    total = 0.0
    for inputs, labels in parts:
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = forward(inputs, labels) / len(parts)
        loss.backward()
        total += loss.detach()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def median_seconds(call, calls):
    """Of the last two thirds; the first ones compile and choose algorithms."""
    def synchronize():
        if not HOST:
            torch.cuda.synchronize()

    seconds = []
    for _ in range(calls):
        synchronize()
        begin = time.perf_counter()
        call()
        synchronize()
        seconds.append(time.perf_counter() - begin)
    kept = sorted(seconds[len(seconds) // 3:])
    return kept[len(kept) // 2]
