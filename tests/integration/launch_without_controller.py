# SPDX-License-Identifier: Apache-2.0
"""slurmctld is stopped between a job's start and its agent's first question, as when it is restarted while jobs start: launches, which need it,
wait for its return instead of using up their budget. On a private real Slurm, whose Prolog stops it."""
import os
import stat
import time

from checks import check, wait_for
from fault_ground import Ground, Job

# In a Prolog, Slurm starts the job's script only once this has ended.
PROLOG = """#!/bin/sh
rm {flag} 2>/dev/null || exit 0
pid=$(cat {folder}/run/slurmctld.pid)
kill $pid
while kill -0 $pid 2>/dev/null; do sleep 0.1; done
"""
AWAY = 15  # seconds after the first failed launch; the pause before the second one is 1 s


class Site(Ground):
    def __init__(self):
        super().__init__("linuxproc")
        self.flag, prolog = self.place + "/stop-the-controller", self.place + "/prolog"
        with open(prolog, "w") as file:
            file.write(PROLOG.format(flag=self.flag, folder=self.folder))
        os.chmod(prolog, stat.S_IRWXU)
        self.up += ["--conf", f"Prolog={prolog}"]


def main():
    with Site() as site:
        with open(site.flag, "w"):
            pass
        job = Job(site.submit("-p", "low", "--nodes", "2", "--gpus-per-node", "0", "--", "true"))
        wait_for(120, "a launch that fails", lambda: job.events("attempt_ended"))
        first = job.events("attempt_ended")[0]
        check(first["cause"] == "launch_failed", f"nothing starts on the second node: {first}")
        time.sleep(AWAY)
        check(len(job.events("attempt_started")) == 1, "no other launch is tried meanwhile")
        site.restart("slurmctld")
        status = job.finish(200)
        check(status["done"] and len(status["attempts"]) == 2, f"the run is done: {status['attempts']}")


if __name__ == "__main__":
    main()
