# SPDX-License-Identifier: Apache-2.0
"""Two nodes of two ranks each over a slow link: seconds of a step whose sums and weights travel within each node first, and, the peer,
of one where they go straight from rank to rank; and how many bytes of a step cross the link, to the one side, as the kernel counts them.

Usage: hierarchy.py DTTRAIN [MBIT]: each node in a network namespace of its own, joined by a cable of that many Mbit/s (tc-tbf(8))."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

import overlap
from overlap import digest, environment, events, link, skip

STEPS = 8
ROUNDS = 3
WAYS = [("flat", "whole", "off"), ("node", "whole", "off"), ("flat", "1M", "on"), ("node", "1M", "on")]


def crossed():
    """Bytes that the first node has sent to the second."""
    shown = subprocess.run(["ip", "-n", link.space(1), "-s", "-j", "link", "show", "dev", "cable"], capture_output=True, text=True, check=True)
    return json.loads(shown.stdout)[0]["stats64"]["tx"]["bytes"]


def step(program, folder, way, run):
    """Its seconds, its bytes and the digest."""
    hierarchy, size, overlaps = way
    run = f"{folder}/{run}"
    words = ["--model", overlap.MODEL, "--data", f"{folder}/t.txt", "--batch", "16", "--shards", "8", "--optimizer", "adamw", "--threads", "1",
             "--steps", str(STEPS), "--hierarchy", hierarchy, "--bucket-size", size, "--overlap", overlaps, "--run-dir", run]
    before = crossed()
    done = subprocess.run(overlap.command(program, folder, words, "n1:2,n2:2"), env=environment(), capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert events(run, "start")[0]["hierarchy"] == hierarchy
    return [one["seconds"] for one in events(run, "step")[2:]], (crossed() - before) / STEPS, digest(done.stdout)


def main():
    if os.geteuid() != 0:
        skip("needs root for network namespaces")
    program = os.path.abspath(sys.argv[1])
    seconds, sent, digests = {}, {}, set()
    try:
        link.build()
        overlap.slow_down()
        with tempfile.TemporaryDirectory() as folder:
            overlap.tokens(folder)
            for turn in range(ROUNDS):
                for way in WAYS:
                    times, crossing, bits = step(program, folder, way, f"{turn}-{'-'.join(way)}")
                    seconds.setdefault(way, []).extend(times)
                    sent.setdefault(way, []).append(crossing)
                    digests.add(bits)
    finally:
        link.clear()
    assert len(digests) == 1, digests
    print(f"{overlap.MODEL}, 2 nodes x 2 ranks x 1 thread, {overlap.RATE}")
    for way in WAYS:
        median = statistics.median(seconds[way])
        peer = ("flat", *way[1:])
        print(f"{way[0]}, buckets of {way[1]}, overlap {way[2]}: {median:.3f} s a step, {median / statistics.median(seconds[peer]):.2f} of flat, "
              f"{statistics.median(sent[way]) / 1e6:.1f} MB a step and direction, with the start")


if __name__ == "__main__":
    main()
