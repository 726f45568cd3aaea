# SPDX-License-Identifier: Apache-2.0
"""FSDP2 (fully_shard); all ranks save, each its part, with torch.distributed.checkpoint. Another number of ranks may load it."""
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard

import come_back


class Training:
    def __init__(self, network):
        dist.init_process_group("gloo")
        mesh = init_device_mesh("cpu", (dist.get_world_size(),))
        for layer in network:
            if isinstance(layer, torch.nn.Linear):
                fully_shard(layer, mesh=mesh)
        self.model = fully_shard(network, mesh=mesh)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-2)

    def backward(self, loss):
        loss.backward()

    def state(self, step):
        weights, moments = get_state_dict(self.model, self.optimizer)
        return {"model": weights, "optimizer": moments, "step": torch.tensor(step)}

    def load(self, path):
        state = self.state(0)  # as this number of ranks has it; filled from files of any number
        dcp.load(state, checkpoint_id=path)
        set_state_dict(self.model, self.optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
        return int(state["step"])

    def save(self, step):
        with come_back.saving(step) as path:
            dcp.save(self.state(step), checkpoint_id=path)
