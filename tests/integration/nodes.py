# SPDX-License-Identifier: Apache-2.0
"""Nodes that are unfit, in quarantine or spare, on a private real Slurm: nodes.py SCENARIO [LAUNCHER]."""
import json
import os
import signal
import subprocess
import sys
import time

from checks import check, skip, wait_for
from main_job import INTERVAL, SHORT, SLOW
from main_job_support import Cluster, DTTRAIN

TELL = ["--", "sh", "-c", "echo on $SLURMD_NODENAME"]


def events(run, *names):
    return [e for e in run.ledger() if e["event"] in names]


def slurmd(cluster, node):
    with open(f"{cluster.folder}/run/{node}.pid") as file:
        return int(file.read())


def shrink(cluster, node, folder="/dev/shm"):
    """Gives this folder 16 KiB of room as this node sees it. Returns the words before a command that sees the same."""
    if os.geteuid() != 0:
        skip("needs root, to change what one node sees of the file system")
    process = f"/proc/{slurmd(cluster, node)}"
    # The root as well: in a chroot, the namespace has another one.
    enter = ["nsenter", f"--mount={process}/ns/mnt", f"--root={process}/root"]
    subprocess.run([*enter, "mount", "--make-private", folder], stderr=subprocess.DEVNULL)  # otherwise every node would see it
    subprocess.run([*enter, "mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", folder], check=True)
    if os.statvfs(folder).f_blocks * os.statvfs(folder).f_frsize == 16 << 10:
        subprocess.run(["umount", folder], check=True)
        skip("what one node mounts all others see here")
    return enter


def lose(cluster, node):
    """Kills everything on the node at once, including its slurmd, like a power cut."""
    name = os.stat(f"/proc/{slurmd(cluster, node)}/ns/uts").st_ino
    for _ in range(3):  # processes may start meanwhile
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{pid}/ns/uts").st_ino == name:
                    os.kill(int(pid), signal.SIGKILL)
            except OSError:
                pass


def in_quarantine(cluster):
    told = json.loads(cluster.dtsubmit("nodes", "--json").stdout)["quarantine"]
    return {one["node"]: one for one in told}


def excluded(cluster, *words):
    """The nodes that a job excludes, according to its output and to Slurm's record."""
    answer = json.loads(cluster.dtsubmit("submit", "--runs", cluster.runs, "--json", *words).stdout)
    shown = cluster.run("scontrol", "show", "job", str(answer["job"])).stdout
    record = next(word for word in shown.split() if word.startswith("ExcNodeList="))
    cluster.run("scancel", str(answer["job"]))
    return answer["exclude"], record.partition("=")[2]


def preflight(launcher):
    """/dev/shm of one node is full, then TMPDIR of another: no program starts, the node is named, and this job and later ones avoid it."""
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        shrink(cluster, "n1")
        run = cluster.submit("--nodes", "2", "--launcher", launcher, *TELL)
        wait_for(120, "the run's end", run.is_over)
        ended = events(run, "attempt_ended")
        check(ended[0]["cause"] == "launch_failed" and ended[0]["node"] == "n1", f"{launcher}: {ended[0]['cause']}: {ended[0]['detail']}")
        check("/dev/shm" in ended[0]["detail"] and "MiB free" in ended[0]["detail"], "it is said what was measured")
        unfit = events(run, "node_unfit")
        check([e["node"] for e in unfit] == ["n1"], "the ledger names the unfit node")
        check([e["attempt"] for e in events(run, "ranks_started")] == [2], "no program started before")
        first, second = (e["nodes"] for e in events(run, "attempt_started"))
        check("n1" in first and "n1" not in second, f"attempt 1 on {first}, attempt 2 on {second}")
        check(run.status()["done"], "the run is done")
        told = in_quarantine(cluster)
        check(list(told) == ["n1"] and told["n1"]["cause"] == "preflight" and told["n1"]["run_directory"] == run.path,
              f"n1 is in quarantine until {told['n1']['until']}")
        check(excluded(cluster, "--nodes", "2", *TELL) == (["n1"], "n1"), "the next job is submitted without it")
        check(excluded(cluster, "--nodes", "2", "--exclude", "n2", *TELL) == (["n2"], "n2"), "not where too few would be left")
        cluster.dtsubmit("nodes", "--release", "n1")
        check(excluded(cluster, "--nodes", "2", *TELL) == ([], "(null)"), "once let out it may be given again")
        cluster.environment["TMPDIR"] = cluster.place + "/temporary"
        os.mkdir(cluster.environment["TMPDIR"])
        enter = shrink(cluster, "n2", cluster.environment["TMPDIR"])
        subprocess.run([*enter, "sh", "-c", f"head -c 16384 /dev/zero > {cluster.environment['TMPDIR']}/full"], check=True)
        run = cluster.submit("--nodes", "2", "--exclude", "n1", "--launcher", "srun", "--on", "launch=stop", *TELL)
        wait_for(120, "the run's end", run.is_over)
        ended = events(run, "attempt_ended")[0]
        check(ended["node"] == "n2" and "the folder for temporary files: No space left on device" in ended["detail"], f"so does a full TMPDIR: {ended['detail']}")


def spare(launcher):
    """A node is unfit from the beginning: the spare node is used at once. Then a rank is killed: the nodes stay the same. Then a node is
    lost: the next attempt uses the spare node, in the same job, and the digest is that of an undisturbed run."""
    with Cluster("linuxproc", nodes=4, gpus=0, grace=5) as cluster:
        shrink(cluster, "n1")
        expected = cluster.train_alone(*SHORT)
        run = cluster.submit("--nodes", "2", "--spares", "2", "--ntasks-per-node", "2", "--launcher", launcher, "--", DTTRAIN, *SLOW)
        run.reach_step(15)
        started = events(run, "attempt_started")[0]
        check(started["nodes"] == ["n0", "n2"] and started["detail"] == "spare: n3", f"{launcher}: on {started['nodes']}, {started['detail']}")
        check([e["node"] for e in events(run, "node_unfit")] == ["n1"], "the ledger names the unfit node")
        check(list(in_quarantine(cluster)) == ["n1"], "and it is in quarantine")
        run.kill("program")
        wait_for(120, "another attempt", lambda: len(events(run, "ranks_started")) > 1)
        check(events(run, "attempt_started")[1]["nodes"] == ["n0", "n2"], "after a crash the nodes are the same")
        run.reach_step(35)
        lose(cluster, "n2")
        lost = time.time()
        wait_for(120, "the next attempt", lambda: len(events(run, "ranks_started")) > 2)
        ended, again = events(run, "attempt_ended")[1], events(run, "attempt_started")[2]
        check(again["nodes"] == ["n0", "n3"], f"n2 lost ({ended['cause']}: {ended['detail']}): {time.time() - lost:.1f} s later on {again['nodes']}")
        check(again["job"] == run.job, "in the same job")
        status = run.finish()
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")
        check(status["steps_lost"] <= 2 * INTERVAL, f"{status['steps_lost']} steps lost, at most {2 * INTERVAL}")


def corruption():
    """A bit flips in the weights of the rank on n1: the cause names rank, node and tensor, and the node is in quarantine. If `--on` says
    so, the run continues elsewhere from the last good checkpoint, to the digest of an undisturbed run."""
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        expected = cluster.train_alone(*SHORT)
        once = f"[ $DTSUBMIT_ATTEMPT != 1 ] || set -- --inject weight:fc1.weight:4711@35:1; exec {DTTRAIN} {' '.join(SHORT)} $@"
        run = cluster.submit("--nodes", "2", "--on", "corruption=requeue", "--", "sh", "-c", once, "sh")
        wait_for(240, "the run's end", run.is_over)
        ended = events(run, "attempt_ended")[0]
        node = events(run, "attempt_started")[0]["nodes"][1]
        check(ended["cause"] == "corruption" and ended["rank"] == 1 and ended["node"] == node, f"{ended['cause']} on {ended['node']}: {ended['detail']}")
        check("the weights of fc1.weight" in ended["detail"] and f"(node {node})" in ended["detail"], "rank, node and tensor are said")
        check(int(ended["checkpoint"].rpartition("-")[2]) < 35, f"the last checkpoint is {ended['checkpoint']}")
        check(in_quarantine(cluster)[node]["cause"] == "corruption", f"{node} is in quarantine")
        again = events(run, "attempt_started")[1]["nodes"]
        check(node not in again, f"attempt 2 on {again}")
        status = run.status()
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")


def slurmd_lost():
    """The slurmd of a used node is killed: Slurm marks the node down and leaves the job its other nodes, and the spare node is used."""
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        expected = cluster.train_alone(*SHORT)
        run = cluster.submit("--nodes", "2", "--spares", "1", "--launcher", "srun", "--", DTTRAIN, *SHORT, "--step-delay", "1000")
        run.reach_step(15)
        os.kill(slurmd(cluster, "n1"), signal.SIGKILL)
        wait_for(240, "the next attempt", lambda: len(events(run, "ranks_started")) > 1)
        ended, again = events(run, "attempt_ended")[0], events(run, "attempt_started")[1]
        check(ended["cause"] == "node_failed" and ended["node"] == "n1", f"{ended['cause']}: {ended['detail']}")
        check(again["nodes"] == ["n0", "n2"] and again["job"] == run.job, f"the next attempt is on {again['nodes']}, in the same job")
        check("in place of n1" in events(run, "decided")[0]["detail"], events(run, "decided")[0]["detail"])
        status = run.finish(600)
        check(status["done"] and status["digest"] == expected, f"digest {expected} as undisturbed")


def taken():
    """Somebody takes a node out of the running job: with a spare node it goes on in the same job, otherwise it is requeued and gets all of
    its nodes again. Without this, launches on the old nodes failed until their budget was used up."""
    steady = "echo $SLURM_JOB_NUM_NODES $SLURM_JOB_NODELIST $SLURM_NODELIST; trap 'exit 85' TERM; [ $DTSUBMIT_ATTEMPT != 1 ] || exec sleep 600"
    with Cluster("linuxproc", nodes=3, gpus=0, grace=5) as cluster:
        for spares in (0, 1):
            run = cluster.submit("--nodes", "2", "--spares", str(spares), "--", "sh", "-c", steady)
            wait_for(60, "the ranks", lambda: events(run, "ranks_started"))
            cluster.run("scontrol", "update", f"JobId={run.job}", "NodeList=n0" + ",n2" * spares)
            status = run.finish(300)
            ended, decided = events(run, "attempt_ended")[0], events(run, "decided")[0]
            check(ended["cause"] == "node_failed" and ended["node"] == "n1", f"{ended['cause']} of {ended['node']}: {ended['detail']}")
            check("taken out of the job: n1" in ended["detail"], "and says that it was taken out of the job")
            check(decided["decision"] == ("restart" if spares else "requeue"), f"{decided['decision']}: {decided['detail']}")
            again = events(run, "attempt_started")[1]["nodes"]
            check(status["done"] and again == (["n0", "n2"] if spares else ["n0", "n1"]), f"the next attempt is on {again}")
            told = [open(f"{run.path}/attempt-{attempt}/rank-0.log").read().split("\n")[0] for attempt in (1, 2)]
            expected = ["2 n[0-1] n[0-1]", "2 n[0,2] n[0,2]" if spares else "2 n[0-1] n[0-1]"]
            check(told == expected, f"ranks see the nodes that have ranks, not those of the job: {told}")


if __name__ == "__main__":
    {f.__name__: f for f in (preflight, spare, corruption, slurmd_lost, taken)}[sys.argv[1]](*sys.argv[2:])
