#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The meaning of a stop signal on a private real Slurm: how often a program gets it, through which shells, what exit code 0 means after it,
and what an agent does that cannot load the scheduler's plug-in, or that queries too late: stop_signals.py [SCENARIO]."""
import os
import shutil
import signal
import sys
import time

from checks import check, wait_for
from contract import CHECKPOINTED
from main_job_support import DTSUBMIT, DTTRAIN, FEW, Cluster

# Counts the signals of its attempt; in attempt 2, continues only for a moment. The first argument is its exit code after a stop, the second
# the number of seconds for which it saves.
PROGRAM = """
import os, signal, sys, time
attempt, run, rank = (os.environ[name] for name in ("DTSUBMIT_ATTEMPT", "DTSUBMIT_RUN_DIR", "RANK"))
signals = []
signal.signal(signal.SIGTERM, lambda *_: signals.append(1))
open(f"{run}/ready-{attempt}-{rank}", "w").close()
while not signals and attempt == "1":
    time.sleep(0.05)
end = time.monotonic() + (float((sys.argv + ["1"])[2]) if signals else 0)
while time.monotonic() < end:
    time.sleep(0.05)
print("signals:", len(signals), flush=True)
sys.exit(int(sys.argv[1]) if signals else 0)
"""


def submit(cluster, *command, options=()):
    run = cluster.submit("--nodes", "2", "--gpus-per-node", "1", "--launcher", "srun", *options, "--", *command)
    wait_for(120, "the programs", lambda: all(os.path.exists(f"{run.path}/ready-1-{rank}") for rank in (0, 1)))
    return run


def ended(run):
    return [event for event in run.ledger() if event["event"] == "attempt_ended"]


def signals(run):
    return [open(f"{run.path}/attempt-1/rank-{rank}.log").read().strip() for rank in (0, 1)]


def once(cluster, program):
    """Requeued by hand under linuxproc, where Slurm signals every process: each program gets the signal once."""
    run = submit(cluster, sys.executable, program, str(CHECKPOINTED))
    cluster.dtsubmit("requeue", run.path)
    check(run.finish()["done"], "a run that was put back by hand completes")
    check(signals(run) == ["signals: 1"] * 2, f"each program got the signal once: {signals(run)}")
    check("; every rank saved" in ended(run)[0]["detail"], ended(run)[0]["detail"])


def other_signal(cluster, _):
    """A program that saves on SIGUSR1 also gets Slurm's SIGTERM under linuxproc, as the submission says, and saves if it ignores that."""
    program = cluster.place + "/usr1.py"
    with open(program, "w") as file:
        file.write(PROGRAM.replace("(signal.SIGTERM,", "(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGUSR1,"))
    words = "the program gets SIGTERM before that of --stop-signal"
    run = submit(cluster, sys.executable, program, str(CHECKPOINTED), options=["--stop-signal", "USR1"])
    check(words in run.told, f"the submission says so: {run.told}")
    cluster.take_nodes(2, 1)
    check(run.finish()["done"], "it completes after a preemption")
    check(signals(run) == ["signals: 1"] * 2 and "; every rank saved" in ended(run)[0]["detail"], f"all saved: {ended(run)[0]['detail']}")
    run = submit(cluster, sys.executable, program, str(CHECKPOINTED))
    check(words not in run.told, "it says nothing about SIGTERM as the stop signal")
    cluster.dtsubmit("cancel", run.path)
    steps = cluster.place + "/steps.toml"
    with open(steps, "w") as file:
        file.write('[[steps]]\nname = "prepare"\ncommand = ["true"]\n[[steps]]\nname = "train"\nstop_signal = "USR1"\ncommand = ["true"]\n')
    told = cluster.dtsubmit("submit", "--runs", cluster.runs, steps).stderr
    check("the program of step `train` gets SIGTERM" in told and "prepare" not in told, f"it is said of the step that has it: {told}")


def wrapped(cluster, program):
    """A script without exec: its program saves, although Slurm's own signal kills the shell."""
    script = cluster.place + "/train.sh"
    with open(script, "w") as file:
        file.write(f"#!/bin/bash\nulimit -c 0\n{sys.executable} {program} {CHECKPOINTED}\n")
    os.chmod(script, 0o755)
    told = cluster.run(DTSUBMIT, "submit", "--dry-run", "--", script).stderr
    check("train.sh is a shell script that runs its program without `exec`" in told, f"it is said before: {told}")
    run = submit(cluster, script)
    cluster.dtsubmit("requeue", run.path)
    check(run.finish()["done"], "the run of a script completes")
    check("; every rank saved" in ended(run)[0]["detail"], f"behind a shell too: {ended(run)[0]['detail']}")


def zero(cluster, program):
    """Exit code 0 of every rank after a preemption's signal, without evidence of completion: the run comes back."""
    run = submit(cluster, sys.executable, program, "0")
    cluster.take_nodes(2, 1)
    status = run.finish()
    check([one["cause"] for one in status["attempts"]] == ["preempted", "completed"], f"it came back: {status['attempts']}")
    check("nothing says that the program is done" in ended(run)[0]["detail"], ended(run)[0]["detail"])


def without_plugin(cluster, program):
    """A plug-in that can be loaded on the login node, but not by the agent: the preempted run comes back through scontrol."""
    folder = cluster.place + "/plugins"
    os.mkdir(folder)
    shutil.copy(os.path.dirname(os.path.dirname(os.path.realpath(DTSUBMIT))) + "/lib/dtsubmit/dtsubmit-slurm.so", folder)
    os.chmod(folder + "/dtsubmit-slurm.so", 0o644)
    cluster.environment["DTSUBMIT_PLUGIN_PATH"] = folder
    cluster.run("sbatch", "-p", "high", "--nodes=2", "--exclusive", "-o", "/dev/null", "-J", "first", "--wrap", "sleep 3600")
    run = cluster.submit("--nodes", "2", "--gpus-per-node", "1", "--launcher", "srun", "--", sys.executable, program, str(CHECKPOINTED))
    os.chmod(folder + "/dtsubmit-slurm.so", 0o666)
    cluster.run("scancel", "--name", "first")
    wait_for(120, "the programs", lambda: all(os.path.exists(f"{run.path}/ready-1-{rank}") for rank in (0, 1)))
    said = wait_for(30, "the way to Slurm", lambda: [line for line in open(run.path + "/attempt-1/agent.log") if "scheduler: " in line])
    check("through its commands" in said[0] and "can be written by others" in said[0], f"the log says it, and why: {said}")
    del cluster.environment["DTSUBMIT_PLUGIN_PATH"]
    cluster.take_nodes(2, 1)
    status = run.finish()
    check([one["cause"] for one in status["attempts"]] == ["preempted", "completed"], f"it came back: {status['attempts']}")


def asked_late(cluster, program):
    """Without a grace time, the job is back in the queue at once, and soon its record has no end. Its processes still have KillWait, also
    for an agent that queries again while they save."""
    cluster.run("scontrol", "update", "PartitionName=low", "GraceTime=0")
    run = cluster.submit("--nodes", "1", "--launcher", "srun", "--", sys.executable, program, str(CHECKPOINTED), "6")
    wait_for(120, "the program", lambda: os.path.exists(f"{run.path}/ready-1-0"))
    cluster.take_nodes(2, 1)
    wait_for(60, "the stop", lambda: [event for event in run.ledger() if event["event"] == "stop_requested"])
    agent, = (pid for pid, argv in run.processes() if argv[1:2] == ["agent"])
    time.sleep(2)
    os.kill(agent, signal.SIGUSR1)
    status = run.finish()
    check([one["cause"] for one in status["attempts"]] == ["preempted", "completed"], f"it came back: {status['attempts']}")
    check("; every rank saved" in ended(run)[0]["detail"], ended(run)[0]["detail"])


def interrupted(cluster, _):
    """`scancel -s INT` reaches Open MPI's daemon, too, which must live until its ranks have saved and ended."""
    run = cluster.submit("--nodes", "2", "--launcher", "mpirun", "--", DTTRAIN, *FEW, "--steps", "100", "--step-delay", "300")
    run.reach_step(3)
    cluster.run("scancel", "-s", "INT", str(run.job))
    run.finish(30)
    check(ended(run)[0]["cause"] == "stopped" and "; every rank saved" in ended(run)[0]["detail"], f"interrupted: {ended(run)[0]}")


def main(scenarios):
    with Cluster("linuxproc", 2, 1, 15, "--conf", "KillWait=15") as cluster:
        program = cluster.place + "/program.py"
        with open(program, "w") as file:
            file.write(PROGRAM)
        for scenario in scenarios:
            scenario(cluster, program)


if __name__ == "__main__":
    main([one for one in (once, other_signal, wrapped, zero, without_plugin, asked_late, interrupted) if one.__name__ in (sys.argv[1:] or [one.__name__])])
