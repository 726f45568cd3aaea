#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The provenance of a run on a private Slurm: the record of its git tree and environment, attempts in a snapshot of the tree, and one id
for experiment trackers in all attempts."""
import json
import os
import subprocess

from checks import check, wait_for
from main_job_support import Cluster, Run

PROGRAM = """import json, os, signal, sys, time
names = ("WANDB_RUN_ID", "WANDB_RUN_GROUP", "WANDB_RESUME", "MLFLOW_RUN_CONTEXT", "SUBMITIT_FOLDER")
print(json.dumps({"text": @SAID@, "folder": os.getcwd(), **{name: os.environ[name] for name in names}}), flush=True)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(85))
while os.environ["DTSUBMIT_ATTEMPT"] == "1":
    time.sleep(0.1)
"""


def git(folder, *words):
    return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "-C", folder, *words],
                          check=True, capture_output=True, text=True).stdout


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def said(run, attempt, rank):
    try:
        with open(f"{run.path}/attempt-{attempt}/rank-{rank}.log") as file:
            return json.loads(file.readline())
    except (FileNotFoundError, ValueError):
        return None


def in_tree(cluster, tree, *words, code=0):
    """Runs dtsubmit submit in tree/src."""
    place, cluster.place = cluster.place, tree + "/src"
    try:
        return cluster.run(os.environ["DTSUBMIT"], "submit", "--runs", cluster.runs, *words, code=code)
    finally:
        cluster.place = place


def refused(cluster, tree):
    write(tree + "/src/extra.py", "")
    answer = in_tree(cluster, tree, "--snapshot", "--", "python3", "extra.py", code=3)
    check("extra.py would not be in it: git does not track it" in answer.stderr and "git add extra.py" in answer.stderr, answer.stderr)
    answer = cluster.run(os.environ["DTSUBMIT"], "submit", "--snapshot", "--", "true", code=3)
    check("is in no working tree of git" in answer.stderr, answer.stderr)
    check(not os.path.exists(cluster.runs) or not os.listdir(cluster.runs), "nothing is left of refused submissions")


def main():
    with Cluster("linuxproc", 2, 0, 30) as cluster:
        tree = cluster.place + "/tree"
        os.makedirs(tree + "/src")
        git(tree, "init", "-q", "-b", "main")
        write(tree + "/src/train.py", PROGRAM.replace("@SAID@", "'committed'"))
        git(tree, "add", ".")
        git(tree, "commit", "-q", "-m", "first")
        commit = git(tree, "rev-parse", "HEAD").strip()
        write(tree + "/src/train.py", PROGRAM.replace("@SAID@", "'submitted'"))
        refused(cluster, tree)

        cluster.environment.update(MY_TOKEN="hush-hush", LOADEDMODULES="cuda/12.4:nccl/2.21")
        answer = json.loads(in_tree(cluster, tree, "--json", "--snapshot", "--nodes", "2", "--", "python3", "train.py").stdout)
        run = Run(cluster, answer["run_directory"], answer["job"])
        with open(run.path + "/provenance.json") as file:
            text = file.read()
        record = json.loads(text)
        check("hush-hush" not in text and record["environment"]["MY_TOKEN"] == "<redacted>", "no secret is written down")
        check(record["source"]["commit"] == commit and record["source"]["changed"] == ["src/train.py"], record["source"])
        check(record["source"]["untracked"] == ["src/extra.py"], record["source"])
        check(record["modules"] == ["cuda/12.4", "nccl/2.21"], record["modules"])
        check(set(record["versions"]) == {"dtsubmit", "kernel", "slurm"}, record["versions"])
        check(record["submitted_from"] == tree + "/src" and record["folder"] == run.path + "/snapshot/src", record["folder"])

        git(tree, "stash", "-q")
        git(tree, "apply", run.path + "/source.diff")
        with open(tree + "/src/train.py") as file:
            check("'submitted'" in file.read(), "commit and diff make what was submitted")
        write(tree + "/src/train.py", "raise SystemExit('edited while the run goes on')")

        wait_for(60, "both ranks", lambda: said(run, 1, 0) and said(run, 1, 1))
        cluster.take_nodes(2, 0)
        status = run.finish()
        check(status["done"] and len(status["attempts"]) == 2, f"preempted once: {[one['cause'] for one in status['attempts']]}")
        name = os.path.basename(run.path)
        for rank in 0, 1:
            words = [said(run, attempt, rank) for attempt in (1, 2)]
            check(words[0] == words[1], f"rank {rank} is told the same in both attempts: {words}")
            check(words[0]["text"] == "submitted" and words[0]["folder"] == run.path + "/snapshot/src", words[0])
            check(words[0]["WANDB_RUN_ID"] == (name if rank == 0 else f"{name}-{rank}"), words[0])
            check(words[0]["WANDB_RUN_GROUP"] == name and words[0]["WANDB_RESUME"] == "allow", words[0])
            check(words[0]["SUBMITIT_FOLDER"] == run.path, "submitit's JobEnvironment().paths.folder")
            check(json.loads(words[0]["MLFLOW_RUN_CONTEXT"])["dtsubmit.run"] == name, words[0])


if __name__ == "__main__":
    main()
