#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rank of one job among many: rendezvous_member.py JOB. It serves at its own port in TF_CONFIG and, as rank 0, at MASTER_PORT. It sends
JOB to the master and to its neighbour, and fails if another job answers. Exit codes: 11 a port was taken, 12 it met another job."""
import json
import os
import socket
import sys
import threading
import time

JOB = sys.argv[1]
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
WORKERS = [worker.rsplit(":", 1) for worker in json.loads(os.environ["TF_CONFIG"])["cluster"]["worker"]]
MASTER = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
TIME_TO_IMPORT = 1.0  # of a framework: the time from the program's start to its bind


def fail(code, words):
    print(words, flush=True)
    os._exit(code)


def serve(port):
    """Answers each caller with our job; every rank calls once."""
    try:
        listener = socket.create_server(("", port))
    except OSError as error:
        fail(11, f"rank {RANK}: port {port}: {error}")

    def answer():
        for _ in range(WORLD):
            peer, _ = listener.accept()
            heard = peer.makefile().readline().strip()
            peer.sendall(f"{JOB} {RANK}\n".encode())
            if heard != JOB:
                fail(12, f"rank {RANK} of {JOB} was called by {heard}")
    thread = threading.Thread(target=answer)
    thread.start()
    return thread


def call(address, rank):
    for _ in range(300):
        try:
            peer = socket.create_connection(address, timeout=30)
            break
        except OSError:
            time.sleep(0.1)
    else:
        fail(13, f"rank {RANK}: nobody at {address}")
    peer.sendall(f"{JOB}\n".encode())
    heard = peer.makefile().readline().strip()
    if heard != f"{JOB} {rank}":
        fail(12, f"rank {RANK} of {JOB} met `{heard}` at {address} and not its own rank {rank}")


time.sleep(TIME_TO_IMPORT)
servers = [serve(int(WORKERS[RANK][1]))] + ([serve(MASTER[1])] if RANK == 0 else [])
call(MASTER, 0)
for r in range(WORLD):
    call((WORKERS[r][0], int(WORKERS[r][1])), r)
for server in servers:
    server.join()
