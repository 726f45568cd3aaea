# SPDX-License-Identifier: Apache-2.0
"""The shared memory of ranks, if simulated nodes and private clusters share one /dev/shm: segments.py SCENARIO."""
import os
import signal
import sys

from checks import check, skip, wait_for
from main_job import INTERVAL, SHORT, SLOW
from main_job_support import Cluster, DTTRAIN, own_shared_memory

FOLDER = "/dev/shm"
QUICK = ["--steps", "20", "--save-every", "10"]


def segments():
    """The segments that Open MPI has created, directly or through us."""
    return {name for name in os.listdir(FOLDER) if name.startswith(("vader_segment.", f"dtsubmit-{os.geteuid()}-"))}


def submit(cluster, launcher, training):
    return cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--launcher", launcher, "--on", "crash=stop", "--", DTTRAIN, *training)


def no_host_names():
    """As in a container: the kernel gives nodes no host names, so the files that Open MPI names by host have equal names on both."""
    if os.geteuid() != 0:
        skip("needs root, to give up what makes host names")
    cluster = Cluster("linuxproc", 2, 2, 5)
    cluster.up = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", *cluster.up]
    with cluster:
        named = cluster.dtsubmit("cluster", "status", "--folder", cluster.folder, "--json").stdout
        check('"host_names": false' in named, "the nodes have no host names of their own")
        for launcher in "srun", "mpirun":
            status = submit(cluster, launcher, QUICK).finish(120)
            check(status["done"], f"{launcher}: {[one['detail'] for one in status['attempts']]}")


def two_clusters():
    """Two clusters created with the same command line, with a job on each at once."""
    with Cluster("linuxproc", 2, 2, 5) as one, Cluster("linuxproc", 2, 2, 5) as other:
        for _ in range(2):
            runs = [submit(cluster, "srun", QUICK) for cluster in (one, other)]
            check(runs[0].job != runs[1].job, f"jobs {runs[0].job} and {runs[1].job}")
            for run in runs:
                status = run.finish(120)
                check(status["done"], f"{[attempt['detail'] for attempt in status['attempts']]}")


def left():
    """Whatever is killed: once the run is done, none of its segments is left, and segments of other programs remain."""
    own_shared_memory()
    before = segments()
    stranger = f"{FOLDER}/vader_segment.stranger.{os.getpid()}.1.0"
    open(stranger, "w").close()
    try:
        with Cluster("linuxproc", 2, 2, 5) as cluster:
            run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--on", "crash=restart:9", "--", DTTRAIN, *SLOW)
            for attempt, what in enumerate(("program", "mpirun"), 1):
                step = run.last_step()
                run.reach_step(step + INTERVAL)
                check(segments() - before - {os.path.basename(stranger)}, "the ranks have shared memory")
                run.kill(what)
                wait_for(120, f"attempt {attempt + 1} after a kill of the {what}",
                         lambda: sum(event["event"] == "ranks_started" for event in run.ledger()) > attempt)
            status = run.finish()
            check(status["done"], f"{[one['cause'] for one in status['attempts']]}")
            wait_for(30, "the end of every process", lambda: not run.processes())
            check(segments() - before == {os.path.basename(stranger)}, f"left: {segments() - before}")
            # Comes last, as its segments are removed together with the cluster.
            run = submit(cluster, "srun", SHORT + ["--step-delay", "500"])
            run.reach_step(2)
            for pid, _ in run.processes():
                os.kill(pid, signal.SIGKILL)
        check(segments() - before == {os.path.basename(stranger)}, f"the cluster's end leaves: {segments() - before}")
    finally:
        os.unlink(stranger)


if __name__ == "__main__":
    {f.__name__: f for f in (no_host_names, two_clusters, left)}[sys.argv[1]]()
