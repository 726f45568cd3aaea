# SPDX-License-Identifier: Apache-2.0
"""Two ranks over a slow link: seconds of a step whose gradients leave while the backward pass computes others, and, the peer, of one
whose gradients leave all at once after it.

Usage: overlap.py DTTRAIN [MBIT]: each rank in a network namespace of its own, joined by a cable of that many Mbit/s (tc-tbf(8))."""

import os
import random
import stat
import statistics
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))

import bench_slow_link as link
from checks import skip
from trainer_support import digest, environment, events

RATE = f"{sys.argv[2] if len(sys.argv) > 2 else 400}mbit"
STEPS = 8
ROUNDS = 3
MODEL = "gpt2:char-mini,n_embd=256,n_layer=6,n_head=4"
# Of a rank's shards the last one's backward pass is what the exchange can hide behind.
WAYS = [(shards, size, overlap) for shards in (2, 8) for size, overlap in (("whole", "off"), ("1M", "off"), ("1M", "on"), ("4M", "on"))]


def slow_down():
    for node in (1, 2):
        done = subprocess.run(["tc", "-n", link.space(node), "qdisc", "add", "dev", "cable", "root", "tbf", "rate", RATE,
                               "burst", "256kb", "latency", "400ms"], capture_output=True, text=True, check=False)
        if done.returncode != 0:
            skip(f"tbf: {done.stderr.strip()}")


def command(program, folder, words, hosts="n1,n2"):
    agent = f"{folder}/agent"  # stands in for ssh: HOST COMMAND...
    with open(agent, "w", encoding="ascii") as file:
        file.write(f'#!/bin/sh\nhost=$1\nshift\nexec ip netns exec {link.BRIDGE}$host unshare -u sh -c "hostname $host; $*"\n')
    os.chmod(agent, stat.S_IRWXU)
    network = f"{link.address(0)}/24"
    return ["mpirun", "--host", hosts, "--bind-to", "none", "--mca", "plm_rsh_agent", agent, "--mca", "pml", "ob1",
            "--mca", "btl", "tcp,self",
            "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network, program, *words]


def tokens(folder):
    numbers = random.Random(1)
    with open(f"{folder}/t.txt", "w", encoding="ascii") as file:
        file.write("".join(numbers.choice("abcdefgh \n") for _ in range(60000)))
    return f"{folder}/t.txt"


def step(program, folder, way, run):
    """Medians of its seconds, and of those in which the first rank waits for messages; and the digest."""
    shards, size, overlap = way
    run = f"{folder}/{run}"
    words = ["--model", MODEL, "--data", f"{folder}/t.txt", "--batch", "16", "--optimizer", "adamw", "--threads", "1", "--transport", "mpi",
             "--steps", str(STEPS), "--shards", str(shards), "--bucket-size", size, "--overlap", overlap, "--run-dir", run]
    done = subprocess.run(command(program, folder, words), env=environment(), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    steps = events(run, "step")[2:]
    return ([one["seconds"] for one in steps], [one["phases"]["communication"] for one in steps], digest(done.stdout))


def main():
    if os.geteuid() != 0:
        skip("needs root for network namespaces")
    program = os.path.abspath(sys.argv[1])
    seconds, waits, digests = {}, {}, {}
    try:
        link.build()
        slow_down()
        with tempfile.TemporaryDirectory() as folder:
            tokens(folder)
            for turn in range(ROUNDS):
                for way in WAYS:
                    times, waited, bits = step(program, folder, way, f"{turn}-{'-'.join(map(str, way))}")
                    seconds.setdefault(way, []).extend(times)
                    waits.setdefault(way, []).extend(waited)
                    digests.setdefault(way[0], set()).add(bits)
    finally:
        link.clear()
    assert all(len(bits) == 1 for bits in digests.values()), digests
    print(f"{MODEL}, 2 ranks x 1 thread, {RATE}")
    for way in WAYS:
        median = statistics.median(seconds[way])
        ratio = median / statistics.median(seconds[way[0], "whole", "off"])
        print(f"{way[0]} shards, buckets of {way[1]}, overlap {way[2]}: {median:.3f} s a step, {ratio:.2f} of all at once, "
              f"waits {statistics.median(waits[way]):.3f} s")


if __name__ == "__main__":
    main()
