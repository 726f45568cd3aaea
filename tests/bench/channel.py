#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The agent's CPU time from the first hello to the last go of 16,384 ranks, over real sockets. The ranks are
simulated by one process in mpirun's place, all at once: the agent and its lines are real. Prints also what the same
ranks need as a stranger would measure it: wall time, and bytes.

  channel.py DTSUBMIT [RANKS=16384] [ROUNDS=3]"""
import json
import os
import re
import resource
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

GOAL = 2.0
TYPE = re.compile(rb'\{"type":"(\w+)"')


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def peak_mib(pid):
    with open(f"/proc/{pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) / 1024


class Ranks:
    """All of a world, in one loop; each speaks to the agent over a connection of its own."""

    def __init__(self, count, channel):
        self.count, self.channel = count, channel
        self.node = channel["node"]
        self.selector = selectors.EpollSelector()
        self.received = 0
        self.gone = 0  # ranks that were told to go

    def connect(self):
        self.sockets = []
        for r in range(self.count):
            one = socket.create_connection(("127.0.0.1", self.channel["port"]))
            self.sockets.append(one)
            self.selector.register(one, selectors.EVENT_READ, [r, b""])
            self.say(r, self.hello(r))  # as a rank does: at once

    def say(self, rank, message):
        self.sockets[rank].sendall((json.dumps(message) + "\n").encode())

    def hello(self, r):
        return {"type": "hello", "token": self.channel["token"], "rank": r, "world_size": self.count, "local_rank": r, "node": self.node,
                "gpu_ids": [], "host": self.node, "pid": 100000 + r, "addresses": ["10.0.0.1", "127.0.0.1"], "links": [], "worker_port": 1024 + r}

    def hear(self, rank, line):
        type_first = TYPE.match(line)  # most lines are long, and 16,384 of them are parsed here
        kind = type_first[1].decode() if type_first else json.loads(line)["type"]
        if kind == "listen":
            self.say(rank, {"type": "listening", "port": 29999})
        elif kind == "probe":
            probe = json.loads(line)
            self.say(rank, {"type": "reached", "routes": [{"address": a, "from": "10.0.0.1", "interface": "eth0"} for a in probe["addresses"]]})
        elif kind == "go":
            self.gone += 1

    def run_until_gone(self):
        while self.gone < self.count:
            for key, _ in self.selector.select():
                data = key.fileobj.recv(1 << 20)
                if not data:
                    sys.exit("the agent hung up")
                self.received += len(data)
                key.data[1] += data
                *lines, key.data[1] = key.data[1].split(b"\n")
                for line in lines:
                    self.hear(key.data[0], line)


def simulate():
    """In mpirun's place: our parent is the agent."""
    words = sys.argv
    run = words[words.index("--run") + 1]
    with open(f"{run}/attempt-1/channel.json") as file:
        channel = json.load(file)
    agent = os.getppid()
    ranks = Ranks(int(os.environ["DTS_RANKS"]), channel)
    before, began = cpu_seconds(agent), time.time()
    ranks.connect()
    ranks.run_until_gone()
    told = {"cpu": cpu_seconds(agent) - before, "wall": time.time() - began, "mib": peak_mib(agent), "received": ranks.received}
    with open(os.environ["DTS_TOLD"], "w") as file:
        json.dump(told, file)
    for r in range(ranks.count):
        ranks.say(r, {"type": "exited", "code": 0, "out_of_memory": False, "done": False})
    time.sleep(2)


def main():
    dtsubmit = sys.argv[1]
    count, rounds = (int(sys.argv[2]) if len(sys.argv) > 2 else 16384), (int(sys.argv[3]) if len(sys.argv) > 3 else 3)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard < count + 300:
        print(f"skipped: {hard} files at most here, {count} ranks need one each")
        sys.exit(77)
    resource.setrlimit(resource.RLIMIT_NOFILE, (1024, hard))  # as from a login shell: the agent has to raise it
    place = tempfile.mkdtemp(prefix="dts-bench-")
    try:
        os.symlink(os.path.abspath(__file__), place + "/mpirun")
        environment = dict(os.environ, PATH=place + ":" + os.environ["PATH"], DTS_RANKS=str(count), DTS_TOLD=place + "/told")
        told = []
        for _ in range(rounds):
            ran = subprocess.run([dtsubmit, "run", "--ntasks-per-node", str(count), "--runs", place + "/runs", "--on", "crash=stop,launch=stop",
                                  "--", "true"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
            if not os.path.exists(place + "/told"):
                logs = [open(os.path.join(folder, "agent.log")).read()[-2000:] for folder, _, names in os.walk(place + "/runs") if "agent.log" in names]
                sys.exit("\n".join(["the simulated ranks have measured nothing:", ran.stdout[-2000:], *logs]))
            with open(place + "/told") as file:
                told.append(json.load(file))
            os.unlink(place + "/told")
        cpu = statistics.median(one["cpu"] for one in told)
        print(f"{count} ranks, {rounds} rounds: hello to go in {cpu:.2f} s of the agent's CPU, median; {min(one['cpu'] for one in told):.2f} at best (goal {GOAL})")
        print(f"{statistics.median(one['wall'] for one in told):.2f} s of wall time with the simulated ranks' own work, "
              f"{told[0]['received'] / 1e6:.0f} MB sent by the agent, its memory {told[0]['mib']:.0f} MiB at most")
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    if os.path.basename(sys.argv[0]) == "mpirun" and "--version" in sys.argv:
        print("mpirun (Open MPI) 4.1.4")
    elif os.path.basename(sys.argv[0]) == "mpirun":
        simulate()
    else:
        main() if len(sys.argv) > 1 else sys.exit(__doc__)
