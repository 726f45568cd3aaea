# SPDX-License-Identifier: Apache-2.0
"""checks.py BUILD OUT: what tests/gpu/run.sh runs once all is built. Each check is a row: its name, whether it passed, was skipped or
failed, and what was measured. Exits with 1 if one failed."""

import json
import os
import platform
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time

BUILD, OUT = sys.argv[1], sys.argv[2]
MODULE = os.path.join(BUILD, "lib/dtsubmit/dttrain-cuda.so")
DTTRAIN = os.path.join(BUILD, "bin/dttrain")
DEVICE_CHECK = os.path.join(BUILD, "bin/device_check")
CUDA = ["--device", "cuda"]
SHARED = [*CUDA, "--share-device", "on"]
NCCL = ["--device-exchange", "nccl"]
STAGED = ["--device-exchange", "staged"]
REPEATS = 20
TOLERANCE = 1e-4  # relative, of losses of fp32 with other orders of sums
ROWS = []


class Skip(Exception):
    """Why a check cannot be run here."""


def row(name):
    """Runs a check, which returns what it measured."""
    def decorate(check):
        begin = time.time()
        try:
            result, detail = "ok", check()
        except Skip as why:
            result, detail = "skipped", str(why)
        except (AssertionError, subprocess.SubprocessError, OSError) as wrong:
            result, detail = "FAILED", str(wrong)
        ROWS.append({"check": name, "result": result, "detail": detail, "seconds": round(time.time() - begin, 1)})
        print(f"{name:<34} {result:<8} {ROWS[-1]['seconds']:>6.1f} s  {str(detail).splitlines()[0] if detail else ''}", flush=True)
        return check
    return decorate


def run(command, expect=(0,), timeout=240, **env):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=timeout, check=False,
                          env={**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", **env})
    assert done.returncode in expect, f"exit {done.returncode} of {' '.join(map(str, command))}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout


def need(path):
    if not os.path.exists(path):
        raise Skip(f"not built: {os.path.basename(path)}")


def text():
    path = os.path.join(OUT, "text.txt")
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            file.write("".join(f"{n} squared is {n * n}, and {n} cubed is {n ** 3}.\n" for n in range(20000)))
    return ["--data", path]


def images():
    """CIFAR-10 in form, made up: each class has a brightness of its own, under noise."""
    folder = os.path.join(OUT, "images")
    if not os.path.isdir(folder):
        os.makedirs(folder)
        draw = random.Random(1)
        for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
            labels = [draw.randrange(10) for _ in range(512)]
            with open(os.path.join(folder, name), "wb") as file:
                for label in labels:
                    file.write(bytes([label]) + bytes(16 * label + byte % 96 for byte in draw.randbytes(3072)))
    return ["--data", folder]


def train(arguments, ranks=0):
    """Losses, digest and seconds of the steps; of models of tokens on text()."""
    need(DTTRAIN)
    if ranks and not shutil.which("mpirun"):
        raise Skip("no mpirun")
    with tempfile.TemporaryDirectory() as folder:
        words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", ranks] if ranks else []
        out = run([*words, DTTRAIN, *([] if "--data" in arguments else text()), *arguments, "--run-dir", folder], timeout=400)
        with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as lines:
            steps = [event for event in map(json.loads, lines) if event["event"] == "step"]
    return steps, re.search(r"digest ([0-9a-f]{16})", out).group(1)


MINI = ["--model", "gpt2:char-mini", "--batch", 16, "--shards", 8, "--optimizer", "adamw", "--warmup", 5, "--limit-train", 2000]


@row("kernels and products")
def _():
    need(DEVICE_CHECK)
    lines = [json.loads(line) for line in run([DEVICE_CHECK, MODULE, REPEATS], expect=(0, 1)).splitlines()]
    with open(os.path.join(OUT, "kernels.json"), "w", encoding="utf-8") as file:
        json.dump(lines, file, indent=1)
    wrong = [line["check"] for line in lines if not line["ok"]]
    assert not wrong, f"{len(wrong)} of {len(lines)} differ: {', '.join(wrong)}"
    return f"{len(lines)} checks, each {REPEATS} times with the same bits"


def sanitized(tool):
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        raise Skip("no compute-sanitizer")
    need(DEVICE_CHECK)
    run([sanitizer, "--tool", tool, "--error-exitcode", 9, DEVICE_CHECK, MODULE, 1], timeout=400)
    return "clean"


row("compute-sanitizer memcheck")(lambda: sanitized("memcheck"))
row("compute-sanitizer racecheck")(lambda: sanitized("racecheck"))
row("compute-sanitizer synccheck")(lambda: sanitized("synccheck"))


def apart(there, here, most):
    worst = max(abs(a["loss"] - b["loss"]) / b["loss"] for a, b in zip(train(there)[0], train(here)[0], strict=True))
    assert worst < most, f"worst {worst:.1e}, at most {most}"
    return f"30 steps, largest relative difference {worst:.1e}"


LLAMA = ["--model", "llama:char-mini", *MINI[2:]]
STEPS = ["--steps", 30]
row("losses beside the processor's, gpt2")(lambda: apart([*MINI, *CUDA, *STEPS], [*MINI, *STEPS], TOLERANCE))
row("losses beside the processor's, llama")(lambda: apart([*LLAMA, *CUDA, *STEPS], [*LLAMA, *STEPS], TOLERANCE))
RESNET = ["--model", "resnet:cifar20", *images(), "--batch", 64, "--shards", 4, "--augment", "crop,flip", "--lr", 0.0001]
row("losses beside the processor's, resnet")(lambda: apart([*RESNET, *CUDA, *STEPS], [*RESNET, *STEPS], TOLERANCE))
row("losses of bf16 beside fp32's")(lambda: apart([*MINI, *CUDA, *STEPS, "--precision", "bf16"], [*MINI, *CUDA, *STEPS], 1e-2))
row("losses of TF32 beside fp32's")(lambda: apart([*MINI, *CUDA, *STEPS, "--precision", "tf32"], [*MINI, *CUDA, *STEPS], 1e-3))
for optimizer in ("sgd", "nesterov", "lamb"):
    row(f"losses beside the processor's, {optimizer}")(
        lambda words=("--optimizer", optimizer, "--clip-norm", 0.5, *STEPS): apart([*MINI, *CUDA, *words], [*MINI, *words], TOLERANCE))


@row("the same digest, repeated")
def _():
    digests = {train([*MINI, *CUDA, "--steps", 3])[1] for _ in range(REPEATS)}
    assert len(digests) == 1, f"{len(digests)} digests in {REPEATS} runs"
    return f"{REPEATS} runs, {digests.pop()}"


@row("the same digest, 1 to 8 ranks, staged")
def _():
    for model, most in (([*MINI], 8), ([*LLAMA], 4), ([*MINI, "--precision", "bf16"], 4), ([*RESNET], 4), ([*RESNET, "--precision", "bf16"], 4)):
        digests = {ranks: train([*model, *SHARED, *STAGED, "--steps", 5], ranks)[1] for ranks in (1, 2, 4, 8) if ranks <= most}
        assert len(set(digests.values())) == 1, digests
    return "gpt2, llama, resnet and bf16; ranks share the GPU"


def nccl_version():
    """Of the library that the module has found, as [2, 28, 9]; None if there is none."""
    path = os.path.join(OUT, "kernels.json")
    need(path)
    with open(path, encoding="utf-8") as file:
        library = next(line["library"] for line in json.load(file) if line["check"] == "exchange")
    return library and [int(number) for number in library.split()[-1].split(".")]


def gpu_count():
    return len(run(["nvidia-smi", "-L"]).strip().splitlines()) if shutil.which("nvidia-smi") else 1


def by_nccl(ranks, words):
    """Digests by NCCL and staged, of several stages of --zero, beside that of one rank."""
    alone = train([*MINI, *CUDA, "--steps", 5])[1]
    for stage in (1, 2, 3):
        for way in (NCCL, STAGED):
            other = train([*MINI, *words, *way, "--steps", 5, "--zero", stage], ranks)[1]
            assert other == alone, f"{way} --zero {stage}: {other}, not {alone}"
    return f"{ranks} ranks, --zero 1 to 3, {alone}"


@row("NCCL, a GPU for each rank")
def _():
    if gpu_count() < 2:
        raise Skip("one GPU")
    if not nccl_version():
        raise Skip("no NCCL")
    return by_nccl(min(gpu_count(), 8), CUDA)


@row("NCCL, two ranks on one GPU")
def _():
    version = nccl_version()
    if not version:
        raise Skip("no NCCL")
    if version >= [2, 30]:
        return by_nccl(2, SHARED)
    if not shutil.which("mpirun"):
        raise Skip("no mpirun")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", 2, DTTRAIN, *text(), *MINI, *SHARED, *NCCL, "--steps", 1], expect=(3,),
        CUDA_VISIBLE_DEVICES=visible)
    return f"NCCL {version[0]}.{version[1]}: refused, exit 3"


@row("ranks that share are refused")
def _():
    need(DTTRAIN)
    if not shutil.which("mpirun"):
        raise Skip("no mpirun")
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "0").split(",")[0]
    run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", 2, DTTRAIN, *text(), *MINI, *CUDA, "--steps", 1], expect=(3,),
        CUDA_VISIBLE_DEVICES=visible)
    return "exit 3"


@row("facts of the GPU")
def _():
    need(DTTRAIN)
    with tempfile.TemporaryDirectory() as folder:
        run([DTTRAIN, *text(), *MINI, *CUDA, "--steps", 1, "--run-dir", folder])
        with open(os.path.join(folder, "metrics.jsonl"), encoding="utf-8") as lines:
            devices = json.loads(next(lines))["devices"]
    unknown = [name for name, value in devices[0].items() if value in (None, "")]
    assert not unknown, f"not known: {unknown}"
    return json.dumps(devices[0])


@row("the same digest at --zero 2 and 3")
def _():
    digests = {stage: train([*MINI, *SHARED, "--steps", 5, "--zero", stage], 2)[1] for stage in (1, 2, 3)}
    assert len(set(digests.values())) == 1, digests
    return "2 ranks share the GPU"


@row("stopped and resumed")
def _():
    with tempfile.TemporaryDirectory() as folder:
        saved = [*MINI, *CUDA, "--checkpoint-dir", folder]
        train([*saved, "--steps", 4, "--schedule", "constant"])
        resumed = train([*saved, "--steps", 8, "--schedule", "constant"], 1)[1]
    assert resumed == train([*MINI, *CUDA, "--steps", 8, "--schedule", "constant"])[1], resumed
    return "the same digest"


@row("GPT-2 124M, for the record")
def _():
    rates = []
    for precision in ("fp32", "tf32", "bf16"):
        steps, _ = train(["--model", "gpt2:124M", "--batch", 8, "--shards", 2, "--optimizer", "adamw", "--steps", 6, *CUDA,
                          "--precision", precision])
        seconds = sorted(step["seconds"] for step in steps)[len(steps) // 2]
        rates.append(f"{8 * 1024 / seconds:.0f} tokens/s {precision}")
    return ", ".join(rates)


@row("ResNet-20, for the record")
def _():
    rates = []
    for precision in ("fp32", "tf32", "bf16"):
        steps, _ = train(["--model", "resnet:cifar20", *images(), "--batch", 2048, "--shards", 2, "--steps", 6, *CUDA, "--precision", precision])
        seconds = sorted(step["seconds"] for step in steps)[len(steps) // 2]
        rates.append(f"{2048 / seconds:.0f} images/s {precision}")
    return ", ".join(rates)


def facts():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,uuid", "--format=csv,noheader"]
    gpus = run(query).strip().splitlines() if shutil.which("nvidia-smi") else []
    return {"gpus": gpus, "machine": platform.machine(), "kernel": platform.release(), "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())}


with open(os.path.join(OUT, "gpu.json"), "w", encoding="utf-8") as result:
    json.dump({**facts(), "checks": ROWS}, result, indent=1)
sys.exit(1 if any(one["result"] == "FAILED" for one in ROWS) else 0)
