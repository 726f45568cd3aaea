#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of MPICH under its own launcher and under srun --mpi=pmi2: mpich.py mpiexec|srun linuxproc|cgroup, or
mpich.py refused. DTS_MPICH: a folder whose bin/ has another mpicc and mpiexec (Intel MPI, MVAPICH)."""
import glob
import os
import shutil
import signal
import subprocess
import sys

from checks import check, skip, wait_for
from main_job_support import Cluster, own_shared_memory
from nodes import events, lose

# Steps of 50 ms, each with an Allreduce, up to argv[1]. SIGTERM reaches ranks at different moments, so they agree on when to stop.
PROGRAM = r"""#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static volatile sig_atomic_t asked;
static void on_term(int signal) { asked = signal; }
int main(int argc, char** argv) {
  int rank, size, one = 1, sum = 0, step = 0, stop = 0;
  char path[4096], temporary[4100], metrics[4096];
  signal(SIGTERM, on_term);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  snprintf(path, sizeof path, "%s/step", getenv("DTSUBMIT_CHECKPOINT_DIR"));
  snprintf(metrics, sizeof metrics, "%s/metrics.jsonl", getenv("DTSUBMIT_RUN_DIR"));
  FILE* file = fopen(path, "r");
  if (file) { if (fscanf(file, "%d", &step) != 1) return 1; fclose(file); }
  printf("rank %d of %d, sum %d, RANK %s, from step %d\n", rank, size, sum, getenv("RANK"), step);
  fflush(stdout);
  while (step < atoi(argv[1]) && !stop) {
    int mine = asked != 0;
    usleep(50000);
    MPI_Allreduce(&mine, &stop, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    ++step;
    if (rank == 0) {
      snprintf(temporary, sizeof temporary, "%s.new", path);
      file = fopen(temporary, "w");
      fprintf(file, "%d\n", step);
      fclose(file);
      rename(temporary, path);
      file = fopen(metrics, "a");
      fprintf(file, "{\"event\": \"step\", \"attempt\": %s, \"step\": %d}\n", getenv("DTSUBMIT_ATTEMPT"), step);
      fclose(file);
    }
  }
  printf("ends after step %d\n", step);
  MPI_Finalize();
  return stop ? 85 : 0;
}
"""
STEPS = 120


def build(place):
    folder = os.environ.get("DTS_MPICH")
    if folder:
        os.environ["PATH"] = f"{folder}/bin:{os.environ['PATH']}"
    compiler = shutil.which(folder + "/bin/mpicc" if folder else "mpicc.mpich")
    if not compiler:
        skip("no mpicc.mpich (Debian: apt install mpich libmpich-dev), and DTS_MPICH names no other")
    with open(place + "/program.c", "w") as file:
        file.write(PROGRAM)
    subprocess.run([compiler, place + "/program.c", "-o", place + "/program"], check=True)
    return place + "/program"


class Ground:
    def __init__(self, cluster, launcher, sees_segments):
        self.cluster, self.launcher, self.sees_segments = cluster, launcher, sees_segments
        self.program = build(cluster.place)

    def submit(self, *options, steps=STEPS, nodes=2, more=()):
        run = self.cluster.submit("-p", "low", "--nodes", str(nodes), "--gpus-per-node", "0", "--ntasks-per-node", "2", "--launcher",
                                  self.launcher, *options, "--", self.program, str(steps), *more)
        self.size = 2 * nodes
        return run

    def said(self, run, attempt):
        return [open(path).read() for path in sorted(glob.glob(f"{run.path}/attempt-{attempt}/rank-*.log"))]

    def check_world(self, run, attempt):
        logs = self.said(run, attempt)
        words = [f"rank {r} of {self.size}, sum {self.size}, RANK {r}, " for r in range(self.size)]
        check([log[:len(w)] for log, w in zip(logs, words)] == words and len(logs) == self.size, f"attempt {attempt}: one world of {self.size}")

    def check_end(self, run, attempts, decision="done", with_segments=True):
        status = run.finish(120)
        check(len(events(run, "attempt_started")) == attempts, f"{attempts} attempts")
        check(events(run, "decided")[-1]["decision"] == decision, f"the last decision is {decision}")
        for attempt in range(1, attempts + 1):
            self.check_world(run, attempt)
        wait_for(30, "no process is left", lambda: not run.processes())
        if with_segments and self.sees_segments:
            wait_for(30, "no segment is left", lambda: not os.listdir("/dev/shm"))
        return status

    def kill(self, run, wanted):
        """Sends SIGKILL to a process that `wanted` accepts, on n1 if there are some on both nodes."""
        pids = sorted(pid for pid, argv in run.processes() if wanted(os.path.basename(argv[0]), argv))
        check(pids, "there is one to kill")
        # An srun has a child with the same name, whose end does not matter.
        os.kill(pids[0 if wanted("srun", ["srun", "rank"]) else -1], signal.SIGKILL)


def undisturbed(ground):
    run = ground.submit(steps=5, more=["x" * 1000] * 200)  # more than Hydra can take on its command line
    ground.check_end(run, 1)


def preempted(ground):
    for nodes in (2, 1):
        run = ground.submit(nodes=nodes)
        run.reach_step(20)
        ground.cluster.take_nodes(3, 0)
        status = ground.check_end(run, 2)
        ended = events(run, "attempt_ended")[0]
        check(ended["cause"] == "preempted", f"on {nodes} nodes: preempted")
        check(status["steps_lost"] == 0, "no step is lost")


def stopped(ground):
    run = ground.submit()
    run.reach_step(20)
    ground.cluster.dtsubmit("stop", run.path)
    ground.check_end(run, 1, "stop")
    check(all("ends after step" in log for log in ground.said(run, 1)), "every rank saved and ended")


def killed(ground):
    is_launcher = {"mpiexec": lambda name, argv: name.startswith("mpiexec"), "srun": lambda name, argv: name == "srun" and "rank" in argv}
    victims = {"program": lambda name, argv: name == "program",
               "rank": lambda name, argv: name == "dtsubmit" and argv[1] == "rank",
               "launcher": is_launcher[ground.launcher]}
    if ground.launcher == "mpiexec":
        victims["proxy"] = lambda name, argv: name == "hydra_pmi_proxy"
        victims["its parent"] = lambda name, argv: name == "dtsubmit" and argv[1] == "hydra"
    for name, wanted in victims.items():
        run = ground.submit("--on", "user_exit=restart")
        run.reach_step(20)
        ground.kill(run, wanted)
        ground.check_end(run, 2)
        print(name, events(run, "attempt_ended")[0], flush=True)


def node_lost(ground):
    """Comes last, since the node stays lost."""
    run = ground.submit("--spares", "1")
    run.reach_step(20)
    first = events(run, "attempt_started")[0]["nodes"]
    lose(ground.cluster, first[-1])
    ground.check_end(run, 2, with_segments=False)  # the memory of a lost node is lost with it; here it is this machine's
    again = events(run, "attempt_started")[1]
    check(first[-1] not in again["nodes"] and again["job"] == run.job, f"{first[-1]} lost: from {first} to {again['nodes']} in the same job")


CELLS = [undisturbed, preempted, stopped, killed, node_lost]


def refused():
    """The launcher of another MPI would start each rank as a world of its own and is refused; `auto` chooses the right one."""
    with Cluster("linuxproc", 2, 0, 20) as cluster:
        program = build(cluster.place)
        options = ["-p", "low", "--nodes", "2", "--gpus-per-node", "0", "--ntasks-per-node", "2"]
        run = cluster.submit(*options, "--launcher", "mpirun", "--", "env", "A=b", program, "3")
        run.finish(60)
        ended = events(run, "attempt_ended")[-1]
        check("each rank would be a world of one" in ended["detail"] and "libmpi" in ended["detail"], ended["detail"])
        run = cluster.submit(*options, "--launcher", "srun", "--mpi", "none", "--", program, "3")
        run.finish(60)
        check("of 1, sum 1" in open(run.path + "/attempt-1/rank-0.log").read(), "what a user asks for by --mpi is done")
        for asked, words in (("auto", "linked with libmpi"), ("srun", "srun --mpi=pmi2")):
            run = cluster.submit(*options, "--launcher", asked, "--", program, "3")
            run.finish(60)
            log = open(run.path + "/attempt-1/agent.log").read()
            check(words in log, f"{asked}: the agent's log says `{words}`")
            check("of 4, sum 4" in open(run.path + "/attempt-1/rank-0.log").read(), "one world of 4")


def main(launcher, flavour="linuxproc", only=""):
    if launcher == "refused":
        return refused()
    sees_segments = own_shared_memory()
    with Cluster(flavour, 3, 0, 20) as cluster:
        ground = Ground(cluster, launcher, sees_segments)
        for cell in CELLS:
            if not only or cell.__name__ == only:
                print(f"--- {cell.__name__}", flush=True)
                cell(ground)


if __name__ == "__main__":
    main(*sys.argv[1:])
