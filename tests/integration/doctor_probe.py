#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `dtsubmit doctor --submit-probe` finds on private clusters with injected faults, and what it reports about QOS."""
import contextlib
import glob
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from checks import skip, wait_for
from doctor import judge_return, came_of, started
from doctor_site import Site, report
from launch_faults import hidden
from main_job_support import DTSUBMIT

ALL = ["start", "ranks", "run-folder", "clocks", "names", "ssh", "limits", "cores", "warning", "scratch"]


def probe(site, *options):
    """The probe's answers; nothing of its job is left."""
    os.makedirs(site.cluster.runs, exist_ok=True)
    answers = site.answers("--runs", site.cluster.runs, "--submit-probe", *options)
    leaves_nothing(site)
    return {what: answers["probe-" + what] for what in ALL}


def leaves_nothing(site):
    left = [name for name in os.listdir(site.cluster.runs) if not name.startswith(".")]
    queue = site.cluster.run("squeue", "-h", "-n", "doctor-probe", "-o", "%i %T").stdout
    assert not left and not queue, (left, queue)
    assert not glob.glob(f"{site.cluster.place}/slurm-*")


def expect(site, answers, **expected):
    for what, answer in expected.items():
        what = what.replace("_", "-")
        site.say(f"{what} {answers[what]['answer']}", answers[what]["why"])
        assert answers[what]["answer"] == answer, (what, answers[what])


def works(*words):
    return subprocess.run(words, capture_output=True, text=True).returncode == 0


def healthy(site):
    """Compared with the result without a probe."""
    found = probe(site)
    ssh = shutil.which("ssh") is not None and works("ssh", "-o", "BatchMode=yes", "-o", "ConnectTimeout=5", socket.gethostname(), "true")
    expect(site, found, start="yes", ranks="yes", run_folder="yes", clocks="yes", names="yes", warning="yes", ssh="yes" if ssh else "partly")
    limit = site.cluster.run("srun", "-p", "low", "-N1", "sh", "-c", "ulimit -n; ulimit -l").stdout.split()
    expect(site, found, limits="yes" if limit[1] == "unlimited" or int(limit[1]) >= 1 << 20 and int(limit[0]) >= 4096 else "partly")
    assert f"open files {limit[0]}" in found["limits"]["why"], (limit, found["limits"])
    free = shutil.disk_usage(os.environ.get("TMPDIR", "/tmp")).free
    expect(site, found, scratch="yes" if free >= 1 << 30 else "partly")
    # The probe's ranks have as many cores as the job's: all cores of the node, unless the job requests fewer.
    one = probe(site, "--cpus-per-task", "1")
    expect(site, one, cores="yes" if "constrained" in site.name or os.cpu_count() == 1 else "partly")


def as_srun_starts(site):
    expect(site, probe(site, "--launcher", "srun"), start="yes", ranks="yes", run_folder="yes", warning="yes")


def on_one_node(site):
    expect(site, probe(site, "--nodes", "1"), start="yes", ranks="yes", clocks="yes", warning="yes")


def not_shared(site):
    """The second node has a different folder in place of the one with runs."""
    os.makedirs(site.cluster.runs, exist_ok=True)
    with hidden(site.cluster, "n1", site.cluster.runs):
        expect(site, probe(site), start="no", run_folder="no", clocks="unknown")


def clocks_apart(site):
    """The first node's clock is ahead: only its processes see the file with the offset."""
    library = os.environ.get("DTS_MOVED_CLOCK_LIBRARY")
    if not library:
        site.say("nothing", "DTS_MOVED_CLOCK_LIBRARY does not name it: clocks are not moved")
        return
    folder = site.cluster.place + "/clock"
    os.mkdir(folder)
    site.cluster.environment.update(LD_PRELOAD=library, DTS_MOVED_CLOCK=folder + "/clock")
    for seconds, answer in ((5, "partly"), (400, "no")):
        with open(folder + "/clock", "w") as file:
            file.write(str(seconds))
        with hidden(site.cluster, "n1", folder):
            found = probe(site)
        expect(site, found, clocks=answer)
        assert f"{seconds * 1000}." in found["clocks"]["why"] or f"{seconds * 1000 - 1}." in found["clocks"]["why"], found["clocks"]
        assert "behind" in found["clocks"]["why"], found["clocks"]
    for name in ("LD_PRELOAD", "DTS_MOVED_CLOCK"):
        del site.cluster.environment[name]


@contextlib.contextmanager
def full(site):
    """Another job has all nodes."""
    other = site.cluster.run("sbatch", "--parsable", "-p", "high", "-N2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 300").stdout.strip()
    wait_for(60, "the other job", lambda: site.cluster.job_state(other) == "RUNNING")
    yield
    site.cluster.run("scancel", other)
    wait_for(60, "its end", lambda: site.cluster.job_state(other) in ("", "CANCELLED"))


def no_room(site):
    """The probe gives up after its time, and at once when it is interrupted; nothing is left."""
    with full(site):
        begin = time.time()
        found = probe(site, "--probe-wait", "3s")
        expect(site, found, start="unknown", clocks="unknown")
        assert "did not begin within 3 s" in found["start"]["why"] and time.time() - begin < 60, found["start"]
        words = [DTSUBMIT, "doctor", "--nodes", "2", "--runs", site.cluster.runs, "--submit-probe"]
        process = subprocess.Popen(words, env=site.cluster.environment, cwd=site.cluster.place, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        said = ""
        while "is pending" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
        process.send_signal(signal.SIGINT)
        said += process.communicate(timeout=60)[1]
        site.say("interrupted", f"exit {process.returncode}")
        assert process.returncode == 130 and "is cancelled" in said, (process.returncode, said)
        leaves_nothing(site)


def refused_by_slurm(site):
    """Requests for what the site does not have."""
    found = site.cluster.run(DTSUBMIT, "doctor", "--nodes", "2", "--json", "--runs", site.cluster.runs, "--submit-probe", "--constraint", "nothing", code=None)
    answers = {one["id"]: one for one in json.loads(found.stdout)["partitions"][0]["answers"]}
    site.say(answers["probe-start"]["answer"], answers["probe-start"]["why"])
    assert answers["probe-start"]["answer"] == "no" and found.returncode == 1, answers["probe-start"]
    leaves_nothing(site)


class QosSite(Site):
    def sacctmgr(self, *words):
        self.cluster.run("sacctmgr", "-i", *words)


def preempted_by_qos(site):
    """Only the accounting has the information on who may preempt whom."""
    answer = site.answers()["preemption"]
    site.say(answer["answer"], answer["why"])
    assert answer["answer"] == "yes" and "no QOS may preempt jobs of QOS normal" in answer["why"], answer
    site.sacctmgr("add", "qos", "urgent", "set", "Preempt=normal")
    site.sacctmgr("modify", "user", "root", "set", "qos+=urgent")
    for change, expected in (("GraceTime=20", "yes"), ("GraceTime=0", "partly"), ("PreemptMode=cancel", "partly")):
        site.sacctmgr("modify", "qos", "normal", "set", change)
        answer = wait_for(20, f"{expected} with {change}", lambda expected=expected: (lambda one: one["answer"] == expected and one)(site.answers()["preemption"]))
        assert "by jobs of urgent" in answer["why"], answer
        if change == "GraceTime=0":
            continue
        run, place = started(site)
        site.cluster.run("sbatch", "--qos", "urgent", "--nodes=2", "--gpus-per-node=1", "-o", "/dev/null", "--wrap", "sleep 1")
        judge_return(site, answer, *came_of(site, run, place))


def limit_of_qos(site):
    site.sacctmgr("add", "qos", "brief", "set", "MaxWall=5", "Flags=DenyOnLimit")
    site.sacctmgr("modify", "user", "root", "set", "qos+=brief")
    words = ["--qos", "brief", "--time", "30"]
    answer = site.answers(*words)["time-limit"]
    result = site.cluster.run(DTSUBMIT, "submit", "--runs", site.cluster.runs, "--nodes", "2", *words, "--", "true", code=None)
    site.say(f"{answer['answer']}: {answer['why']}", result.stderr.split("\n")[0])
    assert answer["answer"] == "no" and "QOS brief" in answer["why"] and result.returncode == 3, (answer, result)


def without_accounting(site):
    """slurmdbd is down, so QOS are not known."""
    with open(glob.glob(site.cluster.folder + "/run/slurmdbd.pid")[0]) as file:
        os.kill(int(file.read()), signal.SIGKILL)
    answer = site.answers()["preemption"]
    site.say(answer["answer"], answer["why"])
    assert answer["answer"] == "unknown" and "sacctmgr" in answer["todo"], answer


def sites():
    yield Site("linuxproc", "linuxproc", 20, [], [healthy, as_srun_starts, refused_by_slurm])
    yield Site("cgroup, cores constrained", "cgroup", 20, ["--constrain-cores"], [healthy, on_one_node])
    yield Site("linuxproc, faults", "linuxproc", 20, [], [not_shared, clocks_apart])
    yield Site("linuxproc, full", "linuxproc", 20, [], [no_room])
    if shutil.which("slurmdbd", path=os.environ["PATH"] + ":/usr/sbin") and shutil.which("mariadbd", path=os.environ["PATH"] + ":/usr/sbin"):
        yield QosSite("preempt/qos", "linuxproc", 0, ["--accounting", "PreemptType=preempt/qos", "KillWait=5"],
                      [preempted_by_qos, limit_of_qos, without_accounting])
    else:
        print("no slurmdbd or mariadbd here: QOS are omitted (Debian 12: apt install slurmdbd mariadb-server-core)")


def main():
    if os.geteuid() != 0 or not os.path.isdir("/sys/fs/cgroup/freezer"):
        skip("needs root and control groups of version 1, for the cluster with proctrack/cgroup and to change what a node sees")
    report(list(sites()))


if __name__ == "__main__":
    main()
