# SPDX-License-Identifier: Apache-2.0
"""The steady job as Lightning's documentation has it on Slurm: SLURMEnvironment(auto_requeue=True), srun, --signal=SIGUSR1@90, and
a ModelCheckpoint. goodput_lightning.py FOLDER STEPS STEP EVERY SAVE: what srun starts."""
import os
import sys
import time

import pytorch_lightning as lightning
import torch
from pytorch_lightning.callbacks import ModelCheckpoint
from pytorch_lightning.plugins.environments import SLURMEnvironment
from steady_job import Steady


class Training(lightning.LightningModule):
    def __init__(self, teller, step_seconds, save_seconds):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.teller, self.step_seconds, self.save_seconds = teller, step_seconds, save_seconds

    def training_step(self, batch, _):
        time.sleep(self.step_seconds)
        return self.layer(batch).sum()

    def on_train_batch_end(self, *_):
        self.teller.done = self.global_step
        self.teller.tell("step")

    def on_save_checkpoint(self, _):
        time.sleep(self.save_seconds)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.0)


def main():
    folder, steps, step, every, save = sys.argv[1:]
    teller = Steady(folder, int(steps), float(step), int(every), float(save), metrics=folder + "/metrics.jsonl")
    teller.tell("start")
    checkpoints = ModelCheckpoint(dirpath=folder, every_n_train_steps=int(every), save_last=True)
    trainer = lightning.Trainer(max_steps=int(steps), accelerator="cpu", devices=1, logger=False, enable_progress_bar=False, default_root_dir=folder,
                                plugins=[SLURMEnvironment(auto_requeue=True)], callbacks=[checkpoints])
    batches = torch.utils.data.DataLoader(torch.ones(int(steps), 1))
    last = folder + "/last.ckpt"
    trainer.fit(Training(teller, float(step), float(save)), batches, ckpt_path=last if os.path.exists(last) else None)
    if trainer.global_step >= int(steps):
        teller.tell("done")


if __name__ == "__main__":
    main()
