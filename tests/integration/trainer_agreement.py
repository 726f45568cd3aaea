# SPDX-License-Identifier: Apache-2.0
"""One rank with a different option, data, instruction set or library is refused before the first step, with ranks and values."""

import gzip
import os
import shutil
import subprocess
import sys

from trainer_support import Trainer, environment, skip

PLAIN = ["--steps", 3]


def refused(trainer, ranks, *words, **options):
    """The last rank has `options` of its own."""
    own = [*PLAIN, *(str(word) for pair in options.items() for word in ("--" + pair[0].replace("_", "-"), pair[1]))]
    _, err = trainer.run(ranks, [PLAIN] * (ranks - 1) + [own], expect=3)
    assert err.count("the ranks do not agree on ") == 1, err
    for word in words:
        assert word in err, f"no `{word}`:\n{err}"
    return err


def other_data(trainer, name, file, offset):
    """A copy of the data with one different byte."""
    copy = trainer.path(name)
    shutil.copytree(trainer.default[1], copy)
    path = os.path.join(copy, file)
    content = bytearray(gzip.open(path).read())
    content[offset] = (content[offset] + 1) % 10
    with gzip.open(path, "wb", compresslevel=1) as packed:
        packed.write(content)
    return copy


def other_library(trainer):
    """Has the effect of another LD_LIBRARY_PATH, as there is only one oneDNN here."""
    library = os.environ.get("OTHER_ONEDNN")
    if not library:
        return print("skipped the other oneDNN: OTHER_ONEDNN does not name the library")
    mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none"]
    program = [trainer.program, *map(str, PLAIN)]
    done = subprocess.run([*mpirun, "-np", "1", *program, ":", "-np", "1", "env", "LD_PRELOAD=" + library, *program],
                          env=environment(), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 3, f"exit {done.returncode}\n{done.stderr}"
    assert "onednn: " in done.stderr and "9.8.7 another on rank 1" in done.stderr, done.stderr


with Trainer(sys.argv[1], few=True) as trainer:
    refused(trainer, 2, "lr: 0.1 on rank 0; 0.2 on rank 1", lr=0.2)
    refused(trainer, 3, "lr: 0.1 on rank 0,1; 0.05 on rank 2", lr=0.05)
    refused(trainer, 2, "seed: 1 on rank 0; 2 on rank 1", seed=2)
    refused(trainer, 2, "shards: 16 on rank 0; 8 on rank 1", shards=8)
    refused(trainer, 2, "momentum: 0.9 on rank 0; 0.8 on rank 1", "warmup: 100 on rank 0; 7 on rank 1", momentum=0.8, warmup=7)
    refused(trainer, 2, "steps: 3 on rank 0; 4 on rank 1", steps=4)
    refused(trainer, 2, "verify-every: 50 on rank 0; 0 on rank 1", verify_every=0)
    refused(trainer, 2, "checkpoints: none on rank 0; yes on rank 1", checkpoint_dir=trainer.path("own"))
    if "avx" in open("/proc/cpuinfo", encoding="utf-8").read():
        refused(trainer, 2, "instruction_set: ", "portable on rank 1", instruction_set="portable")
    else:
        print("skipped another instruction set: this processor has one only")
    for name, file, offset in (("images", "train-images-idx3-ubyte.gz", 5000), ("labels", "train-labels-idx1-ubyte.gz", 10000),
                               ("test-images", "t10k-images-idx3-ubyte.gz", 5000), ("test-labels", "t10k-labels-idx1-ubyte.gz", 8)):
        refused(trainer, 2, "data: ", "on rank 0", "on rank 1", data=other_data(trainer, name, file, offset))
    same = trainer.path("same")
    shutil.copytree(trainer.default[1], same)
    trainer.run(2, [PLAIN, [*PLAIN, "--data", same]])  # another folder with the same content counts as the same data
    other_library(trainer)
