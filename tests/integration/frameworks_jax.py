#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two JAX processes find each other by our variables and compute a sum over both.

frameworks_jax.py local: two ranks of `dtsubmit run`.
frameworks_jax.py slurm [OPTION...]: on two nodes of a private Slurm, with these options of `dtsubmit submit`."""
import os
import sys

from frameworks_support import check, need, run_nodes, run_ranks, tell

RANKS = 2


def rank_main():
    import jax
    import numpy
    from jax.experimental import multihost_utils
    from jax.sharding import Mesh, NamedSharding, PartitionSpec
    # initialize() itself reads JAX_COORDINATOR_ADDRESS, but never the identity of this process.
    who = {} if sys.argv[2] == "detect" else {
        "num_processes": int(os.environ["JAX_NUM_PROCESSES"]), "process_id": int(os.environ["JAX_PROCESS_ID"])}
    jax.distributed.initialize(initialization_timeout=60, **who)
    rank = jax.process_index()
    mesh = Mesh(numpy.array(jax.devices()), ("rank",))
    mine = numpy.full(jax.local_device_count(), rank + 1, numpy.float32)
    whole = jax.make_array_from_process_local_data(NamedSharding(mesh, PartitionSpec("rank")), mine)
    total = jax.jit(lambda x: x.sum(), out_shardings=NamedSharding(mesh, PartitionSpec()))(whole)
    tell({"rank": rank, "size": jax.process_count(), "devices": jax.device_count(), "sum": float(total),
          "gathered": multihost_utils.process_allgather(numpy.array([rank])).ravel().tolist(),
          "coordinator": os.environ["JAX_COORDINATOR_ADDRESS"]})
    jax.distributed.shutdown()


def main():
    print("JAX", need("jax"))
    for way in ("told", "detect"):
        if sys.argv[1] == "slurm":
            ranks = run_nodes(__file__, way, options=sys.argv[2:])
        else:
            ranks = run_ranks(RANKS, __file__, way)
        check([told["rank"] for told in ranks] == list(range(RANKS)), f"{way}: each process is its rank")
        check({(told["size"], told["devices"]) for told in ranks} == {(RANKS, RANKS)}, f"{way}: one world of {RANKS}")
        check(all(told["gathered"] == [0, 1] for told in ranks), f"{way}: process_allgather gathers both")
        check(all(told["sum"] == 3 for told in ranks), f"{way}: the sum over both is 3, by {ranks[0]['coordinator']}")


rank_main() if sys.argv[1:2] == ["rank"] else main()
