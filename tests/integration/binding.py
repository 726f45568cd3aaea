#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where ranks and the threads of their programs run, according to dtsubmit and to the kernel: binding.py SCENARIO."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, skip, wait_for
from frameworks_support import DTSUBMIT, LLVM, PYTHON

# Threads that work until the file named in UNTIL exists.
OPENMP = r"""
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  const char* until = getenv("UNTIL");
  #pragma omp parallel
  while (access(until, F_OK) != 0) for (volatile int i = 0; i < 1000000; ++i);
  return 0;
}
"""
LOADER = """
import os, time
import torch
from torch.utils.data import DataLoader, Dataset
class Data(Dataset):
    def __len__(self): return 1 << 30
    def __getitem__(self, i): return torch.rand(64, 64).mm(torch.rand(64, 64))
own = torch.rand(2000, 2000)
for batch in DataLoader(Data(), batch_size=8, num_workers=2):
    own.add(own)
    if os.path.exists(os.environ["UNTIL"]): break
"""
MOVES = """
import os, threading, time
last = int(os.environ["MOVE_TO"])
def spin():
    os.sched_setaffinity(0, {last})
    while not os.path.exists(os.environ["UNTIL"]): pass
threads = [threading.Thread(target=spin) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
"""


def ask(run):
    """Has every thread read again; the exit code says whether all are bound as planned."""
    done = subprocess.run([DTSUBMIT, "topo", "--verify", run, "--json"], capture_output=True, text=True, timeout=120)
    check(done.returncode in (0, 1), f"topo --verify answers: {done.stdout[-200:]}{done.stderr}")
    check(done.returncode == any(f["mismatch"] for f in findings(json.loads(done.stdout))), "its exit code says whether all is as planned")


def report(run):
    try:
        return json.load(open(run + "/attempt-1/binding.json"))
    except FileNotFoundError:
        return None


def findings(told):
    return [finding for group in told["groups"] for finding in group["findings"]]


class Job:
    """with Job(...) as job: `dtsubmit run` of a program that ends on request."""

    def __init__(self, program, *options, before=(), **environment):
        self.place = tempfile.mkdtemp(prefix="dts-binding-")
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_", "SLURM_"))}
        clean.update(environment, UNTIL=self.place + "/until")
        words = [*before, DTSUBMIT, "run", "--runs", self.place + "/runs", *options, "--", *program]
        self.process = subprocess.Popen(words, env=clean, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        open(self.place + "/until", "w").close()
        self.process.communicate(timeout=300)  # loaders need time to end on a busy machine
        shutil.rmtree(self.place, ignore_errors=True)

    def run(self):
        return wait_for(60, "the run", lambda: glob.glob(self.place + "/runs/*"))[0]

    def started(self):
        """The reading of running ranks from before their programs started."""
        return wait_for(120, "the first reading", lambda: report(self.run()) if self.process.poll() is None else self.fail())

    def fail(self):
        raise AssertionError(f"ended: {self.process.stderr.read()}")

    def settled(self, condition, what):
        """A reading of the programs' threads for which `condition` is true."""
        def look():
            ask(self.run())
            told = report(self.run())
            return told if told["settled"] and condition(told) else None
        self.started()
        return wait_for(120, what, look)

    def ended(self):
        self.process.communicate(timeout=240)
        with open(self.run() + "/ledger.jsonl") as file:
            events = [json.loads(line) for line in file]
        return next(e for e in events if e["event"] == "attempt_ended"), next(e for e in events if e["event"] == "decided")


def threads_of(told, name):
    return [one for group in told["groups"] for one in group["found"]["threads"] if one["program"].startswith(name)]


def loader_threads(job):
    """The reading of a program with two loaders, the plan for it, and how many working threads are on which cores."""
    told = job.settled(lambda r: sum(t["working"] for t in threads_of(r, "p")) >= 4, "a loader with two workers")
    on = {}
    for group in threads_of(told, "p"):
        on[group["cpus"]] = on.get(group["cpus"], 0) + group["working"]
    return told, told["groups"][0]["planned"]["cpus"], {cpus: count for cpus, count in on.items() if count > 0}


def build(place):
    if shutil.which("gcc") is None:
        skip("no gcc")
    with open(place + "/spin.c", "w") as file:
        file.write(OPENMP)
    subprocess.run(["gcc", "-O1", "-fopenmp", "-o", place + "/spin", place + "/spin.c"], check=True)
    return place + "/spin"


def openmp():
    """Threads of libgomp and LLVM's runtime: free, one per core, and crowded on one core, which is reported with the name and stops a
    strict run."""
    cores = len(os.sched_getaffinity(0))
    last = str(max(os.sched_getaffinity(0)))
    if cores < 2:
        skip("one core")
    place = tempfile.mkdtemp(prefix="dts-binding-")
    try:
        spin = build(place)
        with Job([spin]) as job:
            told = job.settled(lambda r: sum(t["working"] for t in threads_of(r, "spin")) == cores, f"{cores} threads that work")
            check(not findings(told) and told["groups"][0]["found"]["openmp"] == ["libgomp"], "libgomp's threads are free: as planned")
        with Job([spin], "--bind-threads", "gnu", "--strict-binding") as job:
            told = job.settled(lambda r: sum(t["working"] for t in threads_of(r, "spin")) == cores, f"{cores} threads that work")
            check(not findings(told), f"one to a core: as planned, {[t['cpus'] for t in threads_of(told, 'spin')]}")
        with Job([spin], GOMP_CPU_AFFINITY=last) as job:
            told = job.settled(findings, "a finding")
            words = findings(told)[0]
            check(words["mismatch"] and f"share core {last}" in words["text"] and "libgomp (GOMP_CPU_AFFINITY)" in words["text"], words["text"])
            status = subprocess.run([DTSUBMIT, "status", job.run()], capture_output=True, text=True).stdout
            check(f"threads of spin share core {last}" in status, "`dtsubmit status` says so")
        with Job([spin], "--strict-binding", GOMP_CPU_AFFINITY=last) as job:
            ended, decided = job.ended()
            check(ended["cause"] == "wrong_binding" and "libgomp" in ended["detail"], f"--strict-binding: {ended['detail']}")
            check(decided["decision"] == "stop" and decided["exit_code"] == 3, decided["detail"])
        if not LLVM:
            return print("not tried: libomp5 (it is not here)")
        with Job(["env", "LD_PRELOAD=" + LLVM[0], spin], "--bind-threads", "intel") as job:
            told = job.settled(lambda r: sum(t["working"] for t in threads_of(r, "spin")) == cores, f"{cores} threads that work")
            check(not findings(told) and "libomp" in told["groups"][0]["found"]["openmp"], f"libomp's, one to a core: {told['groups'][0]['found']['openmp']}")
        with Job(["env", "LD_PRELOAD=" + LLVM[0], spin], GOMP_CPU_AFFINITY=" ".join(map(str, sorted(os.sched_getaffinity(0))))) as job:
            told = job.settled(lambda r: len(findings(r)) > 1, "both runtimes against each other")
            check(any("both loaded" in f["text"] for f in findings(told)), "; ".join(f["text"] for f in findings(told)))
    finally:
        shutil.rmtree(place, ignore_errors=True)


def masks():
    """Moved threads, a narrowed mask, a cgroup, and the workers of a PyTorch loader."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        skip("one core")
    with Job([PYTHON, "-c", MOVES], "--ntasks-per-node", "2", MOVE_TO=str(cores[0])) as job:
        told = job.settled(findings, "a finding")
        words = [f["text"] for f in findings(told)]
        check(any(f"may run on core {cores[0]}, outside of the planned {cores[1]}: moved by the program itself" in w for w in words), words[0])
        ranks = [g["ranks"] for g in told["groups"] if g["findings"]]
        check(ranks == ["1"], "only the rank that is not planned there")
    with Job([PYTHON, "-c", MOVES], "--ntasks-per-node", "2", "--strict-binding", MOVE_TO=str(cores[0])) as job:
        ended, _ = job.ended()
        check(ended["cause"] == "wrong_binding", f"--strict-binding stops it: {ended['detail']}")
    with Job(["sleep", "1000"], before=["taskset", "-c", str(cores[1])]) as job:
        told = job.started()
        check(told["groups"][0]["found"]["cpus"] == str(cores[1]), "under taskset the plan is within its mask")
        check([f["mismatch"] for f in findings(told)] == [False] and "taskset" in findings(told)[0]["text"], findings(told)[0]["text"])
        job.process.terminate()
    if subprocess.run([PYTHON, "-c", "import torch"], capture_output=True).returncode != 0:
        return print("not tried: a PyTorch loader (no torch)")
    with Job([PYTHON, "-c", LOADER], "--strict-binding") as job:
        told, planned, on = loader_threads(job)
        check(not findings(told) and set(on) == {planned}, f"threads of a PyTorch program and its loaders have the whole mask: {on}")
    with Job([PYTHON, "-c", LOADER], "--strict-binding", "--bind-threads", "auto") as job:
        told, planned, on = loader_threads(job)
        own = [cpus for cpus in on if cpus != planned]
        check(not findings(told) and own == [str(core) for core in cores[1:len(own) + 1]] and on[planned] >= 3 and all(on[cpus] == 1 for cpus in own),
              f"--bind-threads auto: its main thread and loaders too, each other OpenMP thread has a core: {on}")
        words = told["groups"][0]["found"]["thread_places"]
        check("by OMP_PLACES and KMP_AFFINITY: the program is linked with no OpenMP runtime" in words, words)
    with Job([PYTHON, "-c", LOADER], "--bind-threads", "gnu") as job:
        words = [f["text"] for f in findings(job.settled(findings, "a finding"))]
        check(f"share core {cores[0]}" in words[0] and "libgomp (GOMP_CPU_AFFINITY)" in words[0], f"--bind-threads gnu crowds its loaders: {words[0]}")


def cluster(flavour, launcher):
    """Two nodes of a private Slurm: bound as planned under both launchers, and every rank can use all GPUs that the job has on its node."""
    from main_job_support import Cluster
    with Cluster(flavour, nodes=2, gpus=2, grace=5) as cluster:
        until = cluster.place + "/until"
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--strict-binding", "--launcher", launcher,
                             "--", "sh", "-c", f"while [ ! -e {until} ]; do sleep 0.2; done")
        wait_for(120, "the first reading", lambda: report(run.path))

        def look():
            ask(run.path)
            told = report(run.path)
            return told if told["settled"] and sum(g["threads"][0] > 0 for g in told["groups"]) == len(told["groups"]) else None
        told = wait_for(120, "a reading of the programs", look)
        check(not findings(told), f"{flavour}, {launcher}: {[(g['ranks'], g['nodes'], g['planned']['cpus']) for g in told['groups']]} as planned")
        check(all(g["found"]["cpus"] == g["planned"]["cpus"] != "" for g in told["groups"]), "by what the kernel says")
        # The GPUs are not real devices: if Slurm names them, it names both to every rank.
        check(all(g["found"].get("gpus_visible", 2) == 2 for g in told["groups"]), "no rank is held to fewer GPUs than the job has on its node")
        open(until, "w").close()
        check(run.finish()["done"], "the run is done")


def leaked():
    """A site's srun that starts ranks with a mask of one core, and the variable that requests it. If a rank plans by this mask, that is
    reported and refused, and not tried again."""
    from main_job_support import Cluster
    with Cluster("linuxproc", nodes=2, gpus=0, grace=5) as cluster:
        tools = cluster.place + "/tools"
        os.mkdir(tools)
        with open(tools + "/srun", "w") as file:
            file.write(f"""#!/usr/bin/python3
import os, sys
words = sys.argv[1:]
if "{DTSUBMIT}" in words and "rank" in words:
    at = words.index("{DTSUBMIT}")
    words[at:at] = ["env", "SLURM_CPU_BIND=quiet,mask_cpu:0x1", "taskset", "-c", "{min(os.sched_getaffinity(0))}"]
os.execv("{shutil.which('srun')}", ["srun", *words])
""")
        os.chmod(tools + "/srun", 0o755)
        cluster.environment["PATH"] = tools + ":" + cluster.environment["PATH"]
        run = cluster.submit("--nodes", "2", "--strict-binding", "--launcher", "srun", "--", "sleep", "1000")
        wait_for(120, "the run's end", run.is_over)
        ended = [e for e in run.ledger() if e["event"] == "attempt_ended"]
        check(len(ended) == 1 and ended[0]["cause"] == "wrong_binding" and "SLURM_CPU_BIND=quiet,mask_cpu:0x1 leaked" in ended[0]["detail"],
              ended[0]["detail"])


if __name__ == "__main__":
    {f.__name__: f for f in (openmp, masks, cluster, leaked)}[sys.argv[1]](*sys.argv[2:])
