# SPDX-License-Identifier: Apache-2.0
"""What is done after each cause, on a private real Slurm: recovery.py SCENARIO."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

from checks import check, skip, wait_for
from main_job import INTERVAL, SHORT, SLOW
from main_job_support import Cluster, DTSUBMIT, DTTRAIN
from nodes import lose

PROGRAM = "-c", textwrap.dedent("""
    import os, sys, time
    attempt = int(os.environ["DTSUBMIT_ATTEMPT"])
    print("attempt", attempt, os.uname().nodename, flush=True)
    if attempt == 1:
        {first}
    """)


def program(first):
    return ["--", "python3", PROGRAM[0], PROGRAM[1].format(first=first)]


def events(run, *names):
    return [e for e in run.ledger() if e["event"] in names]


def successor():
    """A job that Slurm does not requeue is continued by another; --wait follows it to its end."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        run = cluster.submit("--nodes", "1", "--on", "exit=requeue:1", "-o", "links/%j.out", *program(
            "while not os.path.exists(os.environ['DTSUBMIT_RUN_DIR'] + '/go'): time.sleep(0.1)\n"
            "    sys.exit('once')"))
        wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
        cluster.run("scontrol", "update", f"JobId={run.job}", "Requeue=0")
        open(run.path + "/go", "w").close()
        wait_for(60, "a successor", lambda: events(run, "resubmitted"))
        told = events(run, "resubmitted")[0]
        check(told["job"] != run.job, f"job {run.job} is continued by job {told['job']}")
        check("disabled" in told["detail"], f"it is said why: {told['detail']}")
        wait_for(120, "the run's end", run.is_over)
        check(run.status()["done"] and run.status()["job"] == told["job"], "the run is done, by its successor")
        check(os.path.exists(f"{run.path}/slurm-{told['job']}.log"), "the successor's log is in the run directory")
        for job in (run.job, told["job"]):
            link = f"{cluster.place}/links/{job}.out"
            check(os.path.islink(link) and os.readlink(link) == f"{run.path}/slurm-{job}.log", f"{link} leads to the log of job {job}")
        shown = cluster.run("scontrol", "show", "job", str(told["job"])).stdout
        check(f"WorkDir={cluster.place}" in shown, "it runs in the folder of the first submission")


def elsewhere():
    """A broken GPU is not used twice: the next attempt gets another node."""
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        run = cluster.submit("--nodes", "1", *program("sys.exit('CUDA error: uncorrectable ECC error encountered')"))
        wait_for(120, "the run's end", run.is_over)
        ended = events(run, "attempt_ended")
        check(ended[0]["cause"] == "gpu_error", f"the cause is {ended[0]['cause']}: {ended[0]['detail']}")
        first, second = (e["nodes"] for e in events(run, "attempt_started"))
        check(first != second, f"attempt 1 on {first}, attempt 2 on {second}")
        shown = cluster.run("scontrol", "show", "job", str(run.job)).stdout
        check(f"ExcNodeList={first[0]}" in shown, f"{first[0]} is excluded from the job")
        check(run.status()["done"], "the run is done")


def resubmit():
    """--on exit=resubmit: each attempt is a job of its own, and a budget ends them."""
    with Cluster("linuxproc", nodes=1, gpus=0, grace=5) as cluster:
        always = ["--", "python3", "-c", "import sys; sys.exit(7)"]
        done = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "1", "--wait", "--on", "exit=resubmit:2", "-o", "links/%j.out", "-e", "links/latest", *always, code=7)
        check("continues the run" in done.stderr, "--wait follows the successors and ends with the last one's code, 7")
        jobs = cluster.run("squeue", "-h", "-t", "all", "-o", "%i %T").stdout.split("\n")
        jobs = [line.split()[0] for line in jobs if line]
        check(len(jobs) == 3, f"three jobs: {jobs}")
        links = sorted(os.listdir(f"{cluster.place}/links"))
        check(links == sorted([*(f"{job}.out" for job in jobs), "latest"]), f"each has a link to its log: {links}")
        latest = os.readlink(f"{cluster.place}/links/latest")
        check(latest.endswith(f"/slurm-{max(jobs, key=int)}.log"), f"a name without the id is the last job's: {latest}")

        with open(cluster.place + "/links/mine", "w") as file:
            file.write("a")
        os.symlink("mine", cluster.place + "/links/mine-too")
        done = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "1", "--wait", "-o", "links/mine", "-e", "links/mine-too", "--", "true")
        check("links/mine" in done.stderr and "the log is" in done.stderr, f"what is there already stays: {done.stderr}")
        check(open(cluster.place + "/links/mine-too").read() == "a", "a file, and a link to it")

        done = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "1", "--wait", "--array", "3", "-o", "of-array/%A_%a-%j.out", "--on", "exit=resubmit:1", *always, code=7)
        links = sorted(os.listdir(f"{cluster.place}/of-array"))
        check(len(links) == 2 and links[0].split("-")[0] == links[1].split("-")[0], f"an element's jobs have links: {links}")


def memory():
    """A rank that the kernel kills for lack of memory is recognised by its cgroup's counter, not by guessing."""
    group = "/sys/fs/cgroup/memory/dtsubmit-test"
    if os.geteuid() != 0 or not os.path.isdir("/sys/fs/cgroup/memory"):
        skip("needs root and a memory cgroup of version 1")
    os.mkdir(group)
    try:
        with open(group + "/memory.limit_in_bytes", "w") as file:
            file.write(str(256 << 20))
        runs = f"/tmp/dts-memory-{os.getpid()}"
        hog = "import os\nif os.environ['RANK'] == '1': x = bytearray(1 << 30)\nimport time; time.sleep(300)"
        script = f'echo $$ >{group}/cgroup.procs; exec "$0" run --runs {runs} --ntasks-per-node 2 --on crash=stop -- python3 -c "$1"'
        done = subprocess.run(["sh", "-c", script, DTSUBMIT, hog], capture_output=True, text=True)
        told = subprocess.run([DTSUBMIT, "status", "last", "--runs", runs], capture_output=True, text=True).stdout
        subprocess.run(["rm", "-rf", runs], check=True)
        check(done.returncode == 137, f"the run ended with the rank's code, {done.returncode}")
        check("rank 1" in done.stderr and "for lack of memory" in done.stderr, f"it is said: {done.stderr.strip().splitlines()[-1]}")
        check("out_of_memory" in told, "status names the cause")
    finally:
        wait_for(30, "an empty cgroup", lambda: not open(group + "/cgroup.procs").read())
        os.rmdir(group)


def rehearsal():
    """A rehearsal is preempted, comes back, and reads what its four ranks have saved."""
    with Cluster("linuxproc", nodes=2, gpus=2, grace=20) as cluster:
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "-p", "low", "--", DTTRAIN, "--rehearse",
                             "params=300K,step=50ms,checkpoint=20M/node,memory=10M/rank", "--steps", "120")
        run.reach_step(20)
        cluster.take_nodes(2, 2)
        status = run.finish()
        causes = [attempt["cause"] for attempt in status["attempts"]]
        check(status["done"] and causes == ["preempted", "completed"], f"it comes back: {causes}")
        newest = max(name for name in os.listdir(f"{run.path}/checkpoints") if name.startswith("step-"))
        sizes = [os.path.getsize(f"{run.path}/checkpoints/{newest}/payload-0000{part}-of-00004.bin") for part in (1, 2, 3, 4)]
        check(sizes == [10000000] * 4, f"each rank of a node writes half of what its node does: {sizes}")
        with open(f"{run.path}/attempt-2/rank-0.log", encoding="utf-8") as log:
            said = log.read()
        check("resumed from checkpoint" in said and "rehearsed: " in said, "its log says what was measured")


def hang():
    """A rank stopped by a signal: all stacks are dumped, the rank is named, and the run continues from the last checkpoint."""
    with Cluster("linuxproc", nodes=2, gpus=2, grace=5) as cluster:
        expected = cluster.train_alone(*SHORT)
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--hang-timeout", "0:10", "--", DTTRAIN, *SLOW)
        run.reach_step(25)
        pid = sorted(p for p, argv in run.processes() if os.path.basename(argv[0]) == "dttrain")[-1]
        environment = open(f"/proc/{pid}/environ").read().split("\0")
        rank = next(e.split("=")[1] for e in environment if e.startswith("RANK="))
        os.kill(pid, signal.SIGSTOP)
        began = time.time()
        wait_for(120, "the end of the attempt", lambda: events(run, "attempt_ended"))
        ended = events(run, "attempt_ended")[0]
        check(ended["cause"] == "hang", f"{time.time() - began:.0f} s after SIGSTOP: {ended['cause']}: {ended['detail']}")
        check(f"rank {rank} on " in ended["detail"] and "stopped by a signal" in ended["detail"], f"rank {rank} is named")
        for r in range(4):
            text = open(f"{run.path}/attempt-1/stacks-rank-{r}.txt").read()
            check("dttrain" in text and "state" in text, f"rank {r} wrote its stacks")
        status = run.finish()
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
        check(status["steps_lost"] <= INTERVAL, f"{status['steps_lost']} steps lost, at most {INTERVAL}")
        check(not run.processes(), "no process of the run is left")


def beats():
    """Programs with heartbeats from a shell and from Python: one with beats is not hung, one that stops beating is."""
    place = tempfile.mkdtemp(prefix="dts-beats-")
    try:
        def run(seconds, script, code):
            words = [DTSUBMIT, "run", "--runs", place, "--hang-timeout", "0:08", "--on", "crash=stop", "--", *script]
            done = subprocess.run(words, capture_output=True, text=True, timeout=seconds)
            check(done.returncode == code, f"exited {done.returncode}: {done.stderr.strip()[-300:]}")
            return done.stderr
        shell = ["sh", "-c", f"for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; {DTSUBMIT} beat; done"]
        run(120, shell, 0)
        python = ["python3", "-c", "import os, sys, time\nfd = os.open(os.environ['DTSUBMIT_BEAT'], os.O_WRONLY)\n"
                  "for step in range(1, 4): os.pwrite(fd, step.to_bytes(8, sys.byteorder), 0); time.sleep(1)\n"
                  "print('stuck', flush=True); time.sleep(300)"]
        said = run(120, python, 137)
        check("hang" in said and "at step 3" in said, "it is said at which step it hung")
        check("stuck" in said or "stacks" in said, "and where to look")
    finally:
        shutil.rmtree(place)


def expedite():
    """--expedite: at once on another node after a lost one. A failure of the program itself must not hold the job. Older releases refuse
    the option."""
    settings = "--conf", "SlurmctldParameters=enable_expedited_requeue"
    release = subprocess.run(["/usr/sbin/slurmctld", "-V"], capture_output=True, text=True).stdout.split()[1]
    knows = tuple(int(part) for part in release.split(".")[:2]) >= (25, 11)
    with Cluster("linuxproc", 3, 0, 5, *(settings if knows else ())) as cluster:
        if not knows:
            refused = cluster.dtsubmit("submit", "--runs", cluster.runs, "--expedite", "--", "true", code=5)
            check("requeue" in refused.stderr, f"Slurm {release} refuses it: {refused.stderr.strip()}")
            check(not os.path.isdir(cluster.runs) or not os.listdir(cluster.runs), "no run directory is left")
            return
        ends = {code: cluster.submit("--nodes", "1", "--expedite", "--on", "exit=stop", "--", "python3", "-c", f"import sys; sys.exit({code})") for code in (0, 7, 93)}
        for code, run in ends.items():
            wait_for(60, "the run's end", run.is_over)
            wait_for(60, "the job's end", lambda run=run: cluster.job_state(run.job) in ("COMPLETED", "FAILED"))
            check(cluster.job_state(run.job) == ("FAILED" if code else "COMPLETED"), f"exit code {code}: the job is not held")
        run = cluster.submit("--nodes", "1", "--expedite", *program("time.sleep(300)"))
        wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
        node = events(run, "attempt_started")[0]["nodes"][0]
        began = time.time()
        lose(cluster, node)
        wait_for(120, "the run's end", run.is_over)
        again = events(run, "attempt_started")[1]["nodes"][0]
        check(run.status()["done"] and again != node, f"{time.time() - began:.0f} s after {node} was lost, the run is done on {again}")


def told():
    """Programs that know neither signals nor run directories continue from what they last saved: a run that is requeued, and each element
    of a sweep by itself."""
    text = textwrap.dedent("""
        import os, sys, time
        folder, load = sys.argv[1], sys.argv[2:]
        step = int(load[1].rpartition("-")[2]) if load else 0
        print("from", step, *load, flush=True)
        while step < 40:
            time.sleep(0.1)
            step += 1
            if os.environ["RANK"] == "0" and step % 5 == 0:
                os.makedirs(folder, exist_ok=True)
                open(f"{folder}/step-{step}", "w").write("saved")
        """)
    with Cluster("linuxproc", 2, 0, 5) as cluster:
        def own(folder):
            return "--checkpoints", f"{folder}/step-*", "--resume=--load {}", "--", "python3", "-c", text, folder

        def first_lines(path, attempt, ranks):
            return {open(f"{path}/attempt-{attempt}/rank-{rank}.log").readline() for rank in range(ranks)}
        os.mkdir(f"{cluster.place}/a")
        open(f"{cluster.place}/a/step-99", "w").write("saved")  # of an earlier experiment
        os.utime(f"{cluster.place}/a/step-99", (1, 1))
        run = cluster.submit("--nodes", "2", "--launcher", "srun", *own("a"))
        wait_for(60, "a checkpoint", lambda: os.path.exists(f"{cluster.place}/a/step-10"))
        cluster.run("scontrol", "requeue", str(run.job))
        wait_for(120, "the run's end", run.is_over)
        began = events(run, "attempt_started")[1]["checkpoint"]
        check(run.status()["done"] and began.startswith("a/step-"), f"the second attempt began with {began}")
        step = began.rpartition("-")[2]
        check(first_lines(run.path, 1, 2) == {"from 0\n"}, "the first attempt gets no checkpoint of an earlier experiment")
        check(first_lines(run.path, 2, 2) == {f"from {step} --load {began}\n"}, "both ranks continue from there")

        sweep = cluster.submit("--nodes", "1", "--sweep", "lr=1,2", *own("out-{lr}"))
        wait_for(60, "checkpoints", lambda: all(os.path.exists(f"{cluster.place}/out-{lr}/step-10") for lr in (1, 2)))
        cluster.run("scontrol", "requeue", f"{sweep.job}_1")
        wait_for(120, "the sweep's end", lambda: all(one["state"] == "done" for one in sweep.status()["elements"]))
        one, other = (element["attempts"] for element in sweep.status()["elements"])
        check((one, other) == (1, 2), "only the element that was requeued has a second attempt")
        check("--load out-2/step-" in first_lines(f"{sweep.path}/1", 2, 1).pop(), "which continues from its own folder")


if __name__ == "__main__":
    {f.__name__: f for f in (expedite, told, successor, elsewhere, resubmit, memory, hang, beats, rehearsal)}[sys.argv[1]]()
