# SPDX-License-Identifier: Apache-2.0
"""What `dtsubmit why` reports about jobs of a private real Slurm: why.py SCENARIO."""
import json
import os
import sys

from checks import check, wait_for
from main_job_support import Cluster

FOR_EVER = ["--", "python3", "-c", "import time; time.sleep(600)"]


def why(cluster, run):
    text = cluster.dtsubmit("why", run.path).stdout
    return text, json.loads(cluster.dtsubmit("why", run.path, "--json").stdout)


def expect(cluster, run, standing, *words):
    """Waits until `why` has all the words: Slurm determines a reason when its next pass reaches the job."""
    told = {}

    def says():
        told["text"], told["json"] = why(cluster, run)
        return told["json"]["standing"] == standing and all(word in told["text"] for word in words)
    try:
        wait_for(120, f"{standing} with {words}", says)
    finally:
        print(told["text"])
    check(told["text"].count("\n") <= 40, "the answer fits on a screen")
    return told["json"]


def started(run):
    return [e for e in run.ledger() if e["event"] == "ranks_started"]


def pending():
    """All nodes are taken; held; a dependency that waits, and one that can never be satisfied."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        holder = cluster.run("sbatch", "--parsable", "-N", "2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
        wait_for(60, "the other job", lambda: cluster.job_state(holder) == "RUNNING")
        run = cluster.submit("--nodes", "2", *FOR_EVER)
        told = expect(cluster, run, "pending", f"Job {run.job} waits: it is next, and waits for nodes", "(Resources)", "next: a shorter --time")
        check(told["scheduler_reason"] == "Resources", "the reason in Slurm's word is in the JSON")
        behind = cluster.submit("--nodes", "2", *FOR_EVER)
        expect(cluster, behind, "pending", "jobs of a higher priority wait before it (Priority)")
        cluster.run("scontrol", "update", f"JobId={behind.job}", f"Dependency=afterok:{holder}")
        expect(cluster, behind, "pending", "it waits for another job (Dependency)", f"It depends on afterok:{holder}")
        cluster.run("scontrol", "uhold", str(run.job))
        expect(cluster, run, "pending", "it is held (JobHeldUser)", f"next: scontrol release {run.job}")
        cluster.run("scancel", holder)
        expect(cluster, behind, "pending", "(DependencyNeverSatisfied)", "it will never start")
        cluster.run("scancel", str(run.job), str(behind.job))
        expect(cluster, run, "cancelled", f"Job {run.job} was cancelled while it waited in the queue.", "No attempt ever began.")


def running():
    """A job that runs, and one that was requeued and waits for Slurm's credential to expire."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        run = cluster.submit("--nodes", "1", *FOR_EVER)
        wait_for(120, "the ranks", lambda: started(run))
        told = expect(cluster, run, "running", f"Job {run.job} has been running since", "attempt 1 on", f"next: dtsubmit logs -f {run.path}")
        check(told["attempts"][0]["cause"] == "", "the attempt has no cause yet")
        # The held job first: the few seconds of cred_expire could pass before anything is checked.
        cluster.run("scontrol", "requeuehold", str(run.job))
        expect(cluster, run, "pending", "it is held (JobHeldUser)", "then wait:")
        cluster.run("scontrol", "update", f"JobId={run.job}", "StartTime=now+1hour")
        cluster.run("scontrol", "release", str(run.job))
        expect(cluster, run, "pending", "a requeued job begin only once its old credential has expired", "120 s by default): at ", "(BeginTime)")
        cluster.run("scancel", str(run.job))


def killed():
    """A program that fails by itself: the first failing rank, its last lines, and what to type."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        program = ("import os, sys, time\n"
                   "if os.environ['RANK'] == '1': sys.exit('out of luck')\n"
                   "time.sleep(600)")
        run = cluster.submit("--nodes", "2", "--", "python3", "-c", program)
        wait_for(120, "the run's end", run.is_over)
        told = expect(cluster, run, "stopped", "the program failed, first rank 1 on ", "the last lines of rank 1 (",
                      "  out of luck\n", f"next: dtsubmit requeue {run.path}")
        first = told["attempts"][0]
        check(first["rank"] == 1 and first["last_lines"]["lines"] == ["out of luck"], f"rank and lines are in the JSON: {first}")
        use = run.ledger()[-1]["seconds"]
        check(abs(sum(v for k, v in use.items() if k != "wall") - use["wall"]) < 0.01, f"the phases in the ledger add up: {use}")
        check("goodput" in cluster.dtsubmit("status", run.path).stdout, "status shows the goodput")
        os.rename(cluster.environment["SLURM_CONF"], cluster.environment["SLURM_CONF"] + ".away")
        text, _ = why(cluster, run)
        os.rename(cluster.environment["SLURM_CONF"] + ".away", cluster.environment["SLURM_CONF"])
        check("This is based on the run directory alone: " in text and "out of luck" in text, "without Slurm it says so, and the same")


def cancelled():
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        run = cluster.submit("--nodes", "1", *FOR_EVER)
        wait_for(120, "the ranks", lambda: started(run))
        cluster.dtsubmit("cancel", run.path)
        wait_for(120, "the run's end", run.is_over)
        expect(cluster, run, "stopped", "somebody cancelled the job", "It was not continued: the job was cancelled.", "next: dtsubmit requeue")


def agent_killed():
    """kill -9 of the agent, three times: the job ends, and the answer comes from Slurm's record."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        run = cluster.submit("--nodes", "1", *FOR_EVER)
        for attempt in (1, 2, 3):
            wait_for(120, f"the ranks of attempt {attempt}", lambda attempt=attempt: any(
                event["event"] == "ranks_started" and event["attempt"] == attempt for event in run.ledger()))
            run.kill("agent")
        expect(cluster, run, "lost", f"Job {run.job} is over (failed, ", "the agent, was killed (signal 9)", "Attempt 3 was under way",
               f"next: dtsubmit requeue {run.path}")


def no_log_folder():
    """The node does not see the run directory when the job begins: 0:53, and no message from any process."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        holder = cluster.run("sbatch", "--parsable", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
        wait_for(60, "the other job", lambda: cluster.job_state(holder) == "RUNNING")
        run = cluster.submit("--nodes", "1", *FOR_EVER)
        os.rename(run.path, run.path + ".away")
        cluster.run("scancel", holder)
        wait_for(120, "the job's end", lambda: cluster.job_state(run.job) == "FAILED")
        os.rename(run.path + ".away", run.path)
        expect(cluster, run, "lost", "could not open its log file or enter its folder on n0, the first node (exit code 0:53)", "No attempt ever began.",
               "submit it with --exclude n0")


if __name__ == "__main__":
    {f.__name__: f for f in (pending, running, killed, cancelled, agent_killed, no_log_folder)}[sys.argv[1]]()
