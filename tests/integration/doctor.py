#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `dtsubmit doctor` reports about differently configured private clusters, and what really happens there."""
import glob
import os
import shutil
import tempfile
import time

from checks import skip, wait_for
from doctor_site import Site, report
from main_job_support import DTTRAIN

# Each rank leaves a file when it runs and when it has saved; the second attempt has nothing left to do.
PROGRAM = ["--", "sh", "-c", """
[ "$DTSUBMIT_ATTEMPT" -gt 1 ] && exit 0
trap 'touch "$0/saved-$RANK"; exit 85' TERM
touch "$0/runs-$RANK"
while :; do sleep 0.2; done"""]


def started(site, *options):
    place = f"{site.cluster.place}/{len(os.listdir(site.cluster.place))}"
    os.mkdir(place)
    run = site.cluster.submit("--nodes", "2", *site.options, *options, *PROGRAM, place)
    wait_for(120, f"{site.name}: the ranks", lambda: len(glob.glob(place + "/runs-*")) == 2)
    time.sleep(1)
    return run, place


def came_of(site, run, place):
    """Whether the run was done, how many ranks had saved, and what the agent decided last."""
    wait_for(180, f"{site.name}: the end of the run", lambda: run.is_over())
    decisions = [event["decision"] for event in run.ledger() if event["event"] == "decided"]
    return decisions[-1] == "done", len(glob.glob(place + "/saved-*")), decisions


def judge_return(site, answer, done, saved, decisions):
    happened = f"{'done' if done else 'stopped'}, {saved} of 2 ranks saved, decisions {' '.join(decisions)}"
    site.say(answer["answer"], happened)
    expected = {"yes": done and saved == 2, "partly": done, "no": not done}
    assert expected[answer["answer"]], f"{site.name}: said {answer['answer']}: {answer['why']}; happened: {happened}"


def preempted(site, *options):
    answer = site.answers(*options)["preemption"]
    run, place = started(site, *options)
    site.cluster.take_nodes(2, 1)
    judge_return(site, answer, *came_of(site, run, place))


def preempted_without_requeue(site):
    preempted(site, "--no-requeue")


def out_of_time(site):
    words = ["--time", "2", "--signal-margin", "30s"]
    answer = site.answers(*words)["time-limit"]
    run, place = started(site, *words)
    judge_return(site, answer, *came_of(site, run, place))


def never_preempted(site):
    """The job that needs its nodes waits; the jobs that have them end by themselves."""
    answer = site.answers()["preemption"]
    assert answer["answer"] == "yes" and "no job is preempted" in answer["why"], answer
    run, place = started(site)
    waiting = site.cluster.run("sbatch", "--parsable", "-p", "high", "--nodes=2", "--exclusive", "-o", "/dev/null", "--wrap", "true").stdout.strip()
    time.sleep(8)
    assert site.cluster.job_state(run.job) == "RUNNING" and site.cluster.job_state(waiting) == "PENDING"
    assert not glob.glob(place + "/saved-*")
    site.say("yes", "the other job waits")
    site.cluster.run("scancel", str(run.job), waiting)


def suspended(site):
    answer = site.answers()["preemption"]
    assert answer["answer"] == "yes" and "suspended" in answer["why"], answer
    run, place = started(site)
    other = site.cluster.run("sbatch", "--parsable", "-p", "above", "--nodes=2", "--ntasks-per-node=2", "-o", "/dev/null", "--wrap", "sleep 4").stdout.strip()
    wait_for(60, f"{site.name}: the suspension", lambda: site.cluster.job_state(run.job) == "SUSPENDED")
    wait_for(60, f"{site.name}: the end of the other job", lambda: site.cluster.job_state(other) in ("COMPLETED", ""))
    wait_for(60, f"{site.name}: the return", lambda: site.cluster.job_state(run.job) == "RUNNING")
    events = [event["event"] for event in run.ledger()]
    assert "attempt_ended" not in events and not glob.glob(place + "/saved-*"), events
    site.say("yes", "suspended, went on in the same attempt")
    site.cluster.run("scancel", str(run.job))


def refused(what, *options):
    """If the answer is no, `submit` refuses the job."""
    def happens(site):
        answer = site.answers(*options)[what]
        assert answer["answer"] == "no", answer
        result = site.cluster.run(os.environ["DTSUBMIT"], "submit", "--runs", site.cluster.runs, "--nodes", "2", *options, "--", "true", code=None)
        assert result.returncode in (3, 5), f"{result.returncode} {result.stderr}"
        site.say("no", result.stderr.split("\n")[0])
    return happens


def allowed(text):
    """The numbers in a list of /proc/PID/status."""
    cores = set()
    for part in text.split(","):
        low, _, high = part.partition("-")
        cores.update(range(int(low), int(high or low) + 1))
    return cores


def confined(site):
    """Where a job of one core that we did not start may run, and where a rank of ours may run."""
    answer = site.answers()["cores"]["answer"]
    script = "grep Cpus_allowed_list /proc/self/status | cut -f2"
    out = site.cluster.place + "/cores"
    site.cluster.run("sbatch", "--wait", "-p", "low", "-N1", "-n1", "-c1", "-o", out, "--wrap", script)
    with open(out) as file:
        others = allowed(file.read().strip())
    run = site.cluster.submit("--nodes", "1", "--ntasks-per-node", "1", "--cpus-per-task", "1", "--", "sh", "-c", script)
    run.finish(120)
    logs = glob.glob(run.path + "/**/rank-0.log", recursive=True)
    with open(logs[0]) as file:
        ours = allowed(file.read().split("\n")[0].strip())
    site.say(answer, f"a job of one core may use {len(others)}, a rank of ours {len(ours)}, of {os.cpu_count()}")
    assert (answer == "yes") == (len(others) == 1), (answer, others)
    assert answer == "no" or len(ours) < max(2, os.cpu_count()), (answer, ours)


def left_behind(site):
    """A process that leaves its parent and its group is left after its job has ended."""
    answer = site.answers()["leftovers"]["answer"]
    noted = site.cluster.place + "/left"
    site.cluster.run("sbatch", "--wait", "-p", "low", "-N1", "-o", "/dev/null", "--wrap",
                     f"(setsid sh -c 'echo $$ > {noted}; exec sleep 300' &) ; while [ ! -s {noted} ]; do sleep 0.1; done")
    with open(noted) as file:
        pid = int(file.read())
    time.sleep(2)
    stays = os.path.exists(f"/proc/{pid}")
    if stays:
        os.kill(pid, 9)
    site.say(answer, "it stays" if stays else "it was ended")
    assert (answer == "yes") == (not stays), (answer, stays)


def ranks_under_srun(site):
    """A program linked with Open MPI, and one that is not."""
    answer = site.answers("--launcher", "srun")["ranks"]
    words = ["--nodes", "2", "--launcher", "srun"]
    run = site.cluster.submit(*words, "--", "sh", "-c", 'echo "$RANK of $WORLD_SIZE"')
    assert run.finish(120)["done"]
    run = site.cluster.submit(*words, "--on", "exit=stop", "--", DTTRAIN, "--steps", "1")
    done = run.finish(120)["done"]
    site.say(answer["answer"], f"other programs start, those of Open MPI {'too' if done else 'do not'}")
    assert (answer["answer"] == "yes") == done, answer


def ranks_without_pmix(site):
    """The same with an Open MPI that has no component for PMIx: a copy of its folder of components without it."""
    folder = without("/usr/lib/*/openmpi/lib/openmpi3", "mca_pmix_")
    if not folder:
        site.say("nothing", "no folder with Open MPI's components: omitted")
        return
    variable = f"OMPI_MCA_mca_base_component_path={folder}"
    site.cluster.environment.update([variable.split("=")])
    answer = site.answers("--launcher", "srun")["ranks"]
    run = site.cluster.submit("--nodes", "2", "--launcher", "srun", "--on", "exit=stop", "--", "env", variable, DTTRAIN, "--steps", "1")
    done = run.finish(120)["done"]
    site.say(answer["answer"], f"programs of such an Open MPI {'start' if done else 'do not start'}")
    shutil.rmtree(folder)
    assert answer["answer"] == "partly" and "no component for PMIx" in answer["why"] and not done, answer


def when_prologs_run(site):
    """Which nodes of a job without steps have run the Prolog."""
    answer = site.answers()["prolog"]["answer"]
    folder = os.path.dirname(site.cluster.run("scontrol", "show", "config").stdout.split("\nProlog ")[1].split("\n")[0].split("=")[1].strip())
    for path in glob.glob(folder + "/ran-*"):
        os.unlink(path)
    site.cluster.run("sbatch", "--wait", "-p", "low", "-N2", "-o", "/dev/null", "--wrap", "sleep 2")
    ran = sorted(os.path.basename(path)[4:] for path in glob.glob(folder + "/ran-*"))
    site.say(answer, f"before the first step the Prolog ran on {', '.join(ran)} of n0, n1")
    assert (answer == "yes") == (len(ran) == 2), (answer, ran)


def with_prolog():
    """A Prolog that leaves a file for each node in a folder of its own."""
    folder = tempfile.mkdtemp(prefix="dts-doctor-prolog-")
    path = folder + "/prolog"
    with open(path, "w") as file:
        file.write(f'#!/bin/sh\ntouch {folder}/ran-"$SLURMD_NODENAME"\n')
    os.chmod(path, 0o755)
    return path


def without(folders, beginning):
    """A copy of the folder without the files that begin like this."""
    found = glob.glob(folders)
    if not found:
        return None
    folder = tempfile.mkdtemp(prefix="dts-doctor-without-")
    for path in glob.glob(found[0] + "/*.so"):
        if not os.path.basename(path).startswith(beginning):
            os.symlink(path, os.path.join(folder, os.path.basename(path)))
    return folder


def without_pmix():
    """A folder of Slurm's plug-ins without the one for PMIx."""
    return without("/usr/lib/*/slurm-wlm", "mpi_pmix") or without("/usr/lib/*/slurm", "mpi_pmix")


def sites(plugins, prologs):
    modes = {name: f"PartitionName={name} Nodes=ALL MaxTime=INFINITE State=UP PriorityTier=1 PreemptMode=CANCEL GraceTime={grace}"
             for name, grace in (("cancel", 0), ("cancelgrace", 20))}
    gang = ["PreemptMode=SUSPEND,GANG",
            *(f"PartitionName={name} Nodes=ALL MaxTime=INFINITE State=UP PriorityTier={tier} PreemptMode={mode} OverSubscribe=FORCE:1"
              for name, tier, mode in (("suspend", 1, "SUSPEND"), ("above", 5, "OFF")))]
    yield Site("linuxproc, requeue, grace 20", "linuxproc", 20, [], [preempted, out_of_time])
    yield Site("linuxproc, requeue, no grace, KillWait 5", "linuxproc", 0, ["KillWait=5"], [preempted])
    yield Site("cgroup, requeue, grace 20", "cgroup", 20, [], [preempted, left_behind])
    yield Site("cgroup, requeue, no grace", "cgroup", 0, ["KillWait=10"], [preempted])
    yield Site("linuxproc, cancel, grace 20", "linuxproc", 20, [modes["cancelgrace"]], [preempted], ["-p", "cancelgrace"])
    yield Site("cgroup, cancel, no grace", "cgroup", 0, [modes["cancel"], "KillWait=10"], [preempted], ["-p", "cancel"])
    yield Site("linuxproc, suspend", "linuxproc", 0, gang, [suspended], ["-p", "suspend"])
    yield Site("JobRequeue=0", "linuxproc", 20, ["JobRequeue=0"], [preempted, preempted_without_requeue])
    yield Site("RequeueExit=85", "linuxproc", 20, ["RequeueExit=85"], [refused("exit-codes")])
    yield Site("MaxArraySize=5", "linuxproc", 20, ["MaxArraySize=5"], [refused("array", "--array", "0-9")])
    yield Site("MaxTime=10", "linuxproc", 20, ["PartitionName=short Nodes=ALL MaxTime=10 State=UP"],
               [refused("time-limit", "-p", "short", "--time", "20")])
    yield Site("preempt/none", "linuxproc", 0, ["PreemptType=preempt/none", "PreemptMode=OFF"], [never_preempted])
    yield Site("proctrack/pgid", "pgid", 20, [], [left_behind, preempted])
    yield Site("task/none", "linuxproc", 20, [], [confined, left_behind])
    yield Site("task/cgroup, cores constrained", "cgroup", 20, ["--constrain-cores"], [confined])
    yield Site("with PMIx", "linuxproc", 20, [], [ranks_under_srun, ranks_without_pmix])
    yield Site("Prolog", "linuxproc", 20, [f"Prolog={prologs[0]}"], [when_prologs_run])
    yield Site("Prolog, PrologFlags=Alloc", "linuxproc", 20, [f"Prolog={prologs[1]}", "PrologFlags=Alloc"], [when_prologs_run])
    if plugins:
        yield Site("without PMIx", "linuxproc", 20, [f"PluginDir={plugins}"], [ranks_under_srun])


def main():
    if os.geteuid() != 0 or not os.path.isdir("/sys/fs/cgroup/freezer"):
        skip("needs root and control groups of version 1, for the clusters with proctrack/cgroup")
    plugins = without_pmix()
    if not plugins:
        print("no folder with Slurm's plug-ins: the cluster without PMIx is omitted")
    prologs = [with_prolog(), with_prolog()]
    try:
        report(list(sites(plugins, prologs)))
    finally:
        for folder in filter(None, [plugins, *map(os.path.dirname, prologs)]):
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
