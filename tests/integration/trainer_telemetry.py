# SPDX-License-Identifier: Apache-2.0
"""What dttrain measures of its steps: metrics.jsonl, Chrome's trace, TensorBoard's event files, the progress line on a terminal. The event
files are read by this file's own decoder and, if installed, by TensorBoard (DTS_FRAMEWORKS_PYTHON names another interpreter that has
it)."""

import glob
import json
import math
import os
import pty
import struct
import subprocess
import sys

from trainer_support import Trainer, digest, environment, events

STEPS, BATCH = 30, 64
COMMON = ["--model", "mlp,hidden_size=32", "--batch", BATCH, "--shards", 8, "--steps", STEPS, "--limit-train", 1280,
          "--evaluate-every", 10, "--warmup", 0]
FLOPS = BATCH * (2 * 2 * 784 * 32 + 3 * 2 * (32 * 32 + 32 * 10))
PHASES = ["data", "forward", "backward", "reduce", "communication", "optimizer", "save"]


def shifted(crc, bits):
    for _ in range(bits):
        crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc


OF_BYTE = [shifted(byte, 8) for byte in range(256)]


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ OF_BYTE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        size, crc = struct.unpack_from("<QI", data, at)
        assert crc == masked(data[at:at + 8])
        content = data[at + 12:at + 12 + size]
        assert struct.unpack_from("<I", data, at + 12 + size)[0] == masked(content)
        yield content
        at += 16 + size


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(message):
    """Field numbers to values, as protocol buffers encode them."""
    found, at = {}, 0
    while at < len(message):
        key, at = varint(message, at)
        if key & 7 == 0:
            value, at = varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(message, at)
            value, at = message[at:at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def scalars(folder, with_void=False):
    """Tag to a list of (step, value), without values that a later start has invalidated."""
    found = {}
    for path in sorted(glob.glob(folder + "/*tfevents*")):
        messages = [fields(record) for record in records(path)]
        assert messages[0][3] == [b"brain.Event:2"]
        for message in messages[1:]:
            step = message[2][0]
            if 7 in message:
                assert fields(message[7][0]) == {1: [1]}
                found = {tag: [one for one in values if one[0] < step or with_void] for tag, values in found.items()}
            for value in fields(message[5][0])[1] if 5 in message else []:
                entry = fields(value)
                found.setdefault(entry[1][0].decode(), []).append((step, struct.unpack("<f", entry[2][0])[0]))
    return found


def check_metrics(folder):
    steps = events(folder, "step")
    assert [e["step"] for e in steps] == list(range(1, STEPS + 1))
    for event in steps:
        assert list(event["phases"]) == PHASES
        computed = sum(value for name, value in event["phases"].items() if name != "save")
        assert 0 < computed <= event["seconds"] * (1 + 1e-6), event
        assert math.isclose(event["flop_per_s"] * event["seconds"], FLOPS, rel_tol=1e-6)
        assert math.isclose(event["peak_share"], event["flop_per_s"] / 2e12, rel_tol=1e-6)
        assert ("gradient_variance" in event) == (event["step"] % 10 == 0), event
    saved = [e["step"] for e in steps if e["phases"]["save"] > 0]
    assert saved == [11, 21], saved  # after the steps before these
    return [[e[k] for k in ("gradient_signal", "gradient_variance")] for e in steps if e["step"] % 10 == 0]


def check_trace(path, ranks, steps):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)["traceEvents"]
    for rank in range(ranks):
        own = [e for e in trace if e["pid"] == rank and e["ph"] == "X"]
        names = [e["name"] for e in own]
        assert [n for n in names if n.startswith("step ")] == [f"step {s + 1}" for s in range(steps)], names
        assert {"data", "forward", "backward", "reduce", "optimizer"} <= set(names), names
        assert all(e["ts"] >= 0 and e["dur"] >= 0 for e in own)
        whole = {e["name"]: (e["ts"], e["ts"] + e["dur"]) for e in own if e["name"].startswith("step ")}
        for event in (e for e in own if e["name"] == "backward"):
            assert any(begin <= event["ts"] and event["ts"] + event["dur"] <= end + 1e-3 for begin, end in whole.values())
        assert ranks == 1 or any(e["cat"] == "communication" for e in own)
    assert {e["args"]["name"] for e in trace if e["ph"] == "M"} == {f"rank {r}" for r in range(ranks)}


def check_tensorboard(folder, run):
    found = scalars(folder)
    steps = {e["step"]: e for e in events(run, "step")}  # of repeated steps, the last one
    assert sorted(steps) == list(range(1, STEPS + 1))
    for name in ("loss", "lr", "gradient_norm", "samples_per_s", "flop_per_s"):
        assert [s for s, _ in found["train/" + name]] == sorted(steps), found["train/" + name]
        for step, value in found["train/" + name]:
            assert math.isclose(value, steps[step][name], rel_tol=1e-6)
    assert [s for s, _ in found["phases/backward"]] == sorted(steps)
    assert [s for s, _ in found["validation/accuracy"]] == [10, 20, STEPS]
    return found


READ = """
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
log = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0})
log.Reload()
print(json.dumps({tag: [[e.step, e.value] for e in log.Scalars(tag)] for tag in log.Tags()["scalars"]}))
"""


def compare_with_tensorboard(folder, found):
    python = os.environ.get("DTS_FRAMEWORKS_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import tensorboard"], capture_output=True, check=False).returncode != 0:
        return print(f"skipped TensorBoard itself: {python} cannot import it (DTS_FRAMEWORKS_PYTHON names another interpreter)")
    out = subprocess.run([python, "-c", READ, folder], capture_output=True, text=True, check=True).stdout
    theirs = json.loads(out.splitlines()[-1])
    assert theirs == {tag: [list(one) for one in values] for tag, values in found.items()}, theirs
    return print(f"TensorBoard reads the same {len(theirs)} tags")


def on_terminal(words):
    """What a program writes to a terminal as its standard output."""
    here, there = pty.openpty()
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=there, stderr=there, env=environment())
    os.close(there)
    text = b""
    try:
        while piece := os.read(here, 65536):
            text += piece
    except OSError:  # EIO: the last user of the terminal has closed it
        pass
    os.close(here)
    assert process.wait(timeout=60) == 0, text
    return text.decode()


with Trainer(sys.argv[1]) as trainer:
    plain, _ = trainer.run(1, COMMON)
    noise = []
    for ranks, threads in ((1, 2), (3, 1)):
        run = trainer.path(f"run-{ranks}")
        out, _ = trainer.run(ranks, COMMON + ["--run-dir", run, "--trace", run + ".json", "--trace-steps", 4, "--tensorboard",
                                              run + "-events", "--peak", 2, "--save-every", 10, "--checkpoint-dir", run + "-saved"],
                             threads=threads)
        assert digest(out) == digest(plain) and "\r" not in out
        noise.append(check_metrics(run))
        check_trace(run + ".json", ranks, 4)
        check_tensorboard(run + "-events", run)
    assert noise[0] == noise[1], noise

    # A run that ends after step 17, and another that continues after step 10.
    run = trainer.path("resumed")
    kept = COMMON + ["--run-dir", run, "--tensorboard", run + "-events", "--save-every", 10, "--checkpoint-dir", run + "-saved",
                     "--trace", run + ".json", "--trace-steps", 100]
    trainer.run(2, kept + ["--inject", "nan:0@17"], expect=93)
    check_trace(run + ".json", 2, 17)
    out, _ = trainer.run(1, kept)
    assert "resumed from checkpoint step-000000010" in out and digest(out) == digest(plain), out
    found = check_tensorboard(run + "-events", run)
    assert len(scalars(run + "-events", with_void=True)["train/loss"]) == 16 + 20
    compare_with_tensorboard(run + "-events", found)

    _, err = trainer.run(0, COMMON + ["--trace", trainer.path("none/trace.json")], expect=74)
    assert "none/trace.json" in err, err
    with open(trainer.path("file"), "w", encoding="ascii"):
        pass
    _, err = trainer.run(2, COMMON + ["--tensorboard", trainer.path("file")], expect=74)
    assert err.count(trainer.path("file")) == 1, err
    each = [COMMON, COMMON + ["--trace", trainer.path("one.json")]]
    _, err = trainer.run(2, each, expect=3)
    assert "trace: none on rank 0; 20 steps on rank 1" in err, err

    shown = on_terminal(trainer.command(0, COMMON + ["--step-delay", 20]))
    lines = [line for line in shown.split("\r") if line.startswith("\033[Kstep ") and line.endswith(" left")]
    assert len(lines) >= 2 and f"/{STEPS}  " in lines[0] and " images/s  0:00:0" in lines[0], shown
    assert "\033[Kstep     10  test accuracy " in shown and "\ndone: 30 steps" in shown, shown  # each begins a line
    print(lines[-1][3:])
