# SPDX-License-Identifier: Apache-2.0
"""A cpuset for a test, of the version of control groups that the machine has."""
import os
import signal
import subprocess

from checks import skip, wait_for


def words_of(path):
    try:
        with open(path) as file:
            return file.read().split()
    except OSError:
        return []


def upwards(root, path):
    """`path` below the root, and all folders above it."""
    while True:
        yield root + path.rstrip("/")
        if path in ("", "/"):
            return
        path = os.path.dirname(path)


def parents():
    """(folder, version) of groups that may have a child group."""
    with open("/proc/self/cgroup") as file:
        lines = [line.strip().split(":", 2) for line in file]
    for _, controllers, path in lines:
        if "cpuset" in controllers.split(","):
            yield from ((folder, 1) for folder in upwards("/sys/fs/cgroup/cpuset", path))
    for _, controllers, path in lines:
        if not controllers:  # one that is delegated: others below it are nobody else's business
            yield from ((folder, 2) for folder in upwards("/sys/fs/cgroup", path) if "cpuset" in words_of(folder + "/cgroup.subtree_control"))


class Group:
    """with Group(cpus) as group: processes that are started with `before=group.enter()` have only these cores."""

    def __init__(self, cpus):
        why = "no cpuset of this machine can be seen"
        for parent, version in parents():
            self.path = f"{parent}/dtsubmit-test-{os.getpid()}"
            try:
                os.mkdir(self.path)
            except OSError as error:
                why = f"{error.strerror}: {self.path}"
                continue
            try:
                if version == 1:
                    self.write("cpuset.mems", ",".join(words_of(parent + "/cpuset.effective_mems") or words_of(parent + "/cpuset.mems")))
                self.set(cpus)
                if subprocess.run([*self.enter(), "true"]).returncode == 0:
                    return
                why = f"no process may enter {self.path}"
            except OSError as error:
                why = f"{error.strerror}: {self.path}"
            os.rmdir(self.path)
        skip(f"no cpuset can be made here ({why})")

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_for(60, f"{self.path} is empty", lambda: not self.processes())
        os.rmdir(self.path)

    def write(self, name, text):
        with open(f"{self.path}/{name}", "w") as file:
            file.write(text)

    def set(self, cpus):
        self.write("cpuset.cpus", ",".join(map(str, cpus)))

    def enter(self):
        """Words to put before a command."""
        return ["sh", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"', self.path]

    def processes(self):
        return [int(pid) for pid in words_of(self.path + "/cgroup.procs")]

    def masks(self):
        """By the name of each process in the group: the lists of cores on which its threads may run, according to the kernel."""
        found = {}
        for pid in self.processes():
            for thread in os.listdir(f"/proc/{pid}/task") if os.path.isdir(f"/proc/{pid}/task") else []:
                try:
                    with open(f"/proc/{pid}/task/{thread}/status") as file:
                        status = dict(line.split(":\t", 1) for line in file)
                except OSError:
                    continue
                with open(f"/proc/{pid}/comm") as file:
                    found.setdefault(file.read().strip(), set()).add(status["Cpus_allowed_list"].strip())
        return found
