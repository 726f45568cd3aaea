# SPDX-License-Identifier: Apache-2.0
"""Jobs on a private real Slurm with munge, and with slurmdbd on a database: accounting.py SCENARIO."""
import contextlib
import json
import os
import pwd
import shutil
import signal
import subprocess
import sys

from checks import check, skip, wait_for
from main_job_support import DTSUBMIT, DTTRAIN, FEW, Cluster, Run
from why import FOR_EVER, expect, started

SHORT = [*FEW, "--steps", "100", "--save-every", "10"]
SLOW = SHORT + ["--step-delay", "40"]


USER = pwd.getpwuid(os.geteuid()).pw_name


class ServedCluster(Cluster):
    """A cluster with services: `--auth munge`, `--accounting`."""

    def __init__(self, nodes, gpus, *more):
        needs = {"--auth": ["munged"], "--accounting": ["slurmdbd", "mariadbd"]}
        for program in [name for option in more for name in needs.get(option, [])]:
            if not shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin"):
                skip(f"no {program} here (Debian 12: apt install --no-install-recommends munge slurmdbd mariadb-server-core mariadb-client-core)")
        super().__init__("linuxproc", nodes, gpus, 20, *more)

    def configuration(self):
        with open(self.environment["SLURM_CONF"]) as file:
            return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)

    def address(self):
        return self.configuration()["SlurmctldHost"].split("(")[1].strip(")")

    def sacctmgr(self, *words):
        return self.run("sacctmgr", "-i", *words)

    def allow(self, qos, *properties):
        """Creates a QOS that the user may use from now on."""
        self.sacctmgr("add", "qos", qos, *(["set", *properties] if properties else []))
        self.sacctmgr("modify", "user", USER, "set", f"qos+={qos}")

    def of_job(self, job, key):
        """The value of KEY in `scontrol show job`."""
        text = self.run("scontrol", "-o", "show", "job", str(job)).stdout
        return dict(word.split("=", 1) for word in text.split() if "=" in word).get(key)

    def lose(self, node, run):
        """Kills the node of the run at once, and waits until the controller knows."""
        guard = next(pid for pid, argv in run.processes() if argv[1:2] == ["guard"])
        for pid in (self.slurmd(node), parent_of(guard), guard):  # parent_of: slurmstepd, which would report the guard's end
            os.kill(pid, signal.SIGKILL)
        for pid, _ in run.processes():
            with contextlib.suppress(ProcessLookupError):  # some end together with the agent
                os.kill(pid, signal.SIGKILL)
        self.run("scontrol", "update", f"NodeName={node}", "State=DOWN", "Reason=lost")

    def slurmd(self, node):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                argv = open(f"/proc/{pid}/cmdline").read().split("\0")
            except OSError:
                continue
            if os.path.basename(argv[0]) == "slurmd" and argv[2:4] == ["-N", node] and self.folder + "/slurm.conf" in argv:
                return int(pid)
        raise AssertionError(f"{node} has no slurmd")


def parent_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rsplit(") ", 1)[1].split()[1])


def preempted_by(cluster, run, *how):
    """A job submitted with `how` takes all nodes of the run for a second: the run comes back, and nothing is lost."""
    run.reach_step(15)
    cluster.run("sbatch", *how, "--nodes=2", "--gpus-per-node=8", "-o", "/dev/null", "--wrap", "sleep 1")
    status = run.finish()
    check(status["attempts"][0]["cause"] == "preempted", "attempt 1 was preempted")
    check(len(status["attempts"]) == 2 and status["steps_lost"] == 0, "the second attempt lost no step")
    check(not run.processes(), "no process of the run is left")
    return status


def munge():
    """The main job with munge, and the messages when munged is down."""
    with ServedCluster(2, 8, "--auth", "munge") as cluster:
        expected = cluster.train_alone(*SHORT)
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "8", "-p", "low", "--", DTTRAIN, *SLOW)
        status = preempted_by(cluster, run, "-p", "high")
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
        with_pid = open(cluster.folder + "/run/munged.pid").read()
        os.kill(int(with_pid), signal.SIGKILL)
        refused = cluster.dtsubmit("submit", "--runs", cluster.runs, *FOR_EVER, code=4)
        check("is munge running here" in refused.stderr, f"without munged it says so: {refused.stderr}")
        text = cluster.dtsubmit("why", run.path).stdout
        check("This is based on the run directory alone: " in text, "why says what it cannot know")


def qos():
    """A job of a QOS that preempts, with its own account: the run comes back, and nothing is lost."""
    with ServedCluster(2, 8, "--accounting", "--conf", "PreemptType=preempt/qos") as cluster:
        expected = cluster.train_alone(*SHORT)
        cluster.sacctmgr("add", "account", "physics")
        cluster.sacctmgr("add", "user", USER, "account=physics")
        cluster.allow("urgent", "Preempt=normal")
        cluster.sacctmgr("modify", "qos", "normal", "set", "GraceTime=20")
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "8", "--account", "physics", "--qos", "normal", "--", DTTRAIN, *SLOW)
        check((cluster.of_job(run.job, "Account"), cluster.of_job(run.job, "QOS")) == ("physics", "normal"), "account and QOS are the job's")
        status = preempted_by(cluster, run, "--qos", "urgent")
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
        check(cluster.of_job(run.job, "Account") == "physics", "the account is the job's after the requeue, too")
        row = wait_for(30, "the accounting", lambda: cluster.run(
            "sacct", "-n", "-X", "-P", "-D", "-o", "State,Account,QOS", "-j", str(run.job)).stdout.split("\n")[:2][-1])
        check(row.endswith("|physics|normal"), f"sacct knows the job: {row}")
        cluster.dtsubmit("submit", "--runs", cluster.runs, "--account", "physics", "--qos", "urgent", "--wait", "--", "true")


def refused():
    """An account and a QOS that the user does not have, and a limit on submitted jobs: exit 5, with advice on what to look at."""
    with ServedCluster(1, 0, "--accounting") as cluster:
        def says(*words, options):
            text = cluster.dtsubmit("submit", "--runs", cluster.runs, *options, *FOR_EVER, code=5).stderr
            check(all(word in text for word in words), f"{options} is refused: {text}")

        says("Invalid account", "sacctmgr show associations user=$USER", options=["--account", "alchemy"])
        says("Invalid qos", "sacctmgr show qos", options=["--qos", "urgent"])
        cluster.sacctmgr("add", "qos", "urgent")
        says("Invalid qos", "choose one with --qos", options=["--qos", "urgent"])
        cluster.sacctmgr("modify", "user", USER, "set", "MaxSubmitJobs=1")
        cluster.submit("--begin", "now+1hour", *FOR_EVER)
        says("Job violates accounting/QOS policy", "a limit of your account or QOS", options=["--job-name", "second"])


def limits():
    """Limits of a QOS and of the account that are lowered below what a waiting job asks for: `why` says which it is, and what can be done."""
    later = ["--begin", "now+5"]
    with ServedCluster(2, 8, "--accounting") as cluster:
        cluster.allow("brief")
        run = cluster.submit("--qos", "brief", "--time", "30", *later, *FOR_EVER)
        cluster.sacctmgr("modify", "qos", "brief", "set", "MaxWall=5")
        expect(cluster, run, "pending", "its QOS allows one job, and so will never start: ", "(QOSMaxWallDurationPerJobLimit)",
               f"next: dtsubmit cancel {run.job}")
        cluster.run("scancel", str(run.job))

        cluster.sacctmgr("modify", "user", USER, "set", "MaxJobs=1")
        first = cluster.submit("--nodes", "1", *FOR_EVER)
        wait_for(60, "the first job", lambda: cluster.job_state(first.job) == "RUNNING")
        second = cluster.submit("--nodes", "1", *FOR_EVER)
        told = expect(cluster, second, "pending", "with it, you would use more than its account allows one user: running jobs (AssocMaxJobsLimit)",
                      "wait for jobs under the same limit to end")
        check(told["scheduler_reason"] == "AssocMaxJobsLimit", "the reason in Slurm's word is in the JSON")
        cluster.sacctmgr("modify", "user", USER, "set", "MaxJobs=-1")
        wait_for(60, "the second job", lambda: cluster.job_state(second.job) == "RUNNING")
        cluster.run("scancel", str(first.job), str(second.job))

        for limit, options, words in (
                ("GrpTRES=gres/gpu=4", ["--gpus-per-node", "8"],
                 "with it, all jobs of its account together would use more than they may: GPUs (or other generic resources) (AssocGrpGRES)"),
                ("MaxTRESPerJob=node=1", ["--nodes", "2"], "it asks for more than its account allows one job"),
                ("MaxWall=5", ["--time", "30"], "(AssocMaxWallDurationPerJobLimit)")):
            run = cluster.submit(*options, *later, *FOR_EVER)
            cluster.sacctmgr("modify", "account", "default", "set", limit)
            expect(cluster, run, "pending", words)
            cluster.sacctmgr("modify", "account", "default", "set", limit.rsplit("=", 1)[0] + "=-1")
        # They start now, as the limits are gone.
        cluster.run("scancel", "--user", USER)


def forgotten():
    """Jobs whose agents recorded no end, and which slurmctld has forgotten: sacct knows how they ended, and the messages are the same."""
    with ServedCluster(2, 0, "--accounting", "--conf", "MinJobAge=2") as cluster:
        def forgets(run):
            wait_for(180, f"job {run.job} is forgotten", lambda: not cluster.run("squeue", "-h", "-t", "all", "-j", str(run.job), code=None).stdout)
            wait_for(30, "the accounting", lambda: cluster.run("sacct", "-n", "-X", "-P", "-o", "End", "-j", str(run.job)).stdout.strip() != "Unknown")

        killed = cluster.submit("--nodes", "1", "--no-requeue", *FOR_EVER)
        lost = cluster.submit("--nodes", "1", "--no-requeue", *FOR_EVER)
        for run in (killed, lost):
            wait_for(120, "the ranks", lambda run=run: started(run))
        cancelled = cluster.submit("--nodes", "2", "--begin", "now+1hour", *FOR_EVER)
        killed.kill("guard")
        cluster.lose(cluster.of_job(lost.job, "BatchHost"), lost)
        cluster.run("scancel", str(cancelled.job))
        for run, state, words in ((killed, "failed", "the agent, was killed (signal 9)"), (lost, "node_failed", "one of its nodes failed"),
                                  (cancelled, "cancelled", f"it was cancelled by {USER}")):
            forgets(run)
            told = expect(cluster, run, "lost", f"Job {run.job} is over ({state}", words, "Slurm has forgotten it; this is what the accounting says.", "It ended at ")
            check(told["scheduler_state"] == state, "the state is in the JSON")
            status = cluster.dtsubmit("status", run.path).stdout
            check(f"{state}, according to the accounting" in status, f"status says it, too: {status}")
        listed = cluster.dtsubmit("list", "--runs", cluster.runs).stdout
        check(sum(line.startswith("lost") for line in listed.split("\n")) == 3, f"all of them are lost in the list: {listed}")


def configless():
    """A login node without slurm.conf and slurmd: it fetches the configuration from slurmctld (SLURM_CONF_SERVER)."""
    with ServedCluster(2, 8, "--auth", "munge", "--conf", "SlurmctldParameters=enable_configless") as cluster:
        server = cluster.address() + ":" + cluster.configuration()["SlurmctldPort"]
        unshare = ["unshare", "--mount"] + ([] if os.geteuid() == 0 else ["--map-current-user", "--keep-caps"])
        if cluster.run(*unshare, "true", code=None).returncode != 0:
            skip("the kernel gives no mount namespace here, in which munge's socket is in its usual place")
        hide = "if [ -d /etc/slurm ]; then mount -t tmpfs none /etc/slurm; fi; mount -t tmpfs none /run"
        # Without a configuration, programs look for munge in its usual place.
        login = [*unshare, "sh", "-ec", f"{hide}; mkdir /run/munge; ln -s {cluster.folder}/run/munge.socket /run/munge/munge.socket.2;"
                 f"unset SLURM_CONF; export SLURM_CONF_SERVER={server}; exec \"$@\"", "login"]

        def on_login(*words, **more):
            return cluster.run(*login, DTSUBMIT, *words, **more)

        expected = cluster.train_alone(*SHORT)
        for plugin in ("slurm", "slurm-commands"):
            cluster.environment["DTSUBMIT_SCHEDULER"] = plugin
            told = json.loads(on_login("submit", "--runs", cluster.runs, "--json", "-p", "low", "--nodes", "2", "--gpus-per-node", "8", "--",
                                       DTTRAIN, *SLOW).stdout)
            run = Run(cluster, told["run_directory"], told["job"])
            follower = subprocess.Popen([*login, DTSUBMIT, "logs", "-f", str(run.job), "--runs", cluster.runs], env=cluster.environment, stdout=subprocess.PIPE, text=True)
            status = preempted_by(cluster, run, "-p", "high")
            check(status["done"] and status["digest"] == expected, f"{plugin}: digest {expected} as undisturbed")
            seen = follower.communicate(timeout=60)[0]
            check(follower.returncode == 0 and expected in seen, "who followed it saw its end")
            second = json.loads(on_login("submit", "--runs", cluster.runs, "--json", *FOR_EVER).stdout)
            check("running" in wait_for(60, "its start", lambda: (lambda text: "has been running" in text and text)(
                on_login("why", second["run_directory"]).stdout)), "why says that it runs")
            on_login("cancel", second["run_directory"])
            wait_for(60, "the cancelled job's end", lambda: cluster.job_state(second["job"]) == "CANCELLED")
        os.kill(int(open(cluster.folder + "/run/munged.pid").read()), signal.SIGKILL)
        cluster.environment["DTSUBMIT_SCHEDULER"] = "slurm"
        without = on_login("submit", "--runs", cluster.runs, *FOR_EVER, code=4).stderr
        check(f"configuration from SLURM_CONF_SERVER ({server})" in without and "is munge running here" in without, f"without munge: {without}")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
