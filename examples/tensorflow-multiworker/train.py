#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""MultiWorkerMirroredStrategy on Fashion-MNIST. The workers are defined by TF_CONFIG, which dtsubmit sets."""
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "common"))
import fashion_mnist

IMAGES, BATCH, EPOCHS = 4096, 64, 2  # BATCH is that of all workers together


def main():
    strategy = tf.distribute.MultiWorkerMirroredStrategy()  # must come before any other call of TensorFlow
    task, replicas = strategy.cluster_resolver.task_id, strategy.num_replicas_in_sync
    workers = json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]
    print(f"worker {task} of {len(workers)} at {workers[task]}, {replicas} replicas", flush=True)

    tf.keras.utils.set_random_seed(1)
    data = tf.data.Dataset.from_tensor_slices(fashion_mnist.load("train", IMAGES)).batch(BATCH)
    share = tf.data.Options()
    share.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    batches = strategy.experimental_distribute_dataset(data.with_options(share))
    with strategy.scope():
        weights = tf.Variable(tf.random.normal([784, 64], stddev=0.05, seed=1))
        bias, out = tf.Variable(tf.zeros([64])), tf.Variable(tf.random.normal([64, 10], stddev=0.1, seed=2))
        variables = [weights, bias, out]

    def logits(images):
        return tf.nn.relu(tf.reshape(images, [-1, 784]) @ weights + bias) @ out

    @tf.function
    def step(images, labels):
        def on_replica(images, labels):
            with tf.GradientTape() as tape:
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits(images))
                loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
            context = tf.distribute.get_replica_context()
            gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, tape.gradient(loss, variables))
            context.merge_call(lambda strategy, *gradients: [
                strategy.extended.update(variable, lambda v, g: v.assign_sub(0.1 * g), args=(gradient,))
                for variable, gradient in zip(variables, gradients)], args=tuple(gradients))
            return loss
        return strategy.reduce(tf.distribute.ReduceOp.SUM, strategy.run(on_replica, args=(images, labels)), axis=None)

    for epoch in range(EPOCHS):
        losses = [float(step(images, labels)) for images, labels in batches]
        if task == 0:
            print(f"epoch {epoch + 1}: {len(losses)} steps, loss {sum(losses) / len(losses):.4f}", flush=True)
    images, labels = fashion_mnist.load("t10k", 2000)
    accuracy = float(tf.reduce_mean(tf.cast(tf.argmax(logits(images), 1) == labels, tf.float32)))
    print(f"worker {task} done: test accuracy {100 * accuracy:.2f} %", flush=True)


if __name__ == "__main__":
    main()
