# SPDX-License-Identifier: Apache-2.0
"""Seconds until a loss is reached: three asynchronous workers with a server, and, the peer, three ranks that take each step together. On
their own; with one worker that always takes twice as long; and with workers of which now and then one stands still, as ranks do whose node
has something else to do.

Usage: async.py DTTRAIN [ROUNDS]: medians of so many rounds. A step is mostly a sleep, so that ranks need no core each."""

import os
import random
import signal
import statistics
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from trainer_support import Trainer, events, ranks_of, wait_for_step  # noqa: E402

DELAY = 40  # ms of a step
PAUSE = 0.2  # seconds that a worker stands still
BETWEEN = 0.3  # seconds from one such pause to the next, of another worker, on average
LOSS = 0.75  # the mean of as many steps
WINDOW = 10
WAYS = [None, 0, 4, 16]  # staleness; None: together
CASES = ["equal workers", "one twice as slow", "pauses"]
TRAIN = ["--limit-train", 8192, "--steps", 250, "--batch", 48, "--shards", 12, "--lr", 0.05, "--warmup", 20, "--save-every", 0, "--verify-every", 0,
         "--evaluate-every", 1000, "--step-delay", DELAY]


def pause_workers(pids, over):
    while not over.wait(random.expovariate(1 / BETWEEN)):
        pid = random.choice(pids)
        try:
            os.kill(pid, signal.SIGSTOP)
            over.wait(PAUSE)
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return


def losses_of(run):
    try:
        return [one["loss"] for one in events(run, "step")]
    except (FileNotFoundError, ValueError):  # a line is being written
        return []


def seconds_to_loss(trainer, staleness, case, name):
    """From the first step on; and, of those, for one step."""
    run = trainer.path(name)
    ranks, first, more = (3, 0, []) if staleness is None else (4, 1, ["--servers", 1, "--staleness", staleness])
    if case == "one twice as slow":
        more = more + ["--slow-rank", f"{first + 1}:{DELAY}"]
    process = trainer.start(ranks, TRAIN + more + ["--run-dir", run])
    wait_for_step(process, run, 1)
    began, over = time.monotonic(), threading.Event()
    pausing = threading.Thread(target=pause_workers, args=(ranks_of(process.pid)[first:], over))
    if case == "pauses":
        pausing.start()
    reached = None
    while reached is None and process.poll() is None:
        time.sleep(0.01)
        losses = losses_of(run)
        means = [statistics.mean(losses[i - WINDOW:i]) for i in range(WINDOW, len(losses) + 1)]
        if any(mean < LOSS for mean in means):
            reached = time.monotonic() - began, len(losses)
    over.set()
    if pausing.ident:
        pausing.join()
    process.terminate()
    out, err = process.communicate(timeout=120)
    assert reached, f"{name}: never below {LOSS}\n{out}\n{err}"
    return reached[0], reached[0] / (reached[1] - 1)


def main(trainer, rounds):
    random.seed(1)
    taken = {}
    for turn in range(rounds):
        for case in CASES:
            for way in WAYS:
                name = f"{turn}-{case.replace(' ', '-')}-{way}"
                taken.setdefault((case, way), []).append(seconds_to_loss(trainer, way, case, name))
    print(f"3 workers, {DELAY} ms a step, until the mean loss of {WINDOW} steps is below {LOSS}; medians of {rounds} rounds")
    for case in CASES:
        together = statistics.median(one[0] for one in taken[case, None])
        for way in WAYS:
            seconds = statistics.median(one[0] for one in taken[case, way])
            step = statistics.median(one[1] for one in taken[case, way])
            what = "together" if way is None else f"staleness {way}"
            print(f"{case:18} {what:13} {seconds:6.2f} s, {seconds / together:.2f} of together; {1000 * step:.0f} ms a step")


with Trainer(sys.argv[1]) as trainer_of_all:
    main(trainer_of_all, int(sys.argv[2]) if len(sys.argv) > 2 else 3)
