# SPDX-License-Identifier: Apache-2.0
"""`dtsubmit check --hosts` on four machines in network namespaces, reached through real sshds: check_hosts.py SCENARIO [FAULT].

Faults are made by the kernel where possible: a class of htb(8) for one link (netem is missing in some kernels), quotas of control
groups, other programs on the same processors. The clock is moved by tests/support/moved_clock.cpp."""
import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import ssh_network
from checks import check, skip

DTSUBMIT, DTTRAIN = os.environ["DTSUBMIT"], os.environ["DTTRAIN"]
MOVED_CLOCK = os.environ["DTS_MOVED_CLOCK_LIBRARY"]
GROUPS = "/sys/fs/cgroup"
PLACES = (1, 2, 4)  # the first, one in the middle, and the last of four

# Uses a share of a processor's time while the file exists, in pieces of milliseconds; with a number of bytes, also memory bandwidth.
NEIGHBOUR = """
import os, sys, time
flag, share, block = sys.argv[1], float(sys.argv[2]), bytearray(int(sys.argv[3]))
other = bytes(len(block))
while True:
    end = time.monotonic() + share * 0.02
    if os.path.exists(flag):
        while time.monotonic() < end:
            block[:] = other
    time.sleep((1 - share) * 0.02)
"""


class Cluster:
    def __init__(self):
        self.machines = ssh_network.Machines(4, lambda number: {
            "LD_PRELOAD": MOVED_CLOCK, "DTS_MOVED_CLOCK": f"{self.machines.place}/moved-{number}"})

    def __enter__(self):
        self.machines.__enter__()
        return self

    def __exit__(self, *what):
        self.machines.__exit__(*what)

    def check(self, *words, hosts="n[1-4]"):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SLURM_")}
        environment.update(DTSUBMIT_SSH=f"ssh -F {self.machines.place}/config", XDG_STATE_HOME=self.machines.place, OMPI_MCA_btl="tcp,self",
                           OMPI_MCA_pml="ob1", OMPI_MCA_btl_tcp_if_include="10.77.0.0/24", OMPI_MCA_oob_tcp_if_include="10.77.0.0/24")
        return subprocess.run([DTSUBMIT, "check", "--hosts", hosts, "--quick", "--baseline", "none", *words], env=environment, cwd=self.machines.place,
                              capture_output=True, text=True, timeout=300, check=False)

    def answer(self, *words):
        done = self.check("--json", *words)
        if done.returncode not in (0, 1):
            raise AssertionError(f"exit {done.returncode}\n{done.stdout}\n{done.stderr}")
        return json.loads(done.stdout)

    def inside(self, number, *words):
        machine = self.machines.started[number - 1].pid
        subprocess.run(["nsenter", "--target", str(machine), "--net", *words], check=True)

    @contextlib.contextmanager
    def slow_link(self, a, b):
        """50 Mbit/s from a to b, without slowing anything else."""
        for one, other in ((a, b), (b, a)):
            self.inside(one, *"tc qdisc add dev eth0 root handle 1: htb default 1".split())
            self.inside(one, *"tc class add dev eth0 parent 1: classid 1:1 htb rate 100gbit quantum 60000".split())
            self.inside(one, *"tc class add dev eth0 parent 1: classid 1:2 htb rate 50mbit".split())
            self.inside(one, *f"tc filter add dev eth0 protocol ip parent 1: u32 match ip dst 10.77.0.{other}/32 flowid 1:2".split())
        try:
            yield f"n{a} - n{b}: bandwidth is "
        finally:
            for one in (a, b):
                self.inside(one, *"tc qdisc del dev eth0 root".split())

    @contextlib.contextmanager
    def group(self, number, controller, settings):
        """Puts the machine's sshd, and so all that it starts, into a control group of its own."""
        folder = f"{GROUPS}/{controller}/dts-check-{os.getpid()}-{number}"
        if not os.path.isdir(f"{GROUPS}/{controller}"):
            skip(f"no controller {controller} of control groups of version 1 here")
        os.mkdir(folder)
        try:
            for name, value in settings.items():
                with open(f"{folder}/{name}", "w") as file:
                    file.write(value)
            self.move(number, folder)
            yield
        finally:
            self.move(number, f"{GROUPS}/{controller}")
            for _ in range(100):
                with contextlib.suppress(OSError):
                    os.rmdir(folder)
                    break
                time.sleep(0.1)

    def move(self, number, folder):
        with open(f"{folder}/cgroup.procs", "w") as file:
            file.write(str(self.machines.started[number - 1].pid))

    @contextlib.contextmanager
    def quota(self, number):
        """Withholds a fifth of the processors' time."""
        cores = len(os.sched_getaffinity(0))
        with self.group(number, "cpu", {"cpu.cfs_period_us": "100000", "cpu.cfs_quota_us": str(80000 * cores)}):
            yield f"n{number}: cores is 80 % of its peers'"

    @contextlib.contextmanager
    def slow_disk(self, number):
        device = os.stat(self.machines.place).st_dev
        limit = f"{os.major(device)}:{os.minor(device)} 5000000"
        with self.group(number, "blkio", {"blkio.throttle.read_bps_device": limit, "blkio.throttle.write_bps_device": limit}):
            yield f"n{number}: reading the run folder ({self.machines.place}) is "

    @contextlib.contextmanager
    def moved_clock(self, number):
        path = f"{self.machines.place}/moved-{number}"
        with open(path, "w") as file:
            file.write("2")
        try:
            yield f"n{number}: its clock is 2.00 s ahead of its peers'"
        finally:
            os.remove(path)

    @contextlib.contextmanager
    def neighbour(self, number, share, memory):
        """Runs programs on every processor while it is the machine's turn to measure, since all machines are in fact one."""
        flag = f"{self.machines.place}/turn-{number}"
        burners = []
        for core in os.sched_getaffinity(0):
            burners.append(subprocess.Popen([sys.executable, "-c", NEIGHBOUR, flag, str(share), str(memory)],
                                            preexec_fn=lambda core=core: (os.sched_setaffinity(0, {core}), os.nice(-2))))
        watcher = os.fork()
        if watcher == 0:
            watch(self.machines.started[number - 1].pid, flag)
        try:
            yield f"n{number}: other programs took "
        finally:
            for pid in [watcher] + [burner.pid for burner in burners]:
                os.kill(pid, signal.SIGKILL)
            os.waitpid(watcher, 0)
            for burner in burners:
                burner.wait()


def measures(network):
    """True while a phase of `dttrain bench` runs in this network."""
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open(f"/proc/{name}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            if b"--alone" in words and os.readlink(f"/proc/{name}/ns/net") == network:
                return True
    return False


def watch(machine, flag):
    network = os.readlink(f"/proc/{machine}/ns/net")
    while True:
        if measures(network):
            open(flag, "w").close()
        else:
            with contextlib.suppress(FileNotFoundError):
                os.remove(flag)
        time.sleep(0.01)


def named(cluster, fault, expected):
    """The fault is reported by one check. This machine may run programs that do not belong to the test. While these use the processors,
    too, they cannot be distinguished from a neighbour, and other nodes may be reported; then the check is repeated. A node with slowed
    processors may have slow links as well."""
    name = expected.split(":")[0]
    for _ in range(6):
        answer = cluster.answer("--once")
        faults = answer["faults"]
        is_named = any(one.startswith(expected) for one in faults)
        is_alone = all(one.startswith(name + ":") for one in faults)
        busy = max(node.get("others", 0) for node in answer["nodes"] if node["node"] != name)
        if (is_named and is_alone) or (not is_named and busy < 0.05):
            break
        print(f"again: other programs have {busy:.0%} of this machine: {faults}", flush=True)
    check(is_named and is_alone, f"{fault}: {faults}")


FAULTS = {
    "link": lambda cluster, place: cluster.slow_link(*{1: (1, 2), 2: (2, 3), 4: (1, 4)}[place]),
    "quota": lambda cluster, place: cluster.quota(place),
    "neighbour": lambda cluster, place: cluster.neighbour(place, 0.25, 64),
    "memory": lambda cluster, place: cluster.neighbour(place, 0.5, 64 << 20),
    "clock": lambda cluster, place: cluster.moved_clock(place),
    "disk": lambda cluster, place: cluster.slow_disk(place),
}


def faults(*wanted):
    """Each fault at three places, reported by one check."""
    with Cluster() as cluster:
        for fault in wanted or FAULTS:
            for place in PLACES:
                with FAULTS[fault](cluster, place) as expected:
                    named(cluster, fault, expected)


def hosts():
    """A healthy cluster, one slow link, and requests that are refused."""
    with Cluster() as cluster:
        done = cluster.check()
        check(done.returncode == 0 and "4 nodes, 6 links: " in done.stdout, f"healthy: {done.stdout[-600:]}\n{done.stderr}")
        check(all(phase in done.stderr for phase in ("cores", "disk", "pairs 3/3", "collectives")), "progress on standard error")
        with cluster.slow_link(1, 3) as expected:
            answer = cluster.answer()
            check(answer["faults"][0].startswith(expected), answer["faults"])
        done = cluster.check(hosts="n1,gone")
        check(done.returncode == 74 and "no measurements from n1,gone" in done.stderr, done.stderr[-600:])
        done = cluster.check("-p", "gpu")
        check(done.returncode == 2 and "--partition is for a check that is submitted" in done.stderr, done.stderr)


if __name__ == "__main__":
    ssh_network.enter()
    if os.geteuid() == 0:
        os.nice(-18)  # other programs of the machine must not look like faults of it
    {"hosts": hosts, "faults": faults}[sys.argv[1]](*sys.argv[2:])
