# SPDX-License-Identifier: Apache-2.0
"""--device: missing software is named, and CUDA is not needed unless it is requested. A training on a device has the losses of one on
processors, and the same bits for any number of ranks, at every stage of --zero, through audits and restarts. The device is the host's
processor behind the same table of functions (tests/support/host_device.cpp); tests/gpu/run.sh is for real ones.

Usage: trainer_device.py DTTRAIN HOST_DEVICE NVML, the modules, with the real one of the trainer beside DTTRAIN if it was built"""

import os
import shutil
import subprocess
import sys

import few_images
from contract import CORRUPTED, NO_RESTART
from trainer_support import Trainer, digest, events

TEXT = "/usr/share/common-licenses/GPL-3"  # of Debian's base-files
SMALL = ["--model", "gpt2,vocab_size=256,n_positions=16,n_embd=32,n_layer=2,n_head=2", "--data", TEXT, "--batch", 12, "--shards", 6,
         "--optimizer", "adamw", "--warmup", 0, "--lr", 0.01, "--limit-train", 400]
# Two query heads per key head.
LLAMA = ["--model", "llama,vocab_size=256,max_position_embeddings=16,hidden_size=32,intermediate_size=48,num_hidden_layers=2,"
         "num_attention_heads=4,num_key_value_heads=2", *SMALL[2:]]
CUDA = ["--device", "cuda"]
DEVICES = 2  # that the host's module has
STEPS = 12
TOLERANCE = 1e-5  # relative, of losses, which metrics.jsonl rounds to about 1e-7
LACKS = {1: "no driver works here", 2: "the driver is too old", 3: "there is no device", 4: "the device is too old", 5: "cannot be used"}


def shared(ranks):
    return ["--share-device", "on"] if ranks > DEVICES else []


def sharing(trainer, module):
    """One device per rank, by UUID, and what is known about it."""
    _, err = trainer.run(5, [*SMALL, *CUDA, "--steps", 2], expect=3, env=module)
    for words in ("rank 0 (node ", "), rank 2 (node ", ") and rank 4 (node ", "(UUID host-0); rank 1 (node ", "(UUID host-1)", "--share-device on"):
        assert words in err, err
    _, err = trainer.run(3, [*SMALL, "--device", "auto", "--steps", 2, "--run-dir", trainer.path("shares")], env=module)
    start = events(trainer.path("shares"), "start")[0]
    assert "--device auto took cpu: rank 0 " in err and start["device"] == "cpu" and "devices" not in start, err
    trainer.run(2, [*SMALL, *CUDA, "--steps", 2, "--run-dir", trainer.path("each")], env=module)
    start = events(trainer.path("each"), "start")[0]
    assert 1 << 20 < start["device_memory"] < 1 << 24, start
    devices = start["devices"]
    assert [one["uuid"] for one in devices] == ["host-0", "host-1"] and devices[1]["rank"] == 1, devices
    assert devices[0]["ecc"] is None and devices[0]["clock_mhz"] is None and devices[0]["driver"] == "none", devices


def refused(trainer, device, words, env, program=None):
    command = [program or trainer.program, *map(str, SMALL), "--steps", "2", "--device", device]
    done = subprocess.run(command, env={**os.environ, **env}, capture_output=True, text=True, timeout=120, check=False)
    expected = 3 if device == "cuda" else 0
    assert done.returncode == expected and words in done.stderr, f"{done.returncode}, not {expected}: {done.stderr}"
    told = "help: " if device == "cuda" else "--device auto took cpu: "
    assert told in done.stderr, done.stderr


def refusals(trainer, module):
    needed = subprocess.run(["ldd", trainer.program], capture_output=True, text=True, check=True).stdout
    assert not any(name in needed for name in ("libcu", "libnv", "libnccl")), needed
    for lack, words in LACKS.items():
        for device in ("cuda", "auto"):
            refused(trainer, device, words, {**module, "HOST_DEVICE_LACK": str(lack)})
    # If there is no module beside the program.
    os.makedirs(trainer.path("alone/bin"))
    program = shutil.copy(trainer.program, trainer.path("alone/bin/dttrain"))
    refused(trainer, "cuda", "the module is missing: no module of dttrain (dttrain-cuda.so) in ", {}, program)
    refused(trainer, "auto", "the module is missing", {}, program)
    os.makedirs(trainer.path("wrong"))
    with open(trainer.path("wrong/dttrain-cuda.so"), "w", encoding="ascii") as file:
        file.write("no library")
    refused(trainer, "cuda", "cannot load", {"DTSUBMIT_PLUGIN_PATH": trainer.path("wrong")})
    real = os.path.join(os.path.dirname(trainer.program), "../lib/dtsubmit/dttrain-cuda.so")
    if os.path.exists(real) and not os.path.exists("/dev/nvidiactl"):
        refused(trainer, "cuda", "", {})
    _, err = trainer.run(0, [*SMALL, "--precision", "tf32", "--steps", 2], expect=2, env=module)
    assert "--precision tf32 is for GPUs" in err, err


def losses(trainer, module, name, arguments):
    out, _ = trainer.run(0, [*arguments, "--steps", STEPS, "--run-dir", trainer.path(name)], env=module)
    return [event["loss"] for event in events(trainer.path(name), "step")], digest(out)


def beside_processor(trainer, module, name, model, least=0.5):
    """The digest of the training on a device; its loss must fall by `least` if that is given."""
    on_cpu, other = losses(trainer, module, f"{name}-cpu", model)
    on_device, alone = losses(trainer, module, f"{name}-device", [*model, *CUDA])
    worst = max(abs(a - b) / a for a, b in zip(on_cpu, on_device))
    print(f"{name}: largest relative difference of {STEPS} losses from the processor's {worst:.1e}; loss {on_cpu[0]:.3f} to {on_cpu[-1]:.3f}")
    assert alone != other and (least is None or on_device[-1] < on_device[0] - least) and worst < TOLERANCE, f"{on_cpu}\n{on_device}"
    assert [events(trainer.path(f"{name}-{kind}"), "start")[0]["device"] for kind in ("cpu", "device")] == ["cpu", "cuda"]
    return alone


def llama(trainer, module):
    """Also from weights in Hugging Face's form."""
    alone = beside_processor(trainer, module, "llama", LLAMA)
    for ranks, more in ((2, []), (3, ["--zero", 3]), (6, [])):
        out, _ = trainer.run(ranks, [*LLAMA, *CUDA, *shared(ranks), *more, "--steps", STEPS], env=module)
        print(f"llama: {ranks} ranks {' '.join(map(str, more))}", flush=True)
        assert digest(out) == alone, f"{ranks} ranks {more}: {out}"
    trainer.run(0, [*LLAMA, *CUDA, "--checkpoint-dir", trainer.path("first"), "--steps", 3], env=module)
    trainer.run(0, ["export", trainer.path("first"), trainer.path("hub")])
    continued = [*LLAMA[2:], "--from", trainer.path("hub")]
    digests = {digest(trainer.run(ranks, [*continued, *CUDA, "--steps", 3], env=module)[0]) for ranks in (0, 2)}
    assert len(digests) == 1, digests
    worst = max(abs(a - b) / a for a, b in zip(*(losses(trainer, module, name, [*continued, *device])[0]
                                                for name, device in (("hub-cpu", []), ("hub-device", CUDA)))))
    assert worst < TOLERANCE, worst


def watched(trainer, module, nvml):
    """Facts about the GPUs while they compute, from a stand-in for NVML, and the share of their maximum speed."""
    os.symlink(nvml, trainer.path("libnvidia-ml.so.1"))
    env = {**module, "LD_LIBRARY_PATH": trainer.path(""), "NVML_FIXTURE_NODE": "mesh"}
    _, err = trainer.run(2, [*SMALL, *CUDA, "--steps", 52, "--run-dir", trainer.path("watched")], env=env)
    assert "slowed down" not in err and "no algorithm" not in err, err
    start = events(trainer.path("watched"), "start")[0]
    assert [one["links"] for one in start["devices"]] == [[{"rank": 1, "nvlinks": 2, "direct": True}], [{"rank": 0, "nvlinks": 2, "direct": True}]], start
    peak = sum(one["gemm_peak"] for one in start["devices"])
    assert peak > 1e6 and abs(start["gemm_peak"] / peak - 1) < 1e-6 and start["sheet_peak"] == "unknown", start
    told = events(trainer.path("watched"), "devices")
    assert [one["step"] for one in told] == [1, 50, 52], told
    first, second = told[0]["devices"]
    assert (first["clock_mhz"], first["temperature_c"], first["power_w"], first["throttle"]) == (1410, 40, 250.5, []), first
    assert second["rank"] == 1 and second["power_w"] is None and second["ecc_uncorrected"] is None, second
    for step in events(trainer.path("watched"), "step"):
        assert abs(step["mfu_gemm"] * start["gemm_peak"] / step["flop_per_s"] - 1) < 1e-6 and "mfu_sheet" not in step, step
    slow = {**env, "HOST_DEVICE_SLOW_PRODUCTS": "3"}
    for steps in (2, 4):  # also where a run goes on
        _, err = trainer.run(2, [*SMALL, *CUDA, "--steps", steps, "--checkpoint-dir", trainer.path("slow"), "--schedule", "constant"], env=slow)
        assert err.count("cuBLASLt has no algorithm for 3 of the shapes of products; kernels of dttrain compute them") == 1, err
    # Without NVML, nothing is known about them, and this is reported.
    trainer.run(0, [*SMALL, *CUDA, "--steps", 2, "--run-dir", trainer.path("unwatched")], env=module)
    told = events(trainer.path("unwatched"), "devices")[0]["devices"][0]
    assert told["clock_mhz"] is None and told["throttle"] is None, told


AGAIN = ["--recompute", "block"]
AWAY = [*AGAIN, "--offload", "activations"]


def keeping(trainer, module):
    """What is kept of a forward pass affects no bit, on processors and devices, also if weights arrive block by block."""
    for model in (SMALL, LLAMA):
        for device, more in (([], AGAIN), (CUDA, AGAIN), (CUDA, AWAY)):
            alone = digest(trainer.run(0, [*model, *device, "--steps", 4], env=module)[0])
            for ranks, zero in ((0, 1), (2, 3), (3, 2)):
                out, _ = trainer.run(ranks, [*model, *device, *(shared(ranks) if device else []), *more, "--zero", zero, "--steps", 4], env=module)
                assert digest(out) == alone, f"{ranks} ranks {more}: {out}"
    for arguments, words in (([*AGAIN, "--model", "cnn2"], "cnn2 has no blocks of layers"), ([*SMALL, *AWAY], "in the node's memory already"),
                             ([*SMALL, *CUDA, *AWAY[2:]], "add --recompute block")):
        _, err = trainer.run(0, [*arguments, "--steps", 2], expect=2, env=module)
        assert words in err, err


def layouts(trainer, module):
    alone = beside_processor(trainer, module, "gpt2", SMALL)
    for ranks, more in ((2, []), (3, ["--audit", 0.5]), (6, ["--overlap", "on", "--bucket-size", "20K"]), (3, ["--zero", 2]), (2, ["--zero", 3]),
                        (6, ["--zero", 3, "--bucket-size", "9K"]), (3, ["--servers", 1]), (2, ["--transport", "mpi", "--device", "auto"])):
        out, err = trainer.run(ranks, [*SMALL, *CUDA, *shared(ranks), *more, "--steps", STEPS], env=module)
        print(f"{ranks} ranks {' '.join(map(str, more))}", flush=True)
        assert digest(out) == alone, f"{ranks} ranks {more}: {out}\n{err}"
        assert ("the backward pass is one graph of " in out) == (ranks < 6 and "--zero" not in more), out
        assert ("have one device" in err) == (ranks > DEVICES), err
    out, _ = trainer.run(3, [*SMALL, *CUDA, *shared(3), "--servers", 1, "--staleness", 1, "--steps", 4], env=module)
    assert "asynchronous" in out and "device 0 of 2 (cuda)" in out, out
    # From two ranks to three, and then to processors.
    folder = ["--checkpoint-dir", trainer.path("saved"), "--save-every", 5]
    trainer.run(2, [*SMALL, *CUDA, *folder, "--steps", STEPS, "--inject", "nan:3@8"], expect=NO_RESTART, env=module)
    out, err = trainer.run(3, [*SMALL, *CUDA, *shared(3), *folder, "--steps", STEPS], env=module)
    assert "resumed from checkpoint step-000000005" in out and digest(out) == alone, f"{out}\n{err}"
    out, err = trainer.run(1, [*SMALL, *folder, "--steps", STEPS], env=module)
    assert "was computed elsewhere (device: " in out + err, f"{out}\n{err}"


def images(trainer, module):
    """Networks with convolutions and batch normalisation, whose running statistics are sums over shards, too."""
    data = few_images.make(trainer.path("few"), 240, 50)
    for name, layouts_of, more in (
            ("cnn2", ((2, []), (3, ["--zero", 3]), (6, ["--audit", 0.5])), []),
            ("resnet,depth=8", ((2, ["--zero", 2]), (3, []), (6, ["--zero", 3])), ["--augment", "crop,flip", "--lr", 0.0001]),
            ("mlp,hidden_size=32", ((2, []),), [])):
        model = ["--model", name, "--batch", 12, "--shards", 6, "--data", data, *more]
        alone = beside_processor(trainer, module, name, model, None)
        for ranks, also in layouts_of:
            folder = ["--checkpoint-dir", trainer.path(f"{name}-{ranks}"), "--save-every", 5]
            fault = ["--inject", "nan:3@8"]
            trainer.run(ranks, [*model, *CUDA, *shared(ranks), *folder, *also, "--steps", STEPS, *fault], expect=NO_RESTART, env=module)
            out, _ = trainer.run(ranks, [*model, *CUDA, *shared(ranks), *folder, *also, "--steps", STEPS], env=module)
            print(f"{name}: {ranks} ranks {' '.join(map(str, also))}", flush=True)
            assert "resumed from checkpoint step-000000005" in out and digest(out) == alone, f"{name}, {ranks} ranks {also}: {out}"
        scores = [events(trainer.path(f"{name}-{kind}"), "done")[0] for kind in ("cpu", "device")]
        assert abs(scores[0]["accuracy"] - scores[1]["accuracy"]) <= 1 / 50, scores
    model = ["--model", "cnn2", "--batch", 12, "--shards", 6, "--data", data, *CUDA, "--precision", "bf16"]
    digests = {digest(trainer.run(ranks, [*model, *shared(ranks), "--steps", STEPS], env=module)[0]) for ranks in (0, 3)}
    assert len(digests) == 1, digests


def optimizers(trainer, module):
    """The optimiser's step on a device is the processor's, and the same for any number of ranks, also with clipping, which needs all norms.
    """
    for name, more in (("sgd", ["--lr", 0.1]), ("nesterov", ["--lr", 0.1, "--weight-decay", 0.01, "--clip-norm", 0.5]),
                       ("lamb", ["--clip-norm", 0.3])):
        model = [*SMALL, "--optimizer", name, *more]
        alone = beside_processor(trainer, module, name, model, 0.05)
        for ranks, zero in ((2, 1), (3, 3)):
            out, _ = trainer.run(ranks, [*model, *CUDA, *shared(ranks), "--zero", zero, "--steps", STEPS], env=module)
            assert digest(out) == alone, f"{name}, {ranks} ranks: {out}"


def precisions(trainer, module):
    exactly, _ = losses(trainer, module, "fp32", [*SMALL, *CUDA])
    for precision, least, most in (("bf16", 1e-5, 1e-2), ("tf32", 1e-7, 1e-3)):
        model = [*SMALL, *CUDA, "--precision", precision]
        rounded, alone = losses(trainer, module, precision, model)
        worst = max(abs(a - b) / a for a, b in zip(exactly, rounded))
        print(f"{precision}: largest relative difference of {STEPS} losses from those of fp32 {worst:.1e}", flush=True)
        assert least < worst < most, worst
        assert events(trainer.path(precision), "start")[0]["precision"] == precision
        for ranks in (2, 3):
            assert digest(trainer.run(ranks, [*model, *shared(ranks), "--steps", STEPS], env=module)[0]) == alone, f"{precision}, {ranks} ranks"


def faults(trainer, module):
    for ranks in (0, 2):
        for fault in ("weight:transformer.h.0.mlp.c_fc.weight:5@3:0", "momentum:transformer.h.0.mlp.c_fc.weight:5@3"):
            _, err = trainer.run(ranks, [*SMALL, *CUDA, "--steps", 6, "--inject", fault], expect=CORRUPTED, env=module)
            assert "bits are wrong" in err, err
    _, err = trainer.run(2, [*SMALL, *CUDA, "--steps", 6, "--inject", "nan:4@3"], expect=NO_RESTART, env=module)
    assert "step 3: the loss of shard 4 (rank 1) is not finite" in err, err
    fault = "computation:transformer.h.0.mlp.c_fc.weight:5@3:1"
    _, err = trainer.run(3, [*SMALL, *CUDA, *shared(3), "--steps", 6, "--audit", 1, "--inject", fault], expect=CORRUPTED, env=module)
    assert "[rank 1] " in err or "rank 1" in err, err


with Trainer(os.path.abspath(sys.argv[1])) as the_trainer:
    the_module = {"DTSUBMIT_PLUGIN_PATH": os.path.dirname(os.path.abspath(sys.argv[2]))}
    refusals(the_trainer, the_module)
    sharing(the_trainer, the_module)
    layouts(the_trainer, the_module)
    llama(the_trainer, the_module)
    images(the_trainer, the_module)
    optimizers(the_trainer, the_module)
    precisions(the_trainer, the_module)
    keeping(the_trainer, the_module)
    watched(the_trainer, the_module, os.path.abspath(sys.argv[3]))
    faults(the_trainer, the_module)
