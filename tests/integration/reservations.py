# SPDX-License-Identifier: Apache-2.0
"""Reservations of a private real Slurm: one that ends before the time limit of a job in it, one that has not begun, and a maintenance that keeps a job
waiting. Through both plug-ins."""
import json
import os
import time

from checks import check, wait_for
from main_job_support import Cluster
from plan import WAYS
from why import expect, started, why

# Saves when it is asked to, as a program that checkpoints does, and notes when that was.
SAVES = "trap 'date +%s >>$0; exit 85' TERM; while :; do sleep 0.2; done"
MARGIN = 60  # --signal-margin: half of the reservation's three minutes is longer


def reserve(cluster, name, node, *what):
    cluster.run("scontrol", "create", "reservation", f"ReservationName={name}", "Users=root", f"Nodes={node}", *what)


def end_of(cluster, name):
    shown = cluster.run("env", "SLURM_TIME_FORMAT=%s", "scontrol", "-o", "show", "reservation", name).stdout
    return int(dict(word.split("=", 1) for word in shown.split() if "=" in word)["EndTime"])


def saved(cluster, way):
    return os.path.join(cluster.place, f"{way}.saved")


def main():
    with Cluster("linuxproc", nodes=6, gpus=0, grace=5) as cluster:
        cluster.environment["SLURM_TIME_FORMAT"] = "%d.%m %H:%M"  # what libslurm prints obeys it
        runs = {}
        for node, way in zip(("n0", "n1"), WAYS):
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            reserve(cluster, way, node, "StartTime=now", "Duration=3")
            runs[way] = cluster.submit("--reservation", way, "--time", "1h", "--signal-margin", str(MARGIN), "--", "sh", "-c", SAVES,
                                       saved(cluster, way))
        ends = {way: end_of(cluster, way) for way in WAYS}
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            told_end(cluster, way, runs[way], ends[way])
        unpredicted(cluster)
        kept_out(cluster)
        submitted_again = succeeded(cluster)
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            ended(cluster, way, runs[way], ends[way])
        for way, run in submitted_again:
            outside(cluster, way, run)


def succeeded(cluster):
    """Runs in reservations that end, whose next job is submitted: when they ask for it, or in advance."""
    runs = []
    for node, way in zip(("n4", "n5"), WAYS):
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        reserve(cluster, f"{way}-again", node, "StartTime=now", "Duration=3")
        for how in (["--on", "timeout=resubmit"], ["--chain", "2"]):
            run = cluster.submit("--reservation", f"{way}-again", "--time", "1h", "--signal-margin", str(MARGIN), "--cpus-per-task", "1", *how, "--",
                                 "sh", "-c", SAVES, saved(cluster, way + how[0]))
            runs.append((way, run))
    return runs


def outside(cluster, way, run):
    """The next job does not ask for the reservation: it would end at once, as would those after it, and Slurm would hold the last one."""
    wait_for(180, f"{way}: it continues", lambda: len(started(run)) >= 2)
    job = started(run)[1]["job"]
    check(job != run.job, f"{way}: job {job} follows {run.job}")
    asked = cluster.run("squeue", "-h", "-t", "all", "-O", "Reservation:50", "-j", str(job)).stdout.strip()
    check(asked in ("(null)", ""), f"{way}: it is not in the reservation: {asked}")
    cluster.environment["DTSUBMIT_SCHEDULER"] = way
    cluster.dtsubmit("cancel", run.path)


def told_end(cluster, way, run, end):
    wait_for(60, f"{way}: its ranks", lambda: started(run))
    said, _ = why(cluster, run)
    ends_at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(end))
    check(f"Slurm ends it at {ends_at}" in said and f"its reservation {way} ends then, before its time limit" in said, f"{way}: {said}")


def ended(cluster, way, run, end):
    """The program is asked to save before the reservation ends, although Slurm sends no signal then; afterwards the run goes on without it."""
    wait_for(240, f"{way}: it continues", lambda: len(started(run)) >= 2)
    first = next(event for event in run.ledger() if event["event"] == "attempt_ended")
    check(first["cause"] == "time_limit" and "unsaved" not in first, f"{way}: it saved: {first}")
    check(f"its reservation {way} ends then" in first["detail"], f"{way}: the ledger names the reservation: {first}")
    with open(saved(cluster, way)) as noted:
        at = int(noted.read().split()[0])
    check(end - MARGIN - 5 <= at < end, f"{way}: it was asked before the reservation's end: {at - end} s")
    # An attempt may begin in what is left of the reservation.
    wait_for(180, f"{way}: it is not held at the reservation's end",
             lambda: cluster.run("squeue", "-h", "-O", "Reservation:50", "-j", str(run.job)).stdout.strip() == "(null)")
    cluster.dtsubmit("cancel", run.path)


def unpredicted(cluster):
    """Slurm predicts no start in a reservation that begins later, and starts the job then."""
    reserve(cluster, "later", "n2", "StartTime=now+30minutes", "Duration=60")
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        plan = " ".join(cluster.dtsubmit("plan", "--reservation", "later", "--time", "10m", "--", "true", code=None).stdout.split())
        check("not known: Slurm predicts no start in reservation later from " in plan and "which has not begun" in plan, f"{way}: {plan}")
        run = cluster.submit("--reservation", "later", "--time", "10m", "--", "true")
        expect(cluster, run, "pending", "its reservation later begins at ", "(Reservation)")
        cluster.dtsubmit("cancel", run.path)


def kept_out(cluster):
    """A maintenance that begins before the job would end: which one it is, and when the job starts."""
    reserve(cluster, "cooling", "n3", "StartTime=now+10minutes", "Duration=20", "Flags=MAINT,IGNORE_JOBS")
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        run = cluster.submit("--nodelist", "n3", "--time", "1h", "--", "true")
        expect(cluster, run, "pending", "reserved during the time that it asks for: ", "cooling from ", "(n3)", "Slurm expects to start it at",
               "next: scontrol show reservation")
        plan = " ".join(cluster.dtsubmit("plan", "--nodelist", "n3", "--time", "1h", "--", "true", code=None).stdout.split())
        check("perhaps because of a reservation: " in plan and "cooling from " in plan and "never" not in plan, f"{way}: {plan}")
        cluster.dtsubmit("cancel", run.path)
        short = json.loads(cluster.dtsubmit("plan", "--json", "--nodelist", "n3", "--time", "5m", "--", "true").stdout)
        check(short["start"]["answer"] == "expected", f"{way}: a job that ends before it starts at once: {short['start']}")


if __name__ == "__main__":
    main()
