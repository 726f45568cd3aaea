#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The main job on a private real Slurm: main_job.py SCENARIO linuxproc|cgroup [openmpi5].

DTS_REPEAT: how often `preempt` preempts (2; with 10, this checks the claim of ten in ten)."""
import glob
import json
import os
import shutil
import signal
import sys
import time

from main_job_support import DTSUBMIT, DTTRAIN, FEW, Cluster, check, skip, use_open_mpi_5, wait_for

# 100 steps of 4 ranks, long enough to be disturbed half-way.
SHORT = [*FEW, "--steps", "100", "--save-every", "10"]
SLOW = SHORT + ["--step-delay", "40"]
INTERVAL = 10

PROBE = """
import json, os
names = ["RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "NODE_RANK", "MASTER_ADDR", "MASTER_PORT", "DTSUBMIT_DEADLINE", "CUDA_VISIBLE_DEVICES", "SLURMD_NODENAME"]
seen = {name: os.environ.get(name) for name in names}
seen["cpus"] = sorted(os.sched_getaffinity(0))
print(json.dumps(seen))
"""


def layout(flavour):
    """2 nodes x 8 ranks: ranks, GPUs, rendezvous and cores are as planned; one epoch reaches 88 %."""
    with Cluster(flavour, nodes=2, gpus=8, grace=20) as cluster:
        asked = time.time()
        cluster.dtsubmit("--nodes", "2", "--gpus-per-node", "8", "--time", "10", "--wait", "--runs", cluster.runs, "--", "python3", "-c", PROBE)
        run = glob.glob(cluster.runs + "/*")[0]
        seen = [json.loads(open(f"{run}/attempt-1/rank-{r}.log").read()) for r in range(16)]
        check([int(s["RANK"]) for s in seen] == list(range(16)), "16 distinct ranks")
        nodes = sorted({s["SLURMD_NODENAME"] for s in seen})
        check(len(nodes) == 2, "on two nodes")
        for node in nodes:
            here = [s for s in seen if s["SLURMD_NODENAME"] == node]
            check(sorted(int(s["LOCAL_RANK"]) for s in here) == list(range(8)), f"local ranks 0 to 7 on {node}")
            check(len({s["CUDA_VISIBLE_DEVICES"] for s in here}) == 8, f"8 distinct GPUs on {node}")
        first = cluster.run("scontrol", "show", "node", seen[0]["SLURMD_NODENAME"]).stdout
        check({s["MASTER_ADDR"] for s in seen} == {first.split("NodeAddr=")[1].split()[0]}, "MASTER_ADDR is the first node's address")
        low, high = map(int, open("/proc/sys/net/ipv4/ip_local_port_range").read().split())
        ports = {int(s["MASTER_PORT"]) for s in seen}
        check(len(ports) == 1 and not low <= min(ports) <= high, "one MASTER_PORT, outside the ephemeral range")
        deadlines = {int(s["DTSUBMIT_DEADLINE"]) for s in seen}
        check(len(deadlines) == 1 and asked + 590 < min(deadlines) < asked + 700, "one DTSUBMIT_DEADLINE, ten minutes after the start")
        placed = json.load(open(run + "/attempt-1/placement.json"))["ranks"]
        check([p["cpus"] for p in placed] == [s["cpus"] for s in seen], "every rank's cores are as planned")

        cluster.dtsubmit("--nodes", "2", "--gpus-per-node", "8", "--wait", "--runs", cluster.runs)
        status = json.loads(cluster.dtsubmit("status", "last", "--runs", cluster.runs, "--json").stdout)
        check(cluster.job_state(status["job"]) == "COMPLETED", "the trainer's job is COMPLETED")
        check(status["accuracy"] >= 0.88, f"test accuracy {status['accuracy']:.4f} after one epoch")


def preempt_once(cluster, expected, step, *options):
    """A run whose nodes are taken by a job of higher priority at `step`: 0 steps lost, the undisturbed digest."""
    run = cluster.submit("--nodes", "2", "--gpus-per-node", "8", "-p", "low", *options, "--", DTTRAIN, *SLOW)
    run.reach_step(step)
    began = time.time()
    cluster.take_nodes(2, 8)
    wait_for(60, "the requeue", lambda: any(e["event"] == "attempt_ended" for e in run.ledger()))
    saved = time.time() - began
    status = run.finish()
    first = status["attempts"][0]
    check(first["cause"] == "preempted", f"attempt 1 was preempted at step {step}, over after {saved:.1f} s")
    check(status["steps_lost"] == 0, "0 steps lost")
    check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
    check(not run.processes(), "no process of the run is left")


def preempt(flavour):
    """Preempted with a grace time of 20 s: requeued, resumed, 0 steps lost, the undisturbed digest."""
    with Cluster(flavour, nodes=2, gpus=8, grace=20) as cluster:
        expected = cluster.train_alone(*SHORT)
        for round_number in range(int(os.environ.get("DTS_REPEAT", "2"))):
            preempt_once(cluster, expected, 15 + 7 * round_number)


# Variables of a shell below srun and mpirun, or exported by users: none of them may reach the ranks of a job.
LEAKED = {"SLURM_JOB_ID": "77", "SLURM_PROCID": "5", "SLURM_LOCALID": "5", "SLURM_STEP_ID": "3", "SLURM_STEP_NUM_TASKS": "9", "SLURM_NTASKS": "9",
          "SLURM_CPU_BIND": "verbose,mask_cpu:0x1", "SLURM_CPUS_PER_TASK": "7", "SLURM_TRES_PER_TASK": "cpu:5", "SRUN_CPUS_PER_TASK": "6",
          "SLURM_KILL_BAD_EXIT": "0", "SLURM_WAIT": "1", "SLURM_DISTRIBUTION": "cyclic", "SLURM_MULTI_PROG": "1", "SBATCH_NO_REQUEUE": "1",
          "OMPI_COMM_WORLD_RANK": "5", "OMPI_COMM_WORLD_SIZE": "9", "OMPI_COMM_WORLD_LOCAL_RANK": "5", "PMIX_RANK": "5", "PMI_RANK": "5", "PMI_SIZE": "9",
          "MPI_LOCALRANKID": "5", "MPI_LOCALNRANKS": "9",
          "RANK": "5", "WORLD_SIZE": "9"}


def leaks(flavour):
    """A job that is submitted from within other launchers, under each of ours."""
    with Cluster(flavour, nodes=2, gpus=0, grace=20) as cluster:
        cluster.environment.update(LEAKED)
        launchers = ["mpirun", "srun"]
        if shutil.which("mpiexec.hydra"):
            launchers.append("mpiexec")
        else:
            print("without mpiexec: no mpiexec.hydra here (Debian: apt install mpich)")
        for launcher in launchers:
            runs = f"{cluster.runs}-{launcher}"
            cluster.dtsubmit("--nodes", "2", "--ntasks-per-node", "2", "-c", "1", "--launcher", launcher, "--wait", "--runs", runs, "--", "python3", "-c", PROBE)
            seen = [json.loads(open(path).read()) for path in sorted(glob.glob(runs + "/*/attempt-1/rank-*.log"))]
            check([(s["RANK"], s["WORLD_SIZE"], s["LOCAL_RANK"]) for s in seen] == [(str(r), "4", str(r % 2)) for r in range(4)],
                  f"{launcher}: four ranks as planned, whatever the submitter's shell had")


def srun(flavour):
    """The same with srun as the launcher; and a rank that is killed."""
    with Cluster(flavour, nodes=2, gpus=8, grace=20) as cluster:
        types = cluster.run("srun", "--mpi=list")
        if "pmix" not in (types.stdout + types.stderr).split():
            run = cluster.submit("--nodes", "2", "--launcher", "srun", "--", DTTRAIN, *SHORT)
            run.finish()
            detail = run.ledger()[-1]["detail"] + str([e.get("detail") for e in run.ledger() if e["event"] == "attempt_ended"])
            check("srun has no --mpi type for libmpi" in detail, f"refused before a rank starts: {detail}")
            skip("srun offers no pmix here, so it starts no program of Open MPI")
        expected = cluster.train_alone(*SHORT)
        preempt_once(cluster, expected, 15, "--launcher", "srun")
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--launcher", "srun", "--", DTTRAIN, *SLOW)
        run.reach_step(25)
        run.kill("rank")
        status = run.finish()
        check(status["attempts"][0]["cause"] == "rank_killed", "kill -9 of a rank under srun: cause rank_killed")
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
        check(not run.processes(), "no process of the run is left")


def kills(flavour):
    """kill -9 of a program, of its rank process, of mpirun, of the agent, of its guard."""
    with Cluster(flavour, nodes=2, gpus=2, grace=20) as cluster:
        expected = cluster.train_alone(*SHORT)
        for what, cause, *options in (("program", "rank_killed"), ("rank", "rank_killed"), ("mpirun", "launcher_died"), ("agent", "agent_lost"),
                                      ("guard", "agent_lost"), ("guard", "agent_lost", "--no-requeue")):
            run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "-p", "low", *options, "--", DTTRAIN, *SLOW)
            run.reach_step(25)
            run.kill(what)
            if options:
                wait_for(60, "the job's end", lambda: cluster.job_state(run.job) == "FAILED")
                told = cluster.dtsubmit("status", run.path).stdout
                check("      1  unknown " in told, f"an attempt of a job that is over does not run: {told}")
                cluster.dtsubmit("requeue", str(run.job), "--runs", cluster.runs)
                run.job = run.status()["job"]
            status = run.finish()
            if what == "guard" and not options:
                check([e["detail"] for e in run.ledger() if e["event"] == "requeued"] == ["its batch process was killed"], f"the job came back: {run.ledger()}")
            first = status["attempts"][0]
            # Whichever process notices first names the cause; a dead mpirun takes ranks with it.
            check(first["cause"] in (cause, "rank_killed"), f"kill -9 of {what}: cause {first['cause']}")
            if what == "agent":
                check("took over in the same job" in first["detail"], f"the next agent: {first['detail']}")
                check("Restarts=0" in cluster.run("scontrol", "show", "job", str(run.job)).stdout, "the job was not requeued")
            check(status["steps_lost"] <= INTERVAL, f"{status['steps_lost']} steps lost, at most {INTERVAL}")
            check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
            check(not run.processes(), "no process of the run is left")


def slurmd(flavour):
    """kill -9 of a node's slurmd: the node goes down, the run continues elsewhere; then a bad checkpoint."""
    with Cluster(flavour, nodes=3, gpus=2, grace=20) as cluster:
        expected = cluster.train_alone(*SHORT)
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "-p", "low", "--", DTTRAIN, *SHORT, "--step-delay", "900")
        run.reach_step(12)
        node = next(e["nodes"][1] for e in run.ledger() if e["event"] == "attempt_started")
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                argv = open(f"/proc/{name}/cmdline", errors="replace").read().split("\0")
            except OSError:
                continue
            if os.path.basename(argv[0]) == "slurmd" and node in argv and any(a.startswith(cluster.folder) for a in argv):
                os.kill(int(name), signal.SIGKILL)
        status = run.finish(500)
        causes = [a["cause"] for a in status["attempts"]]
        check(causes[-1] == "completed", f"slurmd of {node} killed: attempts ended by {causes}")
        check(status["steps_lost"] <= INTERVAL, f"{status['steps_lost']} steps lost, at most {INTERVAL}")
        check(status["digest"] == expected, f"digest {expected} as undisturbed")


def refusals(flavour):
    """Bad input: the right exit code, advice, and nothing left behind."""
    with Cluster(flavour, nodes=2, gpus=8, grace=20) as cluster:
        def refused(code, words, *options, environment=None):
            saved = dict(cluster.environment)
            cluster.environment.update(environment or {})
            result = cluster.dtsubmit("submit", "--runs", cluster.runs, *options, code=code)
            cluster.environment = saved
            for word in words:
                check(word in result.stderr, f"{' '.join(options)}: exit {code}, says `{word}`")
            check(not os.path.isdir(cluster.runs) or not os.listdir(cluster.runs), "nothing is left behind")

        refused(3, ["--partition", "low", "high"], "-p", "lwo", "--", "true")
        refused(3, ["at least 1"], "--nodes", "0", "--", "true")
        refused(3, ["9", "8"], "--gpus-per-node", "9", "--", "true")
        refused(3, ["--nodes"], "--nodes", "3", "--", "true")
        refused(2, ["`--nodes`"], "--node", "2", "--", "true")
        refused(4, ["dtsubmit cluster up"], "--", "true", environment={"SLURM_CONF": cluster.place + "/absent.conf"})
        refused(5, ["account"], "-A", "nosuch", "--", "true") if has_accounting(cluster) else print("note: no accounting, so no account is refused")

        data = cluster.place + "/unreadable"
        os.mkdir(data)
        result = cluster.dtsubmit("--runs", cluster.runs, "--wait", "--", DTTRAIN, "--data", data, code=3)
        log = open(glob.glob(cluster.runs + "/*/attempt-1/rank-0.log")[0]).read()
        check(data in log, "unreadable data: exit 3, the log names the folder")
        check("user_exit" in result.stderr, "and the cause is told")

        if os.geteuid() != 0:
            return print("note: a full disk is only tried as root")
        full = cluster.place + "/full"
        os.mkdir(full)
        cluster.run("mount", "-t", "tmpfs", "-o", "size=12k", "tmpfs", full)
        try:
            result = cluster.dtsubmit("--runs", full, "--", "true", code=74)
            check("No space left" in result.stderr and "help:" in result.stderr, "full disk: exit 74, says so and what to do")
            check(not os.listdir(full), "nothing half-written")
            check(cluster.run("squeue", "-h").stdout == "", "and no job in the queue")
        finally:
            cluster.run("umount", full)


def has_accounting(cluster):
    return "accounting_storage/slurmdbd" in cluster.run("scontrol", "show", "config").stdout


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[1] not in ("layout", "leaks", "preempt", "srun", "kills", "slurmd", "refusals"):
        sys.exit(__doc__)
    if sys.argv[3:] == ["openmpi5"]:
        use_open_mpi_5()
    globals()[sys.argv[1]](sys.argv[2])
