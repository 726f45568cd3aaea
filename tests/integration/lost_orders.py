# SPDX-License-Identifier: Apache-2.0
"""Orders about a running job to a controller that stops responding at the moment in which they are sent, and continues only when nobody
waits for its answer any more: `stop`, `requeue` and `cancel` find out the outcome, and each is carried out once."""
import os
import shutil
import subprocess
import sys
import threading
import time

from checks import check, wait_for
from contract import CHECKPOINTED
from lost_answers import Forgetful, controller
from nodes import events

# For LD_PRELOAD: stops DTS_CONTROLLER just before the first order is sent.
STOPS = """#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int is_slurm(struct dl_phdr_info* info, size_t size, void* found) {
  if (strstr(info->dlpi_name, "libslurm.so")) *(const char**)found = info->dlpi_name;
  return 0;
}
static void* real(const char* name) {
  const char* library = 0;
  dl_iterate_phdr(is_slurm, &library);
  static int stopped;
  if (!stopped++) kill(atoi(getenv("DTS_CONTROLLER")), SIGSTOP);
  return dlsym(dlopen(library, RTLD_LAZY | RTLD_NOLOAD), name);
}
int slurm_kill_job2(const char* job, uint16_t signal, uint16_t flags, const char* sibling) {
  return ((int (*)(const char*, uint16_t, uint16_t, const char*))real("slurm_kill_job2"))(job, signal, flags, sibling);
}
int slurm_requeue(uint32_t job, uint32_t flags) {
  return ((int (*)(uint32_t, uint32_t))real("slurm_requeue"))(job, flags);
}
"""

# The same for Slurm's own commands, which these precede in PATH.
STOPS_BEFORE = """#!/bin/sh
case "$0 $*" in *scancel*|*requeue*) mkdir "$DTS_ONCE" 2>/dev/null && kill -STOP "$DTS_CONTROLLER";; esac
unset LD_PRELOAD  # it is for the program that loads libslurm
exec {program} "$@"
"""

# Each attempt waits for a signal, counts the signals, saves and asks to be run again; if the file `go` exists, it is done.
PROGRAM = f"""
import os, signal, sys, time
attempt, run = os.environ["DTSUBMIT_ATTEMPT"], os.environ["DTSUBMIT_RUN_DIR"]
signals = []
signal.signal(signal.SIGTERM, lambda *_: signals.append(1))
open(run + "/ready-" + attempt, "w").close()
while not signals and not os.path.exists(run + "/go"):
    time.sleep(0.05)
time.sleep(1)
print("signals:", len(signals), flush=True)
sys.exit({CHECKPOINTED} if signals else 0)
"""


def is_stopped(pid):
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


class Deaf:
    """The controller of a cluster, and a library that stops it."""

    def __init__(self, cluster):
        self.cluster, self.pid = cluster, controller(cluster)
        self.library = cluster.place + "/stops.so"
        with open(cluster.place + "/stops.c", "w") as source:
            source.write(STOPS)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.library, source.name, "-ldl"], check=True)
        self.commands = cluster.place + "/commands"
        os.mkdir(self.commands)
        for name in ("scancel", "scontrol"):
            with open(f"{self.commands}/{name}", "w") as script:
                script.write(STOPS_BEFORE.format(program=shutil.which(name)))
            os.chmod(script.name, 0o755)

    def order(self, *words):
        """The output of the command whose order is read 4 s after it was sent, twice MessageTimeout."""
        before = dict(self.cluster.environment)
        self.cluster.environment.update({"LD_PRELOAD": self.library, "DTS_CONTROLLER": str(self.pid),
                                         "DTS_ONCE": f"{self.commands}/{words[0]}",
                                         "PATH": self.commands + ":" + before["PATH"]})
        waker = threading.Thread(target=self.wake)
        waker.start()
        result = self.cluster.dtsubmit(*words, code=None)
        waker.join()
        self.cluster.environment = before
        check(self.was_deaf, "the controller did not hear the order at first")
        print(f"--- {words[0]}: {result.returncode}\n{result.stdout}{result.stderr}---", flush=True)
        return result

    def wake(self):
        self.was_deaf = False
        try:
            self.was_deaf = wait_for(60, "the order", lambda: is_stopped(self.pid))
            time.sleep(4)
        finally:
            os.kill(self.pid, 18)


def running(cluster, program, attempt=1):
    run = cluster.submit("--nodes", "1", "--", sys.executable, program)
    wait_for(60, "the program", lambda: os.path.exists(f"{run.path}/ready-{attempt}"))
    return run


def signals(run, attempt):
    with open(f"{run.path}/attempt-{attempt}/rank-0.log") as file:
        return file.read().strip()


def stop(cluster, deaf, program):
    run = running(cluster, program)
    result = deaf.order("stop", str(run.job))
    check(result.returncode == 0 and "asked job" in result.stdout, "a stop whose answer was lost is known to have come")
    status = run.finish()
    check([one["cause"] for one in status["attempts"]] == ["stopped"], f"it ended the run: {status['attempts']}")
    check(signals(run, 1) == "signals: 1", "its program was asked once")


def requeue(cluster, deaf, program):
    run = running(cluster, program)
    result = deaf.order("requeue", str(run.job))
    check(result.returncode == 0 and f"requeued job {run.job}" in result.stdout, "a requeue whose answer was lost is known to have come")
    wait_for(60, "attempt 2", lambda: os.path.exists(run.path + "/ready-2"))
    time.sleep(5)
    check(len(events(run, "attempt_started")) == 2, "once: attempt 2 goes on")
    open(run.path + "/go", "w").close()
    check(run.finish()["done"], "to its end")
    check("Restarts=1 " in cluster.run("scontrol", "show", "job", str(run.job)).stdout, "Slurm has restarted the job once")


def cancel(cluster, deaf, program):
    run = running(cluster, program)
    result = deaf.order("cancel", str(run.job))
    check(result.returncode == 0 and f"cancelled job {run.job}" in result.stdout, "a cancel whose answer was lost is known to have come")
    check([one["cause"] for one in run.finish()["attempts"]] == ["cancelled"], "it ended the run")
    check(cluster.job_state(run.job) == "CANCELLED", "and the job")


def main():
    with Forgetful("linuxproc", 1, 0, 30, "--conf", "MessageTimeout=2", "--conf", "KillWait=5") as cluster:
        deaf = Deaf(cluster)
        program = cluster.place + "/program.py"
        with open(program, "w") as file:
            file.write(PROGRAM)
        for order in (stop, requeue, cancel):
            order(cluster, deaf, program)


if __name__ == "__main__":
    main()
