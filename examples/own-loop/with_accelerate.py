# SPDX-License-Identifier: Apache-2.0
"""accelerate, with its save_state and load_state."""
import json

import torch
from accelerate import Accelerator

import come_back


class Training:
    def __init__(self, network):
        self.accelerator = Accelerator(cpu=True)
        self.model, self.optimizer = self.accelerator.prepare(network, torch.optim.AdamW(network.parameters(), lr=1e-2))
        self.backward = self.accelerator.backward

    def load(self, path):
        self.accelerator.load_state(path)
        with open(path + "/step.json") as file:
            return json.load(file)

    def save(self, step):
        with come_back.saving(step) as path:
            self.accelerator.save_state(path)
            if self.accelerator.is_main_process:
                with open(path + "/step.json", "w") as file:
                    json.dump(step, file)
