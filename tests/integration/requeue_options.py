# SPDX-License-Identifier: Apache-2.0
"""A run continues with other options, on a private real Slurm: dtsubmit requeue JOB --nodes 1."""
import json

from checks import check, wait_for
from main_job_support import DTTRAIN, FEW, Cluster

TRAINING = [*FEW, "--steps", "40"]


def main():
    with Cluster("linuxproc", nodes=2, gpus=2, grace=10) as cluster:
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--", DTTRAIN, *TRAINING, "--step-delay", "200")
        run.reach_step(5)
        refused = cluster.dtsubmit("requeue", str(run.job), "--nodes", "1", code=5).stderr
        check(f"job {run.job} is running" in refused and "dtsubmit stop" in refused, "a running job keeps its options")
        cluster.dtsubmit("stop", str(run.job))
        wait_for(60, "the stop", run.is_over)
        wait_for(60, "the job's end", lambda: cluster.job_state(run.job) == "FAILED")

        blocker = cluster.run("sbatch", "--parsable", "-p", "high", "-w", "n1", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
        wait_for(60, "the other job", lambda: cluster.job_state(blocker) == "RUNNING")
        cluster.dtsubmit("requeue", run.path)
        waiting = run.status()["job"]
        check(cluster.job_state(waiting) == "PENDING", f"job {waiting} waits for two nodes")
        unknown = cluster.dtsubmit("requeue", run.path, "--nodes", "1", "--partition", "none", code=3).stderr
        check("none" in unknown and cluster.job_state(waiting) == "PENDING", "a request that cannot be fulfilled changes nothing")

        said = cluster.dtsubmit("requeue", run.path, "--nodes", "1", "--time", "20").stdout
        check("to continue the run: 1 node x 2 ranks" in said, f"its size is reported: {said}")
        check(cluster.job_state(waiting) == "CANCELLED", f"job {waiting} is cancelled")
        status = run.finish()
        job = status["job"]
        check(job != waiting, f"job {job} has completed the run")
        shown = cluster.run("scontrol", "show", "job", str(job)).stdout
        check("NumNodes=1 " in shown and "TimeLimit=00:20:00" in shown, "with one node and 20 minutes")
        resumed = [event for event in run.ledger() if event["event"] == "resumed"][-1]
        check("--nodes=1 --time=20" in resumed["detail"], f"the ledger says why: {json.dumps(resumed)}")
        check("continued: " + resumed["detail"] in cluster.dtsubmit("why", run.path).stdout, "and so does `why`")
        check(status["steps_lost"] == 0, "no step is lost")
        check(status["digest"] == cluster.train_alone(*TRAINING), "the weights are those of an undisturbed training, to the bit")
        cluster.run("scancel", blocker)


main()
