#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""accelerate: save_state and load_state, with folders that it names itself, and skip_first_batches."""
import os
import time

import torch
from accelerate import Accelerator
from accelerate.utils import ProjectConfiguration
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

import task

project = ProjectConfiguration(task.FOLDER, automatic_checkpoint_naming=True, total_limit=2)
accelerator = Accelerator(cpu=True, project_config=project)
rank = accelerator.process_index
tensors, network = TensorDataset(*task.tensors()), task.network()
model, optimizer, loader = accelerator.prepare(
    network, torch.optim.AdamW(network.parameters(), lr=1e-2), DataLoader(tensors, batch_size=task.BATCH, shuffle=True))

step = 0
saved = os.path.join(task.FOLDER, "checkpoints")  # checkpoint_0, checkpoint_1, ...
if os.path.isdir(saved) and os.listdir(saved):
    accelerator.load_state()  # the newest
    project.iteration = 1 + max(int(name.rsplit("_", 1)[1]) for name in os.listdir(saved))  # else it begins with 0 again, and refuses
    step = project.iteration * task.EVERY
task.report(rank, "start", step, total=task.STEPS)
for inputs, targets in accelerator.skip_first_batches(loader, step):
    time.sleep(task.PAUSE)
    loss = mse_loss(model(inputs), targets)
    optimizer.zero_grad()
    accelerator.backward(loss)
    optimizer.step()
    step += 1
    task.report(rank, "step", step, loss=accelerator.reduce(loss.detach(), "mean").item())
    if step % task.EVERY == 0: accelerator.save_state()
    if step == task.STEPS: break
task.report(rank, "done", step)
accelerator.end_training()
