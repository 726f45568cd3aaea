#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lightning: ModelCheckpoint(save_last=True), and ckpt_path="last". It repeats the data from their beginning, unless the loader has
state."""
import os
import signal
import time

import lightning
import torch
from lightning.pytorch.callbacks import ModelCheckpoint
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, TensorDataset

import task


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = task.network()

    def training_step(self, pair, _):
        time.sleep(task.PAUSE)
        return mse_loss(self.network(pair[0]), pair[1])

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)

    def on_train_start(self):
        # Lightning's own handler (2.6) saves nothing, and waits for the other ranks until the time is over.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        task.report(self.global_rank, "start", self.global_step, total=task.STEPS)

    def on_train_batch_end(self, outputs, batch, index):
        task.report(self.global_rank, "step", self.global_step, loss=outputs["loss"].item())

    def on_train_end(self):
        task.report(self.global_rank, "done", self.global_step)


tensors = TensorDataset(*task.tensors())
world, devices = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
trainer = lightning.Trainer(
    accelerator="cpu", strategy="ddp", devices=devices, num_nodes=world // devices, max_steps=task.STEPS, logger=False,
    enable_progress_bar=False, callbacks=[ModelCheckpoint(task.FOLDER, every_n_train_steps=task.EVERY, save_last=True)])
trainer.fit(Module(), DataLoader(tensors, batch_size=task.BATCH), ckpt_path="last")
