#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lightning, whose Trainer has the loop: the lines are in a callback, and in what fit() is given."""
import os

import lightning
import torch
from torch.nn.functional import mse_loss
from torch.utils.data import DataLoader, IterableDataset

import come_back
import task


class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.network = task.network()

    def training_step(self, pair, _):
        inputs, targets = pair
        return mse_loss(self.network(inputs), targets)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


class Batches(IterableDataset):
    """From a step on: Lightning restores its own counters, and does not skip what has been read."""

    def __init__(self, step):
        self.step = step

    def __iter__(self):
        for step in range(self.step, task.STEPS):
            yield task.batch(step, int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))


class ComeBack(lightning.Callback):
    def on_train_start(self, trainer, module):
        # 1: here, after fit() has set Lightning's handler, which this replaces: that one broadcasts as soon as the signal arrives,
        # between the collectives of the step, and all ranks wait for each other until their time is over (2.6).
        self.stop = come_back.Stop()
        come_back.report("start", trainer.global_step, total=task.STEPS)

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        step, loss = trainer.global_step, trainer.strategy.reduce(outputs["loss"].detach(), reduce_op="mean")
        come_back.report("step", step, loss=loss.item())
        if self.stop.agreed(): self.save(trainer); self.stop.leave()  # 3

    def save(self, trainer):
        with come_back.saving(trainer.global_step) as path:
            trainer.save_checkpoint(path + "/lightning.ckpt")

    def on_train_end(self, trainer, module):
        come_back.report("done", trainer.global_step)


torch.set_num_threads(1)
path = come_back.newest()  # 2
step = int(path.rsplit("-", 1)[1]) if path else 0
world, devices = int(os.environ["WORLD_SIZE"]), int(os.environ["LOCAL_WORLD_SIZE"])
trainer = lightning.Trainer(
    accelerator="cpu", strategy="ddp", devices=devices, num_nodes=world // devices,
    max_steps=task.STEPS, callbacks=[ComeBack()], logger=False, enable_checkpointing=False, enable_progress_bar=False)
loader = DataLoader(Batches(step), batch_size=None, num_workers=1, worker_init_fn=come_back.quiet)
trainer.fit(Module(), loader, ckpt_path=path and path + "/lightning.ckpt")
