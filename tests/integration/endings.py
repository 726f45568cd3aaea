#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Unplanned ends on a private real Slurm, as seen by users who follow the run: endings.py SCENARIO [LAUNCHER]."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, skip, wait_for
from main_job_support import DTSUBMIT, DTTRAIN, FEW, Cluster, Run
from nodes import events

DOZE = ["--", "sh", "-c", "sleep 600"]
QUICK = ["--conf", "KillWait=2"]


class Follower:
    """A command that follows a run, with its output and its end."""

    def __init__(self, cluster, *words, interrupt=signal.SIG_DFL):
        self.output = tempfile.NamedTemporaryFile("w+")
        self.process = subprocess.Popen([DTSUBMIT, *words], env=cluster.environment, cwd=cluster.place, stdout=self.output, stderr=subprocess.STDOUT,
                                        preexec_fn=lambda: signal.signal(signal.SIGINT, interrupt))

    def said(self):
        with open(self.output.name) as output:
            return output.read()

    def end(self):
        try:
            self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        said = self.said()
        print(f"--- {' '.join(self.process.args[1:3])}, {self.process.returncode}\n{said}---", flush=True)
        return self.process.returncode, said


def waited_for(cluster, *words):
    """A job, and a command that has waited for it since its submission."""
    before = set(listed(cluster.runs))
    waiting = Follower(cluster, "submit", "--runs", cluster.runs, "--wait", *words)
    path = wait_for(60, "the run directory", lambda: [one for one in set(listed(cluster.runs)) - before if os.path.exists(one + "/ledger.jsonl")])[0]
    run = Run(cluster, path, 0)
    run.job = wait_for(60, "its job", lambda: [e["job"] for e in events(run, "submitted")])[0]
    return waiting, run


def listed(folder):
    return [f"{folder}/{name}" for name in (os.listdir(folder) if os.path.isdir(folder) else []) if not name.startswith(".")]


def asked(cluster, verb, what, code):
    """The answer in a folder that has nothing of the run."""
    result = cluster.run(DTSUBMIT, verb, str(what), code=None)
    said = result.stdout + result.stderr
    print(f"--- {verb} {what}: {result.returncode}\n{said}---", flush=True)
    check(result.returncode == code, f"{verb} exits {code}")
    return said


def vanished(launcher):
    """The run directory is removed, or moved, while ranks run on two nodes."""
    with Cluster("linuxproc", 2, 0, 5, *QUICK) as cluster:
        for how in ("removed", "moved", "moved_amid_restarts"):
            program = DOZE if how != "moved_amid_restarts" else ["--on", "exit=restart:300", "--", "sh", "-c", "sleep 0.2; exit 1"]
            waiting, run = waited_for(cluster, "--nodes", "2", "--launcher", launcher, *program)
            wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
            logs = Follower(cluster, "logs", "-f", run.path)
            time.sleep(1)
            os.rename(run.path, cluster.place + "/" + how)
            if how == "removed":
                shutil.rmtree(cluster.place + "/" + how)
            began = time.time()
            code, said = waiting.end()
            print(f"{launcher}, {how}: --wait ended after {time.time() - began:.1f} s", flush=True)
            check(code == 74, "--wait ends with the code of an I/O error")
            check(f"{run.path} has vanished: it was removed, moved or unmounted" in said, "and says why in plain words")
            check("No such file" not in said and "error: " not in said, "and not how a read failed")
            code, said = logs.end()
            check(code == 74 and f"{run.path} has vanished: it was removed, moved or unmounted" in said, "logs -f too")
            check(cluster.job_state(run.job) == "FAILED", "the job is over")
            shown = cluster.run("scontrol", "show", "job", str(run.job)).stdout
            check("ExitCode=74:0" in shown, "with that code")
            check(not run.processes(), "no process of the run is left")
            check(not os.path.exists(run.path), "the folder stays away")
            for verb in ("status", "why"):
                said = asked(cluster, verb, run.job, 6)
                check(f"{run.path} has vanished" in said and "74" in said, f"{verb} by job id says what is known")
            if how != "removed":
                said = asked(cluster, "why", cluster.place + "/" + how, 0)
                check("run_vanished" in said, "where it was moved to the cause is in the last lines of its batch script")
                check("vanished or could not be written" in said, "where it was moved to by Slurm's record")


def vanished_parts():
    """The run directory of a job with steps or roles is removed or moved while ranks run: the run is not done, as in any other case."""
    with Cluster("linuxproc", 2, 0, 5, *QUICK) as cluster:
        one = "nodes = 1\ncommand = ['sleep', '600']\n"
        for kind, how in (("steps", "removed"), ("roles", "removed"), ("steps", "moved")):
            with open(cluster.place + "/job.toml", "w") as file:
                file.write(f"[[{kind}]]\nname = 'a'\n{one}[[{kind}]]\nname = 'b'\n{one}")
            waiting, run = waited_for(cluster, "job.toml")
            parts = [Run(cluster, f"{run.path}/{kind}/{name}", run.job) for name in (["1-a", "2-b"] if kind == "roles" else ["1-a"])]
            wait_for(60, "the ranks", lambda: all(events(part, "ranks_started") for part in parts))
            os.rename(run.path, cluster.place + "/gone")
            if how == "removed":
                shutil.rmtree(cluster.place + "/gone")
            code, said = waiting.end()
            check(code == 74 and f"{run.path} has vanished: it was removed, moved or unmounted" in said, f"{kind}, {how}: --wait says so")
            check(cluster.job_state(run.job) == "FAILED", "the job has not completed")
            check("ExitCode=74:0" in cluster.run("scontrol", "show", "job", str(run.job)).stdout, "it ends with the code of an I/O error")
            wait_for(30, "the end of every process", lambda: not any(one.processes() for one in (run, *parts)))
            check(not os.path.exists(run.path), "the folder stays away")
            check("has vanished" in asked(cluster, "why", run.job, 6), "why by job id says what is known")
            if how == "moved":
                check("run_vanished" in asked(cluster, "why", cluster.place + "/gone", 0), "where it was moved to the cause is in the batch script's log")


def interrupted():
    """Ctrl-C ends the waiting, not the job or the sweep, and prints what goes on; where it is ignored, the waiting goes on as well."""
    saves = ("sh", "-c", "trap 'sleep 10; exit 85' TERM; sleep 600 & wait")
    with Cluster("linuxproc", 1, 0, 5, *QUICK) as cluster:

        def waiting(*words, **how):
            follower = Follower(cluster, *words, **how)
            wait_for(60, "its first news", lambda: "running" in follower.said())
            return follower

        def submitted(*words, **how):
            before = set(listed(cluster.runs))
            follower = waiting("submit", "--runs", cluster.runs, "--wait", "--ntasks-per-node", "1", *words, **how)
            path = (set(listed(cluster.runs)) - before).pop()
            if "--sweep" not in words:
                wait_for(60, "the ranks", lambda: events(Run(cluster, path, 0), "ranks_started"))
            return follower, path

        def interrupt(follower, *words):
            follower.process.send_signal(signal.SIGINT)
            code, said = follower.end()
            check(code == -signal.SIGINT, f"it ended by the signal: {code}")
            for text in ("the waiting ends here", *words):
                check(text in said, f"and says what goes on, {text}: {said}")

        follower, path = submitted("--sweep", "a=1,2", "--", "sleep", "600")
        interrupt(follower, "the sweep goes on", "dtsubmit stop ")
        cluster.dtsubmit("cancel", path)
        follower, path = submitted("--", *saves)
        interrupt(follower, "the job goes on", "dtsubmit stop ")
        interrupt(waiting("stop", "--wait", path), "the job still saves and ends", "dtsubmit cancel ")
        follower, path = submitted("--", *saves, interrupt=signal.SIG_IGN)
        follower.process.send_signal(signal.SIGINT)
        time.sleep(1)
        check(follower.process.poll() is None, "an ignored signal does not end it")
        cluster.dtsubmit("stop", path)
        check(follower.end()[0] == 85, "and it waits for the job's end")


def unwritten():
    """No event can be written any more when the program fails: the job's exit code shows why its run has no end."""
    with Cluster("linuxproc", 1, 0, 5, *QUICK) as cluster:
        run = cluster.submit("--", "sh", "-c", "sleep 1; cd $DTSUBMIT_RUN_DIR; mv ledger.jsonl kept; mkdir ledger.jsonl; exit 3")
        wait_for(60, "the job's end", lambda: cluster.job_state(run.job) == "FAILED")
        os.rmdir(run.path + "/ledger.jsonl")
        os.rename(run.path + "/kept", run.path + "/ledger.jsonl")
        check("could not be written (exit code 74)" in asked(cluster, "why", run.path, 0), "why says so")


def unwritten_parts():
    """The same in jobs of several programs: what a part's agent decided counts although its ledger did not take it."""
    lose = "sleep 1; for of in %s; do mv $of/ledger.jsonl $of/kept; mkdir $of/ledger.jsonl; done; echo ran >> $DTSUBMIT_RUN_DIR/ran; %s"
    both = "$DTSUBMIT_RUN_DIR $DTSUBMIT_RUN_DIR/../.."
    with Cluster("linuxproc", 2, 0, 5, *QUICK) as cluster:
        for kind, end, state in (("steps", lose % (both, "exit 3"), "FAILED"), ("roles", lose % (both, "exit 3"), "FAILED"),
                                 ("steps", lose % ("$DTSUBMIT_RUN_DIR", "exit 0"), "COMPLETED")):
            with open(cluster.place + "/job.toml", "w") as file:
                for name, command in (("a", end), ("b", "sleep 1")):
                    file.write(f"[[{kind}]]\nname = '{name}'\nnodes = 1\ncommand = ['sh', '-c', '{command}']\n")
            run = cluster.submit("job.toml")
            wait_for(90, "the job's end", lambda: cluster.job_state(run.job) in ("FAILED", "COMPLETED"))
            check(cluster.job_state(run.job) == state, f"{kind}: the job is {state}")
            part = f"{run.path}/{kind}/1-a"
            with open(part + "/ran") as file:
                check(file.read().split() == ["ran"], "the part ran once")
            for folder in [part, run.path] if state == "FAILED" else []:
                os.rmdir(folder + "/ledger.jsonl")
                os.rename(folder + "/kept", folder + "/ledger.jsonl")
            said = asked(cluster, "why", run.path, 0)
            check(("could not be written (exit code 74)" in said) == (state == "FAILED"), "why says so only if the whole run's ledger has no end")


def put_back(cluster, run):
    """Preempted by a job that stays for a while, so that the run waits in the queue."""
    holder = cluster.run("sbatch", "--parsable", "-p", "high", "--nodes=1", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
    wait_for(60, "the requeue", lambda: cluster.job_state(run.job) == "PENDING" and events(run, "decided"))
    return holder


def queued():
    """A job that waits in the queue after a preemption is cancelled there, by Slurm's command and by ours: no agent is left to report it.
    """
    with Cluster("linuxproc", 1, 0, 5, *QUICK) as cluster:
        for cancel in ("scancel", "dtsubmit"):
            waiting, run = waited_for(cluster, "--nodes", "1", *DOZE)
            wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
            logs = Follower(cluster, "logs", "-f", run.path)
            holder = put_back(cluster, run)
            began = time.time()
            if cancel == "scancel":
                cluster.run("scancel", str(run.job))
            else:
                cluster.dtsubmit("cancel", str(run.job))
            code, said = logs.end()
            print(f"{cancel}: logs -f ended after {time.time() - began:.1f} s", flush=True)
            check(code == 0 and f"Job {run.job} was cancelled while it waited in the queue" in said, "logs -f ends and says what became of the job")
            check("next: dtsubmit requeue" in said, "and what can be done")
            code, said = waiting.end()
            print(f"{cancel}: --wait ended after {time.time() - began:.1f} s", flush=True)
            check(code == 143 and f"Job {run.job} was cancelled while it waited in the queue" in said, "--wait as well, as one that was killed")
            for verb in ("status", "why"):
                check("cancelled" in asked(cluster, verb, run.path, 0), f"{verb} says it too")
            cluster.run("scancel", holder)
            shutil.rmtree(run.path)
        gone_meanwhile(cluster)


def gone_meanwhile(cluster):
    """The run directory is removed while its job waits: the job ends as soon as Slurm starts it."""
    waiting, run = waited_for(cluster, "--nodes", "1", *DOZE)
    wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
    holder = put_back(cluster, run)
    shutil.rmtree(run.path)
    check(f"scancel {run.job} ends it" in asked(cluster, "status", run.job, 6), "status says that its job waits all the same")
    cluster.run("scancel", holder)
    code, said = waiting.end()
    check(code == 74 and f"{run.path} has vanished" in said, "--wait ends with the code of an I/O error and says why")
    said = asked(cluster, "why", run.job, 6)
    # Slurm 24.11 creates the folder of a log.
    check("has vanished" in said and (os.path.exists(run.path) or "could not open its log file" in said), "why knows what Slurm met")


def damaged():
    """Every checkpoint is damaged while the run waits in the queue: the run stops, or starts over if that is allowed."""
    train = ["--", DTTRAIN, *FEW, "--steps", "50", "--save-every", "10", "--step-delay", "70"]
    with Cluster("linuxproc", 1, 0, 5, *QUICK) as cluster:
        for rule in ([], ["--on", "damaged=restart"]):
            run = cluster.submit("--nodes", "1", "--ntasks-per-node", "2", *rule, *train)
            run.reach_step(15)
            holder = put_back(cluster, run)
            spoilt = spoil(run.path + "/checkpoints")
            check(spoilt > 1, f"{spoilt} files of checkpoints are damaged")
            cluster.run("scancel", holder)
            status = run.finish()
            said = "".join(asked(cluster, verb, run.job, 0) for verb in ("status", "why"))
            print(status["attempts"], flush=True)
            if not rule:
                check([one["cause"] for one in status["attempts"]] == ["preempted", "damaged"], "it stops as damaged")
                check(not status["done"] and events(run, "decided")[-1]["decision"] == "stop", "and is not started over")
                check("damaged=restart" in said, "and how it may begin anew is said")
                check("stops again as long as no checkpoint is good" in said, "and what a requeue as it is would do")
            else:
                check(status["done"] and status["attempts"][-1]["first_step"] <= 1, "allowed to, it begins anew and completes")
                check("started over" in said, "and says so")


def spoil(folder):
    """Removes half of each file of every checkpoint."""
    count = 0
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            os.truncate(path, os.path.getsize(path) // 2)
            count += 1
    return count


# Rank 1 sleeps, the others wait for a message that never comes; a file ends this.
SILENT = """
import os, select, time
if os.environ["RANK"] == "1":
    while not os.path.exists(os.environ["DTSUBMIT_RUN_DIR"] + "/go"): time.sleep(2)
    print("awake", flush=True)
else:
    ours, theirs = os.pipe()
    while not select.select([ours], [], [], 20)[0] and not os.path.exists(os.environ["DTSUBMIT_RUN_DIR"] + "/go"): pass
"""


def silent():
    """Programs without a sign of life for the quiet limit, usually an hour: this is reported. With --hang-timeout, the sleeping rank is
    blamed."""
    with Cluster("linuxproc", 2, 0, 5, *QUICK) as cluster:
        job = ["--nodes", "2", "--ntasks-per-node", "2", "--launcher", "srun"]
        hung = cluster.submit(*job, "--hang-timeout", "0:08", "--on", "crash=stop", "--", sys.executable, "-c", SILENT)
        status = hung.finish()
        ended = events(hung, "attempt_ended")[0]
        print(ended, flush=True)
        check(ended["cause"] == "hang" and ended["rank"] == 1, "rank 1, which slept, is blamed")
        check("rank 1" in asked(cluster, "why", hung.job, 0), "why names it")

        cluster.environment["DTSUBMIT_QUIET_LIMIT"] = "8s"
        run = cluster.submit(*job, "--", sys.executable, "-c", SILENT)
        quiet = wait_for(90, "a word about the silence", lambda: events(run, "quiet"))[0]
        check(quiet["rank"] in (0, 1, 2, 3) and "no output, no heartbeat and no checkpoint for " in quiet["detail"], quiet["detail"])
        for verb in ("status", "why"):
            check("no output, no heartbeat and no checkpoint for " in asked(cluster, verb, run.job, 0), f"{verb} says it while it lasts")
        check(len(events(run, "attempt_ended")) == 0, "nothing else is done about it")
        open(run.path + "/go", "w").close()
        check(run.finish()["done"], "and it can go on to its end")


# Rank 1 of the first attempt requests more memory than the job has.
HOG = """
import os, time
if os.environ["DTSUBMIT_ATTEMPT"] == "1" and os.environ["RANK"] == "1":
    hog = bytearray(1 << 30)
time.sleep(1)
"""


def holds_memory(cluster):
    """From now on, Slurm limits the memory of jobs, by the kernel's means."""
    path = cluster.folder + "/cgroup.conf"
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace("ConstrainRAMSpace=no", "ConstrainRAMSpace=yes"))
    cluster.run("scontrol", "reconfigure")
    time.sleep(2)


def memory(launcher):
    """The kernel kills a rank for lack of memory; the run restarts and is done, or stops. mpirun's ranks on the first node are in the batch
    script's step, so Slurm then calls the job OUT_OF_MEMORY, whatever its outcome. srun's ranks are not."""
    if not os.path.isdir("/sys/fs/cgroup/memory"):
        skip("no memory cgroup of version 1")
    more = ["SelectTypeParameters=CR_Core_Memory", "TaskPlugin=task/cgroup", "DefMemPerNode=500"]
    with Cluster("cgroup", 1, 0, 5, *QUICK, *(word for line in more for word in ("--conf", line))) as cluster:
        holds_memory(cluster)
        job = ["--nodes", "1", "--ntasks-per-node", "2", "--mem", "400M", "--launcher", launcher]
        waiting, run = waited_for(cluster, *job, "--", sys.executable, "-c", HOG)
        others = {kind: cluster.run("sbatch", "--parsable", "-o", "/dev/null", "-d", f"{kind}:{run.job}", "--wrap", "true").stdout.strip()
                  for kind in ("afterok", "afterany")}
        code, said = waiting.end()
        check(code == 0, "--wait exits as the run did: it is done")
        check([one["cause"] for one in run.status()["attempts"]] == ["out_of_memory", "completed"], "its first attempt ran out of memory")
        state = wait_for(30, "the job's end", lambda: cluster.job_state(run.job))
        check(state == ("OUT_OF_MEMORY" if launcher == "mpirun" else "COMPLETED"), f"Slurm's state of the job is {state}")
        wait_for(60, "the job after any", lambda: cluster.job_state(others["afterany"]) == "COMPLETED")
        told = [said, *(asked(cluster, verb, run.job, 0) for verb in ("status", "why"))]
        words = "a job that waits for it with --dependency=afterok never starts; use afterany"
        if launcher == "mpirun":
            check(all(words in one for one in told), "--wait, status and why say what that means for jobs that depend on it")
            never = wait_for(60, "Slurm's word", lambda: cluster.run("squeue", "-h", "-j", others["afterok"], "-o", "%r").stdout.strip() == "DependencyNeverSatisfied")
            check(never, "and so it is")
        else:
            check(not any(words in one for one in told), "there is nothing to be said of jobs that depend on it")
            wait_for(60, "the job after success", lambda: cluster.job_state(others["afterok"]) == "COMPLETED")
        waiting, run = waited_for(cluster, *job, "--on", "crash=stop", "--", sys.executable, "-c", HOG)
        code, said = waiting.end()
        check(code == 137 and "it ran out of memory" in said, "one that is not restarted ends with its rank's code, and says why")


if __name__ == "__main__":
    {f.__name__: f for f in (vanished, vanished_parts, interrupted, unwritten, unwritten_parts, queued, damaged, silent, memory)}[sys.argv[1]](*sys.argv[2:])
