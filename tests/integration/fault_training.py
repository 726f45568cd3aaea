# SPDX-License-Identifier: Apache-2.0
"""The trainings in the cells of faults.py: 60 steps, a checkpoint every ten, and always the same digest if undisturbed."""
import os
import sys

from fault_ground import HERE
from main_job_support import DTTRAIN, FEW

STEPS, EVERY, REACHED = 60, 10, 12
TRAIN = [*FEW, "--steps", str(STEPS), "--save-every", str(EVERY)]
# Slow in attempt 1 only, where a fault must find it running; later attempts only have to end.
SLOW = 'if [ "$DTSUBMIT_ATTEMPT" = 1 ]; then exec "$0" "$@" --step-delay {}; fi; exec "$0" "$@"'


def slow(delay):
    """dttrain with steps that take `delay` ms longer in attempt 1."""
    return ["--", "sh", "-c", SLOW.format(delay), DTTRAIN, *TRAIN]


def uses_torch(cell):
    return cell.launcher == "torchrun" or cell.program == "torch"


def squatting(torchrun):
    """A torchrun whose port is taken by another process in attempt 1."""
    path = os.path.dirname(torchrun) + "/squatting/torchrun"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\nexec {sys.executable} {HERE}/fault_torch.py squat {torchrun} "$@"\n')
    os.chmod(path, 0o755)
    return path


def submission(cell, torchrun):
    """What is submitted for a cell; `torchrun`: path of that program."""
    torch = uses_torch(cell)
    words = ["--nodes", "2", "--gpus-per-node", "1" if torch else "2", "-p", cell.partition, "-J", cell.name.replace(".", "-"), *cell.options]
    if cell.launcher != "torchrun":
        words += ["--launcher", cell.launcher]
    if not torch:
        return [*words, *slow(cell.delay)]
    script = HERE + "/fault_torch.py"
    start = [torchrun] if cell.launcher == "torchrun" else [sys.executable]
    if cell.squat:  # a torchrun needs this name, otherwise it counts as a program of one process
        start = [squatting(torchrun)] if cell.launcher == "torchrun" else [sys.executable, script, "squat", sys.executable]
    return [*words, "--", *start, script, str(STEPS), str(EVERY), str(cell.delay)]
