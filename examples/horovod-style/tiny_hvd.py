# SPDX-License-Identifier: Apache-2.0
"""The few functions of horovod.torch that train.py uses, on torch.distributed, for machines without Horovod."""
import os

import torch
import torch.distributed as dist

Average = "average"


def init():
    """Takes the ranks from Horovod's variables, and the rendezvous from MASTER_ADDR and MASTER_PORT."""
    dist.init_process_group("gloo", init_method="env://", rank=rank(), world_size=size())


def rank():
    return int(os.environ["HOROVOD_RANK"])


def size():
    return int(os.environ["HOROVOD_SIZE"])


def local_rank():
    return int(os.environ["HOROVOD_LOCAL_RANK"])


def local_size():
    return int(os.environ["HOROVOD_LOCAL_SIZE"])


def allreduce(tensor, op=Average):
    if op != Average:
        raise ValueError("averages only")
    result = tensor.clone()
    dist.all_reduce(result)
    return result / size()


def broadcast_parameters(parameters, root_rank):
    for tensor in parameters.values():
        dist.broadcast(tensor, root_rank)


class _DistributedOptimizer:
    def __init__(self, optimizer):
        self._optimizer = optimizer

    def __getattr__(self, name):
        return getattr(self._optimizer, name)

    def step(self):
        """Averages all gradients as one message, then steps."""
        gradients = [p.grad for group in self._optimizer.param_groups for p in group["params"] if p.grad is not None]
        average = allreduce(torch.cat([gradient.flatten() for gradient in gradients]))
        for gradient, part in zip(gradients, average.split([gradient.numel() for gradient in gradients])):
            gradient.copy_(part.view_as(gradient))
        self._optimizer.step()


def DistributedOptimizer(optimizer, named_parameters=None):
    return _DistributedOptimizer(optimizer)


def shutdown():
    dist.destroy_process_group()
