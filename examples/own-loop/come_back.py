# SPDX-License-Identifier: Apache-2.0
"""What a loop in PyTorch needs to come back after a preemption. To be copied. Three lines of it are in each program here:

    stop = come_back.Stop()                               # 1: before the loop
    if path := come_back.newest(): step = load(path)      # 2: also before
    if stop.agreed(): save(step); stop.leave()            # 3: after each step
"""
import contextlib
import glob
import json
import os
import shutil
import signal
import sys
import time

import torch
import torch.distributed as dist

SAVED = 85  # saved, run me again
FOLDER = os.environ.get("CHECKPOINTS") or os.environ.get("DTSUBMIT_CHECKPOINT_DIR", "checkpoints")  # the former: another run's


class Stop:
    """Whether the job is to stop. SIGTERM only sets a flag: the step it arrives in is completed."""

    def __init__(self):
        self.asked = False
        signal.signal(signal.SIGTERM, self.hear)

    def hear(self, *_):
        self.asked = True

    def agreed(self):
        """The same on all ranks, which call it after the same step: the signal reaches them at different moments."""
        device = "cuda" if dist.get_backend() == "nccl" else "cpu"
        flag = torch.tensor([int(self.asked)], device=device)
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        if flag.item():
            # From here on a signal, of which there may be several, would only disturb the save. Nor must it be left to Python's
            # end, which restores the default handler: a rank that has saved would then be killed, and count as not saved.
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return bool(flag.item())

    def leave(self, code=SAVED):
        time.sleep(0.1)  # PyTorch 1.13 with gloo hangs now and then if it ends right after a collective
        dist.destroy_process_group()
        sys.exit(code)


def quiet(_=None):
    """For DataLoader(worker_init_fn=come_back.quiet). Where Slurm does not track processes by control groups, it signals all of
    a step, loader workers too, and a rank whose worker was killed fails before it has saved."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


def newest():
    """The folder of the newest checkpoint, None if there is none yet."""
    return max(glob.glob(FOLDER + "/step-" + "[0-9]" * 9), default=None)


@contextlib.contextmanager
def saving(step):
    """The folder in which all ranks write a checkpoint. It gets its name once all have: it is complete or absent."""
    final = f"{FOLDER}/step-{step:09}"
    if dist.get_rank() == 0:
        shutil.rmtree(final + ".new", ignore_errors=True)  # of an attempt that was killed
        os.makedirs(final + ".new")
    dist.barrier()
    yield final + ".new"
    dist.barrier()
    if dist.get_rank() == 0:
        os.rename(final + ".new", final)
    dist.barrier()


def report(event, step, **more):
    """For `dtsubmit status`: what was lost, how far it is. Events are start, step and done."""
    if dist.get_rank() == 0:
        line = {"event": event, "attempt": int(os.environ.get("DTSUBMIT_ATTEMPT", "1")), "step": step, **more}
        with open(os.path.join(os.environ.get("DTSUBMIT_RUN_DIR", "."), "metrics.jsonl"), "a") as file:
            file.write(json.dumps(line) + "\n")
