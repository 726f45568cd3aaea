# SPDX-License-Identifier: Apache-2.0
"""The trainer's all-reduce through memory against MPI_Allreduce and Gloo, in turn on the same machine.

Usage: all_reduce.py BENCH_ALL_REDUCE [WINDOWS]

With as many ranks as there are cores, and with twice as many, which is another matter: then whoever waits has to sleep.
Ours and MPI's calls alternate in the same processes; Gloo's run in a window after each of theirs."""

import os
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
from trainer_support import environment, skip  # noqa: E402
from train_throughput import processor  # noqa: E402

SIZES = [1 << 20, 4 << 20, 16 << 20, 64 << 20]
CALLS = 31


def gloo_rank(rank, ranks, port):
    import torch
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", rank=rank, world_size=ranks)
    for size in SIZES:
        times = []
        for _ in range(CALLS + 1):  # the first warms up
            values = torch.full((size // 4,), float(rank))
            torch.distributed.barrier()
            start = time.perf_counter()
            torch.distributed.all_reduce(values)
            times.append(time.perf_counter() - start)
        slowest = torch.tensor(times[1:], dtype=torch.float64)
        torch.distributed.all_reduce(slowest, torch.distributed.ReduceOp.MAX)
        if rank == 0:
            print(size, slowest.median().item(), slowest.min().item())


def gloo(ranks):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = [sys.executable, os.path.abspath(__file__), "--gloo"]
    workers = [subprocess.Popen([*words, str(rank), str(ranks), str(port)], env=environment(), stdout=subprocess.PIPE, text=True)
               for rank in range(ranks)]
    outs = [worker.communicate(timeout=300)[0] for worker in workers]
    assert all(worker.returncode == 0 for worker in workers), "a rank of Gloo failed"
    return outs[0]


def ours(program, ranks):
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]
    done = subprocess.run([*launcher, program, "shm", str(CALLS), *map(str, SIZES)], env=environment(), capture_output=True,
                          text=True, timeout=300, check=True)
    return done.stdout


def rows(text):
    for line in text.splitlines():
        size, *values = line.split()
        yield int(size), [float(value) for value in values]


def compare(program, ranks, windows):
    medians = {size: ([], [], []) for size in SIZES}  # ours, MPI's, Gloo's
    bests = {size: ([], [], []) for size in SIZES}
    for _ in range(windows):
        for size, (us, mpi, us_best, mpi_best) in rows(ours(program, ranks)):
            for to, values in ((medians, (us, mpi)), (bests, (us_best, mpi_best))):
                for column, value in zip(to[size], values):
                    column.append(value)
        for size, (middle, best) in rows(gloo(ranks)):
            medians[size][2].append(middle)
            bests[size][2].append(best)
    kind = "a core each" if ranks <= os.cpu_count() else "oversubscribed"
    print(f"\n{ranks} ranks, {kind}; {windows} windows of {CALLS} calls; load {os.getloadavg()[0]:.1f}")
    print(f"{'MiB':>4}{'ours':>12}{'MPI':>12}{'Gloo':>12}{'MPI/ours':>10}{'Gloo/ours':>10}   best calls:{'MPI/ours':>9}{'Gloo/ours':>10}")
    for size in SIZES:
        us, mpi, theirs = map(statistics.median, medians[size])
        best = list(map(min, bests[size]))
        print(f"{size >> 20:>4}{us * 1e3:>9.2f} ms{mpi * 1e3:>9.2f} ms{theirs * 1e3:>9.2f} ms{mpi / us:>10.2f}{theirs / us:>10.2f}"
              f"{'':>14}{best[1] / best[0]:>9.2f}{best[2] / best[0]:>10.2f}", flush=True)


def main():
    if sys.argv[1] == "--gloo":
        return gloo_rank(*map(int, sys.argv[2:5]))
    try:
        import torch  # noqa: F401
    except ImportError as error:
        skip(f"{sys.executable} cannot import PyTorch, which has Gloo: {error}")
    windows = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    cores = os.cpu_count()
    print(f"all-reduce of floats on {processor()}; medians")
    for ranks in (max(2, cores), 2 * max(2, cores)):
        compare(sys.argv[1], ranks, windows)
    return None


if __name__ == "__main__":
    main()
