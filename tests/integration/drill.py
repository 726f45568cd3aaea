# SPDX-License-Identifier: Apache-2.0
"""`dtsubmit drill`: every fault on a cluster of its own, drills on a user's real job, and Ctrl-C: drill.py SCENARIO."""
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, skip, wait_for
from contract import NO_RESTART
from main_job_support import DTSUBMIT, DTTRAIN, FEW, Cluster

TRAIN = [*FEW, "--steps", "400", "--save-every", "10", "--step-delay", "150"]


class Place:
    """A folder for the drill's temporary folders, which shows what it leaves there."""

    def __enter__(self):
        if not shutil.which("slurmctld", path=os.environ["PATH"] + ":/usr/sbin"):
            skip("no slurmctld here (Debian 12: apt install slurmctld slurmd slurm-client)")
        self.folder = tempfile.mkdtemp(prefix="dts-")
        self.environment = {**os.environ, "TMPDIR": self.folder}
        return self

    def __exit__(self, *error):
        shutil.rmtree(self.folder, ignore_errors=True)

    def processes(self):
        """All processes that belong to a drill in this place."""
        found = subprocess.run(["grep", "-lsa", self.folder + "/dts-drill", *(f"/proc/{pid}/environ" for pid in filter(str.isdigit, os.listdir("/proc")))],
                               capture_output=True, text=True).stdout.split()
        return found

    def is_clean(self):
        wait_for(60, "no process", lambda: not self.processes())
        check(not os.listdir(self.folder), f"nothing is left: {os.listdir(self.folder)}")


def play_all():
    with Place() as place:
        done = subprocess.run([DTSUBMIT, "drill", "all", "--json"], env=place.environment, capture_output=True, text=True)
        print(done.stderr)
        drills = json.loads(done.stdout)["drills"]
        for drill in drills:
            print(drill["fault"], drill["verdict"], drill["cause"], drill["decision"], "lost", drill["steps_lost"], "back after", drill["seconds_until_steps"],
                  drill["skipped"], drill["problems"])
        check(done.returncode == 0 and len(drills) == 8, "every drill is well")
        check(all(drill["verdict"] == "ok" or drill["skipped"] for drill in drills), "every drill is done, or says why not")
        place.is_clean()


def interrupt():
    """Ctrl-C while the ranks train."""
    with Place() as place:
        drill = subprocess.Popen([DTSUBMIT, "drill", "hang"], env=place.environment, stderr=subprocess.PIPE, text=True)

        def trains():
            return any("metrics.jsonl" in names for _, _, names in os.walk(place.folder) if "alone" not in _)
        wait_for(120, "the training", trains)
        drill.send_signal(signal.SIGINT)
        words = drill.communicate(timeout=300)[1]
        check(drill.returncode == 130 and "interrupted" in words, f"{drill.returncode}: {words}")
        place.is_clean()


def job():
    """A user's job on the user's cluster: several drills on the same run."""
    with Cluster("linuxproc", 3, 2, 5) as cluster:
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "--on", "crash=restart:9", "--hang-timeout", "0:15", "--", DTTRAIN, *TRAIN)
        for fault, causes in (("rank-kill", ["rank_killed"]), ("preempt", ["requeued"]), ("slow", [""]), ("hang", ["hang"]), ("timeout", ["time_limit"]),
                              ("agent-kill", ["agent_lost"]), ("node-loss", ["rank_killed", "launcher_died"])):
            step = run.last_step()
            wait_for(120, "steps that are saved", lambda: run.last_step() >= step + 12)
            done = cluster.dtsubmit("drill", fault, run.path, "--yes", "--json", code=None)
            if done.returncode != 0:
                print(done.stdout)
            check(done.returncode == 0, f"{fault}: {done.stderr}")
            report = json.loads(done.stdout)["drills"][0]
            print(fault, report["cause"], report["decision"], "lost", report["steps_lost"], "back after", report["seconds_until_steps"])
            check(report["cause"] in causes, f"{fault}: cause {report['cause']}")
        refused = cluster.dtsubmit("drill", "disk-full", run.path, "--yes", code=3).stderr
        check("others use its file system" in refused, refused)
        cluster.dtsubmit("cancel", run.path)


def broken_tree(folder):
    """A copy of our programs, with a trainer that gives up for good within Slurm."""
    for part in ("bin", "lib/dtsubmit"):
        os.makedirs(f"{folder}/{part}")
    tree = os.path.dirname(os.path.dirname(DTSUBMIT))
    shutil.copy(DTSUBMIT, folder + "/bin")
    for name in os.listdir(tree + "/lib/dtsubmit"):
        shutil.copy(f"{tree}/lib/dtsubmit/{name}", folder + "/lib/dtsubmit")
    with open(folder + "/bin/dttrain", "w") as file:
        file.write(f'#!/bin/sh\n[ -z "$SLURM_JOB_ID" ] || {{ echo no GPU has come; exit {NO_RESTART}; }}\nexec {DTTRAIN} "$@"\n')
    os.chmod(folder + "/bin/dttrain", 0o755)
    return folder + "/bin/dtsubmit"


def ends_soon(words, **more):
    """The output of a drill whose run ends within seconds, so that no limit of minutes has to pass."""
    began = time.time()
    ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=170, **more)
    check(ran.returncode == 1, f"{os.path.basename(words[0])} exits {ran.returncode} after {time.time() - began:.0f} s")
    return ran.stdout


def kept_run(said, folder):
    """The run that the output names, which still exists below the folder, with its ledger."""
    found = [where for where, _, names in os.walk(folder) if "ledger.jsonl" in names and "/alone/" not in where and "/undisturbed/" not in where]
    check(len(found) == 1 and '"decision":"stop"' in open(found[0] + "/ledger.jsonl").read(), f"the run is kept: {found}")
    return found[0]


def broken():
    """A training that ends before it is drilled or preempted: this is noticed and explained, and its run is kept."""
    with Place() as place:
        program = broken_tree(place.folder + "/tree")
        said = ends_soon([program, "drill", "preempt"], env=place.environment)
        check("the training ended before it had a checkpoint" in said and "no GPU has come" in said, said)
        kept = kept_run(said, place.folder)
        check(kept in said and os.path.exists(kept + "/cluster-log/slurmctld.log"), f"with the cluster's logs, in {kept}")
        shutil.rmtree(kept)
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../examples/quickstart/run.sh")
        said = ends_soon([script], env={**place.environment, "DTSUBMIT_BUILD": place.folder + "/tree"})
        check("the run is over before step 40" in said and "no GPU has come" in said, said)
        check("is kept in " + kept_run(said, place.folder).split("/runs/")[0] in said, "the quickstart keeps the run and says where")
        wait_for(60, "no process", lambda: not place.processes())


if __name__ == "__main__":
    {"all": play_all, "broken": broken, "interrupt": interrupt, "job": job}[sys.argv[1]]()
