# SPDX-License-Identifier: Apache-2.0
"""The phase `gpu` of `dttrain bench`: rates, bits, errors, hangs, and what `dtsubmit check` reports about them.

No machine that runs these tests in CI has a GPU. Therefore the tests measure the host's processor behind the same table of functions
(tests/support/host_device.cpp), as devices with known rates. Only the part `real` can show that CUDA is called correctly: it measures
with the module beside DTTRAIN if that finds a device, and otherwise prints why it does not.

Usage: bench_gpu.py DTTRAIN HOST_DEVICE.so DTSUBMIT [PART...]"""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

from bench_support import mpirun, run
from checks import check
from trainer_support import environment

PROGRAM, MODULE, DTSUBMIT = map(os.path.abspath, sys.argv[1:4])
# Slow products, since they are really computed: the rate decides how large their matrices are.
TWO = "25e9/20e9/1e12/5e11/1e9 12.5e9/20e9/0.9e12/4e11/2e9"
TINY = "gpt2,vocab_size=32,n_positions=8,n_embd=16,n_layer=1,n_head=2"
SHARDS = 2  # per step: launches in a repeat, which HOST_DEVICE_WRONG counts
REPEATS = 20  # explicit, so that a busy machine does as many
BENCH = [PROGRAM, "bench", "--quick", "--phase", "gpu", "--gpu-model", TINY, "--gpu-steps", str(REPEATS)]
NUMA = len([name for name in os.listdir("/sys/devices/system/node") if name.startswith("node")])


class StandIn:
    """A file for what the device still holds at exit."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="bench_gpu_")
        self.left = self.folder.name + "/left"
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def environment(self, gpus, **more):
        return {"DTSUBMIT_PLUGIN_PATH": os.path.dirname(MODULE), "HOST_DEVICE_GPUS": gpus, "HOST_DEVICE_LEFT": self.left, **more}

    def node(self, gpus, *options, words=tuple(BENCH), **more):
        """The report of one rank, after checking what it has left on the GPUs."""
        with contextlib.suppress(FileNotFoundError):
            os.remove(self.left)
        node = json.loads(run([*words, *options], env=self.environment(gpus, **more)).stdout)["nodes"][0]
        with open(self.left, encoding="ascii") as file:
            left = file.read()
        check(left == "0 contexts, 0 objects\n", f"everything is given back: {left.strip()}")
        return node


def measures(node):
    """Measures by key and GPU, and for a copy between GPUs by the one that is read. If there are several NUMA nodes, one of them, since all
    are the same here."""
    return {(m["key"], m.get("gpu"), *[m[name] for name in ("peer", "what") if name in m]): m["value"] for m in node["measures"]}


def near(found, expected):
    """Compares rates, except those of steps, which are those of their products."""
    found = {key: value for key, value in found.items() if key[0] != "gpu_step"}
    return found.keys() == expected.keys() and all(abs(found[key] / expected[key] - 1) < 1e-4 for key in expected)


def rates_of(gpu, to, back, within, products):
    # Within a device, each byte is read and written.
    return {("h2d", gpu): to, ("d2h", gpu): back, ("hbm", gpu): 2 * within, ("gpu_bf16", gpu): products, ("gpu_fp32", gpu): products}


def rates():
    with StandIn() as stand_in:
        node = stand_in.node(TWO)
        expected = {("gpus", None): 2, **rates_of(0, 25e9, 20e9, 1e12, 1e9), **rates_of(1, 12.5e9, 20e9, 0.9e12, 2e9),
                    ("peer", 0, 1): 5e11, ("peer", 1, 0): 4e11,
                    **{("nccl", None, size): 4e11 for size in ("64 KiB", "1 MiB", "16 MiB", "64 MiB")}}
        check(near(measures(node), expected) and node["notes"] == [], f"the rates of two GPUs: {measures(node)} {node['notes']}")
        copies = [m.get("numa") for m in node["measures"] if m["key"] == "h2d" and m["gpu"] == 0]
        check(len(copies) == NUMA and (copies == [None] if NUMA == 1 else None not in copies), f"a rate for each NUMA node: {copies}")
        steps = {m["gpu"]: m["value"] for m in node["measures"] if m["key"] == "gpu_step"}
        check(steps.keys() == {0, 1} and 1.2 < steps[1] / steps[0] < 2.01, f"a GPU of twice the products trains faster: {steps}")
        hbm = [m for m in node["measures"] if m["key"] == "hbm"][-1]
        check((hbm["model"], hbm["path"], hbm["unit"]) == ("the host as a device, for tests", "0000:3c:00.0", "B/s"), f"model and address: {hbm}")
        steps = node["gpu_steps"]
        check([one["gpu"] for one in steps] == [0, 1] and len({one["digest"] for one in steps}) == 1 and len(steps[0]["digest"]) == 16, f"{steps}")
        check(all(one["repeats"] == REPEATS and one["odd_repeats"] == [] for one in steps), f"as many repeats as were asked for: {steps}")
        apart = stand_in.node(TWO, HOST_DEVICE_APART="1")
        check(apart["notes"] == ["copies between GPUs go through the host's memory: 0 from 1, 1 from 0"], f"{apart['notes']}")
        one = measures(stand_in.node(TWO, CUDA_VISIBLE_DEVICES="1"))
        check(near(one, {("gpus", None): 1, **rates_of(0, 12.5e9, 20e9, 0.9e12, 2e9)}), f"CUDA_VISIBLE_DEVICES=1: {one}")


def bits():
    """One wrong repeat of 1,000."""
    with StandIn() as stand_in:
        words = [word for word in BENCH if word != "--quick"] + ["--gpu-steps", "1000"]
        node = stand_in.node(TWO, words=words, HOST_DEVICE_WRONG=f"1@{700 * SHARDS}")
        repeats = {one["gpu"]: (one["repeats"], one["odd_repeats"]) for one in node["gpu_steps"]}
        check(repeats == {0: (1000, []), 1: (1000, [699])}, f"the 700th repeat on GPU 1: {repeats} {node['notes']}")


def errors():
    with StandIn() as stand_in, StandIn() as other:
        # It is killed after the phase's limit; meanwhile the others continue.
        start = time.monotonic()
        hang = subprocess.Popen(BENCH, env={**environment(), **other.environment(TWO, HOST_DEVICE_BREAK="pin@1=hang")},
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for function in ("allocate", "stop_timer", "multiply", "pin"):
            node = stand_in.node(TWO, HOST_DEVICE_BREAK=f"{function}@0=cudaError: it is broken")
            note = "GPU 0 (0000:3b:00.0): cudaError: it is broken"
            check(node["notes"] == [note] and measures(node)["gpus", None] == 1 and ("hbm", 1) in measures(node), f"{function}: {node['notes']}")
            check([one["gpu"] for one in node["gpu_steps"]] == [1], f"{node['gpu_steps']}")
        node = stand_in.node(TWO, HOST_DEVICE_BREAK="open@1=no memory")
        check(node["notes"] == ["GPU 1: the device cannot be used: no memory"], f"a GPU that does not start: {node['notes']}")
        node = stand_in.node(TWO, HOST_DEVICE_BREAK="copy_from@1=broken")
        check(node["notes"] == ["GPU 1 (0000:3c:00.0): copies from GPU 0: broken"] and measures(node)["gpus", None] == 2, f"{node['notes']}")
        for fault, words in (("missing", "libhost.so: cannot open shared object file"), ("error:1:3", "the device is gone, as the test wants it"),
                             ("hang:0:2", "it takes longer than 5 s"), ("hang-init:1", "it takes longer than 20 s")):
            node = stand_in.node(TWO, HOST_DEVICE_EXCHANGE=fault)
            check(node["notes"] == [f"NCCL between the GPUs is not measured: {words}"] and measures(node)["gpus", None] == 2, f"{fault}: {node['notes']}")
            check([one["gpu"] for one in node["gpu_steps"]] == [0, 1], f"the steps are measured all the same: {node['gpu_steps']}")
        node = stand_in.node(TWO, "--gpu-model", "cnn2")
        check(node["notes"][0] == "GPU 0 (0000:3b:00.0): the training step: cnn2 reads no tokens", f"{node['notes']}")
        node = json.loads(hang.communicate(timeout=120)[0])["nodes"][0]
        check(node["notes"][0].startswith("gpu: ") and node["measures"] == [], f"a driver that hangs: {time.monotonic() - start:.0f} s, {node['notes']}")


def none():
    with StandIn() as stand_in:
        hidden = json.loads(run(BENCH, env=stand_in.environment(TWO, CUDA_VISIBLE_DEVICES="")).stdout)["nodes"][0]
        check(hidden["measures"] == [] and hidden["notes"] == [], "GPUs that are hidden from us are no matter")
        asked = json.loads(run([*BENCH, "--gpus", "2"], env=stand_in.environment("")).stdout)
        node = asked["nodes"][0]
        check(asked["gpus_asked"] == 2 and measures(node) == {("gpus", None): 0}, f"none of two: {node}")
        check(node["notes"] == ["GPUs are not measured: there is no device"], f"{node['notes']}")
        # If there is no module.
        missing = {"DTSUBMIT_PLUGIN_PATH": ""}
        program = shutil.copy(PROGRAM, stand_in.folder.name + "/dttrain")
        node = json.loads(run([program, *BENCH[1:], "--gpus", "1"], env=missing).stdout)["nodes"][0]
        check("GPUs are not measured: the module is missing" in node["notes"][0] and measures(node) == {("gpus", None): 0}, f"asked for: {node}")
        if has_driver():
            print("not checked, since this machine has a driver of NVIDIA's: a machine without one")
            return
        node = json.loads(run([program, *BENCH[1:]], env=missing).stdout)["nodes"][0]
        check(node["measures"] == [] and node["notes"] == [], "without a driver and a sign of GPUs, nothing is said")
        lacks = json.loads(run(BENCH, env=stand_in.environment(TWO, HOST_DEVICE_LACK="1")).stdout)["nodes"][0]
        check(lacks["measures"] == [] and lacks["notes"] == [], "nor where the module finds no driver")


def verdict(facts, code):
    """The faults that `dtsubmit check` finds."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(facts, file)
        file.flush()
        done = run([DTSUBMIT, "check", "--from", file.name, "--baseline", "none", "--json"], expect=code)
    return json.loads(done.stdout)["faults"]


def judged():
    """GPUs of three nodes, one per rank, under a real mpirun."""
    slow = {"HOST_DEVICE_GPUS": "25e9/20e9/1e12/5e11/1e9 12.1e9/20e9/0.505e12/5e11/1e9"}
    lost = {"HOST_DEVICE_BREAK": "open@1=lost"}
    wrong = {"HOST_DEVICE_WRONG": f"1@{3 * SHARDS}"}
    gpu = "GPU 1 (the host as a device, for tests, 0000:3c:00.0)"
    numa = "" if NUMA == 1 else " from NUMA node 0"
    with StandIn() as stand_in:
        for place, fault, says in ((1, slow, [f"bandwidth to {gpu}{numa} is 48 %", f"memory bandwidth of {gpu} is 50 %"]),
                                   (2, lost, ["number of working GPUs is 50 % of its peers' (1 of 2)"]),
                                   (0, wrong, [f"{gpu}: 1 of 5 repeats of the same training step gave other bits than the first, the first of them "
                                               "repeat 3"])):
            words = mpirun(1)[:-2]
            for rank in range(3):
                own = stand_in.environment("25e9/20e9/1e12/5e11/1e9 25e9/20e9/1e12/5e11/1e9") | (fault if rank == place else {})
                words += [":"] * (rank > 0) + ["-np", "1", "env", *(f"{k}={v}" for k, v in own.items()), *BENCH, "--gpu-steps", "5", "--output", "-"]
            facts = json.loads(run(words).stdout)
            name = facts["nodes"][place]["node"]
            faults = verdict(facts, 1)
            named = len(faults) >= len(says) and all(fault.startswith(f"{name}: ") for fault in faults)
            check(named and all(any(fault.startswith(f"{name}: {text}") for fault in faults) for text in says), f"{faults}")
        words = [DTSUBMIT, "check", "--here", "--quick", "--gpus-per-node", "2", "--baseline", "none", "--", "--phase", "gpu", "--gpu-model", TINY]
        said = run(words, env=stand_in.environment(TWO.split()[0] + " " + TWO.split()[0])).stdout
        check(said.endswith(": fit (GPUs 2)\n"), said)
        said = run(words, env=stand_in.environment(TWO, CUDA_VISIBLE_DEVICES="0"), expect=1).stdout
        check("it has 1 working GPU, not 2 as asked for" in said, said)
        # A single machine: its GPUs are compared with each other.
        three = " ".join(["25e9/20e9/1e12/5e11/1e9"] * 2 + ["25e9/20e9/1e12/5e11/0.615e9"])
        said = run(words, env=stand_in.environment(three), expect=1).stdout
        check("GEMM rate of GPU 2 (the host as a device, for tests, 0000:3d:00.0) is 61 % of that of other GPUs of its model" in said, said)


def has_driver():
    return any(name.startswith("nvidia") for name in os.listdir("/dev")) or os.path.isdir("/proc/driver/nvidia")


def real():
    module = os.path.join(os.path.dirname(PROGRAM), "../lib/dtsubmit/dttrain-cuda.so")
    node = json.loads(run([PROGRAM, "bench", "--quick", "--phase", "gpu", "--gpus", "1"]).stdout)["nodes"][0]
    found = measures(node)
    count = int(found["gpus", None])
    if count == 0:
        print(f"not measured on a real GPU: {node['notes']}; the module is {'there' if os.path.exists(module) else 'not built'}")
        return
    check(node["notes"] == [], f"{count} real GPUs: {found} {node['notes']}")
    for gpu in range(count):
        check(1e9 < found["h2d", gpu] < 1e12 and 1e9 < found["d2h", gpu] < 1e12, f"the link of GPU {gpu}")
        check(found["h2d", gpu] < found["hbm", gpu] < 2e13, f"the memory of GPU {gpu}")
        check(1e12 < found["gpu_fp32", gpu] < found["gpu_bf16", gpu] < 1e16, f"the products of GPU {gpu}")
    check(len({(one["model"], one["digest"]) for one in node["gpu_steps"]}) == len({one["model"] for one in node["gpu_steps"]}), f"{node['gpu_steps']}")


def main():
    for part in (rates, bits, errors, none, judged, real):
        if len(sys.argv) < 5 or part.__name__ in sys.argv[4:]:
            part()


if __name__ == "__main__":
    main()
