#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Starts a training script on every GPU of every host, as on SageMaker. Run it once on each host.

It reads SM_HOSTS, SM_CURRENT_HOST, SM_NUM_GPUS and, if set, MASTER_PORT, and no other variable of Slurm, mpirun or
dtsubmit. Its exit code is that of the first worker that failed."""
import json
import os
import sys

from torch.distributed.elastic.multiprocessing.errors import ChildFailedError
from torch.distributed.launcher.api import LaunchConfig, elastic_launch


def configuration():
    hosts = json.loads(os.environ["SM_HOSTS"])
    workers = max(1, int(os.environ["SM_NUM_GPUS"]))
    # The workers share the host's cores; without this, the library would let each use all of them.
    threads = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
    os.environ["OMP_NUM_THREADS"] = str(max(1, threads // workers))
    # c10d numbers the hosts in the order in which they join; static keeps the order of SM_HOSTS.
    return LaunchConfig(
        min_nodes=len(hosts), max_nodes=len(hosts), nproc_per_node=workers, max_restarts=0, monitor_interval=0.2,
        rdzv_backend="static", rdzv_endpoint=f"{hosts[0]}:{os.environ.get('MASTER_PORT', '7777')}",
        rdzv_configs={"rank": hosts.index(os.environ["SM_CURRENT_HOST"])}, run_id=os.environ.get("TRAINING_JOB_NAME", "job"))


def main():
    try:
        elastic_launch(configuration(), sys.executable)(*sys.argv[1:])
    except ChildFailedError as failed:
        _, first = failed.get_first_failure()
        print(f"worker {first.local_rank} of this host failed with exit code {first.exitcode}", file=sys.stderr)
        return first.exitcode if first.exitcode > 0 else 128 - first.exitcode
    return 0


if __name__ == "__main__":
    sys.exit(main())
