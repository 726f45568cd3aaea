# SPDX-License-Identifier: Apache-2.0
"""A training that only takes its time: steps and saves of a fixed length, told in metrics.jsonl as dttrain tells them, so that
goodput is a matter of what happens to the run: steady_job.py STEPS SECONDS_A_STEP STEPS_A_SAVE SECONDS_A_SAVE."""
import datetime
import json
import os
import signal
import sys
import time


class Steady:
    def __init__(self, folder, steps, step_seconds, every, save_seconds, attempt=1, metrics=None):
        self.folder, self.steps, self.step_seconds = folder, steps, step_seconds
        self.every, self.save_seconds, self.attempt, self.metrics = every, save_seconds, attempt, metrics
        self.done = self.newest()
        self.stopped = False

    def newest(self):
        names = [name for name in os.listdir(self.folder) if name.startswith("step-") and not name.endswith(".tmp")]
        return max((int(name[5:]) for name in names), default=0)

    def tell(self, event, **more):
        if self.metrics:
            with open(self.metrics, "a") as file:
                file.write(json.dumps({"event": event, "attempt": self.attempt, "step": self.done, **more}) + "\n")

    def save(self):
        began = time.monotonic()
        time.sleep(self.save_seconds)
        path = f"{self.folder}/step-{self.done:09}"
        with open(path + ".tmp", "w") as file:
            file.flush()
            os.fsync(file.fileno())
        os.rename(path + ".tmp", path)
        self.tell("save", seconds=time.monotonic() - began)

    def run(self):
        """True when every step is done, False when it was stopped, after a save."""
        now = datetime.datetime.now(datetime.timezone.utc)
        self.tell("start", total=self.steps, time=now.strftime("%Y-%m-%dT%H:%M:%SZ"))
        while self.done < self.steps:
            began = time.monotonic()
            time.sleep(self.step_seconds)
            self.done += 1
            self.tell("step", seconds=time.monotonic() - began)
            if self.stopped:
                self.save()
                self.tell("stop")
                return False
            if self.done % self.every == 0:
                self.save()
        return True


def main():
    steps, step_seconds, every, save_seconds = sys.argv[1:]
    metrics = os.environ["DTSUBMIT_RUN_DIR"] + "/metrics.jsonl" if os.environ["RANK"] == "0" else None
    steady = Steady(os.environ["DTSUBMIT_CHECKPOINT_DIR"], int(steps), float(step_seconds), int(every), float(save_seconds),
                    int(os.environ["DTSUBMIT_ATTEMPT"]), metrics)

    def stop(*_):
        steady.stopped = True
    signal.signal(signal.SIGTERM, stop)
    sys.exit(0 if steady.run() else 85)


if __name__ == "__main__":
    main()
