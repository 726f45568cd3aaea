#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of several programs on a private Slurm with two nodes: steps with different layouts, preempted during the second; a step that fails;
a step that uses up its own time, or the job's; a stop and a requeue; agents that are killed; one job after another: steps.py SCENARIO."""
import glob
import json
import os
import signal
import sys
import time

from checks import check, wait_for
from main_job_support import Cluster, DTTRAIN, Run

SLEEPER = "trap 'exit 85' TERM; while [ ! -e {stop} ]; do sleep 0.1; done"


def submit(cluster, **job):
    with open(cluster.place + "/job.json", "w") as file:
        json.dump(job, file)
    answer = json.loads(cluster.dtsubmit("submit", "--runs", cluster.runs, "--json", "job.json").stdout)
    return Run(cluster, answer["run_directory"], answer["job"])


def part(run, name):
    found, = glob.glob(f"{run.path}/*/*-{name}")
    return Run(run.cluster, found, run.job)


def causes(run):
    return [event["cause"] for event in run.ledger() if event["event"] == "attempt_ended"]


def starts(run):
    return sum(event["event"] == "attempt_started" for event in run.ledger())


def log_of(run, attempt=1, rank=0):
    return open(f"{run.path}/attempt-{attempt}/rank-{rank}.log", errors="replace").read()


def wait_for_ranks(run, attempt=1):
    wait_for(120, f"the ranks of {os.path.basename(run.path)}", lambda: any(
        event["event"] == "ranks_started" and event["attempt"] >= attempt for event in run.ledger()))


def states(cluster, run):
    return {one["name"]: one["state"] for one in json.loads(cluster.dtsubmit("status", run.path, "--json").stdout)["parts"]}


def three(cluster, training):
    return submit(cluster, partition="low", steps=[
        {"name": "prep", "ntasks_per_node": 2, "launcher": "srun", "command": ["sh", "-c", "echo one >>$DTSUBMIT_JOB_DIR/data"]},
        {"name": "train", "nodes": 2, "gpus_per_node": 2, "command": [DTTRAIN, *training]},
        {"name": "evaluate", "command": ["sh", "-c", "echo $DTSUBMIT_STEP has $(ls $DTSUBMIT_STEP_TRAIN_DIR/checkpoints | grep -c step-)"]}])


def preempted():
    """Three steps with different layouts, preempted during the second: continued, without repeating the first, with the right result."""
    from main_job import SLOW
    with Cluster("linuxproc", nodes=2, gpus=2, grace=20) as cluster:
        run = three(cluster, SLOW)
        train = part(run, "train")
        train.reach_step(5)
        check(states(cluster, run) == {"prep": "done", "train": "running", "evaluate": "not begun"}, f"{states(cluster, run)}")
        cluster.take_nodes(2, 2)
        status = run.finish()
        check(status["done"], f"done: {run.ledger()}")
        check(causes(run) == ["preempted", "completed"], f"{causes(run)}")
        check(open(run.path + "/data").read() == "one\none\n", "two ranks of the first step, once")
        check(starts(part(run, "prep")) == 1 and starts(train) == 2, "the first step is not repeated")
        digest = json.loads(cluster.dtsubmit("status", train.path, "--json").stdout)["digest"]
        check(digest and digest == cluster.train_alone(*SLOW), f"the same weights: {digest}")
        check(train.status()["steps_lost"] == 0, "no step lost")
        check("evaluate has " in log_of(part(run, "evaluate")), log_of(part(run, "evaluate")))
        check(len(train.status()["attempts"][0]["nodes"]) == 2 and len(part(run, "prep").status()["attempts"][0]["nodes"]) == 1,
              "each on its own nodes")
        check("evaluate has" in cluster.dtsubmit("logs", run.path + "/evaluate").stdout, "logs of a part by its name")


def some_gpus():
    """Steps with none, one and all of the job's GPUs: their ranks see exactly these."""
    show = ["sh", "-c", "echo sees ${CUDA_VISIBLE_DEVICES-all}."]
    for launcher in "srun", "mpirun":
        with Cluster("linuxproc", nodes=1, gpus=2, grace=5) as cluster:
            run = submit(cluster, launcher=launcher, steps=[
                {"name": "none", "gpus_per_node": 0, "command": show}, {"name": "one", "gpus_per_node": 1, "command": show},
                {"name": "both", "gpus_per_node": 2, "command": show}])
            check(run.finish()["done"], f"{run.ledger()}")
            seen = {name: [log_of(part(run, name), rank=rank).split("sees ")[1].split(".")[0] for rank in range(ranks)]
                    for name, ranks in (("none", 1), ("one", 1), ("both", 2))}
            check(seen == {"none": [""], "one": ["0"], "both": ["0", "1"]}, f"{launcher}: {seen}")


def fails():
    """A step that fails ends the run, with its cause in `why`; the steps after it are not started."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        run = submit(cluster, steps=[{"name": "prep", "command": ["true"]},
                                     {"name": "train", "nodes": 2, "command": ["sh", "-c", "echo no such data; exit 7"]},
                                     {"name": "evaluate", "command": ["true"]}])
        status = run.finish()
        check(not status["done"] and causes(run) == ["user_exit"], f"{run.ledger()}")
        check(states(cluster, run) == {"prep": "done", "train": "stopped", "evaluate": "not begun"}, f"{states(cluster, run)}")
        why = cluster.dtsubmit("why", run.path).stdout
        check("step `train`: " in why and "exited 7" in why and "no such data" in why, why)


def out_of_time():
    """A step that has used up its own time is asked to save, and ends the run; `requeue` gives it time again."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        stop = cluster.place + "/stop"
        run = submit(cluster, steps=[{"name": "long", "time": "20s", "command": ["sh", "-c", SLEEPER.format(stop=stop)]},
                                     {"name": "after", "command": ["true"]}])
        run.finish(90)
        check(causes(run) == ["time_limit"] and "its own `time`" in run.ledger()[-2]["detail"], f"{run.ledger()}")
        open(stop, "w").close()
        cluster.dtsubmit("requeue", run.path)
        wait_for(60, "the next attempt", lambda: starts(run) == 2)
        check(run.finish()["done"], f"{run.ledger()}")


def suspended():
    """A suspension does not count towards a step's own time."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        stop = cluster.place + "/stop"
        run = submit(cluster, steps=[{"name": "long", "time": "40s", "command": ["sh", "-c", SLEEPER.format(stop=stop)]}])
        wait_for_ranks(part(run, "long"))
        cluster.run("scontrol", "suspend", str(run.job))
        time.sleep(40)
        cluster.run("scontrol", "resume", str(run.job))
        time.sleep(2)
        open(stop, "w").close()
        check(run.finish(60)["done"], f"{run.ledger()}")


def at_the_limit():
    """The job's time is up during the second step: it saves, and continues from there in the requeued job."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        stop = cluster.place + "/stop"
        run = submit(cluster, time="2:00", signal_margin="30s",
                     steps=[{"name": "prep", "command": ["true"]}, {"name": "train", "command": ["sh", "-c", SLEEPER.format(stop=stop)]},
                            {"name": "evaluate", "command": ["true"]}])
        train = part(run, "train")
        wait_for_ranks(train, 2)
        open(stop, "w").close()
        check(run.finish()["done"], f"{run.ledger()}")
        check(causes(run) == ["time_limit", "completed"] and causes(train) == ["time_limit", "completed"], f"{causes(run)}, {causes(train)}")
        check(starts(part(run, "prep")) == 1 and starts(part(run, "evaluate")) == 1, "the other steps ran once")


def agent_killed():
    """kill -9 of the whole run's agent: no process of the step is left behind, and the next agent continues with this step."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        stop = cluster.place + "/stop"
        run = submit(cluster, steps=[{"name": "prep", "command": ["true"]},
                                     {"name": "train", "nodes": 2, "command": ["sh", "-c", SLEEPER.format(stop=stop)]}])
        train = part(run, "train")
        wait_for_ranks(train)
        agents = [pid for pid, argv in run.processes() if argv[1:2] == ["agent"] and run.path in argv]
        check(len(agents) == 1, f"one agent of the whole run: {agents}")
        os.kill(agents[0], signal.SIGKILL)
        wait_for(120, "the next attempt", lambda: starts(run) == 2)
        wait_for_ranks(train, 2)
        ranks = [argv for _, argv in train.processes() if argv[1:2] == ["rank"]]
        check(len(ranks) == 2, f"no process of the first attempt is left: {ranks}")
        open(stop, "w").close()
        check(run.finish()["done"], f"{run.ledger()}")
        check(causes(run) == ["agent_lost", "completed"], f"{causes(run)}")
        check(run.status()["job"] == run.job, "in the same job")
        check(starts(part(run, "prep")) == 1 and starts(train) == 2, "the first step is not repeated")


def chained():
    """Steps in a chain of jobs: the second job continues in the step at which the first one's time was up."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        stop = cluster.place + "/stop"
        run = submit(cluster, time="2:00", signal_margin="30s", chain=3,
                     steps=[{"name": "prep", "command": ["true"]}, {"name": "train", "command": ["sh", "-c", SLEEPER.format(stop=stop)]}])
        train = part(run, "train")
        wait_for_ranks(train, 2)
        open(stop, "w").close()
        wait_for(120, "the end", lambda: causes(run)[-1:] == ["completed"])
        jobs = [event["job"] for event in run.ledger() if event["event"] == "attempt_started"]
        check(len(set(jobs)) == 2, f"two jobs: {jobs}")
        check(starts(part(run, "prep")) == 1 and causes(train) == ["time_limit", "completed"], f"{causes(run)}, {causes(train)}")
        wait_for(60, "the third job is cancelled", lambda: not cluster.run("squeue", "--noheader").stdout.strip())


def stopped():
    """`stop` during the second step, `requeue` with another time limit, an agent of a part killed, the whole job requeued by hand: the run is done in the end."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        stop = cluster.place + "/stop"
        run = submit(cluster, steps=[{"name": "prep", "command": ["true"]},
                                     {"name": "train", "nodes": 2, "command": ["sh", "-c", SLEEPER.format(stop=stop)]},
                                     {"name": "evaluate", "nodes": 1, "command": ["true"]}])
        train = part(run, "train")
        wait_for_ranks(train)
        cluster.dtsubmit("stop", "--wait", run.path, code=None)
        check(causes(run) == ["stopped"], f"{run.ledger()}")
        refused = cluster.dtsubmit("requeue", run.path, "--nodes", "1", code=3).stderr
        check("--nodes: each step or role has its own" in refused, f"options of a step stay: {refused}")
        cluster.dtsubmit("requeue", run.path, "--time", "20")
        wait_for_ranks(train, 2)
        job = str(run.status()["job"])
        check(job != str(run.job) and "TimeLimit=00:20:00" in cluster.run("scontrol", "show", "job", job).stdout, f"job {job} has 20 minutes")
        agents = [pid for pid, argv in run.processes() + train.processes() if argv[1:2] == ["agent"] and train.path in argv]
        check(len(agents) == 1, f"one agent of the part: {agents}")
        os.kill(agents[0], signal.SIGKILL)
        wait_for_ranks(train, 3)
        cluster.run("scontrol", "requeue", job)
        wait_for_ranks(train, 4)
        open(stop, "w").close()
        check(run.finish()["done"], f"{run.ledger()}")
        check(causes(train) == ["stopped", "agent_lost", "requeued", "completed"], f"{causes(train)}")
        check(starts(part(run, "prep")) == 1 and starts(part(run, "evaluate")) == 1, "the other steps ran once")


def stop_and_kill():
    """The agent is killed while a step saves after `stop`: the next one under its guard does not continue the run."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        run = submit(cluster, steps=[{"name": "train", "command": ["sh", "-c", "trap 'sleep 5; exit 85' TERM; while :; do sleep 0.1; done"]},
                                     {"name": "evaluate", "command": ["true"]}])
        wait_for_ranks(part(run, "train"))
        cluster.dtsubmit("stop", run.path)
        wait_for(60, "the stop", lambda: any(event["event"] == "stop_requested" for event in run.ledger()))
        run.kill("agent")
        status = run.finish(90)
        check(causes(run) == ["stopped"] and starts(run) == 1 and not status["done"], f"it stays stopped: {run.ledger()}")
        check(starts(part(run, "evaluate")) == 0, "no other step began")
        check("`dtsubmit requeue` continues it" in run.ledger()[-1]["detail"], f"{run.ledger()[-1]}")


def lost_node():
    """A node of the second step is lost: with a spare node, the step starts again in the same job."""
    from main_job import SLOW
    from nodes import lose
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        run = submit(cluster, spares=1, steps=[
            {"name": "prep", "command": ["true"]},
            {"name": "train", "nodes": 2, "ntasks_per_node": 2, "command": [DTTRAIN, *SLOW]},
            {"name": "evaluate", "nodes": 1, "command": ["true"]}])
        train = part(run, "train")
        train.reach_step(15)
        lose(cluster, "n1")
        status = run.finish()
        nodes = [event["nodes"] for event in train.ledger() if event["event"] == "attempt_started"]
        check(nodes == [["n0", "n1"], ["n0", "n2"]], f"then on the spare: {nodes}")
        check(status["done"] and causes(run) == ["completed"], f"in the same job: {causes(run)}, {causes(train)}")


if __name__ == "__main__":
    {f.__name__: f for f in (preempted, some_gpus, fails, out_of_time, suspended, at_the_limit, agent_killed, chained, stopped, stop_and_kill, lost_node)}[sys.argv[1]]()
