# SPDX-License-Identifier: Apache-2.0
"""benches.py BUILD OUT: how fast this machine's GPU trains, what the least would be, and where the time goes; beside PyTorch where that can
be imported. A row each, and in OUT/benches.json what they measured."""

import json
import os
import statistics
import subprocess
import sys

from rows import CUDA, DEVICE_PROFILE, DTTRAIN, HOST, MEASURED, SCRATCH, Skip, end, images, left, need, row, run, text, train

HERE = os.path.dirname(os.path.abspath(__file__))
TINY = "gpt2,vocab_size=256,n_positions=16,n_embd=32,n_layer=2,n_head=2"
# Model, batch, shards, steps; of the comparison of losses another number of steps.
GPT2, BATCH, SHARDS, STEPS, LOSSES = (TINY, 4, 2, 4, 4) if HOST else ("gpt2:124M", 64, 4, 12, 300)
RESNET, IMAGES, IMAGE_SHARDS = ("resnet:cifar20,depth=8", 8, 2) if HOST else ("resnet:cifar20", 2048, 2)
CONTEXT = 16 if HOST else 1024


def torch(script, *words):
    """What a script that imports PyTorch prints as JSON."""
    limit = left(300)
    try:
        done = run([sys.executable, os.path.join(HERE, script), *words], expect=(0, 77), timeout=limit)
    except subprocess.TimeoutExpired:
        raise Skip(f"PyTorch did not end within {limit:.0f} s") from None
    if done.startswith("skipped"):
        raise Skip(done.strip())
    return json.loads(done)


@row("rates of the GPU")
def _():
    need(DTTRAIN)
    words = ["--gpu-steps", 3, "--gpu-model", TINY] if HOST else []
    node = json.loads(run([DTTRAIN, "bench", "--phase", "gpu", "--quick", *words]))["nodes"][0]
    MEASURED["rates"], MEASURED["gpu_steps"], MEASURED["notes"] = node["measures"], node.get("gpu_steps", []), node["notes"]
    assert any(one["key"] == "gpu_bf16" for one in node["measures"]), node["notes"]
    return ", ".join(f"{one['key']} {one['value']:.3g} {one['unit']}" for one in node["measures"] if one["key"] not in ("peer", "nccl"))


def trained(name, model, batch, shards, precision, more=()):
    events, _ = train(["--model", model, "--batch", batch, "--shards", shards, "--optimizer", "adamw", "--steps", STEPS, *CUDA,
                       "--precision", precision, *more])
    seconds = statistics.median(step["seconds"] for step in events["step"][len(events["step"]) // 3:])
    step, start = events["step"][-1], events["start"][0]
    unit = "tokens_per_s" if "tokens_per_s" in step else "samples_per_s"
    rate = step[unit] * step["seconds"] / seconds
    share = step["mfu_gemm"] * step["seconds"] / seconds if "mfu_gemm" in step else None
    MEASURED[name] = {"model": model, "precision": precision, "batch": batch, "seconds": seconds, unit: rate, "share_of_gemm_peak": share,
                      "gemm_peak": start["gemm_peak"], "sheet_peak": start["sheet_peak"]}
    return f"{rate:.0f} {unit.replace('_per_s', '/s')}, {'unknown' if share is None else f'{share:.1%}'} of the measured GEMM peak"


for kind in ("bf16", "tf32", "fp32"):
    row(f"GPT-2 124M, {kind}")(lambda kind=kind: trained(f"gpt2_{kind}", GPT2, BATCH, SHARDS, kind))


def our_rate(name, key):
    if name not in MEASURED:
        raise Skip("nothing of our own to compare")
    return MEASURED[name][key]


def beside(name, ours, theirs, what):
    """`ours`: samples a second; `theirs`: what a peer measured, with as many WHAT_per_s."""
    MEASURED[name] = {**theirs, "ratio": ours / theirs[f"{what}_per_s"]}
    return f"{MEASURED[name]['ratio']:.2f} times PyTorch {theirs['version']}'s {theirs[f'{what}_per_s']:.0f} {what}/s, {theirs['how']}"


@row("beside PyTorch: tokens/s")
def _():
    return beside("torch", our_rate("gpt2_bf16", "tokens_per_s"), torch("torch_gpt2.py", "rate", GPT2, BATCH // SHARDS, SHARDS, STEPS), "tokens")


# After what matters most, for which there is then time.
row("GPT-2 124M, bf16, recomputed")(lambda: trained("gpt2_recompute", GPT2, BATCH, SHARDS, "bf16", ["--recompute", "block"]))
row("GPT-2 124M, bf16, offloaded")(
    lambda: trained("gpt2_offload", GPT2, BATCH, SHARDS, "bf16", ["--recompute", "block", "--offload", "activations"]))


@row("ResNet-20, 32x32, bf16")
def _():
    need(DTTRAIN)
    return trained("resnet20_bf16", RESNET, IMAGES, IMAGE_SHARDS, "bf16", images())


@row("where a step's time goes")
def _():
    need(DEVICE_PROFILE)
    need(DTTRAIN)  # which needs the same libraries
    profile = json.loads(run([DEVICE_PROFILE, GPT2, BATCH // SHARDS, SHARDS, "bf16", 3]))
    MEASURED["profile"] = profile
    updates = [part for part in profile["parts"] if part["part"].startswith("UpdateChunks")]
    assert updates, profile["parts"]
    moved = sum(part["bytes"] for part in updates) / sum(part["seconds"] for part in updates)
    MEASURED["optimizer_share_of_copy_rate"] = moved / profile["copy_rate"]
    return f"{profile['step_s']:.4g} s a step, floor {profile['floor_s']:.4g} s; the optimizer moves {moved / profile['copy_rate']:.0%} of the copy rate"


@row(f"beside PyTorch: {LOSSES} steps' loss")
def _():
    need(DTTRAIN)
    torch("torch_gpt2.py", "version")
    weights = os.path.join(SCRATCH, "weights.safetensors")
    arguments = ["--model", GPT2, "--batch", 8, "--shards", 2, "--optimizer", "adamw", "--schedule", "constant", "--warmup", 0, "--lr", 3e-4,
                 "--weight-decay", 0, "--steps", LOSSES]
    run([DTTRAIN, *text(), *arguments, "--export-weights", weights])
    events, _ = train([*arguments, *CUDA, "--precision", "bf16"])
    ours = [step["loss"] for step in events["step"]]
    theirs = torch("torch_gpt2.py", "losses", GPT2, weights, text()[1], 8, LOSSES)
    band = max(max(abs(a - b) for a, b in zip(theirs["losses"], other, strict=True)) for other in theirs["again"])
    worst = max(abs(a - b) for a, b in zip(ours, theirs["losses"], strict=True))
    MEASURED["losses"] = {"ours": ours, "torch": theirs["losses"], "band": band, "worst": worst}
    assert worst < 5e-4 or not HOST, f"{worst:.2e} apart after {LOSSES} steps: more than bf16 rounds"
    return f"{worst:.2e} apart at most; PyTorch's own runs are {band:.2e} apart"


# Last, since it compiles longest: if no time is left, the losses matter more.
@row("beside PyTorch: images/s")
def _():
    ours = our_rate("resnet20_bf16", "samples_per_s")
    return beside("torch_resnet20", ours, torch("torch_resnet20.py", "rate", RESNET, IMAGES, IMAGE_SHARDS, STEPS), "images")


end()
