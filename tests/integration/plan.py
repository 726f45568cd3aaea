#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`dtsubmit plan` on a real Slurm, through both plug-ins: the start that it predicts is that of `sbatch --test-only` for the script that
`submit` would send, in many states of a queue."""
import json
import os
import pwd
import random
import re
import time

from checks import check, wait_for
from main_job_support import DTSUBMIT, Cluster

STATES = 50
SEED = 20261125
NODES, CORES, GPUS = 6, 8, 2
WAYS = ("slurm", "slurm-commands")
ANSWER = re.compile(r"Job \d+ to start at (\d+) .*using (\d+) processors on nodes (\S+) in partition (\S+)")
CONF = ["PartitionName=short Nodes=ALL MaxTime=30 State=UP PriorityTier=1 PreemptMode=REQUEUE",
        "PartitionName=above Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=5 PreemptMode=OFF",
        "PartitionName=whole Nodes=ALL MaxTime=INFINITE State=UP OverSubscribe=EXCLUSIVE"]


class Queue:
    """A cluster whose queue changes at random; the same seed gives the same sequence."""

    def __init__(self, cluster):
        self.cluster, self.random = cluster, random.Random(SEED)
        self.nodes = cluster.run("sinfo", "-hN", "-p", "low", "-o", "%N").stdout.split()
        self.drained, self.jobs, self.reservation = None, [], False

    def change(self):
        steps = [self.submit, self.submit, self.submit, self.cancel, self.drain, self.reserve]
        for step in self.random.choices(steps, k=self.random.randint(1, 2)):
            step()

    def submit(self):
        choose = self.random
        words = ["--parsable", "-o", "/dev/null", "-p", choose.choice(["low", "low", "short", "above"]),
                 f"--nodes={choose.randint(1, 4)}", f"--ntasks-per-node={choose.randint(1, CORES)}",
                 f"--time={choose.choice([5, 10, 17, 25])}"]
        if choose.random() < 0.3:
            words.append(f"--gpus-per-node={choose.randint(1, GPUS)}")
        words += choose.choice([[], [], ["--exclusive"], ["--hold"], [f"--begin=now+{choose.randint(2, 20)}minutes"]])
        self.jobs.append(self.cluster.run("sbatch", *words, "--wrap", "sleep 900").stdout.strip())
        if len(self.jobs) > 9:
            self.cancel()

    def cancel(self):
        if self.jobs:
            self.cluster.run("scancel", self.jobs.pop(self.random.randrange(len(self.jobs))))

    def drain(self):
        update = ("scontrol", "update", f"NodeName={self.drained or self.random.choice(self.nodes)}")
        if self.drained:
            self.drained = self.cluster.run(*update, "State=RESUME", code=None) and None
        else:
            self.drained = update[2].split("=")[1]
            self.cluster.run(*update, "State=DRAIN", "Reason=test")

    def reserve(self):
        if self.reservation:
            self.cluster.run("scontrol", "delete", "ReservationName=kept", code=None)
            self.reservation = False
        else:
            made = self.cluster.run("scontrol", "create", "reservation", "ReservationName=kept", "Duration=60",
                                    f"Users={pwd.getpwuid(os.getuid()).pw_name}",
                                    f"StartTime=now+{self.random.randint(0, 12)}minutes",
                                    "Nodes=" + ",".join(self.random.sample(self.nodes, 2)), "Flags=IGNORE_JOBS", code=None)
            self.reservation = made.returncode == 0

    def request(self):
        """Options of a job for plan, and those of them that the script lacks, since they apply to the first job only."""
        choose = self.random
        gpus = choose.choice([0, 0, 0, 0, 1, 1, 2, GPUS + 1])
        words = ["--nodes", choose.choice("1111122334567"), "--ntasks-per-node", str(gpus or choose.randint(1, 4)),
                 "--cpus-per-task", choose.choice("1223"), "--gpus-per-node", str(gpus)]
        words += ["-p", choose.choice(["low", "low", "short", "above", "whole", "low,short"])]
        words += choose.choice([[], ["--time", "5"], ["--time", "12"], ["--time", "28"]])
        words += choose.choice([[], [], ["--exclusive"], ["--contiguous"], ["--mem", "100M"], ["--nodelist", choose.choice(self.nodes)]])
        first = ["--begin=now+3minutes"] if choose.random() < 0.1 else []
        return words, first


class Asker:
    def __init__(self, cluster):
        self.cluster = cluster
        self.script = cluster.place + "/script.sbatch"

    def plan(self, way, *words):
        environment = dict(self.cluster.environment, DTSUBMIT_SCHEDULER=way)
        before, self.cluster.environment = self.cluster.environment, environment
        try:
            result = self.cluster.run(DTSUBMIT, "plan", "--json", "--assume", "failure-rate=0", *words, "--", "/bin/true", code=None)
        finally:
            self.cluster.environment = before
        assert result.returncode in (0, 1), f"{words}: exit {result.returncode}\n{result.stderr}"
        document = json.loads(result.stdout)
        assert (document["start"]["answer"] == "never") == (result.returncode == 1), result.stdout
        return document

    def write_script(self, words):
        made = self.cluster.dtsubmit("submit", "--dry-run", "--json", *words, "--", "/bin/true")
        with open(self.script, "w") as file:
            file.write(json.loads(made.stdout)["script"])

    def sbatch(self, first):
        """(start, processors, nodes, partition), or None if the job cannot run according to sbatch."""
        said = self.cluster.run("env", "SLURM_TIME_FORMAT=%s", "sbatch", "--test-only", *first, self.script, code=None).stderr
        found = ANSWER.search(said)
        assert found or "failure" in said or "error" in said, said
        return (int(found[1]), int(found[2]), found[3], found[4]) if found else None


def is_same(plan, before, after, has_reservation):
    """True if the answer lies between sbatch's answers before and after it; None if these differ in more than the time. What sbatch refuses
    for lack of nodes may start after a reservation, which plan then names."""
    if (before is None) != (after is None) or (before and before[1:] != after[1:]):
        return None
    start = plan["start"]
    if before is None:
        return start["answer"] == "never" or (has_reservation and start["answer"] == "unknown" and "reservation: kept" in start["why"])
    if start["answer"] != "expected":
        return False
    if (start["processors"], start["nodes"], start["partition"]) != before[1:]:
        return False
    low, high = sorted((before[0], after[0]))
    return low - 1 <= start["time"] <= high + 1


def compare(asker, words, first, has_reservation):
    """The plug-ins that agree, and the answers. The queue may change between the queries; then they are repeated."""
    asker.write_script(words)
    for _ in range(8):
        before = asker.sbatch(first)
        plans = {way: asker.plan(way, *words, *first) for way in WAYS}
        after = asker.sbatch(first)
        agreed = [way for way in WAYS if is_same(plans[way], before, after, has_reservation)]
        if len(agreed) == len(WAYS):
            break
        time.sleep(0.3)
    for plan in plans.values():
        queue = plan["queue"]
        assert queue is None or queue["nodes"] == queue["idle"] + queue["in_use"] + queue["away"], queue
    said = [f"{way}: {plan['start']} between {before} and {after}" for way, plan in plans.items()]
    return agreed, said, before, time.time()


def agree_in_all_states(cluster):
    queue, asker = Queue(cluster), Asker(cluster)
    agreed = {way: 0 for way in WAYS}
    kinds = {"now": 0, "later": 0, "never": 0}
    for state in range(STATES):
        queue.change()
        words, first = queue.request()
        ways, said, answer, now = compare(asker, words, first, queue.reservation)
        kinds["never" if answer is None else "now" if answer[0] <= now + 2 else "later"] += 1
        for way in ways:
            agreed[way] += 1
        if len(ways) < len(WAYS):
            print(f"state {state}: {' '.join(words + first)}\n  " + "\n  ".join(said))
    for way, number in agreed.items():
        print(f"{way}: {number} of {STATES} agree")
    print(f"starts: {kinds['now']} now, {kinds['later']} later, {kinds['never']} never")
    check(all(number == STATES for number in agreed.values()), f"plan's start is that of sbatch --test-only in {STATES} of {STATES} states")
    check(min(kinds.values()) >= 5, f"each kind of start is among them: {kinds}")
    for job in queue.jobs:
        cluster.run("scancel", job)
    if queue.drained:
        queue.drain()
    if queue.reservation:
        queue.reserve()


def what_is_said(cluster):
    words = ["--nodes", "2", "--ntasks-per-node", "1", "--cpus-per-task", "1", "--time", "10", "--", "/bin/true"]
    said = cluster.dtsubmit("plan", "--what-if", f"nodes=1,4,{NODES + 1}", *words).stdout
    rows = [line for line in said.split("\n") if line.startswith("nodes = ")]
    check(len(rows) == 3 and f"nodes = {NODES + 1}" in rows[-1] and "never" in rows[-1], "--what-if says what runs and what cannot")
    check("start     now on " in said, "the text says where it starts")
    # Slurm's forecast ignores the partition's limit, because of which the job would wait for ever.
    words = ["-p", "short", "--nodes", "1", "--time", "40", "--cpus-per-task", "1"]
    asker = Asker(cluster)
    asker.write_script(words)
    job = cluster.run("sbatch", "--parsable", "-o", "/dev/null", asker.script).stdout.strip()
    reason = wait_for(20, "the reason", lambda: cluster.run("squeue", "-h", "-j", job, "-o", "%r").stdout.strip().replace("None", ""))
    cluster.run("scancel", job)
    answer = asker.plan(WAYS[0], *words)["start"]["answer"]
    check(reason in ("PartitionTimeLimit", "PartitionConfig") and answer == "never", f"a job over its partition's limit waits for ever: {reason}, plan says {answer}")


def conf(*lines):
    return [word for line in lines for word in ("--conf", line)]


def start():
    with Cluster("linuxproc", NODES, GPUS, 20, "--cpus-per-node", str(CORES), *conf(*CONF)) as cluster:
        agree_in_all_states(cluster)
        what_is_said(cluster)


if __name__ == "__main__":
    start()
