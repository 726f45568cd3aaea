#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers, which has the loop and saves its own checkpoints: the lines are in a callback, and in what train() is
given."""
import glob
import os

import torch
import torch.distributed as dist
import transformers
from torch.nn.functional import mse_loss
from torch.utils.data import Dataset, SequentialSampler

import come_back
import task


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = task.network()

    def forward(self, inputs, targets):
        return {"loss": mse_loss(self.network(inputs), targets)}


class Batches(Dataset):
    """A batch of one rank per item, in the order of steps and ranks."""

    def __len__(self):
        return task.STEPS * dist.get_world_size()

    def __getitem__(self, item):
        step, rank = divmod(item, dist.get_world_size())
        return dict(zip(("inputs", "targets"), task.batch(step, rank, dist.get_world_size())))


class Trainer(transformers.Trainer):
    def _get_train_sampler(self, *_):
        return SequentialSampler(self.train_dataset)

    def training_step(self, *args, **more):
        self.loss = super().training_step(*args, **more)
        return self.loss


class ComeBack(transformers.TrainerCallback):
    def on_train_begin(self, args, state, control, **_):
        self.stop, self.stopped = come_back.Stop(), False  # 1
        come_back.report("start", state.global_step, total=task.STEPS)

    def on_step_end(self, args, state, control, **_):
        mean = trainer.loss / dist.get_world_size()
        dist.all_reduce(mean)
        come_back.report("step", state.global_step, loss=mean.item())
        if self.stop.agreed(): self.stopped = control.should_save = True  # 3: all ranks save after this step ...

    def on_save(self, args, state, control, **_):
        dist.barrier()  # every rank has written its part
        if state.is_world_process_zero: open(f"{args.output_dir}/checkpoint-{state.global_step}/complete", "w").close()
        if self.stopped: self.stop.leave()  # ... and leave once they have

    def on_train_end(self, args, state, control, **_):
        come_back.report("done", state.global_step)


torch.set_num_threads(1)
# 2: the newest complete one. A checkpoint whose save was interrupted has no such file.
path = max(glob.glob(come_back.FOLDER + "/checkpoint-*/complete"), key=os.path.getmtime, default=None)
trainer = Trainer(
    Model(),
    transformers.TrainingArguments(
        come_back.FOLDER, max_steps=task.STEPS, per_device_train_batch_size=1, learning_rate=1e-2, lr_scheduler_type="constant",
        save_strategy="no", use_cpu=True, ddp_backend="gloo", report_to="none", disable_tqdm=True, remove_unused_columns=False),
    data_collator=lambda items: items[0],
    train_dataset=Batches(),
    callbacks=[ComeBack()])
trainer.train(resume_from_checkpoint=path and os.path.dirname(path))
