#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""train.py ddp|fsdp2|accelerate: a loop that comes back after a preemption. with_*.py say how each saves and loads."""
import importlib
import sys

import torch
import torch.distributed as dist
from torch.nn.functional import mse_loss

import come_back
import task

torch.set_num_threads(1)
training = importlib.import_module("with_" + sys.argv[1]).Training(task.network())
rank, world = dist.get_rank(), dist.get_world_size()

step = 0
stop = come_back.Stop()  # 1
if path := come_back.newest(): step = training.load(path)  # 2
come_back.report("start", step, total=task.STEPS)
while step < task.STEPS:
    inputs, targets = task.batch(step, rank, world)
    loss = mse_loss(training.model(inputs), targets)
    training.optimizer.zero_grad()
    training.backward(loss)
    training.optimizer.step()
    step += 1
    mean = loss.detach() / world
    dist.all_reduce(mean)
    come_back.report("step", step, loss=mean.item())
    if stop.agreed(): training.save(step); stop.leave()  # 3
training.save(step)
come_back.report("done", step)
stop.leave(0)
