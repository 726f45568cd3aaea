# SPDX-License-Identifier: Apache-2.0
"""Orders to a controller that answers too late, and commands that are interrupted half-way: afterwards, a job and its run directory both
exist, or neither does. A private real Slurm whose controller takes 5 s for some jobs, longer than MessageTimeout, or is stopped by
SIGSTOP."""
import os
import random
import signal
import subprocess
import sys
import time

from checks import check, skip, wait_for
from main_job_support import DTSUBMIT, Cluster, Run

SLOW = 'function slurm_job_submit(job, partitions, uid) if job.name == "slow" then os.execute("sleep 5") end ' \
       'return slurm.SUCCESS end\nfunction slurm_job_modify(job, record, partitions, uid) return slurm.SUCCESS end\n'


def plugin_folders(cluster):
    config = cluster.run("scontrol", "show", "config").stdout
    return next(line.split("=")[1].strip() for line in config.splitlines() if line.startswith("PluginDir")).split(":")


def controller(cluster):
    config = cluster.run("scontrol", "show", "config").stdout
    path = next(line.split("=")[1].strip() for line in config.splitlines() if line.startswith("SlurmctldPidFile"))
    return int(open(path).read())


class Stopped:
    """Stops the controller for this number of seconds from now on."""

    def __init__(self, pid, seconds):
        self.pid = pid
        os.kill(pid, signal.SIGSTOP)
        self.waker = subprocess.Popen(["sh", "-c", f"sleep {seconds}; kill -CONT {pid}"])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.waker.wait()


def jobs(cluster):
    """{run directory: [job id]} of all jobs that the controller knows."""
    found = {}
    for line in cluster.run("squeue", "-h", "-t", "all", "-o", "%i %o").stdout.splitlines():
        job, command = line.split(" ", 1)
        found.setdefault(os.path.dirname(command), []).append(int(job))
    return found


def folders(runs):
    return [f"{runs}/{name}" for name in (os.listdir(runs) if os.path.isdir(runs) else []) if not name.startswith(".")]


def slow_to_take(cluster):
    result = cluster.run(DTSUBMIT, "--runs", cluster.runs, "-J", "slow", "--", "sleep", "60", code=None)
    check(result.returncode == 0, f"a job that is taken after the time-out is found: {result.stdout}{result.stderr}")
    (run,) = folders(cluster.runs)
    check(jobs(cluster).get(run) and len(jobs(cluster)[run]) == 1, f"it is one job: {jobs(cluster)}")
    job = jobs(cluster)[run][0]
    check(f"submitted job {job}" in result.stdout, "and it is named")
    with Stopped(controller(cluster), 4):
        result = cluster.run(DTSUBMIT, "cancel", run, code=None)
    time.sleep(2)
    check(result.returncode in (0, 4), f"a cancel that nobody hears: {result.returncode} {result.stderr}")
    if result.returncode == 4:
        check(cluster.job_state_or_none(job) in ("PENDING", "RUNNING"), "what was answered by 4 does not happen later")
    cluster.dtsubmit("cancel", run)
    wait_for(30, "the job's end", lambda: cluster.job_state_or_none(job) in ("CANCELLED", "FAILED", None))
    return Run(cluster, run, job)


def listed_meanwhile(cluster):
    """A list that the controller does not answer says why states are unknown, once."""
    runs = cluster.place + "/listed"
    for _ in range(2):
        cluster.dtsubmit("submit", "--runs", runs, "--", "sleep", "60")
    with Stopped(controller(cluster), 20):
        said = cluster.dtsubmit("list", "--runs", runs)
    check(len([line for line in said.stdout.splitlines() if line.startswith("unknown ")]) == 2, f"the states are unknown: {said.stdout}")
    check(said.stderr.count("the states of jobs are not known: ") == 1, f"and it is said why: {said.stderr}")
    cluster.run("scancel", "-u", str(os.geteuid()))


def given_up(cluster):
    """A Ctrl-C while the outcome is unknown: the folder is kept, and later commands find the job."""
    runs = cluster.place + "/given-up"
    command = subprocess.Popen([DTSUBMIT, "--runs", runs, "-J", "slow", "--", "sleep", "60"], env=cluster.environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cluster.place)
    time.sleep(1)
    command.send_signal(signal.SIGINT)
    out, err = command.communicate(timeout=30)
    check(command.returncode not in (0, 4) or "kept" in err or "submitted job" in out, f"{command.returncode}: {out}{err}")
    (run,) = folders(runs)
    status = wait_for(30, "the job", lambda: [line for line in cluster.dtsubmit("status", run).stdout.splitlines()
                                              if line.startswith("job ") and "none" not in line])
    (job,) = jobs(cluster)[run]
    check(str(job) in status[0], f"`dtsubmit status` found job {job}: {status}")
    cluster.dtsubmit("cancel", run)


def stopped_while_submitting(cluster, tries):
    runs = cluster.place + "/stopped"
    pid = controller(cluster)
    for _ in range(tries):
        before = set(os.listdir(runs)) if os.path.isdir(runs) else set()
        command = subprocess.Popen([DTSUBMIT, "--runs", runs, "--", "sleep", "60"], env=cluster.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=cluster.place)
        while command.poll() is None and not (os.path.isdir(runs) and set(os.listdir(runs)) - before):
            pass
        with Stopped(pid, 3):
            out, err = command.communicate(timeout=60)
        check(command.returncode == 0, f"a controller that stood still: {command.returncode} {out}{err}")
    whole(cluster, runs, tries)


def whole(cluster, runs, most):
    wait_for(20, "every folder's job, and the other way round", lambda: set(jobs(cluster)) >= set(folders(runs)))
    found = {run: ids for run, ids in jobs(cluster).items() if run.startswith(runs + "/")}
    check(set(found) == set(folders(runs)) and all(len(ids) == 1 for ids in found.values()),
          f"each of {len(found)} jobs (of {most}) has its folder, and each folder its one job")
    half = [name for name in os.listdir(runs) if name.startswith(".")] if os.path.isdir(runs) else []
    check(not half, f"no half folder is left: {half}")
    if found:
        cluster.run("scancel", *[str(ids[0]) for ids in found.values()])


def interrupted(cluster, tries):
    runs = cluster.place + "/interrupted"
    begun = time.time()
    cluster.run(DTSUBMIT, "--runs", runs, "--", "true")
    lasts = time.time() - begun
    chance = random.Random(7)
    for attempt in range(tries):
        command = subprocess.Popen([DTSUBMIT, "--runs", runs, "--", "sleep", "60"], env=cluster.environment,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cluster.place)
        time.sleep(chance.uniform(0, 1.2 * lasts))
        command.send_signal((signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[attempt % 3])
        command.wait(30)
    whole(cluster, runs, tries + 1)


def requeued_at_once(cluster, run):
    """Four users request at once a requeue of a job that the controller has forgotten."""
    wait_for(60, "the controller to forget the job", lambda: cluster.job_state_or_none(run.job) is None)
    commands = [subprocess.Popen([DTSUBMIT, "requeue", run.path], env=cluster.environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cluster.place) for _ in range(4)]
    said = [command.communicate(timeout=120)[0] for command in commands]
    check(all(command.returncode == 0 for command in commands), f"all are content: {said}")
    check(sum("submitted job" in words for words in said) == 1, f"one of them submitted: {said}")
    check(sum("another requeue was faster" in words for words in said) == 3, "the others say so")
    check(len(jobs(cluster)[run.path]) == 1, f"one job came of it: {jobs(cluster)}")
    cluster.dtsubmit("cancel", run.path)


class Forgetful(Cluster):
    def job_state_or_none(self, job):
        answer = self.run("squeue", "-h", "-t", "all", "-o", "%T", "-j", str(job), code=None)
        return answer.stdout.strip() or None


def main():
    full = "full" in sys.argv
    with Forgetful("linuxproc", 1, 0, 30, "--conf", "MessageTimeout=2", "--conf", "MinJobAge=2", "--conf", "KillWait=2") as cluster:
        if not any(os.path.exists(folder + "/job_submit_lua.so") for folder in plugin_folders(cluster)):
            skip("this Slurm has no job_submit/lua")
        with open(cluster.folder + "/job_submit.lua", "w") as script:
            script.write(SLOW)
        with open(cluster.folder + "/slurm.conf", "a") as config:
            config.write("JobSubmitPlugins=lua\n")
        cluster.run("scontrol", "reconfigure")
        listed_meanwhile(cluster)
        run = slow_to_take(cluster)
        given_up(cluster)
        stopped_while_submitting(cluster, 12 if full else 2)
        interrupted(cluster, 180 if full else 40)
        requeued_at_once(cluster, run)


if __name__ == "__main__":
    main()
