# SPDX-License-Identifier: Apache-2.0
"""Launches and ends that a launcher misreports, on a private real Slurm: launch_faults.py LAUNCHER [CELL].

unmounted  a node does not see the run directory    late       it sees it some seconds later
no_dtsubmit  a node has no dtsubmit
full_tmp   nothing can be written to /tmp of a node
refuses    the slurmd of a node starts no step: it cannot write where it keeps its state
no_library a node has dtsubmit without lib/dtsubmit  no_program a node does not have the user's program
mpi_abort  MPI_Abort(17) by one rank        mpi_init   MPI_Init fails, of which mpirun alone says why
"""
import contextlib
import os
import shutil
import subprocess
import sys
import time

from checks import check, skip
from main_job_support import Cluster, DTSUBMIT
from nodes import events, slurmd

ABORTS = """#include <mpi.h>
#include <unistd.h>
int main(int argc, char** argv) {
  int rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) MPI_Abort(MPI_COMM_WORLD, 17);
  sleep(100);
  return 0;
}
"""


@contextlib.contextmanager
def hidden(cluster, node, folder, options="size=64k"):
    """The node sees an empty folder there, as where a share is not mounted."""
    enter = ["nsenter", f"--mount=/proc/{slurmd(cluster, node)}/ns/mnt"]
    subprocess.run([*enter, "mount", "-t", "tmpfs", "-o", options, "tmpfs", folder], check=True)
    try:
        yield
    finally:
        subprocess.run([*enter, "umount", "-l", folder], check=True)




def comes_back_without_n1(cluster, run, words, most):
    began = time.time()
    run.finish(200)
    first = events(run, "attempt_ended")[0]
    print(first, f"{time.time() - began:.1f} s", flush=True)
    check(first["cause"] == "launch_failed" and first.get("node") == "n1", "the first launch failed, on n1")
    check(words in first["detail"], f"it says `{words}`")
    started = events(run, "attempt_started")
    check(len(started) == 2 and "n1" in started[0]["nodes"] and "n1" not in started[1]["nodes"], "the second attempt does without n1")
    check(events(run, "decided")[-1]["decision"] == "done", "and completes")
    check(time.time() - began < most, f"within {most} s")


def job(cluster, launcher, *program):
    os.makedirs(cluster.runs, exist_ok=True)
    return cluster.submit("-p", "low", "--nodes", "2", "--gpus-per-node", "0", "--ntasks-per-node", "2", "--launcher", launcher, "--", *program)


def unmounted(cluster, launcher):
    os.makedirs(cluster.runs, exist_ok=True)
    with hidden(cluster, "n1", cluster.runs):
        comes_back_without_n1(cluster, job(cluster, launcher, "sh", "-c", "sleep 1"), "cannot read", 60)


def late(cluster, launcher):
    os.makedirs(cluster.runs, exist_ok=True)
    with hidden(cluster, "n1", cluster.runs):
        run = job(cluster, launcher, "sh", "-c", "sleep 1")
        time.sleep(9)
    run.finish(60)
    ended = events(run, "attempt_ended")
    print(ended, flush=True)
    check(len(ended) == 1 and ended[0]["cause"] == "completed", "the first attempt waits for it")


def no_dtsubmit(cluster, launcher):
    with hidden(cluster, "n1", os.path.dirname(DTSUBMIT)):
        comes_back_without_n1(cluster, job(cluster, launcher, "sh", "-c", "sleep 1"), "cannot run", 60)


def full_tmp(cluster, launcher):
    place = cluster.environment["TMPDIR"] = cluster.place + "/tmp"
    os.makedirs(place)
    with hidden(cluster, "n1", place, "nr_inodes=1"):
        run = job(cluster, launcher, "sh", "-c", "sleep 1")
        if launcher == "mpirun":
            comes_back_without_n1(cluster, run, f"cannot write to {place}", 60)
        else:  # which needs no room there
            check(run.finish(120)["done"], "srun starts ranks there nevertheless")
    del cluster.environment["TMPDIR"]


def refuses(cluster, launcher):
    with hidden(cluster, "n1", cluster.folder + "/spool"):
        comes_back_without_n1(cluster, job(cluster, launcher, "sh", "-c", "sleep 1"), "starts no task: ", 60)


def no_library(cluster, launcher):
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(DTSUBMIT))), "lib/dtsubmit")
    with hidden(cluster, "n1", library):
        comes_back_without_n1(cluster, job(cluster, launcher, "sh", "-c", "sleep 1"), "no program", 60)


def no_program(cluster, launcher):
    place = cluster.place + "/bin"
    os.makedirs(place)
    shutil.copy("/bin/sleep", place + "/doze")
    with hidden(cluster, "n1", place):
        comes_back_without_n1(cluster, job(cluster, launcher, place + "/doze", "1"), "no program", 60)


def aborts(cluster):
    source, program = cluster.place + "/abort.c", cluster.place + "/abort"
    with open(source, "w") as file:
        file.write(ABORTS)
    subprocess.run(["mpicc", source, "-o", program], check=True)
    return program


def mpi_init(cluster, launcher):
    run = job(cluster, launcher, "env", "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self", aborts(cluster))
    run.finish(120)
    ended = events(run, "attempt_ended")[0]
    print(ended, flush=True)
    check(ended["cause"] == "rendezvous" and "An error occurred in MPI_Init" in ended["detail"], "the cause is MPI_Init")
    check(not any(e.get("exclude") for e in run.ledger()), "it is the same on both nodes, of which none is avoided")
    check("MPI_ERRORS_ARE_FATAL" in cluster.dtsubmit("why", run.path).stdout, "why has the words of Open MPI")


def mpi_abort(cluster, launcher):
    run = job(cluster, launcher, aborts(cluster))
    run.finish(120)
    print(run.ledger()[-2:], flush=True)
    ended = events(run, "attempt_ended")
    check(len(ended) == 1, "one attempt")
    check(ended[0]["cause"] == "user_exit" and ended[0]["exit_code"] == 17, "the program's own failure, with its code")
    check(launcher == "mpirun" or ended[0].get("rank") == 2, "of the rank that aborted")


CELLS = [unmounted, late, no_dtsubmit, full_tmp, refuses, no_library, no_program, mpi_init, mpi_abort]


def main(launcher, only=""):
    if os.geteuid() != 0:
        skip("needs root, to change what one node sees of the file system")
    wanted = [cell for cell in CELLS if not only or cell.__name__ == only]
    wrong = []
    with Cluster("linuxproc", 3, 0, 20) as cluster:
        for cell in wanted:
            # The strikes of one cell against n1 must not affect the next cell.
            shutil.rmtree(cluster.place + "/state", ignore_errors=True)
            try:
                cell(cluster, launcher)
            except AssertionError as error:
                wrong.append(f"{cell.__name__}: {error}")
                print("WRONG", wrong[-1], flush=True)
                cluster.print_logs()
                cluster.run("scancel", "-u", str(os.geteuid()), code=None)
    check(not wrong, f"all cells as they should be: {wrong}")


if __name__ == "__main__":
    main(*sys.argv[1:])
