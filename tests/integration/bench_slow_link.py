# SPDX-License-Identifier: Apache-2.0
"""One slow link of three. Ranks are in network namespaces that a bridge joins; two of them also have a cable of their own, which the kernel
slows down (tc(8)). `dttrain bench` finds that this pair is slower, and no other.

Usage: bench_slow_link.py DTTRAIN ..."""

import json
import os
import stat
import subprocess
import sys
import tempfile

from bench_support import run, undisturbed
from checks import check, skip

NODES = [1, 2, 3]
BRIDGE = f"dtb{os.getpid() % 100000}"
BITS = "100mbit"  # 12.5 MB/s; TCP through the bridge is a hundred times as fast


def ip(*words, may_fail=False):
    done = subprocess.run(["ip", *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not may_fail:
        skip(f"`ip {' '.join(map(str, words))}`: {done.stderr.strip()}")


def space(node):
    return f"{BRIDGE}n{node}"


def address(node):
    return f"10.79.{os.getpid() % 250}.{node}"


def build():
    ip("link", "add", BRIDGE, "type", "bridge")
    ip("addr", "add", f"{address(254)}/24", "dev", BRIDGE)
    ip("link", "set", BRIDGE, "up")
    for node in NODES:
        outer = f"{BRIDGE}v{node}"
        ip("netns", "add", space(node))
        ip("link", "add", outer, "type", "veth", "peer", "name", "e", "netns", space(node))
        ip("link", "set", outer, "master", BRIDGE, "up")
        ip("-n", space(node), "addr", "add", f"{address(node)}/24", "dev", "e")
        ip("-n", space(node), "link", "set", "e", "up")
        ip("-n", space(node), "link", "set", "lo", "up")


    # A cable between the first two, without addresses: each has a route to the other's address.
    ip("link", "add", "cable", "netns", space(1), "type", "veth", "peer", "name", "cable", "netns", space(2))
    for a, b in ((1, 2), (2, 1)):
        ip("-n", space(a), "link", "set", "cable", "up")
    for a, b in ((1, 2), (2, 1)):
        ip("-n", space(a), "route", "add", f"{address(b)}/32", "dev", "cable", "src", address(a))


def clear():
    for node in NODES:
        ip("netns", "del", space(node), may_fail=True)
    ip("link", "del", BRIDGE, may_fail=True)


def slow_down():
    """Slows this cable in both directions, by netem's delay if the kernel has it, otherwise by a rate."""
    for how, words in (("netem", ["delay", "20ms"]), ("tbf", ["rate", BITS, "burst", "64kb", "latency", "400ms"])):
        done = [subprocess.run(["tc", "-n", space(node), "qdisc", "add", "dev", "cable", "root", how, *words], capture_output=True,
                               text=True, check=False) for node in (1, 2)]
        if all(each.returncode == 0 for each in done):
            return how
    return skip(f"neither netem nor tbf: {done[0].stderr.strip()}")


def pairs(program, folder):
    """Latency and bandwidth of each pair of nodes."""
    agent = f"{folder}/agent"  # stands in for ssh: HOST COMMAND...
    with open(agent, "w", encoding="ascii") as file:
        file.write('#!/bin/sh\nhost=$1\nshift\n'
                   f'exec ip netns exec {BRIDGE}$host unshare -u sh -c "hostname $host; $*"\n')
    os.chmod(agent, stat.S_IRWXU)
    network = f"{address(0)}/24"
    words = ["mpirun", "--host", ",".join(f"n{node}" for node in NODES), "--bind-to", "none",
             "--mca", "plm_rsh_agent", agent, "--mca", "pml", "ob1", "--mca", "btl", "tcp,self",
             "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network,
             program, "bench", "--quick", "--phase", "pairs,collectives", "--output", f"{folder}/check.json"]

    def measure():
        run(words, limit=150)
        with open(f"{folder}/check.json", encoding="utf-8") as file:
            return json.load(file)

    facts = undisturbed(measure)
    check(facts["notes"] == [] and len({row["operation"] for row in facts["collectives"]}) == 3, f"all was measured: {facts['notes']}")
    return {(pair["a"], pair["b"]): pair for pair in facts["pairs"]}


def main():
    if os.geteuid() != 0:
        skip("needs root for network namespaces")
    program = os.path.abspath(sys.argv[1])
    try:
        build()
        with tempfile.TemporaryDirectory() as folder:
            before = pairs(program, folder)
            check(sorted(before) == [("n1", "n2"), ("n1", "n3"), ("n2", "n3")], f"nodes have their names: {sorted(before)}")
            how = slow_down()
            after = pairs(program, folder)
        if any("disturbed" in pair for pair in [*before.values(), *after.values()]):
            skip("other programs had the processors all the time: no link is faster or slower than another")
        rates = {pair: after[pair]["bandwidth"] / before[pair]["bandwidth"] for pair in before}
        times = {pair: after[pair]["latency"] / before[pair]["latency"] for pair in before}
        print(f"{how}: bandwidth {rates}, latency {times}")
        others = [pair for pair in rates if pair != ("n1", "n2")]
        check(rates["n1", "n2"] < 0.3, "the slowed pair has less bandwidth")
        check(all(rates[pair] > 2 * rates["n1", "n2"] for pair in others), "the others keep theirs")
        if how == "netem":
            check(after["n1", "n2"]["latency"] > 0.019, "its latency is that of netem")
            check(all(after[pair]["latency"] < 0.01 for pair in others), "the others' is not")
    finally:
        clear()


if __name__ == "__main__":
    main()
