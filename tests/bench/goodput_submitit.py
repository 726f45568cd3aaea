# SPDX-License-Identifier: Apache-2.0
"""The steady job as submitit's documentation has it (docs/checkpointing.md): a callable whose checkpoint() gives the submission
that goes on. goodput_submitit.py FOLDER STEPS STEP EVERY SAVE: submits, prints the job."""
import sys

import submitit
from steady_job import Steady


class Training:
    def __init__(self):
        self.steady = None

    def __call__(self, folder, *sizes):
        self.steady = Steady(folder, *sizes, metrics=folder + "/metrics.jsonl")
        self.steady.run()
        self.steady.tell("done")

    def checkpoint(self, folder, *sizes):
        self.steady.save()
        return submitit.helpers.DelayedSubmission(Training(), folder, *sizes)


def main():
    folder, steps, step, every, save = sys.argv[1:]
    executor = submitit.AutoExecutor(folder=folder + "/submitit", cluster="slurm", slurm_max_num_timeout=100)
    executor.update_parameters(slurm_partition="low", timeout_min=60, nodes=1, tasks_per_node=1)
    print(executor.submit(Training(), folder, int(steps), float(step), int(every), float(save)).job_id)


if __name__ == "__main__":
    main()
