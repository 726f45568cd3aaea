#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""loss_in_transformers.py FOLDER TEXT: what the package transformers computes with that model, on the last tenth of the
windows of a text, each byte a token: those that dttrain keeps for its evaluations."""
import sys

import torch
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(sys.argv[1]).eval()
with open(sys.argv[2], "rb") as file:
    tokens = torch.tensor(list(file.read()))
length = model.config.n_positions
count = (len(tokens) - 1) // length
windows = torch.stack([tokens[i * length:(i + 1) * length + 1] for i in range(count - max(1, count // 10), count)])
with torch.no_grad():
    logits = model(windows[:, :-1]).logits
print(torch.nn.functional.cross_entropy(logits.flatten(0, 1), windows[:, 1:].flatten()).item())
