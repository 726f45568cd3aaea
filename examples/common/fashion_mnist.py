# SPDX-License-Identifier: Apache-2.0
"""Fashion-MNIST (Debian package dataset-fashion-mnist) as NumPy arrays, for the examples."""
import gzip
import os

import numpy

FOLDER = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")


def _read(name, header, count):
    with gzip.open(os.path.join(FOLDER, name)) as file:
        return numpy.frombuffer(file.read(header + count), numpy.uint8, offset=header)


def load(part, count):
    """The first `count` of part "train" (60,000) or "t10k" (10,000).

    Images as float32 [count, 28, 28] of mean 0 and deviation 1 over the training set; labels as int64 [count]."""
    pixels = _read(f"{part}-images-idx3-ubyte.gz", 16, count * 784).reshape(count, 28, 28)
    labels = _read(f"{part}-labels-idx1-ubyte.gz", 8, count)
    return (pixels / numpy.float32(255) - numpy.float32(0.2860)) / numpy.float32(0.3530), labels.astype(numpy.int64)
