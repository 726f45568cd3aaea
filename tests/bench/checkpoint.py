# SPDX-License-Identifier: Apache-2.0
"""Saving and loading a state of 1 GiB against torch.save and torch.load, and the package safetensors if it is there.

Usage: checkpoint.py BENCH_CHECKPOINT [MIB [ROUNDS]]

All in turn, a process each, on the same disk; medians and their ratios. A save ends with fsync(2) for all of them, a load
finds the file in the page cache. Ours hashes what it writes, and verifies hashes and digest when it loads; theirs do not."""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile

THEIRS = """
import os, sys, time
import torch
name, folder, mib = sys.argv[1], sys.argv[2], int(sys.argv[3])
path = folder + "/state"
if name.startswith("safetensors"):
    import safetensors.torch as st
def write(file, state):
    if name == "torch save":
        torch.save(state, file)
    else:
        file.write(st.save(state))
if name.endswith("save"):
    state = {"ballast": torch.rand(mib, 1 << 18)}
    start = time.perf_counter()
    with open(path, "wb") as file:
        write(file, state)
        file.flush()
        os.fsync(file.fileno())
else:
    start = time.perf_counter()
    state = torch.load(path) if name == "torch load" else st.load_file(path)
    total = sum(float(t.sum()) for t in state.values())  # safetensors only maps the file
print(time.perf_counter() - start)
"""


def seconds(*command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(word) for word in done.stdout.split()]


def main(program, mib, rounds):
    peers = ["torch"]
    if subprocess.run([sys.executable, "-c", "import torch"], capture_output=True).returncode != 0:
        print(f"skipped: {sys.executable} cannot import torch")
        sys.exit(77)
    if subprocess.run([sys.executable, "-c", "import safetensors.torch"], capture_output=True).returncode == 0:
        peers.append("safetensors")
    else:
        print("skipped the package safetensors: not installed")
    times = {}
    for _ in range(rounds):
        for peer in ["dttrain"] + peers:
            folder = tempfile.mkdtemp(prefix="dts-bench-")
            for what in ("save", "load"):
                command = [program, what, folder, str(mib), "1"] if peer == "dttrain" else [sys.executable, "-c", THEIRS, f"{peer} {what}", folder, str(mib)]
                took = seconds(*command)
                times.setdefault((peer, what), []).append(took[0])
                if len(took) > 1:
                    times.setdefault((peer, "copy"), []).append(took[1])
            shutil.rmtree(folder)
    median = {key: statistics.median(values) for key, values in times.items()}
    print(f"{mib} MiB, median of {rounds}")
    for (peer, what), took in median.items():
        ratio = f"  {took / median['dttrain', what]:.2f}x ours" if peer != "dttrain" else ""
        spread = f"{min(times[peer, what]):.2f} to {max(times[peer, what]):.2f}"
        print(f"{peer:12} {what:5} {took:6.2f} s ({spread})  {mib / took / 1024:6.2f} GiB/s{ratio}")


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in (sys.argv[2:] + ["1024", "5"][len(sys.argv) - 2:])))
