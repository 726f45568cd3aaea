# SPDX-License-Identifier: Apache-2.0
"""Job arrays and sweeps on a private cluster: sweep.py SCENARIO."""
import json
import os
import sys
import time

from checks import check, wait_for
from main_job_support import DTTRAIN, FEW, Cluster

TRAIN = [*FEW, "--steps", "24", "--save-every", "8", "--evaluate-every", "0"]


class Sweep:
    def __init__(self, cluster, *words):
        answer = json.loads(cluster.dtsubmit("submit", "--runs", cluster.runs, "--json", *words).stdout)
        self.cluster, self.path, self.job, self.count = cluster, answer["run_directory"], answer["job"], answer["elements"]

    def status(self, what=None):
        return json.loads(self.cluster.dtsubmit("status", what or self.path, "--runs", self.cluster.runs, "--json").stdout)

    def states(self):
        return [element["state"] for element in self.status()["elements"]]

    def are(self, index, state, seconds=60):
        wait_for(seconds, f"element {index} {state}", lambda: self.states()[index] == state)

    def log(self, index):
        return self.cluster.dtsubmit("logs", f"{self.path}/{index}").stdout


def running(cluster, job):
    return cluster.run("squeue", "-h", "-r", "-t", "R", "-o", "%i", "-j", str(job)).stdout.split()


def preempt():
    """20 elements, 4 at once, two of which are preempted half-way: only these return, and all results are right."""
    with Cluster("linuxproc", nodes=4, gpus=1, grace=10) as cluster:
        program = ["--", DTTRAIN, *TRAIN, "--lr", "{lr}", "--seed", "{seed}"]
        sweep = Sweep(cluster, "-J", "sweep-{lr}", "--gpus-per-node", "1", "--sweep", "lr=0.1,0.05", "--sweep", "seed=1..10",
                      "--array", "%4", *program, "--step-delay", "150")
        check(sweep.count == 20, "the sweep has 20 elements")
        preempted, most = set(), 0

        def step():
            nonlocal most
            now = running(cluster, sweep.job)
            most = max(most, len(now))
            elements = sweep.status()["elements"]
            for element in elements:
                if element["attempts"] > 1:
                    preempted.add(element["index"])
            return elements

        wait_for(240, "four elements in the middle", lambda: sum(8 < one["step"] < 20 for one in step()) == 4)
        cluster.take_nodes(2, 1)
        wait_for(900, "all elements done", lambda: all(one["state"] == "done" for one in step()))
        check(most == 4, f"at most {most} of them ran at the same time")
        check(len(preempted) == 2, f"elements {sorted(preempted)} were preempted, and no others came back")
        for element in step():
            check(element["job"] == f"{sweep.job}_{element['index']}", f"element {element['index']} is job {element['job']}")
            own = sweep.status(element["run_directory"])
            values = element["parameters"]
            alone = cluster.train_alone(*TRAIN, "--lr", values["lr"], "--seed", values["seed"])
            check(own["digest"] == alone, f"lr {values['lr']} seed {values['seed']}: digest {alone} as undisturbed")
            causes = [attempt["cause"] for attempt in own["attempts"]]
            check(causes == (["preempted"] if element["index"] in preempted else []) + ["completed"], f"it {causes}")
        whole = sweep.status()
        losses = {one["index"]: one["metric"] for one in whole["elements"]}
        check(whole["metric"] == "loss" and losses[whole["best"]] == min(losses.values()), f"the best is {whole['best']}")
        table = cluster.dtsubmit("status", str(sweep.job), "--runs", cluster.runs).stdout
        check("20 elements: 20 done" in table and "lr=0.05 seed=10" in table, "the table has them all")
        check("20/20 done" in cluster.dtsubmit("list", "--all", "--runs", cluster.runs).stdout, "`list` has one line for them")


SHOW = """echo "task $SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT in $SLURM_ARRAY_JOB_ID: $DTSUBMIT_PARAMETERS $DTSUBMIT_PARAMETER_WHO"
trap 'exit 85' TERM; [ "$DTSUBMIT_ATTEMPT" -gt 1 ] || case {who} in b*) while :; do sleep 300 & wait; done;; c) exit 3;; esac"""


def orders():
    """Commands on a sweep and on one of its elements; a CSV file; variables."""
    with Cluster("linuxproc", nodes=2, gpus=1, grace=10) as cluster:
        with open(cluster.place + "/who.csv", "w") as file:
            file.write('who,note\na,"x, y"\nbb,\nc,z\nb1,\n')
        sweep = Sweep(cluster, "--gpus-per-node", "1", "--sweep", "who.csv", "--on", "crash=stop", "--", "bash", "-c", SHOW)
        wait_for(120, "a done, b running, c stopped", lambda: sweep.states()[:3] == ["done", "running", "stopped"])
        sweep.are(3, "running", 120)
        check(f"task 0 of 4 in {sweep.job}: {{\"who\":\"a\",\"note\":\"x, y\"}} a" in sweep.log(0), "a program is told what it is")
        why = cluster.dtsubmit("why", sweep.path).stdout
        check("1 done, 2 running, 1 stopped" in why and "element 2 (stopped): rank 0 on" in why, f"why: {why}")
        check(f"dtsubmit why {sweep.path}/2" in why, "why names the element that failed")
        check("name one of its elements" in cluster.dtsubmit("logs", sweep.path, code=3).stderr, "logs of one element only")
        check("its elements are 0-3" in cluster.dtsubmit("status", f"{sweep.path}/4", code=6).stderr, "no element 4")
        cluster.dtsubmit("cancel", f"{sweep.job}_3", "--runs", cluster.runs)
        wait_for(60, "element 3 cancelled", lambda: sweep.states() == ["done", "running", "stopped", "stopped"])
        cluster.dtsubmit("stop", sweep.path)
        wait_for(60, "element 1 stopped", lambda: sweep.states()[1] == "stopped")
        cluster.dtsubmit("requeue", f"{sweep.path}/2", "--nodes", "2")
        wait_for(120, "element 2 done", lambda: sweep.states() == ["done", "stopped", "done", "stopped"])
        nodes = [len(attempt["nodes"]) for attempt in sweep.status(f"{sweep.path}/2")["attempts"]]
        check(nodes == [1, 2], f"it has continued on two nodes: {nodes}")
        cluster.dtsubmit("requeue", str(sweep.job), "--runs", cluster.runs, "--time", "20")
        wait_for(240, "all done", lambda: set(sweep.states()) == {"done"})
        limits = ["--time=20" in cluster.dtsubmit("why", f"{sweep.path}/{index}").stdout for index in range(4)]
        check(limits == [False, True, False, True], f"each element that was not done has the new time limit: {limits}")
        check(f"task 3 of 4 in {sweep.job}" in sweep.log(3), "an element that comes back is told the same")
        waiting = Sweep(cluster, "--array", "5,7-9%1", "--", "bash", "-c", "sleep 300")
        wait_for(60, "the first one running", lambda: waiting.states().count("running") == 1)
        check(sorted(waiting.states()) == ["pending"] * 3 + ["running"], "the others wait")
        cluster.dtsubmit("cancel", f"{waiting.path}/8")
        wait_for(60, "element 8 cancelled", lambda: waiting.states()[2] in ("stopped", "cancelled", "lost"))  # forgotten at once or not
        check(waiting.states()[1] == "pending", "element 7 still waits")
        # While the others wait, Slurm answers the signal to the one that runs with an error.
        told = json.loads(cluster.dtsubmit("stop", f"{waiting.path}/5", "--json").stdout)
        check([run["result"] for run in told["runs"]] == ["asked"], f"the one that runs is stopped: {told}")
        wait_for(60, "element 5 stopped", lambda: waiting.states()[0] == "stopped")
        cluster.dtsubmit("cancel", waiting.path)
        wait_for(120, "all cancelled", lambda: not set(waiting.states()) & {"running", "pending"})


def refused():
    """A refused submission leaves nothing behind."""
    with Cluster("linuxproc", nodes=1, gpus=1, grace=10) as cluster:
        for words, said in (
                (["--array", "0-5000"], "MaxArraySize"),
                (["--sweep", "a=1..1000", "--sweep", "b=1..1000"], "the grid has 1000000 elements"),
                (["--sweep", "lr=1,2", "-J", "x{lrr}"], "did you mean {lr}?"),
                (["--array", "3-1"], "names no indices"),
                (["--sweep", "nowhere.csv"], "nowhere.csv")):
            check(said in cluster.dtsubmit("submit", "--runs", cluster.runs, *words, "--", "true", code=3).stderr, f"{words}: {said}")
        check(not os.path.exists(cluster.runs) and not cluster.run("squeue", "-h").stdout, "nothing is left")
        began = time.time()
        sweep = Sweep(cluster, "--array", "0-999%1", "--", "true")
        print(f"an array of 1000 in {time.time() - began:.2f} s")
        cluster.dtsubmit("cancel", sweep.path)


if __name__ == "__main__":
    {"preempt": preempt, "orders": orders, "refused": refused}[sys.argv[1]]()
