#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments of a run that saves every few steps: fault_kills.py [COUNT]; 10 without COUNT.

The victims are the program of a rank, a rank's process, mpirun, the agent, or all of them at once. Each run is resumed until it is done.
Its digest must be the undisturbed one, and every file of every checkpoint must agree with its manifest. DTS_SEED repeats a sequence of
moments."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, wait_for
from main_job_support import DTSUBMIT, DTTRAIN, FEW, Run

STEPS, EVERY = 40, 3
TRAIN = [*FEW, "--steps", str(STEPS), "--save-every", str(EVERY)]
VICTIMS = ("program", "rank", "mpirun", "agent", "everything")


class Place:
    """A folder of runs on this machine, with what a Run needs of a Cluster."""

    def __init__(self):
        self.runs = tempfile.mkdtemp(prefix="dts-kills-")

    def dtsubmit(self, *words):
        return subprocess.run([DTSUBMIT, *words], check=True, capture_output=True, text=True)

    def start(self, *words):
        return subprocess.Popen([DTSUBMIT, "run", "--runs", self.runs, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def only_run(self):
        names = [name for name in os.listdir(self.runs) if not name.startswith(".")]
        return Run(self, f"{self.runs}/{names[0]}", 0) if names else None


def checkpoints_of(run):
    """(folder, manifest) of all committed checkpoints."""
    folder = run.path + "/checkpoints"
    for name in sorted(os.listdir(folder)):
        if name.startswith("step-") and ".tmp." not in name:
            with open(f"{folder}/{name}/manifest.json") as file:
                yield f"{folder}/{name}", json.load(file)


def check_files(run):
    """The number of checkpoints, all of them whole. Sizes are checked here, hashes by the trainer: it verifies a checkpoint before it looks
    whose it is (not one of seed 2)."""
    count = 0
    for path, manifest in checkpoints_of(run):
        for file in manifest["files"]:
            if os.path.getsize(f"{path}/{file['name']}") != file["bytes"]:
                raise AssertionError(f"{path}/{file['name']} is not as long as its manifest says")
        alone = tempfile.mkdtemp(prefix="dts-kills-")
        shutil.copytree(path, f"{alone}/{os.path.basename(path)}")
        done = subprocess.run([DTTRAIN, *TRAIN, "--seed", "2", "--checkpoint-dir", alone], capture_output=True, text=True)
        shutil.rmtree(alone)
        if done.returncode != 3 or "seed: 1 there, 2 here" not in done.stderr or "refused" in done.stderr:
            raise AssertionError(f"{path} is not whole\n{done.stderr}")
        count += 1
    return count


def victims(run, process, what):
    if what == "everything":
        return [pid for pid, _ in run.processes()] + [process.pid]

    def is_it(argv):
        name = os.path.basename(argv[0])
        if what in ("program", "mpirun"):
            return name in ("dttrain",) if what == "program" else name in ("mpirun", "prterun")
        return what == "rank" and name == "dtsubmit" and argv[1:2] == ["rank"]
    found = sorted(pid for pid, argv in run.processes() if argv and is_it(argv))
    return [process.pid] if what == "agent" else [random.choice(found)] if found else []


def kill_once(place, start, training):
    """(run, what was killed, step at that time), or None if the moment came after the end. One in five is killed during its start."""
    process = place.start("--ntasks-per-node", "2", "--", DTTRAIN, *TRAIN)
    run = wait_for(60, "the run", place.only_run)
    if random.random() < 0.2:
        time.sleep(random.uniform(0, start))
    else:
        wait_for_start(run, process)
        time.sleep(random.uniform(0, training))
    what, step = random.choice(VICTIMS), run.last_step()
    late = process.poll() is not None
    for pid in victims(run, process, what):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    process.wait()
    return None if late else (run, what, step)


def wait_for_start(run, process):
    while process.poll() is None and not os.path.exists(run.path + "/metrics.jsonl"):
        time.sleep(0.005)


def resume(run):
    """Runs `dtsubmit run --continue` until the run is done. The run restarts by itself as long as its agent lives."""
    for _ in range(5):
        wait_for(60, "the end of the killed attempt's processes", lambda: not run.processes())
        status = run.status()
        if status["done"]:
            return status
        subprocess.run([DTSUBMIT, "run", "--continue", run.path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    raise AssertionError(f"{run.path} is not done after 5 resumes")


def undisturbed():
    """(digest, seconds until it trains, seconds of training)."""
    place = Place()
    began = time.time()
    process = place.start("--ntasks-per-node", "2", "--", DTTRAIN, *TRAIN)
    run = wait_for(60, "the run", place.only_run)
    wait_for_start(run, process)
    start = time.time() - began
    process.wait()
    digest = run.status()["digest"]
    shutil.rmtree(place.runs)
    return digest, start, time.time() - began - start


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    seed = int(os.environ.get("DTS_SEED", time.time_ns() % 1000000))
    random.seed(seed)
    print(f"DTS_SEED={seed} repeats this sequence", flush=True)
    expected, *times = undisturbed()
    kills = files = 0
    while kills < count:
        place = Place()
        killed = kill_once(place, *times)
        if killed:
            run, what, step = killed
            kills += 1
            status = resume(run)
            if status["digest"] != expected:
                raise AssertionError(f"{run.path}: digest {status['digest']}, undisturbed {expected}")
            files += check_files(run)
            print(f"{kills:3} {what:10} at step {step:2}, {len(status['attempts'])} attempts, lost {status['steps_lost']}", flush=True)
        shutil.rmtree(place.runs)
    check(True, f"{count} kills at random moments, {count} equal digests, 0 corrupt of {files} checkpoints")


if __name__ == "__main__":
    main()
