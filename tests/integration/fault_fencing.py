#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job that runs twice, and a writer left behind: fault_fencing.py linuxproc|cgroup.

slurmctld is killed a moment after the job's start, before it has recorded the start, and believes that the job still waits. One attempt
wins, nothing of the others is committed after it began, and the digest is the undisturbed one."""
import json
import os
import shutil
import signal
import subprocess
import sys

from checks import check, wait_for
from contract import NO_RESTART
from fault_ground import Ground, Job
from fault_training import STEPS, TRAIN, slow
from main_job_support import DTTRAIN


def forget_the_start(ground):
    """A crash of slurmctld that loses everything since `saved` was copied."""
    state = ground.folder + "/state"
    ground.daemons["slurmctld"].kill()
    shutil.rmtree(state)
    os.rename(ground.place + "/saved", state)
    ground.restart("slurmctld")
    ground.run("scontrol", "update", "PartitionName=low", "State=UP")


def submit_and_keep_the_state(ground):
    """Submits a job that waits, and copies slurmctld's state at that moment."""
    ground.run("scontrol", "update", "PartitionName=low", "State=DOWN")
    job = Job(ground.submit("--nodes", "2", "--gpus-per-node", "2", *slow(1500)))
    file = ground.folder + "/state/job_state"
    submitted = os.stat(job.path + "/script.sbatch").st_mtime
    wait_for(120, "the job in slurmctld's state on the disk", lambda: os.path.exists(file) and os.stat(file).st_mtime > submitted + 1)
    check(ground.job_state(job.job) == "PENDING", "the job waits for its partition")
    shutil.copytree(ground.folder + "/state", ground.place + "/saved")
    ground.run("scontrol", "update", "PartitionName=low", "State=UP")
    return job


def begins_again(ground, job):
    """True once a second attempt has begun. If the job is to begin on a node that still runs it, the node refuses. Slurm then drains the
    node, or considers it down, and holds the job until an operator releases both."""
    for node, state in ground.states().items():
        if state.startswith(("drain", "down")):
            ground.run("scontrol", "update", f"NodeName={node}", "State=RESUME", code=None)
    if "held" in ground.run("squeue", "-h", "-j", str(job.job), "-o", "%r", code=None).stdout:
        ground.run("scontrol", "release", str(job.job), code=None)
    return len(job.events("attempt_started")) > 1


def leave_a_writer(job, place):
    """Leaves an unknown rank of attempt 1 behind, which has begun to train and is stopped for now."""
    environment = {**os.environ, "DTSUBMIT_ATTEMPT": "1", "DTSUBMIT_CHECKPOINT_DIR": job.path + "/checkpoints", "DTSUBMIT_RUN_DIR": place}
    os.mkdir(place)
    writer = subprocess.Popen([DTTRAIN, *TRAIN, "--step-delay", "50"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        wait_for(120, "the writer's first step", lambda: os.path.exists(place + "/metrics.jsonl") and '"step"' in open(place + "/metrics.jsonl").read())
    except AssertionError:
        writer.kill()
        raise
    writer.send_signal(signal.SIGSTOP)
    return writer


def runs_twice(ground, job, writer, expected):
    forget_the_start(ground)
    wait_for(300, "a second attempt", lambda: begins_again(ground, job))
    fence = int(open(job.path + "/checkpoints/fence").read())
    check(fence > 1, f"the same job runs a second time; the fence is at {fence}")
    writer.send_signal(signal.SIGCONT)
    said = writer.communicate(timeout=300)[1]
    check(writer.returncode == NO_RESTART and "not committed" in said, f"the writer left behind exits {NO_RESTART}: {said.strip()}")
    wait_for(480, "the run's end", lambda: any(event.get("decision") == "done" for event in job.events("decided")))
    wait_for(120, "the end of every process", lambda: not job.processes())
    status = job.status()
    print("attempts:", [(one["cause"], one["decision"]) for one in status["attempts"]])
    check(sum(one["cause"] == "completed" for one in status["attempts"]) == 1, "one attempt completed the run")
    check(status["digest"] == expected, f"digest {expected} as undisturbed")
    check(len({event["attempt"] for event in job.events("attempt_started")}) == len(job.events("attempt_started")), "no two attempts have one number")
    for name in sorted(os.listdir(job.path + "/checkpoints")):
        if name.startswith("step-"):
            manifest = json.load(open(f"{job.path}/checkpoints/{name}/manifest.json"))
            check(manifest["step"] < STEPS or manifest["attempt"] >= fence, f"{name} is of attempt {manifest['attempt']}")


def main(flavour):
    with Ground(flavour) as ground:
        expected = ground.train_alone(*TRAIN)
        job = submit_and_keep_the_state(ground)
        wait_for(240, "the first steps", lambda: job.last_step() >= 2)
        writer = leave_a_writer(job, ground.place + "/orphan")
        try:
            runs_twice(ground, job, writer, expected)
        finally:
            writer.kill()  # it is stopped, and no other process knows of it


if __name__ == "__main__":
    main(sys.argv[1])
