#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Trainer of transformers: save_steps, and resume_from_checkpoint with the newest of its checkpoint-N."""
import os
import time

import torch
from torch.nn.functional import mse_loss
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import task


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.network = task.network()

    def forward(self, inputs, labels):
        return {"loss": mse_loss(self.network(inputs), labels)}


class Report(TrainerCallback):
    def on_train_begin(self, args, state, control, **_):
        task.report(args.process_index, "start", state.global_step, total=task.STEPS)

    def on_step_begin(self, *_, **__):
        time.sleep(task.PAUSE)

    def on_log(self, args, state, control, logs=None, **_):
        if "loss" in logs: task.report(args.process_index, "step", state.global_step, loss=float(logs["loss"]))

    def on_train_end(self, args, state, control, **_):
        task.report(args.process_index, "done", state.global_step)


inputs, labels = task.tensors()
trainer = Trainer(
    Model(),
    TrainingArguments(
        task.FOLDER, max_steps=task.STEPS, save_steps=task.EVERY, per_device_train_batch_size=task.BATCH, learning_rate=1e-2,
        logging_steps=1, use_cpu=True, report_to="none", disable_tqdm=True),
    train_dataset=[{"inputs": one, "labels": label} for one, label in zip(inputs, labels)],
    callbacks=[Report()])
trainer.train(resume_from_checkpoint=get_last_checkpoint(task.FOLDER) if os.path.isdir(task.FOLDER) else None)
