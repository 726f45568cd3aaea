#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Composer: save_interval, and load_path with its link to the newest checkpoint. Not autoresume=True: with one save_folder for all nodes
(0.32), each node removes the same file, and all but one fail."""
import os
import time

import torch
from composer import Callback, Trainer
from composer.models import ComposerModel
from composer.utils import dist
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

import task


class Model(ComposerModel):
    def __init__(self):
        super().__init__()
        self.network = task.network()

    def forward(self, batch):
        return self.network(batch[0])

    def loss(self, outputs, batch):
        return mse_loss(outputs, batch[1])


class Report(Callback):
    def fit_start(self, state, logger):
        task.report(dist.get_global_rank(), "start", int(state.timestamp.batch), total=task.STEPS)

    def batch_end(self, state, logger):
        time.sleep(task.PAUSE)
        task.report(dist.get_global_rank(), "step", int(state.timestamp.batch), loss=state.loss.item())

    def fit_end(self, state, logger):
        task.report(dist.get_global_rank(), "done", int(state.timestamp.batch))


dist.initialize_dist("cpu")
tensors, model = TensorDataset(*task.tensors()), Model()
newest = task.FOLDER + "/latest-rank0.pt"
Trainer(
    model=model, train_dataloader=DataLoader(tensors, batch_size=task.BATCH, sampler=dist.get_sampler(tensors, shuffle=True)),
    optimizers=torch.optim.AdamW(model.parameters(), lr=1e-2), max_duration=f"{task.STEPS}ba", device="cpu", callbacks=[Report()],
    save_folder=task.FOLDER, save_interval=f"{task.EVERY}ba", load_path=newest if os.path.exists(newest) else None,
    progress_bar=False).fit()
