#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JAX with orbax: a CheckpointManager, which also saves at the step that all processes agree on after a SIGTERM: reached_preemption()."""
import sys
import time

import jax
import jax.numpy as jnp
import numpy
import orbax.checkpoint
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import task

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_cpu_collectives_implementation", "gloo")
jax.distributed.initialize()
rank, world = jax.process_index(), jax.process_count()
mesh = Mesh(numpy.array(jax.devices()), ("data",))
inputs, targets = task.data()


def everywhere(array, spec=PartitionSpec()):
    return jax.make_array_from_callback(array.shape, NamedSharding(mesh, spec), lambda index: array[index])


def loss_of(weights, x, y):
    return jnp.mean((jnp.tanh(x @ weights["first"]) @ weights["second"] - y) ** 2)


@jax.jit
def update(weights, x, y):
    loss, slopes = jax.value_and_grad(loss_of)(weights, x, y)
    return jax.tree.map(lambda weight, slope: weight - 0.05 * slope, weights, slopes), loss


random = numpy.random.default_rng(2)
weights = {name: everywhere(0.3 * random.standard_normal(shape, dtype=numpy.float32))
           for name, shape in (("first", (task.WIDTH, 64)), ("second", (64, 1)))}
manager = orbax.checkpoint.CheckpointManager(
    task.FOLDER, options=orbax.checkpoint.CheckpointManagerOptions(save_interval_steps=task.EVERY, max_to_keep=2))
step = manager.latest_step() or 0
if step: weights = manager.restore(step, args=orbax.checkpoint.args.StandardRestore(weights))
task.report(rank, "start", step, total=task.STEPS)
while step < task.STEPS:
    time.sleep(task.PAUSE)
    batch = slice(step * world * task.BATCH, (step + 1) * world * task.BATCH)
    weights, loss = update(weights, *(everywhere(part[batch], PartitionSpec("data")) for part in (inputs, targets)))
    step += 1
    task.report(rank, "step", step, loss=float(loss))
    manager.save(step, args=orbax.checkpoint.args.StandardSave(weights))  # every 10 steps, and after a SIGTERM
    if manager.reached_preemption(step):
        manager.wait_until_finished()
        sys.exit(85)  # saved, run me again
manager.wait_until_finished()
task.report(rank, "done", step)
