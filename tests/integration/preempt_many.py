#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A run that is preempted again and again: preempt_many.py COUNT.

Each preemption is real, by a job of higher priority. Afterwards a crash still has its full budget, the digest is the undisturbed one,
and neither the ledger's growth per attempt nor the agent's memory has increased."""
import os
import sys

from checks import check, wait_for
from fault_ground import Job
from main_job_support import DTTRAIN, FEW, Cluster

BYTES_AN_ATTEMPT = 1600  # of the ledger; seven events have the job's id, which has seven digits here
SLOW = 'if [ "$DTSUBMIT_ATTEMPT" -le {slow} ]; then exec "$0" "$@" --step-delay 200; fi; exec "$0" "$@"'


def memory_of(pid):
    """The most memory that the process has used so far, in KiB."""
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))


def reach(job, attempt):
    wait_for(240, f"a step of attempt {attempt}", lambda: any(there == attempt for there, _ in job.steps()[-3:]))


def preempt(cluster, job, attempt):
    """Preempts attempt `attempt` once it has trained; returns its agent's memory."""
    reach(job, attempt)
    memory = memory_of(job.agent())
    cluster.take_nodes(1, 1)
    wait_for(240, f"the next attempt after {attempt}", lambda: len(job.events("attempt_started")) > attempt)
    return memory


def main(count):
    # Every attempt except the last few is ended within seconds.
    train = [*FEW, "--steps", str(count * 10 + 60), "--save-every", "0", "--evaluate-every", "0"]
    with Cluster("linuxproc", nodes=1, gpus=1, grace=10) as cluster:
        job = Job(cluster.submit("--nodes", "1", "--gpus-per-node", "1", "-J", "many", "--", "sh", "-c", SLOW.format(slow=count + 1), DTTRAIN, *train))
        memory, bytes_after = [], []
        for attempt in range(1, count + 1):
            memory.append(preempt(cluster, job, attempt))
            bytes_after.append(os.path.getsize(job.path + "/ledger.jsonl"))
            if attempt % 20 == 0:
                print(f"{attempt} preemptions: step {job.last_step()}, ledger {bytes_after[-1]} bytes, agent {memory[-1]} KiB", flush=True)
        reach(job, count + 1)
        job.kill("program")
        status = job.finish(900)
        causes = [one["cause"] for one in status["attempts"]]
        check(causes == ["preempted"] * count + ["rank_killed", "completed"], f"{count} times preempted, then killed once, then completed")
        stops = [event["detail"] for event in job.events("stop_requested")]
        check(stops == ["signal 15 to the job's steps"] * count, "each time the ranks heard of it at once, by the sentinel step")
        decided = [event for event in job.events("decided") if event["attempt"] == count + 1][0]
        check("crash 1 of at most 3" in decided["detail"], f"the budget for crashes is whole: {decided['detail']}")
        lost = [one["steps_lost"] for one in status["attempts"][:count] if "steps_lost" in one]
        check(not any(lost), "no preemption lost a step")
        most = max(after - before for before, after in zip([0, *bytes_after], bytes_after))
        check(most <= BYTES_AN_ATTEMPT, f"at most {most} bytes of ledger an attempt, {bytes_after[-1]} in all")
        check(memory[-1] <= memory[0] * 1.25 + 1024, f"the agent used {memory[0]} KiB in the first attempt, {memory[-1]} in the last but two")
        seconds = [event["time"] for event in job.ledger()]
        print("from", seconds[0], "to", seconds[-1])
        check(status["digest"] == cluster.train_alone(*train), f"digest {status['digest']} as undisturbed")


if __name__ == "__main__":
    main(int(sys.argv[1]))
