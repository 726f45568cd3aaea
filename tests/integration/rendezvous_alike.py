#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ports that two jobs want. The ports that a job tries follow from its run directory and attempt: two copies of a run, each at the same
path in a mount namespace of its own, choose the same ones. Both copies run, also if a stranger has the first port. Needs root, for the
namespaces."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from checks import check, skip, wait_for
from main_job_support import DTSUBMIT

MEMBER = os.path.dirname(os.path.abspath(__file__)) + "/rendezvous_member.py"
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")


def master_port(folder):
    with open(folder + "/ledger.jsonl") as file:
        events = [json.loads(line) for line in file]
    started = [e["detail"] for e in events if e["event"] == "ranks_started"]
    check(len(started) == 1 and events[-1]["decision"] == "done", f"done at the first attempt: {started}")
    return int(started[0].rsplit(" ", 1)[1])


def start_copy(place, original, number):
    """Runs a copy of the run that has not begun, at the path of the original."""
    copy = f"{place}/copy-{number}"
    shutil.copytree(original, copy)
    shutil.rmtree(copy + "/attempt-1")
    with open(original + "/ledger.jsonl") as file:
        first = file.readline()
    with open(copy + "/ledger.jsonl", "w") as file:
        file.write(first)
    words = 'mount --bind "$1" "$2" && exec "$3" run --continue "$2"'
    process = subprocess.Popen(["unshare", "-m", "sh", "-c", words, "sh", copy, original, DTSUBMIT], env=ENVIRONMENT,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return copy, process


def finish(one):
    folder, process = one
    said, _ = process.communicate(timeout=60)
    check(process.returncode == 0, f"exited 0 {said if process.returncode else ''}")
    return master_port(folder)


def main():
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"]).returncode != 0:
        skip("mount namespaces need root")
    place = tempfile.mkdtemp(prefix="dts-alike-")
    try:
        subprocess.run([DTSUBMIT, "run", "--ntasks-per-node", "2", "--runs", place + "/runs", "--", sys.executable, MEMBER, "alike"],
                       env=ENVIRONMENT, check=True, capture_output=True)
        original = place + "/runs/" + [name for name in os.listdir(place + "/runs") if os.path.isdir(f"{place}/runs/{name}") and not os.path.islink(f"{place}/runs/{name}")][0]
        port = master_port(original)
        check(finish(start_copy(place, original, 0)) == port, f"a copy of the run meets at {port} again")
        began = time.time()
        both = [start_copy(place, original, number) for number in (1, 2)]
        ports = sorted(finish(one) for one in both)
        print(f"two jobs that choose alike: ports {ports}, both done after {time.time() - began:.2f} s")
        check(len(set(ports)) == 2 and port in ports, "one has the port, the other the next")
        late = [start_copy(place, original, 3)]
        wait_for(30, "the first's start", lambda: "ranks_started" in open(late[0][0] + "/ledger.jsonl").read())
        late.append(start_copy(place, original, 4))  # the first copy's program has not bound its ports yet
        ports = [finish(one) for one in late]
        print(f"one after the other: ports {ports}")
        check(ports[0] == port and ports[1] != port, "a port stays with its job before the program binds it")
        with socket.create_server(("127.0.0.1", port)):
            began = time.time()
            other = finish(start_copy(place, original, 5))
            print(f"a port that is taken: {other} in place of {port}, done after {time.time() - began:.2f} s")
            check(other != port, "a stranger's port is passed over")
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
