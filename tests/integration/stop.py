# SPDX-License-Identifier: Apache-2.0
"""`dtsubmit stop` of a job that runs, that waits, and that is being preempted, on a private real Slurm."""
import os

from checks import check, wait_for
from contract import CHECKPOINTED
from main_job_support import DTTRAIN, FEW, Cluster

TRAIN = [*FEW, "--steps", "25", "--save-every", "0"]
SAVES_LONG = ["sh", "-c", f'trap "sleep 10; exit {CHECKPOINTED}" TERM; touch "$DTSUBMIT_RUN_DIR/ready"; while :; do sleep 0.2; done']
WHOLE = ["--nodes", "1", "--gpus-per-node", "2", "--ntasks-per-node", "1"]


def story(run):
    return [event["event"] + (":" + event["cause"] if event.get("cause") else "") for event in run.ledger()]


def in_grace_time(cluster):
    """A stop that comes while a job of higher priority takes the nodes."""
    run = cluster.submit(*WHOLE, "-p", "low", "--", *SAVES_LONG)
    wait_for(60, "the program", lambda: os.path.exists(run.path + "/ready"))
    cluster.take_nodes(1, 2)
    wait_for(60, "the preemption", lambda: "stop_requested" in [event["event"] for event in run.ledger()])
    cluster.dtsubmit("stop", run.path, "--wait", code=CHECKPOINTED)
    last = run.ledger()[-1]
    check((last["event"], last["decision"]) == ("decided", "stop"), f"a run that is being preempted is stopped: {story(run)}")
    check("dtsubmit stop" in last["detail"], f"and says why: {last['detail']}")


def agent_killed(cluster):
    """The agent is killed while its ranks save: the next one under its guard does not continue the run."""
    run = cluster.submit(*WHOLE, "--", *SAVES_LONG)
    wait_for(60, "the program", lambda: os.path.exists(run.path + "/ready"))
    cluster.dtsubmit("stop", run.path)
    wait_for(60, "the stop", lambda: "stop_requested:stopped" in story(run))
    run.kill("agent")
    status = run.finish(90)
    check(story(run)[-2:] == ["attempt_ended:stopped", "decided"] and run.ledger()[-1]["decision"] == "stop", f"it stays stopped: {story(run)}")
    check(len(status["attempts"]) == 1 and not run.processes(), f"one attempt: {status['attempts']}")
    cluster.dtsubmit("requeue", run.path)
    wait_for(60, "the next attempt", lambda: story(run).count("ranks_started") == 2)
    cluster.dtsubmit("cancel", run.path)


def torchrun(cluster):
    """torchrun exits 1 after every stop; whether its workers have saved shows in their checkpoints."""
    program = cluster.place + "/torchrun"
    for saves in (True, False):
        save = 'echo 7 > "$DTSUBMIT_CHECKPOINT_DIR/last.pt"; ' if saves else ""
        with open(program, "w") as file:
            file.write(f"#!/bin/sh\ntrap '{save}exit 1' TERM\ntouch \"$DTSUBMIT_RUN_DIR/ready\"\nwhile :; do sleep 0.2; done\n")
        os.chmod(program, 0o755)
        run = cluster.submit(*WHOLE, "--", program, "--nproc-per-node", "2", "train.py")
        wait_for(60, "the program", lambda: os.path.exists(run.path + "/ready"))
        cluster.dtsubmit("stop", run.path, "--wait", code=CHECKPOINTED)
        ended = [event for event in run.ledger() if event["event"] == "attempt_ended"][-1]
        check(ended.get("unsaved", False) != saves, f"workers that {'saved' if saves else 'did not save'}: {ended['detail']}")


def main():
    # KillWait as short as Slurm allows: a stop is not a cancel, and programs may take longer than this to save.
    with Cluster("linuxproc", 1, 2, 60, "--conf", "KillWait=5") as cluster:
        undisturbed = cluster.train_alone(*TRAIN)
        patient = cluster.submit(*WHOLE, "--", *SAVES_LONG)
        wait_for(60, "the program", lambda: os.path.exists(patient.path + "/ready"))
        waiting = cluster.submit(*WHOLE, "--", DTTRAIN, *TRAIN)
        told = cluster.dtsubmit("stop", waiting.path).stdout
        check("was waiting in the queue and is cancelled" in told, f"a job that waits is cancelled: {told}")
        told = cluster.dtsubmit("stop", patient.path, "--wait", code=CHECKPOINTED).stderr
        check("asked for by `dtsubmit stop`; every rank saved" in told, f"ranks that save for longer than KillWait are let: {told}")

        run = cluster.submit(*WHOLE, "--", DTTRAIN, *TRAIN, "--step-delay", "200")
        run.reach_step(5)
        cluster.dtsubmit("stop", run.path)
        cluster.dtsubmit("stop", str(run.job), "--runs", cluster.runs, "--wait", code=None)
        status = run.finish()
        check(story(run)[-3:] == ["stop_requested:stopped", "attempt_ended:stopped", "decided"], f"twice is one stop: {story(run)}")
        check(status["attempts"][0]["steps_lost"] == 0 and not status["done"], f"nothing is lost: {status['attempts']}")
        told = cluster.dtsubmit("stop", run.path).stdout
        check("nothing is left to stop" in told, f"a run that has ended is no error: {told}")
        cluster.dtsubmit("requeue", run.path)
        status = run.finish()
        check(status["done"] and status["digest"] == undisturbed, f"digest {status['digest']}, undisturbed {undisturbed}")
        check(not run.processes(), f"nothing is left: {run.processes()}")
        in_grace_time(cluster)
        agent_killed(cluster)
        torchrun(cluster)


if __name__ == "__main__":
    main()
