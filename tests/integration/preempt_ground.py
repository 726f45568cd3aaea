# SPDX-License-Identifier: Apache-2.0
"""The place for the tries of preempt_moments.py: a private cluster with several pairs of nodes, each with partitions of its own, so that
many victims can be preempted at once. It reports what Slurm did when, and how busy the machine was."""
import bisect
import datetime
import os
import subprocess
import threading
import time

from main_job_support import Cluster

SAVING = 15  # seconds that a preempted job has: its grace time, or Slurm's KillWait where there is none


class Ground(Cluster):
    """`pairs` times `size` nodes; pair K has the partitions lowK and highK."""

    def __init__(self, flavour, pairs, size, grace=SAVING):
        first_job = (os.getpid() + (flavour == "cgroup")) % 60000 * 1000 + 1
        super().__init__(flavour, pairs * size, 1, grace, "--conf", f"KillWait={5 if grace else SAVING}", "--conf", f"FirstJobId={first_job}", "--conf", "SlurmctldDebug=debug")
        self.flavour, self.pairs, self.size, self.grace = flavour, pairs, size, grace
        self.lock, self.states, self.seen = threading.Lock(), {}, 0.0

    def __enter__(self):
        super().__enter__()
        nodes = self.run("sinfo", "-h", "-N", "-p", "low", "-o", "%N").stdout.split()
        for pair in range(self.pairs):
            mine = ",".join(nodes[pair * self.size:(pair + 1) * self.size])
            self.run("scontrol", "create", f"PartitionName=low{pair}", f"Nodes={mine}", "PriorityTier=1", "PreemptMode=REQUEUE", f"GraceTime={self.grace}", "State=UP")
            self.run("scontrol", "create", f"PartitionName=high{pair}", f"Nodes={mine}", "PriorityTier=10", "PreemptMode=OFF", "State=UP")
        self.torchrun = find_torchrun(self.place)
        return self

    def preempt(self, pair):
        self.run("sbatch", "-p", f"high{pair}", f"--nodes={self.size}", "--gpus-per-node=1", "-o", "/dev/null", "--wrap", "sleep 1")

    def job_state(self, job):
        """One squeue for all queries within a moment."""
        with self.lock:
            if time.monotonic() - self.seen > 0.02:
                lines = self.run("squeue", "-h", "-t", "all", "-o", "%i %T").stdout.splitlines()
                self.states, self.seen = dict(line.split() for line in lines), time.monotonic()
            return self.states.get(str(job), "")

    def controller_lines(self, job):
        with open(self.folder + "/log/slurmctld.log", errors="replace") as file:
            return [line.rstrip("\n") for line in file if f"JobId={job} " in line or line.rstrip().endswith(f"JobId={job}")]

    def preempted_at(self, job, after):
        """When Slurm itself began to preempt the job; `after` if its log does not say."""
        for line in self.controller_lines(job):
            if "preemption grace time" in line and f"grace time for JobId={job} " in line:
                at = datetime.datetime.strptime(line[1:24], "%Y-%m-%dT%H:%M:%S.%f").timestamp()
                if at >= after:
                    return at
        return after


TORCH = "/usr/bin/python3"  # Debian's, where the interpreter of the tests is another one without PyTorch


def find_torchrun(place):
    """A torchrun for an interpreter that has PyTorch; None: not found."""
    from frameworks_support import PYTHON, TORCHRUN
    for python in (PYTHON, TORCH):
        if subprocess.run([python, "-c", "import torch"], capture_output=True).returncode == 0:
            break
    else:
        return None
    path = place + "/torchrun"
    with open(path, "w") as file:
        file.write(TORCHRUN.replace(PYTHON, python, 1))
    os.chmod(path, 0o755)
    return path


class Load:
    """How much of the time some process waited for a processor; None if the kernel does not count this."""

    SOURCE = "/proc/pressure/cpu"

    def __init__(self):
        self.times, self.waited = [], []
        if os.path.exists(self.SOURCE):
            threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            with open(self.SOURCE) as file:
                total = int(file.readline().rsplit("total=", 1)[1])
            self.waited.append(total / 1e6)
            self.times.append(time.time())
            time.sleep(0.25)

    def share(self, begin, end):
        """The share from `begin` to `end`, 0 to 1."""
        first, last = bisect.bisect(self.times, begin) - 1, bisect.bisect(self.times, end)
        last = min(last, len(self.times) - 1)
        if first < 0 or last <= first:
            return None
        return (self.waited[last] - self.waited[first]) / (self.times[last] - self.times[first])
