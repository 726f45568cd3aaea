# SPDX-License-Identifier: Apache-2.0
"""A private cluster whose daemons can be killed and restarted, and what this machine has of its runs. Used by faults.py."""
import json
import os
import shutil
import signal
import subprocess

from checks import skip, wait_for
from main_job_support import Cluster, Run

NODES, GPUS, GRACE, KILL_WAIT = 3, 2, 20, 20
HERE = os.path.dirname(os.path.abspath(__file__))


def parent_of(pid):
    with open(f"/proc/{pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def lives(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Daemon:
    """slurmctld or a node's slurmd, with all that is needed to restart it: words, variables, folder and host name."""

    def __init__(self, pid, argv):
        self.pid, self.argv = pid, argv
        with open(f"/proc/{pid}/environ") as file:
            self.environment = dict(entry.split("=", 1) for entry in file.read().split("\0") if "=" in entry)
        self.folder = self.environment["DTSUBMIT_CLUSTER"]  # its working directory, which in a chroot /proc shows differently
        self.host_name = os.open(f"/proc/{pid}/ns/uts", os.O_RDONLY)

    def kill(self, number=signal.SIGKILL):
        os.kill(self.pid, number)
        wait_for(30, f"the end of {self.argv[0]}", lambda: not lives(self.pid))

    def start(self):
        words = ["nsenter", f"--uts=/proc/self/fd/{self.host_name}", *self.argv]
        with open(self.folder + "/log/again.out", "a") as log:
            self.process = subprocess.Popen(words, env=self.environment, cwd=self.folder, stdout=log, stderr=log, start_new_session=True, pass_fds=[self.host_name])
        self.pid = self.process.pid


class Ground(Cluster):
    """Three nodes, and a partition for each kind of preemption."""

    def __init__(self, flavour):
        if os.geteuid() != 0:
            skip("needs root, to mount small disks and to start daemons again under their host names")
        partitions = [f"PartitionName={name} Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode={mode} GraceTime={grace}"
                      for name, mode, grace in (("nograce", "REQUEUE", 0), ("cancel", "CANCEL", 0), ("cancelgrace", "CANCEL", GRACE))]
        # SUSPEND needs a partition above it that shares its cores, and the gang scheduler.
        partitions += [f"PartitionName={name} Nodes=ALL MaxTime=INFINITE State=UP PriorityTier={tier} PreemptMode={mode} OverSubscribe=FORCE:1"
                       for name, tier, mode in (("suspend", 1, "SUSPEND"), ("above", 5, "OFF"))]
        # As on most sites, a node that an operator has set down stays down.
        more = [f"KillWait={KILL_WAIT}", "ReturnToService=1", "PreemptMode=SUSPEND,GANG", *partitions]
        super().__init__(flavour, NODES, GPUS, GRACE, *(word for line in more for word in ("--conf", line)))
        self.flavour = flavour

    def __enter__(self):
        # Before the nodes start: if / is not shared, they do not see later mounts.
        self.disk = SmallDisk(self.place + "/small", 48)
        super().__enter__()
        self.daemons = {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/cmdline", errors="replace") as file:
                    argv = file.read().split("\0")[:-1]
            except OSError:
                continue
            if argv and os.path.basename(argv[0]) in ("slurmctld", "slurmd") and any(word.startswith(self.folder + "/") for word in argv):
                node = argv[argv.index("-N") + 1] if "-N" in argv else "slurmctld"
                self.daemons[node] = Daemon(int(name), argv)
        return self

    def __exit__(self, *error):
        self.disk.remove()
        super().__exit__(*error)

    def answers(self):
        return self.run("scontrol", "ping", code=None).returncode == 0

    def restart(self, name):
        self.daemons[name].start()
        if name == "slurmctld":
            wait_for(60, "slurmctld's answer", self.answers)

    def begin_anew(self, first_job):
        """slurmctld without its state, as after a disk was lost; jobs are numbered from `first_job`."""
        self.daemons["slurmctld"].kill()
        shutil.rmtree(self.folder + "/state")
        os.mkdir(self.folder + "/state", 0o755)
        path = self.folder + "/slurm.conf"
        with open(path) as file:
            lines = file.read().split("\n")
        with open(path, "w") as file:
            file.write("\n".join(f"FirstJobId={first_job}" if line.startswith("FirstJobId=") else line for line in lines))
        self.restart("slurmctld")

    def states(self):
        """States by node, according to sinfo."""
        lines = self.run("sinfo", "-h", "-N", "-o", "%N %T", code=None).stdout.split("\n")
        return dict(line.split() for line in lines if line)

    def settle(self):
        """Waits for every daemon, an empty queue and idle nodes, for the next cell. The hangs of two cells would put a node in quarantine."""
        shutil.rmtree(self.environment["XDG_STATE_HOME"] + "/dtsubmit/quarantine", ignore_errors=True)
        for name, daemon in self.daemons.items():
            if not lives(daemon.pid):
                self.restart(name)
        self.run("scontrol", "update", "PartitionName=low", "State=UP", code=None)
        self.run("scancel", "-u", str(os.geteuid()), code=None)

        def quiet():
            states = self.states()
            for node, state in states.items():
                if state.startswith(("down", "drain")):
                    self.run("scontrol", "update", f"NodeName={node}", "State=RESUME", code=None)
                if state.startswith("down"):
                    self.run("scontrol", "update", f"NodeName={node}", "State=UNDRAIN", code=None)
            waiting = self.run("squeue", "-h", code=None).stdout.strip()
            return not waiting and len(states) == NODES and set(states.values()) == {"idle"}

        wait_for(180, "idle nodes", quiet)


class Job(Run):
    """A run on the ground, and its processes by kind."""

    def __init__(self, run):
        super().__init__(run.cluster, run.path, run.job)

    def events(self, name):
        return [event for event in self.ledger() if event["event"] == name]

    def steps(self):
        """(attempt, step) of every reported step."""
        try:
            with open(self.path + "/metrics.jsonl") as file:
                lines = [json.loads(line) for line in file if line.endswith("\n")]
        except FileNotFoundError:
            return []
        return [(line["attempt"], line["step"]) for line in lines if line.get("event") == "step"]

    def named(self, what):
        """The pids of its programs, its ranks or its agent, in ascending order."""
        def is_it(argv):
            name = os.path.basename(argv[0])
            if what == "program":
                return name == "dttrain" or any(os.path.basename(word) == "fault_torch.py" for word in argv[1:3])
            if what == "daemon":
                return name in ("orted", "prted")
            if what == "torchrun":
                return len(argv) > 1 and os.path.basename(argv[1]) == "torchrun"
            return name == "dtsubmit" and argv[1:2] == [what]
        return sorted(pid for pid, argv in self.processes() if argv and is_it(argv))

    def agent(self):
        return wait_for(30, "the agent", lambda: self.named("agent"))[0]

    def launcher(self):
        """The agent's own mpirun or srun."""
        agent = self.agent()
        return next(pid for pid, argv in self.processes()
                    if os.path.basename(argv[0]) in ("mpirun", "prterun", "srun") and parent_of(pid) == agent)

    def job_state(self):
        self.job = self.status()["job"]
        return self.cluster.job_state(self.job)

    def newest_checkpoint(self):
        names = sorted(name for name in os.listdir(self.path + "/checkpoints") if name.startswith("step-") and ".tmp" not in name)
        path = f"{self.path}/checkpoints/{names[-1]}" if names else ""
        return f"{path}/{sorted(os.listdir(path))[-1]}" if os.path.isdir(path) else path  # state*.safetensors, which follows manifest.json

    def end_all(self):
        """Ends everything after a cell that failed, so that it does not disturb the next one."""
        self.cluster.run("scancel", str(self.job), code=None)
        for pid, _ in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


class Clock:
    """A clock for the job: the machine's plus or minus some seconds."""

    def __init__(self, folder):
        self.file = folder + "/clock"
        self.environment = {"LD_PRELOAD": os.environ["DTS_MOVED_CLOCK_LIBRARY"], "DTS_MOVED_CLOCK": self.file}
        self.move(0)

    def move(self, seconds):
        with open(self.file + ".new", "w") as file:
            file.write(str(seconds))
        os.rename(self.file + ".new", self.file)


class SmallDisk:
    """A file system of a few MiB that can be filled to the last byte."""

    def __init__(self, folder, mib):
        self.folder, self.filler = folder, folder + "/filler"
        os.makedirs(folder)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mib}m", "tmpfs", folder], check=True)

    def fill(self):
        with open(self.filler, "wb", buffering=0) as file:
            for size in (1 << 20, 4096, 1):
                try:
                    while file.write(b"x" * size) == size:
                        pass
                except OSError:
                    pass

    def free(self):
        os.unlink(self.filler)

    def empty(self):
        for name in os.listdir(self.folder):
            path = f"{self.folder}/{name}"
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)

    def remove(self):
        subprocess.run(["umount", "-l", self.folder], check=True)
        shutil.rmtree(self.folder, ignore_errors=True)
