# SPDX-License-Identifier: Apache-2.0
"""Training throughput of dttrain against PyTorch on the same model, batch and data.

Usage: train_throughput.py DTTRAIN [--windows N] [--batch B] [--modes MODE,...] [--precisions P,...]

Ours and theirs run in turn, a process each a window, and only steps after the first few are timed: medians,
and their ratio. PyTorch's input is in memory and already normalised; ours reads bytes and normalises, and checks and
digests every step. MODE is eager or compile, with +channels_last or without; the best of them counts. compile needs
PyTorch 2, such as that of PyPI: run this with its Python. P is fp32 or bf16, which is PyTorch's autocast; both, where
the processor has instructions for bf16."""

import argparse
import os
import socket
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "integration"))
from trainer_support import Trainer, environment, events, has_bf16, skip  # noqa: E402

STEPS = 40
WARM = 10  # steps not timed
MODES = ("eager", "eager+channels_last", "compile", "compile+channels_last")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as info:
        name = next(line.split(":")[1].strip() for line in info if line.startswith("model name"))
    return f"{name}, {os.cpu_count()} cores"


def ours(trainer, ranks, threads, batch, precision, name):
    """Images a second: the median over steps of all ranks together."""
    run = trainer.path(name)
    trainer.run(ranks if ranks > 1 else 0, ["--steps", STEPS, "--batch", batch, "--precision", precision, "--run-dir", run],
                threads)
    steps = events(run, "step")[WARM:]
    return batch / statistics.median(step["seconds"] for step in steps)


def theirs_worker(mode, precision, rank, ranks, threads, batch, port):
    import torch
    import trainer_cnn2
    layout = torch.channels_last if mode.endswith("channels_last") else torch.contiguous_format
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = trainer_cnn2.Cnn2().to(memory_format=layout)
    if ranks > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
        torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
        model = torch.nn.parallel.DistributedDataParallel(model)
    if mode.startswith("compile"):
        model = torch.compile(model)
    images, labels = trainer_cnn2.load("t10k")
    images = images.contiguous(memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    share = batch // ranks
    seconds = []
    for step in range(STEPS):
        start = time.perf_counter()
        chosen = torch.randint(len(images), (share,))
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=precision == "bf16"):
            logits = model(images[chosen])
        torch.nn.functional.cross_entropy(logits.float(), labels[chosen]).backward()
        optimizer.step()
        seconds.append(time.perf_counter() - start)
    print(batch / statistics.median(seconds[WARM:]))


def theirs(mode, precision, ranks, threads, batch):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, os.path.abspath(__file__), "--worker", mode, precision]
    workers = [subprocess.Popen(command + [str(v) for v in (rank, ranks, threads, batch, port)], text=True,
                                stdout=subprocess.PIPE, env=environment(threads)) for rank in range(ranks)]
    rates = [float(worker.communicate(timeout=600)[0].split()[-1]) for worker in workers]
    return min(rates)


def compare(trainer, ranks, threads, precision, options, modes):
    rows = []
    for window in range(options.windows):
        rows.append([ours(trainer, ranks, threads, options.batch, precision, f"{precision}-{ranks}x{threads}-{window}"),
                     *(theirs(mode, precision, ranks, threads, options.batch) for mode in modes)])
    us, *them = (statistics.median(column) for column in zip(*rows))
    print(f"{f'{ranks} ranks x {threads} threads, {precision}':<28}{us:>8.0f}/s" + "".join(f"{rate:>21.0f}/s" for rate in them) + f"{us / max(them):>8.2f}",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--windows", type=int, default=10)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--modes")
    parser.add_argument("--precisions")
    options = parser.parse_args()
    try:
        import torch
    except ImportError as error:
        skip(f"no PyTorch to compare with: {error}")
    modes = options.modes.split(",") if options.modes else MODES if hasattr(torch, "compile") else MODES[:2]
    print(f"{processor()}; cnn2, batch {options.batch}; PyTorch {torch.__version__}; "
          f"medians of {options.windows} interleaved windows of {STEPS - WARM} steps; load {os.getloadavg()[0]:.1f}")
    print(f"{'layout':<28}{'dttrain':>10}" + "".join(f"{mode:>23}" for mode in modes) + f"{'ratio':>8}")
    with Trainer(options.program) as trainer:
        for ranks, threads in ((1, 2), (2, 1)):
            for precision in options.precisions.split(",") if options.precisions else ("fp32", "bf16") if has_bf16() else ("fp32",):
                compare(trainer, ranks, threads, precision, options, modes)
        sixteen = [ours(trainer, 16, 1, options.batch, "fp32", f"16x1-{i}") for i in range(3)]
        print(f"{'16 ranks x 1 thread, fp32':<28}{statistics.median(sixteen):>8.0f}/s")


if __name__ == "__main__":
    if "--worker" in sys.argv:
        theirs_worker(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:9]))
    else:
        main()
