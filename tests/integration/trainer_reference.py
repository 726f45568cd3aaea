# SPDX-License-Identifier: Apache-2.0
"""Independent implementations for tests of the trainer: the order of its samples, and reading its checkpoints."""

import glob
import json
import struct

import numpy

WORD = (1 << 64) - 1


def mix(x):
    """SplitMix64's finaliser."""
    x = (x + 0x9E3779B97F4A7C15) & WORD
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & WORD
    return x ^ (x >> 31)


def sample_index(seed, epoch, index, count):
    """core/train/data/sampler.hpp, written again: a Feistel network of six rounds, applied until the result is below count."""
    key = mix(mix(seed) ^ epoch)
    half = ((count - 1).bit_length() + 1) // 2
    mask = (1 << half) - 1
    while True:
        left, right = index >> half, index & mask
        for turn in range(6):
            left, right = right, left ^ (mix(key ^ mix(right + (turn << 56))) & mask)
        index = left << half | right
        if index < count:
            return index


def read_safetensors(path):
    with open(path, "rb") as file:
        (length,) = struct.unpack("<Q", file.read(8))
        header = json.loads(file.read(length))
        body = file.read()
    header.pop("__metadata__")
    return {name: numpy.frombuffer(body[slice(*t["data_offsets"])], numpy.float32).reshape(t["shape"])
            for name, t in header.items()}


def read_checkpoint(folder):
    """All tensors of a checkpoint; parts in several files are joined in the order of the files."""
    parts = {}
    for path in sorted(glob.glob(folder + "/state*.safetensors")):
        for name, value in read_safetensors(path).items():
            parts.setdefault(name, []).append(value)
    return {name: numpy.concatenate(values) for name, values in parts.items()}


def of(tensors, prefix):
    return {name[len(prefix):]: value for name, value in tensors.items() if name.startswith(prefix)}
