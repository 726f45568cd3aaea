#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every example of man/dtsubmit-jobs.7 on a private Slurm, in the page's order: each command must succeed, and each run that it
submits must be done. Programs, an image, data and a virtual environment that the site or user would have are created here."""
import json
import os
import re
import subprocess
import sys

from checks import check, wait_for
from container import make_image, need_charliecloud
from frameworks_support import TORCHRUN, need
from main_job_support import Cluster, DTSUBMIT

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "man", "dtsubmit-jobs.7")
BLOCK = re.compile(r'(?:^\.\\" file (\S+)\n)?^\.EX\n(.*?)^\.EE$', re.S | re.M)

TRAIN = """import json, os, sys
with open(os.environ["DTSUBMIT_RUN_DIR"] + "/metrics.jsonl", "a") as file:
    file.write(json.dumps({"event": "step", "attempt": int(os.environ["DTSUBMIT_ATTEMPT"]), "step": 1, "loss": 0.5}) + "\\n")
print("trained", sys.argv[1:], flush=True)
"""
# Stands in for Ray's program, which is not in Debian: a head that goes into the background, and a worker that stays.
RAY = """#!/bin/sh
set -eu
case "$1 $2 $DTSUBMIT_ROLE" in
  "start --head head") echo "$DTSUBMIT_ROLE_HEAD_ADDR:$DTSUBMIT_ROLE_HEAD_PORT" >"$DTSUBMIT_JOB_DIR/head" ;;
  "health-check --address workers") test "$(cat "$DTSUBMIT_JOB_DIR/head")" = "$3" ;;
  "start --address workers") exec sleep 1000 ;;
  *) exit 1 ;;
esac
"""
SERVER = "import time\nwhile True:\n    time.sleep(0.1)\n"


def plain(text):
    """The text that a reader sees for a page's source (groff(7), escape sequences)."""
    return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\e", "\\")


def examples(page):
    """(file, text) or (None, command), in the page's order."""
    for name, text in BLOCK.findall(page):
        if name:
            yield name, plain(text)
        else:
            for line in plain(text).splitlines():
                check(line.startswith("$ "), f"an example is a command or a file: {line}")
                yield None, line[2:]


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def prepare(place):
    """Creates the user's folder, a git tree."""
    os.makedirs(place + "/data")
    write(place + "/data/words", "words\n")
    write(place + "/train.py", TRAIN)
    write(place + "/server.py", SERVER)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place + "/env"], check=True)
    os.makedirs(place + "/bin")
    for name, text in (("torchrun", TORCHRUN), ("ray", RAY)):
        write(f"{place}/bin/{name}", text)
        os.chmod(f"{place}/bin/{name}", 0o755)
    make_image(place)
    os.makedirs(place + "/image/data")
    need_charliecloud(place + "/image")
    for words in (["init", "-q"], ["add", "train.py"], ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", place, *words], check=True)


def runs_of(cluster):
    folder = cluster.place + "/runs"
    return {name for name in os.listdir(folder) if not os.path.islink(f"{folder}/{name}")} if os.path.isdir(folder) else set()


def is_done(cluster, name):
    """True if a run is done, or all elements of a sweep are."""
    answer = cluster.run(DTSUBMIT, "status", f"{cluster.place}/runs/{name}", "--json", code=None)
    status = json.loads(answer.stdout) if answer.returncode == 0 else {}
    elements = status.get("elements")
    return all(one["state"] == "done" for one in elements) if elements else bool(status.get("done"))


def main():
    with open(PAGE) as file:
        found = list(examples(file.read()))
    check(len(found) > 20, f"{len(found)} examples")
    need("torch")
    with Cluster("linuxproc", 2, 4, 10, "--gpu-type", "a100", "--features", "a100,nvlink") as cluster:
        prepare(cluster.place)
        cluster.environment["PATH"] = f"{cluster.place}/bin:{os.path.dirname(DTSUBMIT)}:/usr/bin:" + os.environ["PATH"]
        for name, text in found:
            if name:
                write(f"{cluster.place}/{name}", text)
                continue
            before = runs_of(cluster)
            answer = cluster.run("bash", "-c", text, timeout=120)
            print(f"$ {text}\n{answer.stdout}", flush=True)
            for new in sorted(runs_of(cluster) - before):
                if "--chain" not in text:  # a job that waits for it comes next
                    wait_for(120, f"the end of {new}", lambda: is_done(cluster, new))
        for name in sorted(runs_of(cluster)):
            wait_for(120, f"the end of {name}", lambda: is_done(cluster, name))


if __name__ == "__main__":
    main()
