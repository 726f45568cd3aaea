# SPDX-License-Identifier: Apache-2.0
"""The program of preempt_moments.py, for one rank: steps of 0.1 s, a save every 15 steps and at a stop, a load at its start.
`preempt_program.py crash`: rank 0 is killed once, after its first save."""
import json
import os
import signal
import sys
import time

from contract import CHECKPOINTED

# A save takes longer than the time left after a grace time of 15 s, so an unnoticed preemption costs steps.
LOAD, SAVE, EVERY, STEP = 2.0, 4.5, 15, 0.1
LAST = 5  # from this step on, it is about to end


class Program:
    def __init__(self):
        self.stop = False
        signal.signal(signal.SIGTERM, self.on_stop)
        self.rank, self.attempt = int(os.environ["RANK"]), int(os.environ["DTSUBMIT_ATTEMPT"])
        self.run, self.folder = os.environ["DTSUBMIT_RUN_DIR"], os.environ["DTSUBMIT_CHECKPOINT_DIR"]
        self.state, self.step, self.total, self.last = f"{self.folder}/state-{self.rank}", 0, 40, None

    def on_stop(self, *_):
        self.stop = True

    def tell(self, event):
        if self.rank == 0:
            with open(self.run + "/metrics.jsonl", "a") as file:
                file.write(json.dumps({"event": event, "attempt": self.attempt, "step": self.step, "total": self.total}) + "\n")

    def mark(self, phase):
        """Tells the test that this phase of this attempt begins."""
        if self.rank == 0:
            open(f"{self.run}/{phase}-{self.attempt}", "w").close()

    def pause(self, seconds):
        end = time.monotonic() + seconds  # signals do not shorten the sleep
        while time.monotonic() < end:
            time.sleep(min(0.1, max(0.0, end - time.monotonic())))

    def load(self):
        if os.path.exists(self.state):
            self.mark("load")
            self.pause(LOAD)
            with open(self.state) as file:
                self.step = int(file.read())

    def save(self):
        self.mark("save")
        self.pause(SAVE)
        with open(self.state + ".new", "w") as file:
            file.write(str(self.step))
        os.rename(self.state + ".new", self.state)

    def last_step(self):
        """The step after which all ranks stop: rank 0's, which announces it; None: it does not stop."""
        path = f"{self.run}/last-{self.attempt}"
        if self.rank == 0:
            with open(path + ".new", "w") as file:
                file.write(str(self.step))
            os.rename(path + ".new", path)
            return self.step
        end = time.monotonic() + SAVE
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.05)
        if not os.path.exists(path):
            return None
        with open(path) as file:
            return int(file.read())

    def is_to_stop(self):
        if self.stop and self.last is None:
            self.last = self.last_step() or self.step
        return self.stop and self.step >= self.last

    def crash(self):
        self.mark("crash")
        os.kill(os.getpid(), signal.SIGKILL)

    def main(self):
        self.load()
        self.tell("start")
        while self.step < self.total:
            if self.is_to_stop():
                self.save()
                sys.exit(CHECKPOINTED)
            time.sleep(STEP)
            self.step += 1
            self.tell("step")
            if self.step == self.total - LAST:
                self.mark("end")
            if self.step % EVERY == 0 and self.step < self.total:
                self.save()
                if sys.argv[1:] == ["crash"] and (self.rank, self.attempt) == (0, 1) and not self.stop:
                    self.crash()
        if self.rank == 0:
            self.last_step()
        self.tell("done")


if __name__ == "__main__":
    Program().main()
