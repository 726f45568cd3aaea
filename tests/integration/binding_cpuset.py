#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs in a control group that has only part of the machine's cores, or that loses cores during the run: binding_cpuset.py SCENARIO."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from binding import Job, build, findings, threads_of
from checks import check, skip
from cpuset_group import Group
from frameworks_support import DTSUBMIT


def two_cores():
    """The CPUs of two cores of this machine."""
    cpus = sorted(os.sched_getaffinity(0))
    with open(f"/sys/devices/system/cpu/cpu{cpus[-1]}/topology/thread_siblings_list") as file:
        siblings = file.read()
    others = [cpu for cpu in cpus if str(cpu) not in siblings.replace("-", ",").strip().split(",")]
    if not others:
        skip("one core")
    return others[0], cpus[-1]


def working(told):
    """The number of groups of ranks in which a program works: all of them once all have started."""
    return all(any(t["working"] for t in group["found"]["threads"] if t["program"] == "spin") for group in told["groups"])


def bindings(told):
    return {group["ranks"]: group["planned"]["cpus"] for group in told["groups"]}


def confined(spin):
    """One core of the machine is planned, used and reported, and the others are shown as closed."""
    first, last = two_cores()
    with Group([last]) as group:
        def topo(*words):
            return subprocess.run([*group.enter(), DTSUBMIT, "topo", *words], check=True, capture_output=True, text=True).stdout
        node = json.loads(topo("--json"))["node"]
        check([cpu for core in node["cores"] for cpu in core["cpus"]] == [last], f"dtsubmit topo plans with core {last}")
        closed = [cpu for core in node["closed_cores"] for cpu in core["cpus"]]
        check(first in closed and last not in closed, f"and shows {closed} as closed")
        words = " ".join(topo().split("\n\n")[0].split())
        check(f"{len(closed)} of them not allowed" in words, words)
        for ranks in (1, 2):
            with Job([spin], "--ntasks-per-node", str(ranks), "--strict-binding", before=group.enter()) as job:
                told = job.settled(lambda r: working(r) and len(group.processes()) > 2 * ranks, f"{ranks} programs that work")
                check(not findings(told), f"{ranks} ranks in a cpuset of core {last}: nothing is found to be wrong")
                check({(g["planned"]["cpus"], g["found"]["cpus"], g["found"]["cgroup"], g["found"]["cgroup_now"]) for g in told["groups"]}
                      == {(str(last),) * 4}, "planned, had, and the cpuset's: that core")
                check({t["cpus"] for t in threads_of(told, "spin")} == {str(last)}, "all threads of the programs are on it")
                masks = group.masks()
                check(all(one == {str(last)} for one in masks.values()) and "spin" in masks, f"the kernel says so of all of {sorted(masks)}")
                lines = [line.split("binding: ", 1)[1] for line in open(job.run() + "/attempt-1/agent.log") if "binding: " in line]
                warnings = [line for line in lines if "warning" in line]
                check([w.startswith("warning: 1 core for 2 ranks") for w in warnings] == [True] * (ranks - 1), f"warnings: {warnings}")


def shrinking(spin):
    """Two cores become one while a job runs: the group is blamed, not the program, and a strict run ends."""
    first, last = two_cores()
    with Group([first, last]) as group:
        with Job([spin], before=group.enter()) as job:
            check(not findings(job.settled(working, "a program that works")), "one rank on two cores: as planned")
            group.set([last])
            words = [f["text"] for f in findings(job.settled(findings, "a finding"))]
            check(words == [f"the cgroup now leaves only core {last} of the 2 planned ({first},{last})"], words)
            group.set([first, last])
            job.settled(lambda r: not findings(r), "no finding once it has both again")
            check(True, "no word is left once it has both again")
        with Job([spin], "--ntasks-per-node", "2", before=group.enter()) as job:
            told = job.settled(working, "two programs that work")
            check(not findings(told) and bindings(told) == {"0": str(first), "1": str(last)}, f"two ranks, a core each: {bindings(told)}")
            group.set([last])
            told = job.settled(findings, "a finding")
            words = {g["ranks"]: [f["text"] for f in g["findings"]] for g in told["groups"]}
            check(words == {"0": [f"the cgroup now leaves core {last}, none of the planned {first}"], "1": []}, words)
            group.set([first, last])
        with Job([spin], "--ntasks-per-node", "2", "--strict-binding", before=group.enter()) as job:
            job.settled(working, "two programs that work")
            group.set([last])
            subprocess.run([DTSUBMIT, "topo", "--verify", job.run()], capture_output=True, timeout=120)
            ended, decided = job.ended()
            check(ended["cause"] == "wrong_binding" and f"the cgroup now leaves core {last}, none of the planned {first}" in ended["detail"],
                  f"--strict-binding ends it: {ended['detail']}")
            check(decided["decision"] == "stop" and decided["exit_code"] == 3, decided["detail"])


if __name__ == "__main__":
    place = tempfile.mkdtemp(prefix="dts-cpuset-")
    try:
        {f.__name__: f for f in (confined, shrinking)}[sys.argv[1]](build(place))
    finally:
        shutil.rmtree(place, ignore_errors=True)
