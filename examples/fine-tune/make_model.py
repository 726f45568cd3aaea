#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_model.py FOLDER: a small GPT-2 with random weights, as the package transformers saves one."""
import sys

import torch
from transformers import GPT2Config, GPT2LMHeadModel

torch.manual_seed(1)
config = GPT2Config(vocab_size=256, n_positions=64, n_embd=64, n_layer=2, n_head=4, bos_token_id=None, eos_token_id=None)
GPT2LMHeadModel(config).save_pretrained(sys.argv[1])
