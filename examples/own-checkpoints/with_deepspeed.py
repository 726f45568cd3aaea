#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""DeepSpeed: save_checkpoint and load_checkpoint, with the step in client_state. Its file `latest` names the newest complete one."""
import time

import deepspeed
import torch.distributed as dist
from torch.nn.functional import mse_loss

import task

deepspeed.init_distributed(dist_backend="gloo")
rank, world = dist.get_rank(), dist.get_world_size()
inputs, targets = task.tensors()
network = task.network()
engine, *_ = deepspeed.initialize(model=network, model_parameters=network.parameters(), config={
    "train_micro_batch_size_per_gpu": task.BATCH,
    "optimizer": {"type": "AdamW", "params": {"lr": 1e-2, "torch_adam": True}},
    "zero_optimization": {"stage": 1}})

path, state = engine.load_checkpoint(task.FOLDER)
step = state["step"] if path else 0
task.report(rank, "start", step, total=task.STEPS)
while step < task.STEPS:
    time.sleep(task.PAUSE)
    first = (step * world + rank) * task.BATCH
    loss = mse_loss(engine(inputs[first:first + task.BATCH]), targets[first:first + task.BATCH])
    engine.backward(loss)
    engine.step()
    step += 1
    mean = loss.detach() / world
    dist.all_reduce(mean)
    task.report(rank, "step", step, loss=mean.item())
    if step % task.EVERY == 0: engine.save_checkpoint(task.FOLDER, client_state={"step": step})
task.report(rank, "done", step)
dist.destroy_process_group()
