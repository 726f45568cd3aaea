#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TensorFlow's MultiWorkerMirroredStrategy: two workers that only know each other from TF_CONFIG.

frameworks_tensorflow.py local: two ranks of `dtsubmit run`.
frameworks_tensorflow.py slurm [OPTION...]: on two nodes of a private Slurm, with these options of `dtsubmit submit`."""
import json
import os
import sys

from frameworks_support import check, need, run_nodes, run_ranks, tell

STEPS, BATCH, FEATURES, RANKS = 30, 32, 8, 2
RATE = 0.1
TOLERANCE = 1e-4  # of losses near 10 in fp32, compared with fp64


def samples():
    import numpy
    random = numpy.random.default_rng(1)
    x = random.standard_normal((STEPS, BATCH, FEATURES))
    return x, x @ numpy.arange(1.0, FEATURES + 1)


def reference():
    """The losses of linear regression by gradient descent on whole batches."""
    import numpy
    weights, losses = numpy.zeros(FEATURES), []
    for x, y in zip(*samples()):
        error = x @ weights - y
        losses.append(float((error**2).mean()))
        weights -= RATE * 2 * x.T @ error / BATCH
    return losses


def rank_main():
    import tensorflow as tf
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    task = strategy.cluster_resolver.task_id
    size = strategy.num_replicas_in_sync
    with strategy.scope():
        weights = tf.Variable(tf.zeros(FEATURES), aggregation=tf.VariableAggregation.SUM)

    @tf.function
    def step(x, y):
        def on_replica(x, y):
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum((tf.linalg.matvec(x, weights) - y)**2) / BATCH
            gradient = tape.gradient(loss, weights)
            gradient = tf.distribute.get_replica_context().all_reduce("SUM", gradient)
            tf.distribute.get_replica_context().merge_call(
                lambda strategy, g: strategy.extended.update(weights, lambda v, d: v.assign_sub(RATE * d), args=(g,)), args=(gradient,))
            return loss
        return strategy.reduce("SUM", strategy.run(on_replica, args=(x, y)), axis=None)

    losses = [float(step(tf.constant(x[task::size], tf.float32), tf.constant(y[task::size], tf.float32))) for x, y in zip(*samples())]
    tell({"task": task, "replicas": size, "workers": json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"],
          "losses": losses, "expected": reference()})


def main():
    print("TensorFlow", need("tensorflow"))
    ranks = run_nodes(__file__, options=sys.argv[2:]) if sys.argv[1] == "slurm" else run_ranks(RANKS, __file__)
    check([told["task"] for told in ranks] == [0, 1], "each worker is its rank")
    check({told["replicas"] for told in ranks} == {RANKS}, f"{RANKS} replicas in sync")
    check(len(set(ranks[0]["workers"])) == RANKS, f"at {' and '.join(ranks[0]['workers'])}")
    for told in ranks:
        worst = max(abs(ours - exact) for ours, exact in zip(told["losses"], told["expected"]))
        check(len(told["losses"]) == STEPS and worst < TOLERANCE,
              f"worker {told['task']}: {STEPS} losses, {told['losses'][0]:.3f} to {told['losses'][-1]:.6f}, differ by {worst:.1e} at most")


rank_main() if sys.argv[1:2] == ["rank"] else main()
