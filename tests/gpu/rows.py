# SPDX-License-Identifier: Apache-2.0
"""What tests/gpu/checks.py and benches.py share: where things are, rows of results, trainings. Both are called with BUILD OUT by run.sh, which
removes GPU_CHECKS_SCRATCH at its end.

GPU_CHECKS_HOST=1: without a card, on the host's processor behind the same table of functions and with tiny sizes, so that the scripts
are known to run to their end; results then say nothing of a GPU. GPU_CHECKS_END: the second, as `date +%s` counts, at which all is to
be over; what has not begun by then is skipped. GPU_CHECKS_ONLY: a regular expression, and only rows whose names it finds are run."""

import functools
import json
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HOST = os.environ.get("GPU_CHECKS_HOST") == "1"
END = float(os.environ.get("GPU_CHECKS_END", "inf"))
ONLY = re.compile(os.environ.get("GPU_CHECKS_ONLY", ""))
BUILD, OUT = sys.argv[1], sys.argv[2]
SCRATCH = os.environ["GPU_CHECKS_SCRATCH"]
MODULE = os.path.join(BUILD, "tests/host_device" if HOST else "lib/dtsubmit", "dttrain-cuda.so")
if os.path.exists(MODULE):
    # dttrain loads no module that others may have changed, as in a BUILD that was unpacked by another user or with another umask.
    MODULE = shutil.copyfile(MODULE, os.path.join(SCRATCH, "dttrain-cuda.so"))
    os.chmod(MODULE, 0o700)
os.environ["DTSUBMIT_PLUGIN_PATH"] = os.path.dirname(os.path.abspath(MODULE))
DTTRAIN = os.path.join(BUILD, "bin/dttrain")
DEVICE_CHECK = os.path.join(BUILD, "bin/device_check")
DEVICE_PROFILE = os.path.join(BUILD, "bin/device_profile")
CUDA = ["--device", "cuda"]
SHARED = [*CUDA, "--share-device", "on"]
REPEATS = 2 if HOST else 20
LIMIT = 400 if HOST else 120  # seconds of a command: one that hangs on a card must leave time for the others
TOLERANCE = 1e-4  # relative, of losses of fp32 with other orders of sums
RESULTS = os.path.join(OUT, os.path.basename(sys.argv[0]).replace(".py", ".json"))
ROWS = []
MEASURED = {}  # by what was measured, for pages


class Skip(Exception):
    """Why a check cannot be run here."""


def left(most):
    """Seconds for the next command."""
    if END - time.time() < 5:
        raise Skip("no time is left")
    return min(most, END - time.time())


def row(name):
    """Runs a check, which returns what it measured."""
    def decorate(check):
        if not ONLY.search(name):
            return check
        begin = time.time()
        try:
            left(0)
            result, detail = "ok", check()
        except Skip as why:
            result, detail = "skipped", str(why)
        except subprocess.TimeoutExpired as late:
            result, detail = ("skipped", "no time is left") if time.time() >= END - 1 else ("FAILED", str(late))
            detail += "".join(f"; its last line: {line}" for line in late.output.strip().splitlines()[-1:])  # before what hangs
        except Exception as wrong:  # whatever it is: the other rows are worth having
            result, detail = "FAILED", f"{type(wrong).__name__}: {wrong}"
        ROWS.append({"check": name, "result": result, "detail": detail, "seconds": round(time.time() - begin, 1)})
        save()
        print(f"{name:<38} {result:<8} {ROWS[-1]['seconds']:>6.1f} s  {str(detail).splitlines()[0] if detail else ''}", flush=True)
        return check
    return decorate


def tried(command, timeout, **env):
    """However it ends. At the limit, what it has started ends with it, which would hold the GPU and the pipes."""
    if command[0] == sys.executable:
        env["LD_LIBRARY_PATH"] = os.environ["GPU_CHECKS_LIBRARIES"]  # as before run.sh: PyTorch has libraries of its own
    words, limit = [str(word) for word in command], left(timeout)
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **env}) as process:
        try:
            out, err = process.communicate(timeout=limit)
        except subprocess.TimeoutExpired as late:
            late.output = ""
            os.killpg(process.pid, signal.SIGTERM)  # mpirun ends its ranks, which are in groups of their own
            try:
                late.output = process.communicate(timeout=5)[0]
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(words, process.returncode, out, err)


def run(command, expect=(0,), timeout=LIMIT, **env):
    done = tried(command, timeout, **env)
    if 77 not in expect and done.returncode == 77:
        raise Skip(done.stdout.strip() or done.stderr.strip())
    assert done.returncode in expect, f"exit {done.returncode} of {' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


@functools.cache
def lack():
    """What keeps dttrain from starting, in the loader's words; empty if nothing does."""
    done = tried([DTTRAIN, "--help"], 60)
    return "" if done.returncode == 0 else done.stderr.strip() or f"dttrain --help: exit {done.returncode}"


def need(path):
    if not os.path.exists(path):
        raise Skip(f"not built: {os.path.basename(path)}")
    if path == DTTRAIN and lack():
        raise Skip(lack())


def text():
    path = os.path.join(SCRATCH, "text.txt")
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            file.write("".join(f"{n} squared is {n * n}, and {n} cubed is {n ** 3}.\n" for n in range(300 if HOST else 20000)))
    return ["--data", path]


def images():
    """CIFAR-10 in form, made up: each class has a brightness of its own, under noise."""
    folder = os.path.join(SCRATCH, "images")
    if not os.path.isdir(folder):
        os.makedirs(folder)
        draw = random.Random(1)
        for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
            labels = [draw.randrange(10) for _ in range(32 if HOST else 512)]
            with open(os.path.join(folder, name), "wb") as file:
                for label in labels:
                    file.write(bytes([label]) + bytes(16 * label + byte % 96 for byte in draw.randbytes(3072)))
    return ["--data", folder]


def train(arguments, ranks=0):
    """The events of each kind, and the digest; of models of tokens on text()."""
    need(DTTRAIN)
    if ranks and not shutil.which("mpirun"):
        raise Skip("no mpirun")
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", ranks] if ranks else []
        out = run([*words, DTTRAIN, *([] if "--data" in arguments else text()), *arguments, "--run-dir", folder])
        with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines]
    by_name = {name: [event for event in events if event["event"] == name] for name in ("start", "step", "devices")}
    return by_name, re.search(r"digest ([0-9a-f]{16})", out).group(1)


@functools.cache
def machine():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,uuid", "--format=csv,noheader"]
    gpus = subprocess.run(query, capture_output=True, text=True, check=False).stdout.strip().splitlines() if shutil.which("nvidia-smi") else []
    return {"card": not HOST, "gpus": gpus, "found": os.environ["GPU_CHECKS_FOUND"], "node": platform.node(), "machine": platform.machine(),
            "kernel": platform.release(), "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


def save():
    """After each row, so that what was found remains if the machine is taken away."""
    with open(RESULTS + ".new", "w", encoding="utf-8") as file:
        json.dump({**machine(), "measured": MEASURED, "checks": ROWS}, file, indent=1)
    os.replace(RESULTS + ".new", RESULTS)


def end():
    """Exits with 1 if a row failed."""
    save()
    sys.exit(1 if any(one["result"] == "FAILED" for one in ROWS) else 0)
