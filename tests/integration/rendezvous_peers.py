#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Peers of the agent's channel that no launcher started.

rendezvous_peers.py hostile                beside the ranks: everything that a stranger can do to a port
rendezvous_peers.py halves                 as many connections as the agent allows, each with half a hello
rendezvous_peers.py alone COMMAND...       COMMAND on a host of its own, whose network has only the loopback interface,
                                           except for the connection to the agent"""
import ctypes
import fcntl
import json
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

CLONE_NEWNET = 0x40000000
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def channel():
    path = f"{os.environ['DTSUBMIT_RUN_DIR']}/attempt-{os.environ['DTSUBMIT_ATTEMPT']}/channel.json"
    with open(path) as file:
        return json.load(file)


def call(port):
    return socket.create_connection(("127.0.0.1", port), timeout=5)


def gigabyte(port):
    block = b"x" * (1 << 20)
    sent = 0
    while sent < 1 << 10:  # opens a new connection whenever the agent has dropped one
        try:
            peer = call(port)
            while sent < 1 << 10:
                peer.sendall(block)
                sent += 1
        except OSError:
            sent += 1


def greet(port, line):
    while True:
        try:
            peer = call(port)
            peer.sendall(line)
            peer.recv(100)
        except OSError:
            pass
        time.sleep(0.002)


def hostile():
    port = channel()["port"]
    rank = {"rank": 0, "world_size": 2, "local_rank": 0, "node": "n1", "gpu_ids": [], "host": "n1", "pid": 1, "addresses": [], "links": [], "worker_port": 1}
    lines = [os.urandom(4096) + b"\n", b'{"type":"hello","tok', b"[" * 100000 + b"\n", b"\n\n\n", b'{"type":"exited","code":0}\n',
             json.dumps({"type": "hello", "token": "0" * 32, **rank}).encode() + b"\n"]
    for line in lines:
        threading.Thread(target=greet, args=(port, line), daemon=True).start()
    threading.Thread(target=gigabyte, args=(port,), daemon=True).start()
    silent = []
    while True:  # far more connections than the agent accepts
        try:
            silent = (silent + [call(port)])[-500:]
            if len(silent) > 100:
                silent[-1].sendall(b"y" * 900000)  # and some of them keep most of a line's memory
        except OSError:
            pass
        time.sleep(0.002)


def halves():
    port = channel()["port"]
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    held, launcher = [], os.getppid()
    while os.getppid() == launcher:  # the agent is killed in the end, and then nothing else ends this process
        try:
            held = (held + [call(port)])[-3000:]
            held[-1].sendall(b'{"type":"hello","token":"' + b"z" * 16000)
        except OSError:
            time.sleep(0.01)


def pump(one, other):
    while True:
        for ready in select.select([one, other], [], [])[0]:
            data = ready.recv(65536)
            if not data:
                return os._exit(0)
            (other if ready is one else one).sendall(data)


def relay(listener, connect):
    while True:
        peer, _ = listener.accept()
        if os.fork() == 0:
            pump(peer, connect())


def connect_unix(path):
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(path)
    return peer


def alone(command):
    port = channel()["port"]
    path = f"{os.environ['DTSUBMIT_RUN_DIR']}/relay"
    outside = socket.socket(socket.AF_UNIX)
    outside.bind(path)
    outside.listen()
    relays = [os.fork()]
    if relays[0] == 0:
        relay(outside, lambda: call(port))
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        sys.exit("no network namespaces")
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP) + bytes(22))
    inside = socket.create_server(("127.0.0.1", port))
    relays.append(os.fork())
    if relays[1] == 0:
        relay(inside, lambda: connect_unix(path))
    inside.close()
    code = subprocess.run(command).returncode
    for one in relays:
        os.kill(one, signal.SIGKILL)
    os.unlink(path)
    sys.exit(abs(code))


if __name__ == "__main__":
    {"hostile": hostile, "halves": halves}.get(sys.argv[1], lambda: alone(sys.argv[2:]))()
