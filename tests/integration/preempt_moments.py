#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A preemption at every moment: preempt_moments.py [--flavour F] [--launcher L] [--phase P] [--nodes N] [--from MS] [--to MS] [--step MS]
[--grace S] [--deal] [--seed S] [--at-once N] [--minutes M].

Each try is a job that is really preempted, with or without a grace time, at one moment after its start, after the beginning of a
checkpoint's load or save, or after a rank's crash, or half a second before its end. The run must be informed at once, save, come back by
itself and lose no step. A run that was informed late counts as LATE, not ok, if the processors were too busy all that time, and
otherwise as a failure. SIGTERM ends the sweep once the tries under way are over."""
import argparse
import contextlib
import itertools
import queue
import random
import signal
import sys
import threading
import time

from checks import SKIPPED
from preempt_ground import SAVING, Ground, Load
from preempt_try import Try

FLAVOURS, LAUNCHERS, PHASES = ("linuxproc", "cgroup"), ("mpirun", "srun", "torchrun"), ("start", "load", "save", "crash", "end")


def tries_of(options):
    """(flavour, launcher, phase, moment) of every try in the order of play."""
    moments = [moment / 1000 for moment in range(options.begin, options.end + 1, options.step)]
    if not options.deal:
        return list(itertools.product(options.flavour, options.launcher, options.phase, moments))
    chance = random.Random(options.seed)
    hands, tries = list(itertools.product(options.flavour, options.launcher)), []
    for phase in options.phase:
        first = chance.randrange(len(hands))
        tries += [(*hands[(first + turn) % len(hands)], phase, moment) for turn, moment in enumerate(moments)]
    chance.shuffle(tries)  # so that the tries that fit into the time are a fair sample
    return tries


class Sweep:
    def __init__(self, options):
        self.options, self.load, self.lock = options, Load(), threading.Lock()
        self.until = time.monotonic() + 60 * options.minutes if options.minutes else float("inf")
        self.played = []
        signal.signal(signal.SIGTERM, self.end)

    def end(self, *_):
        self.until = 0

    def note(self, played):
        with self.lock:
            self.played.append(played)
            print(f"{time.strftime('%H:%M:%S')} {played.line()}", flush=True)
            if played.problems or played.late:
                print(played.evidence(), flush=True)

    def play(self, ground, pair, waiting):
        """A pair of nodes: one try after another."""
        while time.monotonic() < self.until:
            try:
                launcher, phase, moment = waiting.get_nowait()
            except queue.Empty:
                return
            self.note(Try(ground, pair, launcher, phase, moment).play(self.load))

    def start(self, ground, tries):
        """Starts a thread for each pair of nodes."""
        waiting = queue.SimpleQueue()
        for _, launcher, phase, moment in tries:
            if launcher != "torchrun" or ground.torchrun:
                waiting.put((launcher, phase, moment))
        if not ground.torchrun and "torchrun" in self.options.launcher:
            print(f"{ground.flavour}: torchrun skipped: no PyTorch here")
        threads = [threading.Thread(target=self.play, args=(ground, pair, waiting)) for pair in range(self.options.at_once)]
        for thread in threads:
            thread.start()
        return threads

    def open(self, stack, flavour):
        """A cluster of this flavour; None if that is impossible."""
        try:
            return stack.enter_context(Ground(flavour, self.options.at_once, self.options.nodes, self.options.grace))
        except SystemExit as skipped:
            if skipped.code != SKIPPED:
                raise
            return None

    def run(self):
        tries = tries_of(self.options)
        # Tries that are dealt are mixed, so that all clusters are needed at once.
        together = [self.options.flavour] if self.options.deal else [[flavour] for flavour in self.options.flavour]
        for flavours in together:
            with contextlib.ExitStack() as stack:
                grounds = [ground for ground in (self.open(stack, flavour) for flavour in flavours) if ground]
                threads = [thread for ground in grounds for thread in self.start(ground, [one for one in tries if one[0] == ground.flavour])]
                for thread in threads:
                    thread.join()
        return self.tell(len(tries))

    def tell(self, dealt):
        for hand in sorted({(one.ground.flavour, one.launcher, one.phase) for one in self.played}):
            mine = [one for one in self.played if (one.ground.flavour, one.launcher, one.phase) == hand]
            heard = sorted(one.heard for one in mine if one.heard is not None)
            print(f"{'.'.join(hand)}: {len(mine)} tries, {sum(bool(one.problems) for one in mine)} failed, {sum(bool(one.late) for one in mine)} late; "
                  f"heard {f'{heard[len(heard) // 2]:.0f} s (median), {heard[-1]:.0f} s (worst)' if heard else 'never'}")
        failed, late = sum(bool(one.problems) for one in self.played), sum(bool(one.late) for one in self.played)
        print(f"{len(self.played)} of {dealt} tries, {failed} failed, {late} late, {sum(max(0, one.lost) for one in self.played)} steps lost")
        return SKIPPED if not self.played else 1 if failed else 0


def read_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--flavour", choices=FLAVOURS, action="append")
    parser.add_argument("--launcher", choices=LAUNCHERS, action="append")
    parser.add_argument("--phase", choices=PHASES, action="append")
    parser.add_argument("--nodes", type=int, choices=[1, 2], default=2, help="of a job; one under mpirun: a sentinel step listens [2]")
    parser.add_argument("--grace", type=int, default=SAVING, help=f"seconds; 0: Slurm requeues at once, and processes have KillWait [{SAVING}]")
    parser.add_argument("--from", dest="begin", type=int, default=0, help="ms [0]")
    parser.add_argument("--to", dest="end", type=int, default=5000, help="ms [5000]")
    parser.add_argument("--step", type=int, default=10, help="ms [10]")
    parser.add_argument("--deal", action="store_true", help="each moment of each phase once, flavours and launchers in turn [all with all]")
    parser.add_argument("--seed", type=int, help="of the order of what is dealt [drawn]")
    parser.add_argument("--at-once", type=int, default=1, metavar="N", help="tries at a time on each flavour's cluster [1]")
    parser.add_argument("--minutes", type=float, default=0, help="begin no try after so long [0: no limit]")
    options = parser.parse_args()
    options.flavour = options.flavour or list(FLAVOURS)
    options.launcher = options.launcher or list(LAUNCHERS)
    options.phase = options.phase or list(PHASES)
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(1 << 32)
    return options


def main():
    options = read_options()
    print(f"seed {options.seed}" if options.deal else "in order", flush=True)
    sys.exit(Sweep(options).run())


if __name__ == "__main__":
    main()
