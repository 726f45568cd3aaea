# SPDX-License-Identifier: Apache-2.0
"""Options of sbatch that are given to dtsubmit: the controller must have the same job as from sbatch itself.

sbatch_options.py same [SETS]   generated sets of options, through libslurm or sbatch as the plug-in chooses, compared with sbatch on
                                the rendered script and on the options themselves
sbatch_options.py passed        --slurm, links to the log, SBATCH_* variables, what sbatch refuses"""
import json
import os
import random
import re
import subprocess
import sys

from checks import check
from main_job_support import DTSUBMIT, Cluster

# Fields that differ between two submissions of one request.
VOLATILE = {"JobId", "Priority", "SubmitTime", "EligibleTime", "AccrueTime", "StartTime", "EndTime", "LastSchedEval", "Scheduler",
            "RunTime", "Command", "AllocNode:Sid", "Reason", "StdErr", "StdOut", "Deadline", "WorkDir", "JobName"}

# Options and values that a controller with two typed nodes and one feature accepts. None: a flag.
PASSED = {
    "--account": ["proj-1", "a b"], "--comment": ["sweep 3", "a \"quoted\" \\ one"], "--wckey": ["key"], "--licenses": ["matlab:2", "matlab"],
    "--constraint": ["a100", "a100&nvlink", "a100|nvlink"], "--prefer": ["nvlink"], "--nodelist": ["n0", "n[0-1]"],
    "--exclusive": [None, "user"], "--oversubscribe": [None], "--contiguous": [None], "--reboot": [None], "--overcommit": [None],
    "--nice": [None, "7", "2000"], "--mail-type": ["END", "begin,end,fail", "ALL", "NONE", "TIME_LIMIT_80,FAIL"], "--mail-user": ["ada@example.org"],
    "--tmp": ["1G", "500"], "--time-min": ["3"], "--begin": ["now+2hours", "2037-01-20T12:34:00"], "--dependency": ["singleton"],
    "--hint": ["nomultithread", "compute_bound"], "--distribution": ["block:cyclic", "cyclic"], "--threads-per-core": ["1"],
    "--ntasks-per-socket": ["4"], "--core-spec": ["0"], "--mincpus": ["1"], "--switches": ["1@10:00"], "--gres-flags": ["enforce-binding"],
    "--cpu-freq": ["high"], "--profile": ["none"], "--propagate": [None, "STACK"], "--kill-on-invalid-dep": ["yes", "no"],
    "--spread-job": [None], "--use-min-nodes": [None], "--wait-all-nodes": ["1"], "--delay-boot": ["5"], "--acctg-freq": ["30"],
    "--network": ["sn_all"], "--mem-bind": ["local"], "--no-kill": [None], "--deadline": ["2037-02-20T12:34:00"],
}
MEMORY = [[], ["--mem=9gb"], ["--mem=900"], ["--mem-per-cpu=64m"], ["--mem-per-gpu=64M"], ["--mem=0"]]
SIZES = [["-N1"], ["-N2", "--gpus-per-node=4"], ["-N2", "--gres=gpu:a100:2"], ["--nodes=2", "--gpus=8"], ["-n4", "-N2"], ["-n2", "--gpus-per-task=1"],
         ["-N2", "--gpus-per-node=a100:4", "--ntasks-per-node=2", "--cpus-per-gpu=1"], ["-N1", "--gres=gpu:1", "-c2"]]
# Each pair excludes the other option, or has a different meaning together.
APART = [{"--exclusive", "--oversubscribe"}, {"--overcommit", "--exclusive"}, {"--hint", "--threads-per-core"}, {"--hint", "--ntasks-per-socket"},
         {"--begin", "--deadline"}, {"--core-spec", "--oversubscribe"}]


def option_set(chance):
    """Options of one job, as a user would type them."""
    words = list(chance.choice(SIZES))
    memory = chance.choice(MEMORY)
    gpus = any("gpu" in word for word in words)
    words += memory if gpus or "gpu" not in "".join(memory) else []
    names = chance.sample(sorted(PASSED), chance.randint(0, 5))
    for pair in APART:
        if pair <= set(names):
            names.remove(sorted(pair)[0])
    for name in names:
        value = chance.choice(PASSED[name])
        words.append(name if value is None else f"{name}={value}")
    if chance.random() < 0.5:
        words.append(f"--time={chance.choice(['10', '1:30:00', '1-0', 'UNLIMITED'])}")
    return words, names


class Slurm:
    def __init__(self, cluster):
        self.cluster = cluster
        self.environment = dict(cluster.environment)

    def run(self, argv, **more):
        return subprocess.run(argv, capture_output=True, text=True, env=self.environment, cwd=self.cluster.place, **more)

    def job(self, number):
        text = self.run(["scontrol", "show", "job", str(number)]).stdout
        fields, last = {}, None
        for word in text.split():
            key, equals, value = word.partition("=")
            if equals and re.fullmatch(r"[A-Z][A-Za-z/:_]*", key):
                last = key
                fields[key] = value
            elif last:
                fields[last] += " " + word
        return {key: value for key, value in fields.items() if key not in VOLATILE}

    def sbatch(self, words):
        done = self.run(["sbatch", "--parsable", *words])
        return int(done.stdout.split(";")[0]) if done.returncode == 0 else done.stderr

    def dtsubmit(self, words):
        done = self.run([DTSUBMIT, "submit", "--runs", self.cluster.runs, "--json", *words, "--", "true"])
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr


def differences(ours, theirs):
    """Ignores whether a singleton may start, which depends on how far the controller is with ending the jobs of the previous set."""
    singleton = {"Dependency": ({"(null)", "singleton(unfulfilled)"})}
    return [f"{key}: {ours.get(key)} | {theirs.get(key)}" for key in sorted({*ours, *theirs})
            if ours.get(key) != theirs.get(key) and not {ours.get(key), theirs.get(key)} <= singleton.get(key, set())]


def directives(script):
    """{"nodes": "2", ...} of a rendered script."""
    lines = re.findall(r"^#SBATCH --([a-z-]+)(?:=(.*))?$", open(script).read(), re.M)
    return dict(lines)


def same(sets=500):
    chance = random.Random(12)
    refused = compared = 0
    with Cluster("linuxproc", 2, 4, 5, "--gpu-type", "a100", "--features", "a100,nvlink", "--conf", "Licenses=matlab:4") as cluster:
        slurm = Slurm(cluster)
        for turn in range(int(sets)):
            words, names = option_set(chance)
            once = [word for word in words if word.split("=")[0] in ("--begin", "--dependency", "--deadline")]
            made = slurm.dtsubmit(["--hold", *words])
            if isinstance(made, str):
                # Only what sbatch refuses, too.
                theirs = slurm.sbatch(["--hold", *words, "--wrap", "true"])
                check(isinstance(theirs, str), f"{turn}: {words}: refused by us ({made.strip()}), and by sbatch")
                refused += 1
                continue
            ours = slurm.job(made["job"])
            script = made["run_directory"] + "/script.sbatch"
            rendered = slurm.sbatch(["--hold", *once, script])
            check(isinstance(rendered, int), f"{turn}: sbatch takes the script of {words}: {rendered}")
            wrong = differences(ours, slurm.job(rendered))
            lines = directives(script)
            size = [f"--{key}=" + lines[key].strip('"') for key in ("nodes", "ntasks-per-node", "cpus-per-task", "gpus-per-node") if key in lines]
            own = ["--requeue", "--open-mode=append", *(["--signal=" + lines["signal"].strip('"')] if "signal" in lines else [])]
            rest = [word for word in words if not re.match(r"-[Nnc]|--(nodes|gpus|gres=|ntasks-per-node|gpus-per|cpus-per)", word)]
            direct = slurm.sbatch(["--hold", *size, *own, *rest, "--wrap", "true"])
            check(isinstance(direct, int), f"{turn}: sbatch takes {size + rest}: {direct}")
            wrong += differences(ours, slurm.job(direct))
            if wrong:
                check(False, f"{turn}: {words}: ours | sbatch's: {wrong}")
            compared += 1
            slurm.run(["scancel", str(made["job"]), str(rendered), str(direct)])
        print(f"{compared} sets are the jobs that sbatch would have made, {refused} are refused by both")
        check(compared > refused * 4, "most of them are accepted")


def passed():
    with Cluster("linuxproc", 2, 4, 5) as cluster:
        slurm = Slurm(cluster)
        with open(cluster.place + "/nodes", "w") as file:
            file.write("n1\n")
        made = slurm.dtsubmit(["-N1", "--hold", "--slurm", "nodefile=nodes", "--slurm", "spread-job", "-o", "logs/%x-%6j.out", "-J", "my: job %1"])
        check(isinstance(made, str) and "--spread-job is an option of dtsubmit" in made, "a row of our own is not for --slurm")
        made = slurm.dtsubmit(["-N1", "--hold", "--slurm", "nodefile=nodes", "-o", "logs/%x-%6j.out", "-J", "my: job %1"])
        check(isinstance(made, dict), f"an option that dtsubmit does not know reaches sbatch: {made}")
        job = slurm.job(made["job"])
        check(job.get("ReqNodeList") == "n1", f"and the controller: {job}")
        link = f"{cluster.place}/logs/my: job %1-{int(made['job']):06}.out"
        check(os.readlink(link) == f"{made['run_directory']}/slurm-{made['job']}.log", "--output is a link to the log, its folder is made")
        check("JobName=my: job %1" in slurm.run(["scontrol", "show", "job", str(made["job"])]).stdout, "a job's name is what Slurm allows")

        unknown = slurm.dtsubmit(["-N1", "--slurm", "no-such-option=1"])
        check(isinstance(unknown, str) and "no-such-option" in unknown, f"sbatch refuses an unknown one by name: {unknown}")
        check(not any(name.startswith("true-") for name in os.listdir(cluster.runs)), "and leaves no run directory")

        slurm.environment["SBATCH_ACCOUNT"] = "from-variable"
        slurm.environment["SBATCH_EXCLUSIVE"] = ""
        done = slurm.run([DTSUBMIT, "submit", "--runs", cluster.runs, "--json", "--hold", "-N1", "--", "true"])
        job = slurm.job(json.loads(done.stdout)["job"])
        check(job["Account"] == "from-variable" and job["OverSubscribe"] == "NO", "SBATCH_* variables are honoured")
        check("--account=from-variable is from SBATCH_ACCOUNT" in done.stderr, "and said so")
        job = slurm.job(slurm.dtsubmit(["--hold", "-N1", "-A", "typed"])["job"])
        check(job["Account"] == "typed", "below what was typed")


if __name__ == "__main__":
    {f.__name__: f for f in (same, passed)}[sys.argv[1]](*sys.argv[2:])
