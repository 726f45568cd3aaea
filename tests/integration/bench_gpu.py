# SPDX-License-Identifier: Apache-2.0
"""The phase `gpu` of `dttrain bench`: rates, errors, hangs, and what `dtsubmit check` says of them.

No machine that runs these tests in CI has a GPU, so that a stand-in for libcuda.so.1 (tests/support/cuda_fixture.cpp) with devices of
known rates shows what is made of the driver's answers; that the driver is called as it wants to be called, only the part `real` can
show. It measures with the machine's own libcuda where that finds a device, and otherwise prints why it did not.

Usage: bench_gpu.py DTTRAIN CUDA_FIXTURE.so DTSUBMIT [PART...]"""

import contextlib
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time

from bench_support import mpirun, run
from checks import check
from trainer_support import environment

PROGRAM, FIXTURE, DTSUBMIT = map(os.path.abspath, sys.argv[1:4])
TWO = "25e9/20e9/1e12 12.5e9/20e9/0.9e12"
BENCH = [PROGRAM, "bench", "--quick", "--phase", "gpu"]


class StandIn:
    """A folder in which libcuda.so.1 is the stand-in."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="bench_gpu_")
        os.symlink(FIXTURE, self.folder.name + "/libcuda.so.1")
        self.left = self.folder.name + "/left"
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def environment(self, gpus, **more):
        return {"LD_LIBRARY_PATH": self.folder.name, "CUDA_FIXTURE": gpus, "CUDA_FIXTURE_LEFT": self.left, **more}

    def node(self, gpus, *options, **more):
        """What one rank says, after a look at what it has left on the GPUs."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.left)
        node = json.loads(run([*BENCH, *options], env=self.environment(gpus, **more)).stdout)["nodes"][0]
        with open(self.left, encoding="ascii") as file:
            left = file.read()
        check(left == "0 contexts, 0 objects\n", f"everything is given back: {left.strip()}")
        return node


def measures(node):
    return {(m["key"], m.get("gpu")): m["value"] for m in node["measures"]}


def near(found, expected):
    return found.keys() == expected.keys() and all(abs(found[key] / expected[key] - 1) < 1e-4 for key in expected)


def rates():
    with StandIn() as stand_in:
        node = stand_in.node(TWO)
        # Within a device, each byte is read and written.
        expected = {("gpus", None): 2, ("h2d", 0): 25e9, ("d2h", 0): 20e9, ("hbm", 0): 2e12,
                    ("h2d", 1): 12.5e9, ("d2h", 1): 20e9, ("hbm", 1): 1.8e12}
        check(near(measures(node), expected) and node["notes"] == [], f"the rates of two GPUs: {measures(node)}")
        last = node["measures"][-1]
        check((last["model"], last["path"], last["unit"]) == ("Stand-in GPU", "0000:3c:00.0", "B/s"), f"their model and address: {last}")
        one = measures(stand_in.node(TWO, CUDA_VISIBLE_DEVICES="1"))
        check(near(one, {("gpus", None): 1, ("h2d", 0): 12.5e9, ("d2h", 0): 20e9, ("hbm", 0): 1.8e12}), f"CUDA_VISIBLE_DEVICES=1: {one}")


def errors():
    with StandIn() as stand_in, StandIn() as other:
        # It is killed after the phase's limit; the others go on meanwhile.
        start = time.monotonic()
        hang = subprocess.Popen(BENCH, env={**environment(), **other.environment(TWO, CUDA_FIXTURE_BREAK="cuMemHostAlloc@1=hang")},
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for function, status, name in (("cuMemAlloc_v2", 2, "OUT_OF_MEMORY"), ("cuEventSynchronize", 214, "ECC_UNCORRECTABLE"),
                                       ("cuDevicePrimaryCtxRetain", 201, "INVALID_CONTEXT")):
            node = stand_in.node(TWO, CUDA_FIXTURE_BREAK=f"{function}@0={status}")
            note = f"GPU 0 (0000:3b:00.0): {function}: CUDA_ERROR_{name}"
            check(node["notes"] == [note] and measures(node)["gpus", None] == 1 and ("hbm", 1) in measures(node), f"{node['notes']}")
        node = stand_in.node(TWO, CUDA_FIXTURE_BREAK="cuStreamCreate@1=9999")
        check(node["notes"] == ["GPU 1 (0000:3c:00.0): cuStreamCreate: error 9999"], f"an error without a name: {node['notes']}")
        node = json.loads(hang.communicate(timeout=120)[0])["nodes"][0]
        check(node["notes"][0].startswith("gpu: ") and node["measures"] == [], f"a driver that hangs: {time.monotonic() - start:.0f} s, {node['notes']}")


def none():
    with StandIn() as stand_in:
        hidden = json.loads(run(BENCH, env=stand_in.environment(TWO, CUDA_VISIBLE_DEVICES="")).stdout)["nodes"][0]
        check(hidden["measures"] == [] and hidden["notes"] == [], "GPUs that are hidden from us are no matter")
        asked = json.loads(run([*BENCH, "--gpus", "2"], env=stand_in.environment("")).stdout)
        node = asked["nodes"][0]
        check(asked["gpus_asked"] == 2 and measures(node) == {("gpus", None): 0} and node["notes"] == ["CUDA finds no GPU"], f"none of two: {node}")
    if has_driver():
        print("not checked, since this machine has a driver of NVIDIA's: a machine without one")
        return
    node = json.loads(run(BENCH).stdout)["nodes"][0]
    check(node["measures"] == [] and node["notes"] == [], "without a driver and a sign of GPUs, nothing is said")
    node = json.loads(run([*BENCH, "--gpus", "1"]).stdout)["nodes"][0]
    check("libcuda.so.1" in node["notes"][0] and measures(node) == {("gpus", None): 0}, f"asked for: {node['notes']}")


def verdict(facts, code):
    """What `dtsubmit check` finds at fault."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(facts, file)
        file.flush()
        done = run([DTSUBMIT, "check", "--from", file.name, "--baseline", "none", "--json"], expect=code)
    return json.loads(done.stdout)["faults"]


def judged():
    """Three nodes' drivers, each rank's its own, under a real mpirun."""
    slow = {"CUDA_FIXTURE": "25e9/20e9/1e12 12.1e9/20e9/0.505e12"}
    lost = {"CUDA_FIXTURE_BREAK": "cuDeviceGet@1=101"}
    gpu = "GPU 1 (Stand-in GPU, 0000:3c:00.0)"
    with StandIn() as stand_in:
        for place, fault, says in ((1, slow, [f"bandwidth to {gpu} is 48 %", f"memory bandwidth of {gpu} is 50 %"]),
                                   (2, lost, ["number of working GPUs is 50 % of its peers' (1 of 2)"])):
            words = mpirun(1)[:-2]
            for rank in range(3):
                own = stand_in.environment("25e9/20e9/1e12 25e9/20e9/1e12") | (fault if rank == place else {})
                words += [":"] * (rank > 0) + ["-np", "1", "env", *(f"{k}={v}" for k, v in own.items()), *BENCH, "--output", "-"]
            facts = json.loads(run(words).stdout)
            name = facts["nodes"][place]["node"]
            faults = verdict(facts, 1)
            named = len(faults) == len(says) and all(fault.startswith(f"{name}: {text}") for fault, text in zip(faults, says, strict=True))
            check(named, f"{faults}")
        words = [DTSUBMIT, "check", "--here", "--quick", "--gpus-per-node", "2", "--baseline", "none", "--", "--phase", "gpu"]
        said = run(words, env=stand_in.environment(TWO)).stdout
        check(said.endswith(": fit (GPUs 2)\n"), said)
        said = run(words, env=stand_in.environment(TWO, CUDA_VISIBLE_DEVICES="0"), expect=1).stdout
        check("it has 1 working GPU, not 2 as asked for" in said, said)


def has_driver():
    return any(name.startswith("nvidia") for name in os.listdir("/dev")) or os.path.isdir("/proc/driver/nvidia")


def real_devices():
    """How many GPUs this machine's own driver finds, or why it finds none; asked in a process of its own."""
    ask = "import ctypes; cu = ctypes.CDLL('libcuda.so.1'); n = ctypes.c_int(); print(cu.cuInit(0) or cu.cuDeviceGetCount(ctypes.byref(n)), n.value)"
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return 0, str(error)
    status, count = map(int, subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True).stdout.split())
    return count, f"its libcuda.so.1 answers with {status}, and finds {count} GPUs"


def real():
    count, why = real_devices()
    if count == 0:
        print(f"not measured with a real driver: {why}")
        return
    node = json.loads(run(BENCH).stdout)["nodes"][0]
    found = measures(node)
    check(found["gpus", None] == count and len(found) == 1 + 3 * count and node["notes"] == [], f"{count} real GPUs: {found} {node['notes']}")
    for gpu in range(count):
        check(1e9 < found["h2d", gpu] < 1e12 and 1e9 < found["d2h", gpu] < 1e12, f"the link of GPU {gpu}")
        check(found["h2d", gpu] < found["hbm", gpu] < 2e13, f"the memory of GPU {gpu}")


def main():
    for part in (rates, errors, none, judged, real):
        if len(sys.argv) < 5 or part.__name__ in sys.argv[4:]:
            part()


if __name__ == "__main__":
    main()
