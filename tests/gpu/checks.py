# SPDX-License-Identifier: Apache-2.0
"""checks.py BUILD OUT: whether all is right on this machine's GPU. Each check is a row: its name, whether it passed, was skipped or
failed, and what was measured. Exits with 1 if one failed."""

import json
import os
import re
import shutil
import subprocess
import tempfile

from rows import (CUDA, DEVICE_CHECK, DTTRAIN, HOST, MODULE, OUT, REPEATS, SCRATCH, SHARED, TOLERANCE, Skip, end, images, left, need, row, run, text,
                  train, tried)

TINY = "vocab_size=256,n_positions=16,n_embd=32,n_layer=2,n_head=2"
TINY_LLAMA = ("vocab_size=256,max_position_embeddings=16,hidden_size=32,intermediate_size=48,num_hidden_layers=2,num_attention_heads=4,"
              "num_key_value_heads=2")
MINI = ["--model", f"gpt2,{TINY}" if HOST else "gpt2:char-mini", "--batch", 16, "--shards", 8, "--optimizer", "adamw", "--warmup", 5,
        "--limit-train", 100 if HOST else 2000]
NCCL = ["--device-exchange", "nccl"]
STAGED = ["--device-exchange", "staged"]


def log_products():
    """cuBLASLt's own words about each product, among the lines of device_check, to OUT/cublaslt.log."""
    try:
        done = tried([DEVICE_CHECK, MODULE, 1, "products"], 60, CUBLASLT_LOG_LEVEL="2")
    except (Skip, subprocess.TimeoutExpired):
        return ""
    with open(os.path.join(OUT, "cublaslt.log"), "w", encoding="utf-8") as file:
        file.write((done.stdout + done.stderr)[:4000000])
    return "; why, in cublaslt.log"


@row("kernels and products")
def _():
    need(DEVICE_CHECK)
    need(MODULE)
    lines = [json.loads(line) for line in run([DEVICE_CHECK, MODULE, REPEATS], expect=(0, 1)).splitlines()]
    assert lines[-1]["check"] == "exchange", f"it ended after {lines[-1]['check']}"
    with open(os.path.join(OUT, "kernels.json"), "w", encoding="utf-8") as file:
        json.dump(lines, file, indent=1)
    wrong = [line["check"] + (f" ({line['wrong']})" if line.get("wrong") else "") for line in lines if not line["ok"]]
    if wrong:
        why = log_products() if any(re.search("product|bf16 result", one) for one in wrong) else ""
        raise AssertionError(f"{len(wrong)} of {len(lines)} differ{why}: {', '.join(wrong)}")
    without = next(line["shapes without"] for line in lines if "shapes without" in line)
    slow = f"; cuBLASLt has no algorithm for {without} shapes of products, kernels compute them{log_products()}" if without else ""
    return f"{len(lines)} checks, each {REPEATS} times with the same bits{slow}"


def apart(there, here, most):
    worst = max(abs(a["loss"] - b["loss"]) / b["loss"] for a, b in zip(train(there)[0]["step"], train(here)[0]["step"], strict=True))
    assert worst < most, f"worst {worst:.1e}, at most {most}"
    return f"{COUNT} steps, largest relative difference {worst:.1e}"


LLAMA = ["--model", f"llama,{TINY_LLAMA}" if HOST else "llama:char-mini", *MINI[2:]]
COUNT = 4 if HOST else 30
STEPS = ["--steps", COUNT]
row("losses beside the processor's, gpt2")(lambda: apart([*MINI, *CUDA, *STEPS], [*MINI, *STEPS], TOLERANCE))
row("losses beside the processor's, llama")(lambda: apart([*LLAMA, *CUDA, *STEPS], [*LLAMA, *STEPS], TOLERANCE))
RESNET = ["--model", "resnet:cifar20,depth=8" if HOST else "resnet:cifar20", *images(), "--batch", 8 if HOST else 64, "--shards", 4,
          "--augment", "crop,flip", "--lr", 0.0001]
row("losses beside the processor's, resnet")(lambda: apart([*RESNET, *CUDA, *STEPS], [*RESNET, *STEPS], TOLERANCE))
row("losses of bf16 beside fp32's")(lambda: apart([*MINI, *CUDA, *STEPS, "--precision", "bf16"], [*MINI, *CUDA, *STEPS], 1e-2))
row("losses of TF32 beside fp32's")(lambda: apart([*MINI, *CUDA, *STEPS, "--precision", "tf32"], [*MINI, *CUDA, *STEPS], 1e-3))
for optimizer in ("sgd", "nesterov", "lamb"):
    row(f"losses beside the processor's, {optimizer}")(
        lambda words=("--optimizer", optimizer, "--clip-norm", 0.5, *STEPS): apart([*MINI, *CUDA, *words], [*MINI, *words], TOLERANCE))


@row("the same digest, repeated")
def _():
    runs = 2 if HOST else 5  # a process each, which is what takes long
    digests = {train([*MINI, *CUDA, "--steps", 3])[1] for _ in range(runs)}
    assert len(digests) == 1, f"{len(digests)} digests in {runs} runs"
    return f"{runs} runs, {digests.pop()}"


@row("the same digest, 1 to 8 ranks, staged")
def _():
    steps = 2 if HOST else 5  # where ResNet takes a second each
    for model, most in (([*MINI], 8), ([*LLAMA], 4), ([*MINI, "--precision", "bf16"], 4), ([*RESNET], 4), ([*RESNET, "--precision", "bf16"], 4)):
        digests = {ranks: train([*model, *SHARED, *STAGED, "--steps", steps], ranks)[1] for ranks in (1, 2, 4, 8) if ranks <= most}
        assert len(set(digests.values())) == 1, digests
    return "gpt2, llama, resnet and bf16; ranks share the GPU"


def nccl_version():
    """Of the library that the module has found, as [2, 28, 9]; None if there is none."""
    if HOST:
        return None
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
    alone = {"HOST_DEVICE_GPUS": "0/0/0/0/0"} if HOST else {}  # one device; otherwise the host has two
    run(["mpirun", "--oversubscribe", "--bind-to", "none", "-np", 2, DTTRAIN, *text(), *MINI, *CUDA, "--steps", 1], expect=(3,),
        CUDA_VISIBLE_DEVICES=visible, **alone)
    return "exit 3"


@row("facts of the GPU")
def _():
    events, _ = train([*MINI, *CUDA, "--steps", 1])
    devices, later = events["start"][0]["devices"], events["devices"][0]["devices"]
    unknown = [name for one in (devices[0], later[0]) for name, value in one.items() if value in (None, "") and name != "numa_node"]
    assert HOST or not unknown, f"not known: {unknown}"
    return json.dumps({**devices[0], **later[0]})


@row("the same digest, recomputed, offloaded")
def _():
    digests = {train([*MINI, *CUDA, "--steps", 3, *words])[1]
               for words in ([], ["--recompute", "block"], ["--recompute", "block", "--offload", "activations"])}
    assert len(digests) == 1, digests
    return digests.pop()


@row("the same digest at --zero 2 and 3")
def _():
    digests = {stage: train([*MINI, *SHARED, "--steps", 5, "--zero", stage], 2)[1] for stage in (1, 2, 3)}
    assert len(set(digests.values())) == 1, digests
    return "2 ranks share the GPU"


@row("stopped and resumed")
def _():
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        saved = [*MINI, *CUDA, "--checkpoint-dir", folder]
        train([*saved, "--steps", 4, "--schedule", "constant"])
        resumed = train([*saved, "--steps", 8, "--schedule", "constant"], 1)[1]
    assert resumed == train([*MINI, *CUDA, "--steps", 8, "--schedule", "constant"])[1], resumed
    return "the same digest"


def sanitized(tool):
    """Last, since its tools slow kernels down a hundredfold. That one is too slow, or knows not this machine, says nothing of a kernel."""
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        raise Skip("no compute-sanitizer")
    need(DEVICE_CHECK)
    need(MODULE)
    # Our kernels alone: what libraries try, and are refused, is theirs.
    words = ["--tool", tool, "--error-exitcode", 9, "--kernel-regex", "kns=run_block", *(["--report-api-errors", "no"] if tool == "memcheck" else [])]
    limit = left(60)
    try:
        done = tried([sanitizer, *words, DEVICE_CHECK, MODULE, 1, "small"], limit)
    except subprocess.TimeoutExpired:
        raise Skip(f"compute-sanitizer did not end within {limit:.0f} s") from None
    told = "\n".join(line for line in (done.stdout + done.stderr).splitlines() if '"ok": true' not in line)[:4000]
    if '"check": "every kernel"' not in done.stdout and done.returncode != 9:
        raise Skip(f"compute-sanitizer did not run it, exit {done.returncode}: {told.strip()}")
    assert done.returncode == 0, f"exit {done.returncode}\n{told}"
    return "clean, of small shapes"


for watched in ("memcheck", "racecheck", "synccheck"):
    row(f"compute-sanitizer {watched}")(lambda watched=watched: sanitized(watched))

end()
