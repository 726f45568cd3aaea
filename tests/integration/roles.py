#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of several programs that run side by side, on a private Slurm with two nodes: a server on one, the training on the other, preempted
and continued; a role that fails, with the others or alone; one machine without Slurm: roles.py SCENARIO."""
import json
import os
import signal
import subprocess
import sys
import time

from checks import check, wait_for
from main_job_support import Cluster, DTSUBMIT
from steps import causes, log_of, part, starts, states, submit, wait_for_ranks

# Answers with the sum of all numbers that it has received, and saves it when it is asked to stop.
SERVER = """
import os, signal, socket, sys
state = os.environ["DTSUBMIT_CHECKPOINT_DIR"] + "/state"
total = int(open(state).read()) if os.path.exists(state) else 0
def save(*_):
    open(state + ".new", "w").write(str(total))
    os.replace(state + ".new", state)
    sys.exit(85)
signal.signal(signal.SIGTERM, save)
listener = socket.create_server(("", int(os.environ["DTSUBMIT_ROLE_SERVER_PORT"])))
print("server on", os.environ["DTSUBMIT_ROLE_SERVER_NODES"], "starts with", total, flush=True)
while True:
    connection, _ = listener.accept()
    with connection:
        total += int(connection.recv(99))
        connection.sendall(str(total).encode())
"""

# Sends 1, 2, 3 ... 40, one every 0.2 s, and then asks for the sum.
CLIENT = """
import os, signal, socket, sys, time
state = os.environ["DTSUBMIT_CHECKPOINT_DIR"] + "/state"
number = int(open(state).read()) if os.path.exists(state) else 0
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
def send(number):
    while True:
        try:
            with socket.create_connection((os.environ["DTSUBMIT_ROLE_SERVER_ADDR"], int(os.environ["DTSUBMIT_ROLE_SERVER_PORT"]))) as server:
                server.sendall(str(number).encode())
                return int(server.recv(99))
        except ConnectionRefusedError:
            time.sleep(0.1)
while number < 40:
    send(number + 1)
    number += 1
    open(state + ".new", "w").write(str(number))
    os.replace(state + ".new", state)
    time.sleep(0.2)
    if told:
        sys.exit(85)
print("the sum is", send(0), "from", os.environ["DTSUBMIT_ROLE"], flush=True)
"""

SUM = "the sum is 820 from train"


def server_and_train(cluster, **job):
    write(cluster.place, SERVER, CLIENT)
    return submit(cluster, **job, roles=roles(cluster.place))


def write(place, server, client):
    for name, text in (("server.py", server), ("client.py", client)):
        with open(f"{place}/{name}", "w") as file:
            file.write(text)


def roles(place):
    return [{"name": "server", "until": "others end", "command": [sys.executable, place + "/server.py"]},
            {"name": "train", "command": [sys.executable, place + "/client.py"]}]


def preempted():
    """A server on one node, the training on the other: preempted in the middle, continued, right result."""
    with Cluster("linuxproc", nodes=2, gpus=1, grace=20) as cluster:
        run = server_and_train(cluster, partition="low")
        server, train = part(run, "server"), part(run, "train")
        wait_for(60, "work done", lambda: os.path.exists(train.path + "/checkpoints/state"))
        nodes = [one.status()["attempts"][0]["nodes"] for one in (server, train)]
        check(sorted(nodes) == [["n0"], ["n1"]], f"a node each: {nodes}")
        cluster.take_nodes(2, 1)
        check(run.finish()["done"], f"{run.ledger()}")
        check(causes(run) == ["preempted", "completed"], f"{causes(run)}")
        check(SUM in log_of(train, 2), log_of(train, 2))
        check("starts with 0" not in log_of(server, 2), log_of(server, 2))
        check(states(cluster, run)["train"] == "done", f"{states(cluster, run)}")


def fails():
    """A role that fails ends the other roles and the run, with its cause."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        run = submit(cluster, roles=[{"name": "server", "command": ["sh", "-c", "trap 'exit 85' TERM; while :; do sleep 0.1; done"]},
                                     {"name": "train", "command": ["sh", "-c", "sleep 3; echo broken; exit 9"]}])
        status = run.finish(90)
        check(not status["done"] and causes(run) == ["user_exit"], f"{run.ledger()}")
        check(causes(part(run, "server")) == ["stopped"], f"{part(run, 'server').ledger()}")
        said = [event["detail"] for event in part(run, "server").ledger() if event["event"] in ("attempt_ended", "decided")]
        check(all(words.startswith("another part of the job has ended") for words in said), f"nobody used `dtsubmit stop`: {said}")
        why = cluster.dtsubmit("why", run.path).stdout
        check("role `train`: " in why and "exited 9" in why and "broken" in why, why)
        cluster.dtsubmit("requeue", run.path, "--time", "20")
        wait_for(60, "the second attempt", lambda: causes(run) == ["user_exit"] * 2)
        check("TimeLimit=00:20:00" in cluster.run("scontrol", "show", "job", str(run.status()["job"])).stdout, "it had 20 minutes")


# Answers until it is asked to stop, or until its client has ended, which is an error.
FRAGILE = """
import os, signal, socket, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(85))
listener = socket.create_server(("", int(os.environ["DTSUBMIT_ROLE_SERVER_PORT"])))
connection, _ = listener.accept()
while connection.recv(1):
    connection.sendall(b"1")
sys.exit("the client has gone")
"""

# Asks for one number every 0.2 s; saves them over 4 s when it is asked to stop, and for that it needs the server.
SAVES_SLOWLY = """
import os, signal, socket, sys, time
state = os.environ["DTSUBMIT_CHECKPOINT_DIR"] + "/state"
total = int(open(state).read()) if os.path.exists(state) else 0
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
def connect():
    while True:
        try:
            return socket.create_connection((os.environ["DTSUBMIT_ROLE_SERVER_ADDR"], int(os.environ["DTSUBMIT_ROLE_SERVER_PORT"])))
        except ConnectionRefusedError:
            time.sleep(0.1)
server = connect()
def ask():
    server.sendall(b"?")
    answer = server.recv(1)
    if not answer:
        sys.exit("the server has gone")
    return int(answer)
while total < 20 or os.environ["DTSUBMIT_ATTEMPT"] == "1":
    total += ask()
    time.sleep(0.2)
    if told:
        total += sum(time.sleep(0.2) or ask() for _ in range(20))
        open(state, "w").write(str(total))
        print("saved", total, flush=True)
        sys.exit(85)
"""


def served_to_the_end():
    """Asked to stop, the training saves with the help of its server, which ends after it, and whose errors then do not matter."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        write(cluster.place, FRAGILE, SAVES_SLOWLY)
        run = submit(cluster, roles=roles(cluster.place))
        for name in ("server", "train"):
            wait_for_ranks(part(run, name))
        time.sleep(1)
        cluster.run("scancel", "--batch", "--signal", "USR1", str(run.job))
        check(run.finish(90)["done"], f"{run.ledger()}")
        check(causes(run) == ["time_limit", "completed"], f"{causes(run)}")
        check("saved" in log_of(part(run, "train")), log_of(part(run, "train")))


CRASHES = "trap 'exit 85' TERM; [ $DTSUBMIT_ATTEMPT = 1 ] && sleep 2 && kill -SEGV $$; exec sleep 4"


def crashed(on_failure):
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        run = submit(cluster, roles=[
            {"name": "server", "until": "others end", "command": ["sh", "-c", "trap 'exit 85' TERM; while :; do sleep 0.1; done"]},
            {"name": "train", "on_failure": on_failure, "command": ["sh", "-c", CRASHES]}])
        check(run.finish(90)["done"], f"{run.ledger()}")
        check(causes(run) == ["completed"] and starts(part(run, "train")) == 2, f"{causes(run)} {causes(part(run, 'train'))}")
        return starts(part(run, "server")), run


def together():
    """A role crashes: all roles start again, in the same job."""
    servers, run = crashed("all")
    check(servers == 2, f"the server began {servers} times")


def alone():
    """A role that may crash alone is restarted while the other one runs."""
    servers, run = crashed("alone")
    check(servers == 1, f"the server began {servers} times")


def places(launcher="mpirun"):
    """Each rank of each role runs on a node of its role, whichever node the batch script has."""
    say = ["sh", "-c", "trap 'exit 85' TERM; echo on $SLURMD_NODENAME; sleep 2"]
    with Cluster("linuxproc", nodes=5, gpus=0, grace=5) as cluster:
        run = submit(cluster, launcher=launcher, roles=[{"name": "one", "nodes": 2, "command": say}, {"name": "two", "command": say},
                                                        {"name": "three", "nodes": 2, "command": say}])
        check(run.finish(90)["done"], f"{run.ledger()}")
        for name in ("one", "two", "three"):
            role = part(run, name)
            nodes = role.status()["attempts"][0]["nodes"]
            said = sorted(line[3:] for rank in range(len(nodes)) for line in log_of(role, 1, rank).splitlines() if line.startswith("on "))
            check(said == sorted(nodes), f"the ranks of {name} run on {said}, its nodes are {nodes}")


def here():
    """On one machine without Slurm."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        write(cluster.place, SERVER, CLIENT)

        def local(parts, code):
            with open(cluster.place + "/job.json", "w") as file:
                json.dump({"roles": parts}, file)
            return cluster.dtsubmit("run", "--runs", cluster.runs, "job.json", code=code).stderr

        local(roles(cluster.place), 0)
        check(SUM in cluster.dtsubmit("logs", "last/train", "--runs", cluster.runs).stdout, "the sum is right")
        never_begun(cluster, local)
        interrupted_twice(cluster)


def never_begun(cluster, local):
    """A server that fails before the role that waits for it has begun ends the run; one that has waited until all work was done does not."""
    server = {"name": "server", "until": "others end"}
    waiting = {"waits_for": "server", "name": "train", "command": ["true"]}
    check("role `server`: " in (said := local([{**server, "command": ["sh", "-c", "exit 9"]}, waiting], 9)) and "exited 9" in said, said)
    local([{"name": "head", "command": ["true"]}, {**server, "waits_for": "head", "command": ["sleep", "300"]}], 0)


def interrupted_twice(cluster):
    """The second Ctrl-C ends everything, also a server, which the first one leaves alone."""
    role = {"command": ["sh", "-c", "trap '' TERM; touch runs-$DTSUBMIT_ROLE; while :; do sleep 0.1; done"]}
    with open(cluster.place + "/job.json", "w") as file:
        json.dump({"roles": [{"name": "server", "until": "others end", **role}, {"name": "train", **role}]}, file)
    run = subprocess.Popen([DTSUBMIT, "run", "--runs", cluster.runs, "job.json"], cwd=cluster.place, env=cluster.environment)
    for name in ("server", "train"):
        wait_for(60, f"the program of {name}", lambda name=name: os.path.exists(f"{cluster.place}/runs-{name}"))
    for _ in range(2):
        time.sleep(2)
        run.send_signal(signal.SIGINT)
    check(run.wait(15) == 130, f"it exited {run.returncode}")


# Listens only after 3 s, and leaves connections without a word alone.
LATE = """
import os, socket, time
time.sleep(3)
listener = socket.create_server(("", int(os.environ["DTSUBMIT_ROLE_SERVER_PORT"])))
while True:
    connection, _ = listener.accept()
    with connection:
        connection.sendall(connection.recv(99))
"""

# Connects once.
IMPATIENT = """
import os, socket
with socket.create_connection((os.environ["DTSUBMIT_ROLE_SERVER_ADDR"], int(os.environ["DTSUBMIT_ROLE_SERVER_PORT"]))) as server:
    server.sendall(b"the answer")
    print(server.recv(99).decode(), flush=True)
"""


def waits():
    """A role that connects at once begins when the other one listens."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        write(cluster.place, LATE, IMPATIENT)
        server, train = roles(cluster.place)
        run = submit(cluster, roles=[server, {**train, "waits_for": "server"}])
        check(run.finish(90)["done"], f"{run.ledger()}")
        check("the answer" in log_of(part(run, "train")), log_of(part(run, "train")))


def guard_killed():
    """kill -9 of the batch process: a process of a role's step puts the job back into the queue."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        role = {"command": ["sh", "-c", "trap 'exit 85' TERM; while [ $DTSUBMIT_ATTEMPT = 1 ]; do sleep 0.1; done"]}
        run = submit(cluster, roles=[{"name": "a", **role}, {"name": "b", **role}])
        for name in ("a", "b"):
            wait_for_ranks(part(run, name))
        run.kill("guard")
        check(run.finish(90)["done"], f"{run.ledger()}")
        check(causes(run) == ["agent_lost", "completed"], f"{causes(run)}")


def guard_killed_late():
    """kill -9 of the batch process after a role has failed for good, before the agent has noticed that: the job does not come back."""
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        go = cluster.place + "/go"
        run = submit(cluster, roles=[
            {"name": "a", "command": ["sh", "-c", f"while [ ! -e {go} ]; do sleep 0.1; done; exit 9"]},
            {"name": "b", "command": ["sh", "-c", "trap 'exit 85' TERM; while :; do sleep 0.1; done"]}])
        for name in ("a", "b"):
            wait_for_ranks(part(run, name))
        agent, = [pid for pid, argv in run.processes() if argv[1:2] == ["agent"] and run.path in argv]
        os.kill(agent, signal.SIGSTOP)
        open(go, "w").close()
        wait_for(60, "the end of a", lambda: part(run, "a").ledger()[-1]["event"] == "decided")
        run.kill("guard")
        wait_for(60, "the end of every process", lambda: not run.processes() and not part(run, "b").processes())
        wait_for(60, "the job's end", lambda: cluster.job_state(run.job) in ("FAILED", "PENDING", "RUNNING"))
        time.sleep(3)
        check(cluster.job_state(run.job) == "FAILED" and starts(run) == 1, f"it does not come back: {run.ledger()}")


if __name__ == "__main__":
    {f.__name__: f for f in (preempted, fails, served_to_the_end, together, alone, places, here, waits, guard_killed, guard_killed_late)}[sys.argv[1]](*sys.argv[2:])
