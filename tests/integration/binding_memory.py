#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The memory policy of a rank during a whole run, according to the kernel: binding_memory.py."""
import os
import shutil
import sys
import tempfile

from binding import Job, findings
from checks import check, skip, wait_for
from frameworks_support import PYTHON

# A program, and one that it started, each with memory of its own. They write their pids to UNTIL.pids.
HOLDS = """
import os, time
until = os.environ["UNTIL"]
child = os.fork()
memory = bytearray(os.urandom(1 << 20)) * 32
with open(until + ".pids", "a") as file: file.write(f"{os.getpid()}\\n")
while not os.path.exists(until): time.sleep(0.1)
"""


def node_xml(cores_of):
    """This machine as hwloc would record it with an accelerator in its last NUMA node, given {NUMA node: CPUs}."""
    mask = "0x{:08x}".format
    cpus = [cpu for list_ in cores_of.values() for cpu in list_]
    number = iter(range(1, 10000))

    def place(cpus, nodes):
        sets = ""
        for name, bits in (("cpuset", cpus), ("nodeset", nodes)):
            text = mask(sum(1 << bit for bit in bits))
            sets += f'{name}="{text}" complete_{name}="{text}" '
        return f'{sets}gp_index="{next(number)}"'
    numas = ""
    for numa, own in cores_of.items():
        cores = "".join(f'<object type="Core" os_index="{cpu}" {place([cpu], [numa])}><object type="PU" os_index="{cpu}" {place([cpu], [numa])}/></object>'
                        for cpu in own)
        device = f"""<object type="Bridge" gp_index="{next(number)}" bridge_type="0-1" depth="0" bridge_pci="0000:[f0-f1]">
          <object type="PCIDev" gp_index="{next(number)}" pci_busid="0000:f1:00.0" pci_type="0380 [1002:740c] [0000:0000] 01" pci_link_speed="31.5"/>
        </object>""" if numa == max(cores_of) else ""
        numas += f"""<object type="Group" {place(own, [numa])} kind="1001" subkind="0">
          <object type="NUMANode" os_index="{numa}" {place(own, [numa])} local_memory="8589934592"/>{cores}{device}</object>"""
    allowed = " ".join(f'allowed_{name}="{mask(sum(1 << bit for bit in bits))}"' for name, bits in (("cpuset", cpus), ("nodeset", cores_of)))
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" {place(cpus, list(cores_of))} {allowed}>
<object type="Package" os_index="0" {place(cpus, list(cores_of))}>{numas}</object></object></topology>
"""


def memory_nodes():
    with open("/proc/self/status") as file:
        text = next(line for line in file if line.startswith("Mems_allowed_list:")).split()[1]
    return [n for part in text.split(",") for n in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]


def told_by_kernel(pid):
    """(policies of its private memory, NUMA nodes with pages of it), from numa_maps of proc(5)."""
    policies, nodes = set(), set()
    with open(f"/proc/{pid}/numa_maps") as file:
        for line in file:
            words = line.split()
            if not any(word.startswith("anon=") for word in words) or "stack" in line:
                continue  # the stack has earlier pages
            policies.add(words[1])
            nodes |= {word.split("=")[0] for word in words if word[0] == "N" and word[1:2].isdigit()}
    return policies, nodes


def main():
    if not os.path.exists("/proc/self/numa_maps"):
        skip("this kernel knows no NUMA nodes")
    cpus = [cpu for cpu in sorted(os.sched_getaffinity(0)) if cpu < 32]
    here = memory_nodes()[0]
    absent = max(memory_nodes()) + 1
    place = tempfile.mkdtemp(prefix="dts-memory-")

    def job(cores_of, *options):
        file = f"{place}/{len(os.listdir(place))}.xml"
        with open(file, "w") as xml:
            xml.write(node_xml(cores_of))
        return Job([PYTHON, "-c", HOLDS], "--gpus-per-node", "1", *options, HWLOC_XMLFILE=file, HWLOC_COMPONENTS="xml,stop", HWLOC_THISSYSTEM="1")
    try:
        with job({here: cpus}, "--strict-binding") as run:
            told = run.settled(lambda r: any(t["threads"] == 2 for g in r["groups"] for t in g["found"]["threads"]), "a program and its child")
            group = told["groups"][0]
            check(group["planned"]["memory"] == group["found"]["memory"] == f"prefer {here}", f"a rank with a GPU on node {here}: {group['found']['memory']}")
            check(not findings(told) and group["found"]["pages_on"] == str(here), f"its pages are on node {group['found']['pages_on']}")

            def pids():  # empty until the program has begun to write them
                try:
                    with open(run.place + "/until.pids") as file:
                        return file.read().split()
                except FileNotFoundError:
                    return []
            for pid in wait_for(60, "both have their memory", lambda: len(pids()) == 2 and pids()):
                policies, nodes = told_by_kernel(pid)
                check(policies == {f"prefer:{here}"} and nodes == {f"N{here}"}, f"numa_maps of process {pid}: {policies} {nodes}")
        if len(cpus) < 2:
            return print("not tried: a node that is not there (one core)")
        with job({here: cpus[:1], absent: cpus[1:]}) as run:
            words = [f["text"] for f in findings(run.started())]
            check(len(words) == 1 and words[0].startswith(f"its memory policy is `none`, planned `prefer {absent}`: "), words)
        with job({here: cpus[:1], absent: cpus[1:]}, "--strict-binding") as run:
            ended, _ = run.ended()
            check(ended["cause"] == "wrong_binding" and f"planned `prefer {absent}`" in ended["detail"], f"--strict-binding: {ended['detail']}")
    finally:
        shutil.rmtree(place, ignore_errors=True)


if __name__ == "__main__":
    main()
