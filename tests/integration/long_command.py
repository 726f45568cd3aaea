#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every rank gets every argument as it was typed, whether the launcher carries the command or, above 32 KiB, the agent: long_command.py."""
import hashlib
import os
import shutil
import subprocess
import sys

from checks import check, skip
from private_cluster import PrivateCluster

TELL = "import hashlib, os, sys; print(len(sys.argv), hashlib.sha256(b'\\0'.join(map(os.fsencode, sys.argv[1:]))).hexdigest())"
ODD = [b"", b" ", b"$HOME", b"a b", b"'\"\\", b"*", b"x\ny", b"\xff\xfe", b"--", b"-x", b"{}", b"%s", "é".encode()]
LAUNCHERS = {"mpirun": "mpirun", "mpiexec": "mpiexec.hydra", "srun": "srun"}


def same_arguments(cluster, launcher, count):
    arguments = ODD + [b"/data/shard-%06d.bin" % i for i in range(count)] + ODD
    words = [cluster.program, "submit", "--launcher", launcher, "-N2", "--ntasks-per-node", "2", "-c1", "--wait", "--runs", cluster.place + "/runs",
             "--job-name", f"{launcher}-{count}", "--", "python3", "-c", TELL]
    ended = subprocess.run(words + arguments, env=cluster.environment, capture_output=True, text=True, timeout=100)
    check(ended.returncode == 0, f"{launcher} ends: {ended.stderr[-500:]}")
    said = f"{len(arguments) + 1} {hashlib.sha256(bytes([0]).join(arguments)).hexdigest()}\n"
    shown = subprocess.run([cluster.program, "logs", "--runs", cluster.place + "/runs", "--ranks", "all", "last"], env=cluster.environment,
                           capture_output=True, text=True, check=True)
    check(sorted(shown.stdout.splitlines()) == [f"[{rank}] {said}".strip() for rank in range(4)], f"{launcher}, {count} files: {shown.stdout[:400]}")


def main():
    launchers = [launcher for launcher, program in LAUNCHERS.items() if shutil.which(program)]
    if not shutil.which("slurmctld"):
        skip("no slurmctld")
    with PrivateCluster(os.environ["DTSUBMIT"], "--nodes", "2") as cluster:
        for launcher in launchers:
            for count in (10, 20_000):  # 0.5 KiB; 440 KiB
                same_arguments(cluster, launcher, count)


if __name__ == "__main__":
    sys.exit(main())
