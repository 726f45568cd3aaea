#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keras on TensorFlow: BackupAndRestore, here every 10 steps. It deletes its backup when fit() is done."""
import os
import time

os.environ["TF_USE_LEGACY_KERAS"] = "1"  # Keras 3 has no MultiWorkerMirroredStrategy
import tensorflow as tf  # noqa: E402

import task  # noqa: E402

strategy = tf.distribute.MultiWorkerMirroredStrategy()
rank = strategy.cluster_resolver.task_id or 0
with strategy.scope():
    tf.random.set_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu", input_shape=(task.WIDTH,)), tf.keras.layers.Dense(1)])
    model.compile(tf.keras.optimizers.Adam(1e-2), "mse")


class Report(tf.keras.callbacks.Callback):
    def on_train_begin(self, logs=None):
        task.report(rank, "start", int(model.optimizer.iterations.numpy()), total=task.STEPS)

    def on_train_batch_end(self, batch, logs=None):
        time.sleep(task.PAUSE)
        task.report(rank, "step", int(model.optimizer.iterations.numpy()), loss=float(logs["loss"]))


batches = tf.data.Dataset.from_tensor_slices(task.data()).batch(task.BATCH * strategy.num_replicas_in_sync).repeat()
backup = tf.keras.callbacks.BackupAndRestore(task.FOLDER + "/backup", save_freq=task.EVERY)
model.fit(batches, steps_per_epoch=task.STEPS, epochs=1, verbose=0, callbacks=[backup, Report()])
task.report(rank, "done", int(model.optimizer.iterations.numpy()))
