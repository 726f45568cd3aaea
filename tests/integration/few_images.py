# SPDX-License-Identifier: Apache-2.0
"""The first of Fashion-MNIST's images in a folder of their own: a training that reads and evaluates only these starts in a fifth of the
time.

Usage: few_images.py FOLDER, which the build does for all tests"""

import gzip
import os
import struct
import sys

DATA = "/usr/share/datasets/fashion-mnist"


def make(folder, train, test):
    """Writes this number of training and test images."""
    os.makedirs(folder, exist_ok=True)
    for prefix, count in (("train", train), ("t10k", test)):
        for name, header, size in ((f"{prefix}-images-idx3-ubyte.gz", 16, 784), (f"{prefix}-labels-idx1-ubyte.gz", 8, 1)):
            with gzip.open(os.path.join(DATA, name)) as file:
                values = file.read(header + count * size)
            with gzip.open(os.path.join(folder, name), "wb", compresslevel=1) as file:
                file.write(values[:4] + struct.pack(">I", count) + values[8:])
    return folder


def of_build(program):
    """Options for a quick training: the images that were made beside this dttrain, in small batches."""
    return ["--data", os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(program))), "tests/integration/few-images"), "--batch", "32"]


if __name__ == "__main__":
    make(sys.argv[1], 12800, 500)
