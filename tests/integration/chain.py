# SPDX-License-Identifier: Apache-2.0
"""Runs after runs (--after) and jobs after jobs (--chain) on a private cluster: chain.py SCENARIO."""
import os
import sys

from checks import check, wait_for
from main_job_support import DTTRAIN, FEW, Cluster

TRAIN = [*FEW, "--steps", "100", "--save-every", "10", "--evaluate-every", "0"]
# Requests another job after six seconds of the first attempt and of the attempt that comes back; the second is to be preempted.
IN_PARTS = 'case $DTSUBMIT_ATTEMPT in 1|3) exec timeout --preserve-status --signal=TERM 6 "$0" "$@";; esac; exec "$0" "$@"'
AGAIN = ["--on", "checkpointed=resubmit:9"]  # otherwise the same job, which has time left, continues


def waiting(cluster):
    return cluster.run("squeue", "-h", "-t", "PD", "-o", "%i").stdout.split()


def jobs_of(run):
    return list(dict.fromkeys(event["job"] for event in run.ledger() if event["event"] == "attempt_started"))


def chain():
    """A chain of 3, preempted in its second job: each job continues where the previous one ended, and no job is left waiting."""
    with Cluster("linuxproc", nodes=2, gpus=1, grace=10) as cluster:
        program = ["--", "sh", "-c", IN_PARTS, DTTRAIN, *TRAIN]
        run = cluster.submit("--gpus-per-node", "1", "-J", "chain", "-o", "links/%x-%j", "--chain", "until-done", *AGAIN, *program, "--step-delay", "300")
        wait_for(60, "the next job in the queue", lambda: len(waiting(cluster)) == 1)
        wait_for(120, "the second job", lambda: len(jobs_of(run)) > 1)
        run.reach_step(run.last_step() + 5)
        wait_for(60, "the third job in the queue", lambda: len(waiting(cluster)) == 1)
        cluster.take_nodes(2, 1)
        wait_for(300, "the run's end", run.is_over)
        status = run.status()
        causes = [attempt["cause"] for attempt in status["attempts"]]
        jobs = jobs_of(run)
        check(status["done"], f"done: {causes} in jobs {jobs}")
        check(causes == ["checkpointed", "preempted", "checkpointed", "completed"], "preempted once")
        check(len(jobs) == 3, f"three jobs: {jobs}")
        links = {name: os.readlink(f"{cluster.place}/links/{name}") for name in os.listdir(cluster.place + "/links")}
        check(links == {f"chain-{job}": f"{run.path}/slurm-{job}.log" for job in jobs}, f"each job has a link to its log: {links}")
        wait_for(30, "no job left", lambda: not cluster.run("squeue", "-h").stdout)
        check(status["digest"] == cluster.train_alone(*TRAIN), f"digest {status['digest']} as undisturbed")
        used = cluster.submit("--chain", "2", *AGAIN, "--", "sh", "-c", "sleep 1; exit 85")
        wait_for(120, "its end", used.is_over)
        check("the chain has used its 2 jobs" in used.ledger()[-1]["detail"] and len(jobs_of(used)) == 2, "no more than --chain 2 jobs")
        left = cluster.submit("--chain", "3", "--", "sh", "-c", "sleep 300")
        wait_for(60, "its first job", lambda: len(jobs_of(left)) == 1)
        wait_for(60, "the next job in the queue", lambda: len(waiting(cluster)) == 1)
        cluster.dtsubmit("cancel", left.path)
        wait_for(60, "both gone", lambda: not cluster.run("squeue", "-h").stdout)
        check(len(jobs_of(left)) == 1, "a cancelled run's chain does not start")


def after():
    """A run waits for the end of a run, not of one of its jobs. Then it starts, or it ends with the reason."""
    with Cluster("linuxproc", nodes=2, gpus=1, grace=10) as cluster:
        def submit(*words):
            return cluster.submit("--gpus-per-node", "1", *words)

        first = submit("--no-requeue", *AGAIN, "--", "sh", "-c", 'sleep 5; [ "$DTSUBMIT_ATTEMPT" -gt 1 ] || exit 85')
        ok = submit("--after", first.path, "--", "true")
        wait_for(240, "both over", lambda: first.is_over() and ok.is_over())
        check(first.status()["done"] and len(jobs_of(first)) == 2, f"the first went on in another job: {jobs_of(first)}")
        check(ok.status()["done"], "the one after it ran")
        began = [event["time"] for event in ok.ledger() if event["event"] == "attempt_started"]
        check(len(began) == 1 and began[0] >= first.ledger()[-1]["time"], "after its end, not that of its first job")
        bad = submit("--on", "exit=stop,crash=stop", "--", "sh", "-c", "sleep 5; exit 3")
        runs = {when: submit("--after", f"{bad.job}:{when}", "--", "true") for when in ("ok", "fail", "any")}
        wait_for(240, "all over", lambda: all(run.is_over() for run in runs.values()))
        check([runs[when].status()["done"] for when in ("ok", "fail", "any")] == [False, True, True], "ok did not start, fail and any did")
        check("ended without being done" in cluster.dtsubmit("why", runs["ok"].path).stdout, "why says so")
        said = cluster.dtsubmit("submit", "--runs", cluster.runs, "--after", f"{bad.path}:ok", "--", "true", code=3).stderr
        check("ended without being done" in said, "one that is over is judged at once")
        check("how" not in said and not waiting(cluster), "nothing is left")
        sweep = submit("--array", "0-1", "--", "sleep", "3")
        both = submit("--after", sweep.path, "--", "true")
        wait_for(240, "a run after a sweep", both.is_over)
        check(both.status()["done"], "it waited for all elements")


if __name__ == "__main__":
    {"chain": chain, "after": after}[sys.argv[1]]()
