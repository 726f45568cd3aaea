# SPDX-License-Identifier: Apache-2.0
"""Models of more than 2^31 parameters, in as much memory as they need: a Hugging Face folder converted (16 GiB), a step trained by one rank
and by two that divide everything (64 GiB). Parts for which there is not enough memory are skipped, and this is reported.

Usage: trainer_extents.py DTTRAIN [SMALL]; with SMALL, the same with small models."""

import json
import os
import struct
import subprocess
import sys

from trainer_support import Trainer, digest

GIB = 1 << 30
SMALL = len(sys.argv) > 2
WIDTH = 1024
ROWS = 5000 if SMALL else (1 << 21) + 64
LAYERS = "hidden_size=64,intermediate_size=128" if SMALL else "hidden_size=4096,intermediate_size=16384"


def has_memory(gib, what):
    with open("/proc/meminfo", encoding="ascii") as lines:
        free = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")) * 1024
    if SMALL or free >= gib * GIB:
        return True
    print(f"skipped: {what} needs {gib} GiB of memory, {free / GIB:.0f} are available", flush=True)
    return False


def write_folder(path):
    """A table of bfloat16 and a norm; everything is a hole except the last row and the norm."""
    os.makedirs(path)
    config = {"model_type": "llama", "vocab_size": ROWS, "hidden_size": WIDTH, "intermediate_size": 16, "num_hidden_layers": 0,
              "num_attention_heads": 1, "max_position_embeddings": 16, "tie_word_embeddings": True, "hidden_act": "silu"}
    with open(f"{path}/config.json", "w", encoding="ascii") as file:
        json.dump(config, file)
    table = 2 * ROWS * WIDTH
    header = json.dumps({"model.embed_tokens.weight": {"dtype": "BF16", "shape": [ROWS, WIDTH], "data_offsets": [0, table]},
                         "model.norm.weight": {"dtype": "BF16", "shape": [WIDTH], "data_offsets": [table, table + 2 * WIDTH]}}).encode()
    with open(f"{path}/model.safetensors", "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header)
        file.seek(table - 2 * WIDTH, os.SEEK_CUR)
        file.write(b"".join(struct.pack("<H", 0x3F80 + i % 128) for i in range(2 * WIDTH)))


def values_at_end(path, count):
    with open(f"{path}/model.safetensors", "rb") as file:
        file.seek(-2 * count, os.SEEK_END)
        return file.read()


def converted(trainer):
    if not has_memory(16, "to convert 2^31 parameters"):
        return False
    here, there = trainer.path("here"), trainer.path("there")
    write_folder(here)
    done = subprocess.run([trainer.program, "convert", "--dtype", "bfloat16", "--max-file-size", "100000", here, there],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert values_at_end(there, 2 * WIDTH) == values_at_end(here, 2 * WIDTH)
    assert os.path.getsize(f"{there}/model.safetensors") > 2 * WIDTH * (ROWS + 1)
    for name in ("here", "there"):
        os.remove(trainer.path(f"{name}/model.safetensors"))
    return True


def trained(trainer):
    if not has_memory(64, "to train 2.4 * 10^9 parameters"):
        return False
    with open(trainer.path("t.txt"), "w", encoding="ascii") as file:
        file.write("abcdefgh \n" * 1000)
    model = f"llama,vocab_size=256,{LAYERS},num_hidden_layers=9,num_attention_heads=16,max_position_embeddings=16"
    options = ["--model", model, "--data", trainer.path("t.txt"), "--steps", 1, "--batch", 2, "--shards", 2, "--warmup", 0,
               "--limit-train", 16]
    one, _ = trainer.run(0, options, limit=2400)
    for transport in ("mpi", "shm"):
        two, _ = trainer.run(2, [*options, "--zero", 3, "--transport", transport], limit=2400)
        assert digest(two) == digest(one), (one, two)
    return True


with Trainer(sys.argv[1]) as trainer_:
    ran = [work(trainer_) for work in (converted, trained)]
sys.exit(0 if any(ran) else 77)
