# SPDX-License-Identifier: Apache-2.0
"""--device-exchange: gradients and weights that go from device to device have the same bits as those that go through host memory, for any
number of ranks, every stage of --zero, with overlap, nodes and restarts. Missing software is named, and ranks with different settings
are refused. If a link fails or a rank is killed, the training ends with the name of the call, and no rank keeps waiting. The devices are
the host's processor (tests/support/host_device.cpp), and sockets stand in for NCCL (host_exchange.cpp).

Usage: trainer_device_exchange.py DTTRAIN HOST_DEVICE, the module"""

import os
import signal
import subprocess
import sys
import time

from contract import CORRUPTED, NO_RESTART
from trainer_support import Trainer, digest, environment, events, ranks_of, wait_for_step

TEXT = "/usr/share/common-licenses/GPL-3"  # of Debian's base-files
SMALL = ["--model", "gpt2,vocab_size=256,n_positions=16,n_embd=32,n_layer=2,n_head=2", "--data", TEXT, "--batch", 12, "--shards", 6,
         "--optimizer", "adamw", "--warmup", 0, "--lr", 0.01, "--limit-train", 400, "--device", "cuda"]
NCCL = ["--device-exchange", "nccl"]
STAGED = ["--device-exchange", "staged"]
DEVICES = 2  # that the host's module has
STEPS = ["--steps", 8]
IO = 74
WEIGHT = "transformer.h.0.mlp.c_fc.weight:5"


def shared(ranks):
    return ["--share-device", "on"] if ranks > DEVICES else []


def layouts(trainer, module):
    alone = digest(trainer.run(0, [*SMALL, *STEPS], env=module)[0])
    for ranks, more, nodes in ((2, [], 1), (3, [], 1), (6, [], 1), (3, ["--zero", 2], 1), (6, ["--zero", 2, "--bucket-size", "9K"], 1),
                               (2, ["--zero", 3], 1), (6, ["--zero", 3, "--verify-every", 0], 1),
                               (6, ["--overlap", "on", "--bucket-size", "20K"], 1), (3, ["--bucket-size", "auto"], 1),
                               (3, ["--servers", 1], 1), (3, ["--audit", 0.5], 1), (3, ["--transport", "mpi"], 1),
                               (6, ["--hierarchy", "node"], 2), (6, ["--hierarchy", "flat"], 3)):
        env = {**module, **({"DTTRAIN_SPLIT_NODE": str(nodes)} if nodes > 1 else {})}
        for way in (NCCL, STAGED):
            out, err = trainer.run(ranks, [*SMALL, *STEPS, *shared(ranks), *way, *more], env=env)
            assert digest(out) == alone, f"{ranks} ranks {way} {more}: {out}\n{err}"
            assert ("from device to device by nccl: Sockets 1.0.0" in out) == (way == NCCL), out
            assert ("through the host's memory (staged)" in out) == (way == STAGED), out
        print(f"{ranks} ranks on {nodes} nodes {' '.join(map(str, more))}: nccl and staged as one rank, {alone}", flush=True)
    for optimizer in (["--optimizer", "lamb", "--clip-norm", 0.3], ["--precision", "bf16"]):
        digests = {digest(trainer.run(ranks, [*SMALL, *optimizer, *STEPS, *shared(ranks), *way], env=module)[0])
                   for ranks, way in ((0, []), (2, NCCL), (3, NCCL), (3, STAGED))}
        assert len(digests) == 1, f"{optimizer}: {digests}"
    images = ["--model", "mlp", "--batch", 12, "--shards", 6, "--limit-train", 200, "--warmup", 0, "--device", "cuda", "--steps", 2]
    digests = {digest(trainer.run(ranks, [*images, *shared(ranks), *more], env=module)[0])
               for ranks, more in ((0, []), (2, NCCL), (3, [*NCCL, "--zero", 2]))}
    assert len(digests) == 1, f"mlp: {digests}"
    # From two ranks to three, continued at another stage.
    folder = ["--checkpoint-dir", trainer.path("saved"), "--save-every", 3]
    trainer.run(2, [*SMALL, *STEPS, *NCCL, *folder, "--inject", "nan:3@5"], expect=NO_RESTART, env=module)
    out, err = trainer.run(3, [*SMALL, *STEPS, *shared(3), *NCCL, *folder, "--inject", "nan:3@8"], expect=NO_RESTART, env=module)
    assert "resumed from checkpoint step-000000003" in out, f"{out}\n{err}"
    out, err = trainer.run(3, [*SMALL, *STEPS, *shared(3), *NCCL, *folder, "--zero", 3], env=module)
    assert "resumed from checkpoint step-000000006" in out and digest(out) == alone, f"{out}\n{err}"


def choices(trainer, module):
    """auto, and requests that are refused."""
    def kind(name, ranks, more, **env):
        _, err = trainer.run(ranks, [*SMALL, "--steps", 2, *shared(ranks), *more, "--run-dir", trainer.path(name)], env={**module, **env})
        return events(trainer.path(name), "start")[0].get("exchange"), err

    chosen, _ = kind("each", 2, [], NCCL_DEBUG="WARN", NCCL_HOSTID="here")
    assert chosen == {"kind": "nccl", "library": "Sockets 1.0.0", "path": "/lib/libhost.so", "settings": {"NCCL_DEBUG": "WARN"}}, chosen
    for name, ranks, fault, words in (("shared", 3, "", "ranks share a device"), ("missing", 2, "missing", "cannot open shared object file")):
        chosen, err = kind(name, ranks, [], HOST_DEVICE_EXCHANGE=fault)
        assert chosen == {"kind": "staged"} and "--device-exchange auto: " in err and f"{words}: took staged" in err, f"{chosen} {err}"
    assert kind("staleness", 3, ["--servers", 1, "--staleness", 1])[0] == {"kind": "staged"}
    assert kind("alone", 0, [])[0] is None
    for ranks, fault, words in ((2, "missing", "NCCL cannot be used: libhost.so: cannot open"), (2, "old", "1.0.0 or later is needed"),
                                (3, "alone", "ranks share a device, which Sockets 1.0.0 does not link; NCCL 2.30 and later does")):
        _, err = trainer.run(ranks, [*SMALL, "--steps", 2, *shared(ranks), *NCCL], expect=3, env={**module, "HOST_DEVICE_EXCHANGE": fault})
        assert "--device-exchange nccl: " in err and words in err and "--device-exchange staged" in err, err
    _, err = trainer.run(3, [*SMALL, "--steps", 2, *shared(3), *NCCL, "--servers", 1, "--staleness", 1], expect=2, env=module)
    assert "--device-exchange nccl with --staleness" in err, err

    def differ(found, *of_ranks):
        """Two ranks with different mpirun options each."""
        words = [trainer.program, *map(str, [*SMALL, "--steps", 2])]
        command = ["mpirun", "--oversubscribe", "--bind-to", "none"]
        for options in of_ranks:
            command += ["-np", "1", *options, *words, ":"]
        done = subprocess.run(command[:-1], capture_output=True, text=True, timeout=120, check=False, env={**environment(), **module})
        assert done.returncode == 3 and f"do not agree on {found}" in done.stderr, f"{done.returncode} {done.stderr}"

    differ("NCCL_ALGO: Ring on rank 0; Tree on rank 1; NCCL_DEBUG: WARN on rank 0; not set on rank 1",
           ["-x", "NCCL_ALGO=Ring", "-x", "NCCL_DEBUG=WARN"], ["-x", "NCCL_ALGO=Tree"])
    # The name of a configuration file, and its content in each rank's folder. The environment takes precedence.
    for folder, algo in (("ring", "Ring"), ("tree", "Tree")):
        os.mkdir(trainer.path(folder))
        with open(trainer.path(f"{folder}/nccl.conf"), "w", encoding="ascii") as file:
            file.write(f"# of the site\nNCCL_ALGO={algo}\nNCCL_DEBUG=TRACE {folder}\n")
    settings = ["-x", "NCCL_CONF_FILE=nccl.conf", "-x", "NCCL_DEBUG=WARN"]
    differ("NCCL_ALGO: Ring on rank 0; Tree on rank 1\n", *(["-wdir", trainer.path(folder), *settings] for folder in ("ring", "tree")))
    chosen, _ = kind("file", 2, [], NCCL_CONF_FILE=trainer.path("ring/nccl.conf"), NCCL_DEBUG="WARN")
    assert (chosen["settings"]["NCCL_ALGO"], chosen["settings"]["NCCL_DEBUG"]) == ("Ring", "WARN"), chosen


def injected(trainer, module):
    """Bits that flip on devices, or between them, are found like those of the host."""
    for ranks, more, fault, words in ((2, [], f"message:{WEIGHT}@3:0", "that rank 1 sent to rank 0"),
                                      (3, ["--zero", 2], f"message:{WEIGHT}@3:0", "that rank 1 sent to rank 0"),
                                      (2, [], f"gradient:{WEIGHT}@3:1", "rank 1: this rank's bits are wrong"),
                                      (3, [], f"weight:{WEIGHT}@3:2", "rank 2: this rank's bits are wrong"),
                                      (3, ["--zero", 3], f"weight:{WEIGHT}@3:1", "rank 1: this rank's bits are wrong"),
                                      (2, [], f"momentum:{WEIGHT}@3", "this rank's bits are wrong")):
        _, err = trainer.run(ranks, [*SMALL, *STEPS, *shared(ranks), *NCCL, *more, "--inject", fault], expect=CORRUPTED, env=module)
        assert words in err, f"{fault}: {err}"


def failures(trainer, module):
    """A link that fails: exit code 74, before anything else is waited for."""
    for ranks, fault, timeout, words in (
            (2, "hang-init:1", 3, ("connection of devices", "all ranks have arrived, but it did not complete within 3 s")),
            (3, "leave:1:4", 60, ("scatter of partial sums of ", ": rank 1 is gone", "calls of this rank: ")),
            (3, "hang:2:4", 3, ("scatter of partial sums of ", "all ranks have arrived, but it did not complete within 3 s")),
            (2, "error:0:5", 60, ("rank 0: call ", "gather of slices of ", "the device is gone, as the test wants it"))):
        begin = time.time()
        _, err = trainer.run(ranks, [*SMALL, *STEPS, *shared(ranks), *NCCL, "--comm-timeout", timeout], expect=IO,
                             env={**module, "HOST_DEVICE_EXCHANGE": fault})
        took = time.time() - begin
        print(f"{fault}: ended after {took:.1f} s", flush=True)
        assert all(word in err for word in words) and took < 30, f"{fault}, {took:.1f} s: {err}"


def killed(trainer, module, sign, expect):
    """Standard error of a training in which one rank is killed, or stopped, during the steps."""
    folder = trainer.path(signal.Signals(sign).name)
    process = trainer.start(3, [*SMALL, *shared(3), *NCCL, "--steps", 100000, "--comm-timeout", 4, "--run-dir", folder], env=module)
    wait_for_step(process, folder, 20)
    ranks = ranks_of(process.pid)
    begin = time.time()
    os.kill(ranks[1], sign)
    _, err = process.communicate(timeout=60)
    while any(os.path.exists(f"/proc/{rank}") for rank in ranks) and time.time() < begin + 30:
        time.sleep(0.1)  # mpirun may end before its ranks
    took = time.time() - begin
    print(f"{signal.Signals(sign).name}: exit {process.returncode} after {took:.1f} s", flush=True)
    assert process.returncode in expect and took < 30, f"{process.returncode}, {took:.1f} s: {err}"
    return err


with Trainer(os.path.abspath(sys.argv[1])) as the_trainer:
    the_module = {"DTSUBMIT_PLUGIN_PATH": os.path.dirname(os.path.abspath(sys.argv[2]))}
    choices(the_trainer, the_module)
    failures(the_trainer, the_module)
    injected(the_trainer, the_module)
    killed(the_trainer, the_module, signal.SIGKILL, (137, IO))
    assert "within 4 s" in (said := killed(the_trainer, the_module, signal.SIGSTOP, (IO,))), said
    layouts(the_trainer, the_module)
