#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts between which a rendezvous is difficult: two network namespaces with a cable between them, the agent and rank 0 in one, rank 1 in
the other. Each rank is a PyTorch program that does an all-reduce over Gloo (env://), so that it really uses the address, port and
interface that it was given. rendezvous_launcher.py starts the ranks.

rendezvous_networks.py rank: such a program."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from checks import check, skip
from main_job_support import DTSUBMIT

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("a", "b")

# Commands in a and b; {n} is 1 or 2, {me} and {other} are names of namespaces.
CABLE = ["ip link set lo up", "ip link set cable name eth0"]
DEAD = ["ip link add dead type veth peer name far-end", "ip link set far-end up"]  # a cable without another host
CASES = {
    "IPv6 only": {
        "set up": ["sysctl -qw net.ipv6.conf.eth0.accept_dad=0", "ip addr del 127.0.0.1/8 dev lo", "ip link set eth0 up", "ip addr add fd77::{n}/64 dev eth0 nodad"],
        "address": "fd77::1", "interface": "eth0"},
    "a second NIC that leads nowhere": {
        "set up": DEAD + ["ip addr add 192.168.{n}.1/24 dev dead", "ip link set dead up", "ip addr add 10.77.0.{n}/24 dev eth0", "ip link set eth0 up",
                          "ip route add default via 192.168.{n}.99"],  # so that packets to the wrong address are sent, but never answered
        "address": "10.77.0.1", "interface": "eth0"},
    "another network, by name": {
        "set up": ["ip addr add 10.77.0.{n}/24 dev eth0", "ip link set eth0 up", "ip link add link eth0 name ib0 type macvlan mode bridge",
                   "ip addr add 10.78.0.{n}/24 dev ib0", "ip link set ib0 up"],
        "asked": "ib0", "address": "10.78.0.1", "interface": "ib0"},
    "the same bridge on both": {
        "set up": DEAD + ["ip link set dead name docker0", "ip addr add 172.17.0.1/16 dev docker0", "ip link set docker0 up",
                          "ip addr add 10.77.0.{n}/24 dev eth0", "ip link set eth0 up"],
        "address": "10.77.0.1", "interface": "eth0"},
    "no port outside ip_local_port_range": {
        "set up": ["ip addr add 10.77.0.{n}/24 dev eth0", "ip link set eth0 up", "sysctl -qw net.ipv4.ip_local_port_range='1024 65535'"],
        "address": "10.77.0.1", "interface": "eth0", "log": r"MASTER_PORT (\d+): it is in ip_local_port_range 1024-65535"},
    "a port that Slurm keeps for the step": {
        "set up": ["ip addr add 10.77.0.{n}/24 dev eth0", "ip link set eth0 up"], "environment": {"SLURM_STEP_RESV_PORTS": "12000-12003"},
        "address": "10.77.0.1", "interface": "eth0", "log": r"MASTER_PORT (12000): one of SLURM_STEP_RESV_PORTS=12000-12003"},
}


def rank():
    import torch
    import torch.distributed as dist
    dist.init_process_group("gloo")
    one = torch.full((1000,), float(dist.get_rank() + 1))
    dist.all_reduce(one)
    print(json.dumps({"sum": one[0].item(), "address": os.environ["MASTER_ADDR"], "port": os.environ["MASTER_PORT"],
                      "interface": os.environ.get("GLOO_SOCKET_IFNAME")}), flush=True)
    dist.destroy_process_group()


def enter(place, name):
    return ["nsenter", f"--net={place}/{name}", f"--uts={place}/{name}-uts"]


def run(*words, **more):
    return subprocess.run(words, check=True, capture_output=True, text=True, **more)


class Hosts:
    """Two namespaces, kept by files, whose names cannot be resolved."""

    def __init__(self, place, set_up):
        self.place = place
        for name in NAMES:
            for file in (f"{place}/{name}", f"{place}/{name}-uts"):
                open(file, "w").close()
            run("unshare", f"--net={place}/{name}", f"--uts={place}/{name}-uts", "hostname", name + ".invalid")
        run(*enter(place, "a"), "ip", "link", "add", "cable", "type", "veth", "peer", "name", "other")
        with subprocess.Popen([*enter(place, "b"), "sleep", "60"]) as holder:
            time.sleep(0.2)
            run(*enter(place, "a"), "ip", "link", "set", "other", "netns", str(holder.pid))
            holder.kill()
        run(*enter(place, "b"), "ip", "link", "set", "other", "name", "cable")
        for number, name in enumerate(NAMES, 1):
            for line in CABLE + set_up:
                run(*enter(place, name), "sh", "-c", line.format(n=number))

    def end(self):
        for name in NAMES:
            for file in (f"{self.place}/{name}", f"{self.place}/{name}-uts"):
                subprocess.run(["umount", file], capture_output=True)


def new_run(place, interface):
    """A run directory that was planned for one machine, and is then given two nodes."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    run(DTSUBMIT, "run", "--ntasks-per-node", "2", "--runs", place + "/runs", "--", "true", env=environment)
    folder = [path for path in glob.glob(place + "/runs/*") if not os.path.islink(path)][0]
    shutil.rmtree(folder + "/attempt-1")
    with open(folder + "/ledger.jsonl") as file:
        first = file.readline()
    with open(folder + "/ledger.jsonl", "w") as file:
        file.write(first)
    with open(folder + "/plan.json") as file:
        plan = json.load(file)
    plan.update(nodes=2, ntasks_per_node=1, launcher="mpirun", command=["/usr/bin/python3", os.path.abspath(__file__), "rank"])
    with open(folder + "/plan.json", "w") as file:
        json.dump(plan, file)
    with open(folder + "/spec.json") as file:
        spec = json.load(file)
    if interface:
        spec["interface"] = interface
    with open(folder + "/spec.json", "w") as file:
        json.dump(spec, file)
    return folder


def meet(name, case, base):
    place = f"{base}/{re.sub('[^a-z0-9]', '-', name.lower())}"
    os.makedirs(place + "/bin")
    os.symlink(HERE + "/rendezvous_launcher.py", place + "/bin/mpirun")
    folder = new_run(place, case.get("asked"))
    hosts = Hosts(place, case["set up"])
    try:
        world = [{"rank": r, "world": 2, "local": 0, "node": f"n{r}", "under": " ".join(enter(place, NAMES[r]))} for r in (0, 1)]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM")}
        environment.update(case.get("environment", {}), PATH=f"{place}/bin:{os.environ['PATH']}", DTS_WORLD=json.dumps(world),
                           SLURM_CONF=place + "/none", SLURM_JOB_ID="1", SLURM_JOB_NODELIST="n[0-1]", SLURM_TASKS_PER_NODE="1(x2)", SLURMD_NODENAME="n0")
        began = time.time()
        done = subprocess.run([*enter(place, "a"), DTSUBMIT, "agent", "--run", folder], env=environment, capture_output=True, text=True, timeout=100)
        seconds = time.time() - began
        logs = {path: open(path, errors="replace").read() for path in sorted(glob.glob(folder + "/attempt-*/*.log"))}
        if done.returncode != 0:
            print(done.stdout, done.stderr, *(f"--- {path}\n{text[-2500:]}" for path, text in logs.items()), sep="\n")
        check(done.returncode == 0, f"{name}: the agent exits 0")
        said = [json.loads([line for line in text.splitlines() if line.startswith("{")][-1]) for path, text in logs.items() if "/attempt-1/rank-" in path]
        with open(folder + "/ledger.jsonl") as file:
            times = {event["event"]: event["time"] for event in map(json.loads, file)}
        print(f"{name:38} {seconds:5.2f} s, ranks from {times['attempt_started']} to start at {times['ranks_started']}: {said[0]}", flush=True)
        check(len(said) == 2 and all(one["sum"] == 3 for one in said), f"{name}: the all-reduce went over both")
        check(all(one["address"] == case["address"] for one in said), f"{name}: MASTER_ADDR is the address that reaches")
        check(all(one["interface"] == case["interface"] for one in said), f"{name}: the interface is the one that reaches")
        if "log" in case:
            noted = re.search(case["log"], logs[folder + "/attempt-1/agent.log"])
            check(noted and noted.group(1) == said[0]["port"], f"{name}: the log says which port and why")
    finally:
        hosts.end()


def main():
    if os.geteuid() != 0 or subprocess.run(["unshare", "-n", "ip", "link", "add", "x", "type", "veth", "peer", "name", "y"], capture_output=True).returncode != 0:
        skip("network namespaces and veth need root and iproute2")
    if subprocess.run(["/usr/bin/python3", "-c", "import torch"], capture_output=True).returncode != 0:
        skip("/usr/bin/python3 cannot import torch (Debian 12: apt install python3-torch)")
    base = tempfile.mkdtemp(prefix="dts-networks-")
    try:
        for name, case in CASES.items():
            meet(name, case, base)
    finally:
        shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    rank() if sys.argv[1:] == ["rank"] else main()
