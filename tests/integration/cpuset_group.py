# SPDX-License-Identifier: Apache-2.0
"""A cpuset of a test's own, of version 1 or 2 as the machine has it."""
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
    """The path below root, and all above it."""
    while True:
        yield root + path.rstrip("/")
        if path in ("", "/"):
            return
        path = os.path.dirname(path)


def parents():
    """(folder, version) of groups that may have one below them."""
    with open("/proc/self/cgroup") as file:
        lines = [line.strip().split(":", 2) for line in file]
    for _, controllers, path in lines:
        if "cpuset" in controllers.split(","):
            yield from ((folder, 1) for folder in upwards("/sys/fs/cgroup/cpuset", path))
    for _, controllers, path in lines:
        if not controllers:  # one that is delegated: others below it are nobody else's business
            yield from ((folder, 2) for folder in upwards("/sys/fs/cgroup", path) if "cpuset" in words_of(folder + "/cgroup.subtree_control"))


class Group:
    """with Group(cpus) as group: processes that are started `before=group.enter()` have these cores only."""

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
        """Words before a command's own."""
        return ["sh", "-c", 'echo $$ >"$0"/cgroup.procs && exec "$@"', self.path]

    def processes(self):
        return [int(pid) for pid in words_of(self.path + "/cgroup.procs")]

    def masks(self):
        """By the name of each process in it: the lists of cores that its threads may run on, as the kernel tells them."""
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
