#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dtsubmit run --hosts: ranks on two machines reached through real sshds, without Slurm and mpirun."""
import glob
import json
import os
import signal
import subprocess
import sys
import time

import ssh_network
from checks import check, wait_for
from contract import CHECKPOINTED

DTSUBMIT = os.environ["DTSUBMIT"]
SECRET = "a secret's words, $(quoted) `never`"

# Reports what it sees, continues until it is asked to stop, and saves.
MEMBER = f"SAVED = {CHECKPOINTED}" + """
import json, os, signal, socket, sys, time
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "SECRET", "VIRTUAL_ENV", "HOSTNAME", "SLURM_PROCID"]
seen = {name: os.environ.get(name) for name in names}
seen.update(host=socket.gethostname(), folder=os.getcwd(), words=sys.argv[1:], cpus=sorted(os.sched_getaffinity(0)))
def save(number, frame):
    time.sleep(0.5)
    print("saved", flush=True)
    sys.exit(SAVED)
signal.signal(signal.SIGTERM, save)
print(json.dumps(seen), flush=True)
while sys.argv[1] == "stay":
    time.sleep(0.05)
"""


class Job:
    """A run on some hosts, in the background."""

    def __init__(self, machines, hosts, *words, what="go", command=None):
        self.runs = f"{machines.place}/runs-{time.time_ns()}"
        self.folder = machines.place + "/a folder"
        os.makedirs(self.folder, exist_ok=True)
        environment = dict(os.environ, SECRET=SECRET, VIRTUAL_ENV="/opt/venv", SLURM_PROCID="7", DTSUBMIT_SSH=f"ssh -F {machines.place}/config")
        self.began = time.time()
        self.process = subprocess.Popen([DTSUBMIT, "run", "--hosts", hosts, "--runs", self.runs, *words, "--", *(command or [sys.executable, "-c", MEMBER, what, "it's", "$(x)", ""])],
                                        cwd=self.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def path(self):
        found = [path for path in glob.glob(self.runs + "/*") if not os.path.islink(path)]
        return found[0] if found else None

    def logs(self):
        return [open(path).read() for path in sorted(glob.glob(self.runs + "/*/attempt-1/rank-*.log"))]

    def all_up(self, ranks):
        wait_for(60, f"{ranks} ranks", lambda: len([log for log in self.logs() if "\n" in log]) == ranks)

    def finish(self, code):
        out, err = self.process.communicate(timeout=120)
        self.seconds = time.time() - self.began
        logs = "".join(open(path).read() for path in glob.glob(self.runs + "/*/attempt-*/agent.log"))
        check(self.process.returncode == code, f"exit {code}" if self.process.returncode == code else f"exit {self.process.returncode}, not {code}\n{out}\n{err}\n{logs}")
        return err

    def causes(self):
        with open(self.path() + "/ledger.jsonl") as file:
            return [event["cause"] for event in map(json.loads, file) if event["event"] == "attempt_ended"]


def ours():
    """Every process of dtsubmit and of the members, and every ssh, as {pid: argv}."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            argv = open(f"/proc/{name}/cmdline", errors="replace").read().split("\0")
        except OSError:
            continue
        if argv[0] in (DTSUBMIT, "ssh") or MEMBER in argv:
            found[int(name)] = argv
    return found


def pids(*words):
    """Pids of the processes of dtsubmit with this verb, or with this program."""
    return sorted(pid for pid, argv in ours().items() if argv[0] == words[0] and argv[1:len(words)] == list(words[1:]))


def nothing_left(what):
    wait_for(60, f"the end of every process after {what}: {ours()}", lambda: not ours())
    print(f"ok: nothing is left after {what}")


def two_by_two(machines):
    job = Job(machines, "n[1-2]:2", "--ranks", "all")
    job.finish(0)
    seen = [json.loads(log) for log in job.logs()]
    check([int(s["RANK"]) for s in seen] == [0, 1, 2, 3], "four ranks in order")
    check([s["host"] for s in seen] == ["n1", "n1", "n2", "n2"], "two on each machine, as --hosts orders them")
    check([int(s["LOCAL_RANK"]) for s in seen] == [0, 1, 0, 1] and {s["LOCAL_WORLD_SIZE"] for s in seen} == {"2"}, "local ranks 0 and 1 of 2")
    check([int(s["NODE_RANK"]) for s in seen] == [0, 0, 1, 1], "node ranks")
    check({s["MASTER_ADDR"] for s in seen} == {"10.77.0.1"} and len({s["MASTER_PORT"] for s in seen}) == 1, "one master, where n2 reached n1")
    check({s["SECRET"] for s in seen} == {SECRET} and {s["VIRTUAL_ENV"] for s in seen} == {"/opt/venv"}, "the environment came along")
    check({s["SLURM_PROCID"] for s in seen} == {None}, "but no variable of another launcher")
    check({s["folder"] for s in seen} == {job.folder}, "and the folder")
    check(all(s["words"] == ["go", "it's", "$(x)", ""] for s in seen), "and every word as it was")
    placed = json.load(open(job.path() + "/attempt-1/placement.json"))["ranks"]
    check([p["cpus"] for p in placed] == [s["cpus"] for s in seen], "every rank's cores are as planned")
    check(json.loads(job.path() and open(job.path() + "/plan.json").read())["launcher"] == "ssh", "--launcher auto is ssh")
    print(f"2 machines x 2 ranks through ssh: {job.seconds:.2f} s from start to end")
    nothing_left("a run")
    uneven = Job(machines, "n1,n2:2")
    uneven.finish(0)
    check([json.loads(log)["host"] for log in uneven.logs()] == ["n1", "n2", "n2"], "one rank on n1 and two on n2")
    nothing_left("an uneven run")


def stop(machines):
    job = Job(machines, "n1:2,n2:2", what="stay")
    job.all_up(4)
    token = json.load(open(job.path() + "/attempt-1/channel.json"))["token"]
    lines = [open(path).read() for path in glob.glob("/proc/[0-9]*/cmdline") if os.path.exists(path)]
    check(len(pids("ssh")) >= 2 and len(pids(DTSUBMIT, "node")) == 2, "one ssh and one `dtsubmit node` a machine")
    check(not any(token in line or SECRET in line for line in lines), "neither token nor secret is on any command line")
    job.process.send_signal(signal.SIGTERM)
    job.finish(CHECKPOINTED)
    check(all(log.endswith("saved\n") for log in job.logs()), "SIGTERM to the agent: every rank saved and asked to be run again")
    nothing_left("a stop")


def kills(machines):
    """kill -9 of a rank's program, of an ssh, of the launcher, of a node's daemon, of the agent."""
    for what in ("program", "ssh", "launcher", "node", "agent"):
        job = Job(machines, "n1:2,n2:2", what="stay")
        job.all_up(4)
        victim = {"program": lambda: max(pid for pid, argv in ours().items() if MEMBER in argv and argv[0] != DTSUBMIT),
                  "ssh": lambda: pids("ssh")[-1],
                  "launcher": lambda: pids(DTSUBMIT, "ssh")[0],
                  "node": lambda: pids(DTSUBMIT, "node")[-1],
                  "agent": lambda: job.process.pid}[what]()
        began = time.time()
        os.kill(victim, signal.SIGKILL)
        if what == "agent":
            job.process.wait()
            nothing_left("kill -9 of the agent")
            print(f"kill -9 of the agent: all gone after {time.time() - began:.1f} s")
            check(all(log.endswith("saved\n") for log in job.logs()), "the ranks that were left alone have saved")
            continue
        wait_for(60, "the attempt's end", lambda: job.causes())
        cause = job.causes()[0]
        # Whichever process notices first names the cause: the ssh, or the ranks behind it.
        check(cause == "rank_killed" or (cause == "launcher_died" and what != "program"), f"kill -9 of {what}: {cause} after {time.time() - began:.1f} s")
        wait_for(60, "the next attempt", lambda: len(pids(DTSUBMIT, "node")) == 2 and "all 4 ranks run" in open(job.path() + "/attempt-2/agent.log").read())
        job.process.send_signal(signal.SIGTERM)
        job.finish(CHECKPOINTED)
        nothing_left(f"kill -9 of {what}")


def refused(machines):
    """A host that cannot be reached is named, with the reason, and the run ends as a failed launch."""
    for host, words in (("gone", "No route to host"), ("stranger", "Permission denied"), ("closed", "Connection refused"), ("nosuch", "Could not resolve hostname"),
                        ("exits", "such as ~/.bashrc, exit?")):
        job = Job(machines, "n1," + host)
        said = job.finish(1)
        check(f"{host}: " in said and words in said, f"{host}: {words}, after {job.seconds:.1f} s in all its attempts")
        check(set(job.causes()) == {"launch_failed"}, "cause launch_failed")
        nothing_left(host)
    twice = Job(machines, "n2,alias")
    said = twice.finish(3)
    check("the same machine as" in said, "two names of one machine are refused")
    nothing_left("two names of one machine")
    absent = Job(machines, "n1,n2", command=["no-such-program"])
    said = absent.finish(127)
    check("no-such-program" in said, "a program that is not there is named")
    check(absent.causes() == ["no_program"], "one attempt, cause no_program")
    nothing_left("a program that is not there")


def main():
    ssh_network.enter()
    with ssh_network.Machines() as machines:
        for scenario in (two_by_two, stop, kills, refused):
            print(f"--- {scenario.__name__}", flush=True)
            scenario(machines)


if __name__ == "__main__":
    main()
