# SPDX-License-Identifier: Apache-2.0
"""What a PyTorch program leaves in its run directory: checkpoints, and what `dtsubmit status` reads."""
import glob
import json
import os

import torch


class Checkpoints:
    """Files step-<n>.pt, each complete or absent."""

    def __init__(self, folder=None):
        self.folder = folder or os.environ.get("DTSUBMIT_CHECKPOINT_DIR", "checkpoints")
        os.makedirs(self.folder, exist_ok=True)

    def newest(self):
        return max(glob.glob(self.folder + "/step-*.pt"), default=None)

    def save(self, step, **state):
        path = f"{self.folder}/step-{step:09}.pt"
        with open(path + ".new", "wb") as file:
            torch.save({"step": step, **state}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)


class Journal:
    """What rank 0 tells `dtsubmit status` in metrics.jsonl, and its log."""

    def __init__(self, speaks):
        self.speaks = speaks
        self.path = os.path.join(os.environ.get("DTSUBMIT_RUN_DIR", "."), "metrics.jsonl")

    def note(self, event, step, text=None, **more):
        if not self.speaks:
            return
        with open(self.path, "a") as file:
            file.write(json.dumps({"event": event, "attempt": int(os.environ.get("DTSUBMIT_ATTEMPT", "1")), "step": step, **more}) + "\n")
        if text:
            print(text, flush=True)
