# SPDX-License-Identifier: Apache-2.0
"""`dttrain --rehearse` uses as much time, memory, traffic and disk as requested, and is stopped and continued with another number of ranks.
"""

import glob
import os
import re
import signal
import subprocess
import sys

from trainer_support import Trainer, environment, events, on_small_disk, ranks_of, wait_for_step

MB = 1000 * 1000


def payload(folder, step):
    return {os.path.basename(path): os.path.getsize(path) for path in glob.glob(f"{folder}/step-{step:09}/payload-*")}


def in_full(trainer):
    run, saved = trainer.path("run"), trainer.path("saved")
    words = ["--rehearse", "params=1M,step=100ms,checkpoint=12M,memory=200M/rank", "--steps", 10, "--save-every", 5, "--keep", 9,
             "--run-dir", run, "--checkpoint-dir", saved]
    out, err = trainer.run(3, words)
    assert not err, err
    assert "each rank sends 2.67 MB a step, writes 4 MB of a checkpoint and holds 200 MB\n" in out, out
    assert re.search(r"rehearsed: 10 steps: a step computed for 0\.1\d* s, communicated for \S+ m?s ", out), out
    assert "rehearsed: 2 saves: one took " in out, out
    assert payload(saved, 5) == payload(saved, 10) == {f"payload-0000{part}-of-00003.bin": 4 * MB for part in (1, 2, 3)}
    steps = [event["seconds"] for event in events(run, "step")]
    assert len(steps) == 10 and min(steps) >= 0.1, steps
    _, err = trainer.run(3, [*words[:1], words[1].replace("1M", "2M"), *words[2:]], expect=3)
    assert "rehearsal: params=1000000" in err, err


def peak_memory(trainer):
    """MiB of the largest rank."""
    script = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); " \
             "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024); sys.exit(code)"

    def of(memory):
        words = [sys.executable, "-c", script, trainer.program, "--rehearse", f"memory={memory}", "--steps", "2"]
        done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
        return int(done.stdout.splitlines()[-1])

    more = of("300Mi") - of("0")
    assert 280 < more < 320, more


def stopped_and_continued(trainer):
    run, saved = trainer.path("stopped"), trainer.path("stopped-saves")
    words = ["--rehearse", "params=100K,step=20ms,checkpoint=3M/rank", "--schedule", "constant", "--steps", 200, "--run-dir", run,
             "--checkpoint-dir", saved]
    process = trainer.start(2, words)
    wait_for_step(process, run, 10)
    os.kill(ranks_of(process.pid)[0], signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 85 and "checkpoint saved" in out, f"{process.returncode}\n{out}\n{err}"
    step = events(run, "stop")[0]["step"]
    assert payload(saved, step) == {"payload-00001-of-00002.bin": 3 * MB, "payload-00002-of-00002.bin": 3 * MB}
    short = [*words, "--steps", step + 5]
    path = f"{saved}/step-{step:09}/payload-00002-of-00002.bin"
    with open(path, "r+b") as file:
        file.seek(2 * MB)
        byte = file.read(1)
        file.seek(2 * MB)
        file.write(bytes([byte[0] ^ 1]))
    _, err = trainer.run(3, short, expect=3)
    assert err.count(f"{path}: byte {2 * MB} is not what was written") == 1, err
    with open(path, "r+b") as file:
        file.seek(2 * MB)
        file.write(byte)
    out, err = trainer.run(3, short)
    assert f"resumed from checkpoint step-{step:09}" in out and not err, out + err


def on_the_wire(trainer):
    """The traffic on the network of a machine of its own."""
    script = 'ip link set lo up; "$@" >&2 || exit 1; awk \'$1 == "lo:" { print $10 }\' /proc/net/dev'
    mpirun = ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "lo", "--mca",
              "pml", "ob1", "-np", "4", trainer.program,
              "--transport", "mpi", "--steps", "8"]

    def sent(words):
        own = {**environment(), "TMPDIR": trainer.path("")}
        return subprocess.run(["unshare", "-Urn", "bash", "-c", script, "bash", *mpirun, *words], env=own, capture_output=True, text=True,
                              timeout=240, check=False)

    # The small model sends data, too, and there are headers.
    little, much = sent(["--rehearse", "params=0"]), sent(["--rehearse", "params=2M,precision=fp32"])
    if "unshare" in little.stderr:
        print("skipped the bytes on the wire: no network namespaces here: " + little.stderr.strip())
        return
    assert little.returncode == much.returncode == 0, little.stderr + much.stderr
    more = int(much.stdout) - int(little.stdout)
    formula = 8 * 4 * 2 * 3 / 4 * 2 * MB * 4  # steps, ranks, 2 (W - 1) / W of the parameters, bytes
    assert 1 < more / formula < 1.06, f"{more} bytes, {formula:.0f} by the formula"


def full_disk(trainer):
    script = 'mount -t tmpfs -o size=6m tmpfs "$1" || exit 77; small=$1; shift; ' \
             '"$@" --checkpoint-dir "$small/c"; code=$?; ls "$small/c" >&2; exit $code'
    words = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", "2", trainer.program, "--rehearse", "checkpoint=4M", "--steps", "9",
             "--save-every", "3", "--keep", "9"]
    done = on_small_disk(trainer, script, *words)
    if done.returncode == 77:
        print("skipped the full disk: no mount namespaces here: " + done.stderr.strip())
        return
    assert done.returncode == 74, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    assert done.stderr.count("No space left on device") == 1, done.stderr
    assert done.stderr.splitlines()[-1] == "step-000000003", done.stderr


def refused(trainer):
    for words, why in ((["--rehearse", "params=7X"], "'params=7X' is not valid"), (["--rehearse", "size=1"], "'size=1' is not known"),
                       (["--rehearse", "params=1", "--model", "mlp"], "exclude each other")):
        _, err = trainer.run(0, words, expect=2)
        assert why in err and "help: " in err, err


if __name__ == "__main__":
    with Trainer(sys.argv[1]) as own:
        refused(own)
        in_full(own)
        peak_memory(own)
        stopped_and_continued(own)
        on_the_wire(own)
        full_disk(own)
