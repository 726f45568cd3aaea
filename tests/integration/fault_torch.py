#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A PyTorch program with checkpoints of its own, for faults.py: fault_torch.py STEPS EVERY DELAY.

All ranks add up whole numbers over Gloo, so the digest is known without training (digest_after). DELAY: milliseconds by which a step is
longer in attempt 1. `fault_torch.py squat COMMAND...`: in attempt 1, a child of rank 0 takes MASTER_PORT, then the command starts."""
import hashlib
import json
import os
import signal
import socket
import sys
import time

from contract import CHECKPOINTED, NO_RESTART

WIDTH = 8


def contribution(step, rank):
    return [(step * 7919 + rank * 104729 + i * 31) % 10007 for i in range(WIDTH)]


def advance(weights, total):
    return [(weight * 3 + more) % 2147483647 for weight, more in zip(weights, total)]


def digest(weights):
    return hashlib.sha256(json.dumps(weights).encode()).hexdigest()[:16]


def digest_after(steps, ranks):
    """The digest of an undisturbed training."""
    weights = [0] * WIDTH
    for step in range(1, steps + 1):
        weights = advance(weights, [sum(column) for column in zip(*(contribution(step, rank) for rank in range(ranks)))])
    return digest(weights)


def save(folder, step, weights, attempt):
    with open(folder + "/fence") as file:
        if int(file.read()) > attempt:
            print("a newer attempt owns", folder, flush=True)
            sys.exit(NO_RESTART)
    temporary = f"{folder}/.tmp.{os.getpid()}"
    with open(temporary, "w") as file:
        json.dump({"step": step, "weights": weights, "digest": digest(weights)}, file)
        file.flush()
        os.fsync(file.fileno())
    os.rename(temporary, f"{folder}/step-{step:09}")


def load(folder):
    """(step, weights) of the newest whole checkpoint."""
    for name in sorted((name for name in os.listdir(folder) if name.startswith("step-")), reverse=True):
        try:
            with open(f"{folder}/{name}") as file:
                there = json.load(file)
            if digest(there["weights"]) == there["digest"]:
                return there["step"], there["weights"]
        except (ValueError, KeyError):
            pass
        print(name, "refused", flush=True)
    return 0, [0] * WIDTH


def squat():
    """Takes the port until the process is killed."""
    told, tell = os.pipe()
    if os.fork() == 0:
        with socket.socket() as thief:
            thief.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # the port has been in use until a moment ago
            thief.bind(("", int(os.environ["MASTER_PORT"])))
            thief.listen()
            os.write(tell, b".")
            time.sleep(3600)
    os.close(tell)
    if not os.read(told, 1):
        sys.exit("the port could not be taken")


def main(steps, every, delay):
    stop = []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    attempt, folder = int(os.environ["DTSUBMIT_ATTEMPT"]), os.environ["DTSUBMIT_CHECKPOINT_DIR"]
    import torch
    import torch.distributed as dist
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method="env://")
    rank = dist.get_rank()
    step, weights = load(folder)
    metrics = open(os.environ["DTSUBMIT_RUN_DIR"] + "/metrics.jsonl", "a")

    page = os.open(os.environ["DTSUBMIT_BEAT"], os.O_WRONLY)

    def tell(event):
        os.pwrite(page, step.to_bytes(8, sys.byteorder), 0)
        if rank == 0:
            metrics.write(json.dumps({"event": event, "attempt": attempt, "step": step, "digest": digest(weights)}) + "\n")
            metrics.flush()

    tell("start")
    while step < steps:
        time.sleep(delay / 1000 if attempt == 1 else 0)
        total = torch.tensor(contribution(step + 1, rank) + [len(stop)])
        dist.all_reduce(total)
        *total, stopping = total.tolist()
        step, weights = step + 1, advance(weights, total)
        tell("step")
        if rank == 0 and (step % every == 0 or stopping):
            save(folder, step, weights, attempt)
        if stopping:
            dist.barrier()
            sys.exit(CHECKPOINTED)
    dist.barrier()


if __name__ == "__main__":
    if sys.argv[1] == "squat":
        if os.environ["DTSUBMIT_ATTEMPT"] == "1" and os.environ["RANK"] == "0":
            squat()
        os.execvp(sys.argv[2], sys.argv[2:])
    main(*map(int, sys.argv[1:4]))
