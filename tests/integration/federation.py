# SPDX-License-Identifier: Apache-2.0
"""Jobs of a federation of private real Slurms, which share a slurmdbd."""
import contextlib
import socket
import threading

from accounting import SHORT, SLOW, USER, ServedCluster
from checks import check, wait_for
from main_job_support import DTTRAIN
from why import FOR_EVER, started


class Federated(ServedCluster):
    """A cluster of a federation, as its 32nd cluster: the ids of its jobs have 32 bits."""

    def __enter__(self):
        super().__enter__()
        self.sacctmgr("add", "federation", "galaxy", "clusters=here")
        self.database("update cluster_table set fed_id = 32")
        self.announce()
        return self

    def database(self, order):
        self.run("mariadb", f"--socket={self.folder}/run/database.socket", "slurm_acct_db", "-e", order)

    def announce(self):
        """Makes slurmdbd inform the controllers about the federation, which it only does after a change."""
        self.sacctmgr("modify", "cluster", "here", "set", "features=a,b")
        self.sacctmgr("modify", "cluster", "here", "set", "features=a")
        wait_for(30, "the federation", lambda: "ID:32" in self.run("scontrol", "show", "federation").stdout)

    def add(self, other):
        """Another cluster with the same slurmdbd."""
        self.sacctmgr("modify", "federation", "galaxy", "set", "clusters+=other")
        self.sacctmgr("add", "account", "default", "cluster=other")
        self.sacctmgr("add", "user", USER, "account=default", "cluster=other")
        self.announce()
        wait_for(60, "the clusters know each other", lambda: all(
            "Synced:Yes" in cluster.run("scontrol", "show", "federation").stdout for cluster in (self, other)))

    def job_state(self, job):
        # `squeue -j` of 22.05 does not accept ids above 31 bits.
        lines = self.run("squeue", "--local", "-h", "-a", "-t", "all", "-o", "%F %T").stdout.splitlines()
        return "\n".join(line.split()[1] for line in lines if line.split()[0] == str(job))


def federation():
    """Ids of a federation's 32nd cluster are read correctly, and a job that runs on another cluster is queried there."""
    with Federated(2, 2, "--accounting", "--name", "here") as cluster:
        expected = cluster.train_alone(*SHORT)
        for plugin in ("slurm", "slurm-commands"):
            cluster.environment["DTSUBMIT_SCHEDULER"] = plugin
            run = cluster.submit("--nodes", "2", "--gpus-per-node", "2", "-p", "low", "--", DTTRAIN, *SLOW)
            check(run.job > 2**31, f"{plugin}: an id of 32 bits: {run.job}")
            run.reach_step(15)
            cluster.take_nodes(2, 2)
            status = run.finish()
            check(status["done"] and status["digest"] == expected and len(status["attempts"]) == 2, f"preempted and back, digest {expected}")
            check({event["job"] for event in run.ledger() if "job" in event} == {run.job}, "the ledger has the id")
            check(str(run.job) in cluster.dtsubmit("list", "--runs", cluster.runs).stdout, "the list has it, too")
            array = cluster.submit("--nodes", "1", "--array", "0-1", *FOR_EVER)
            wait_for(60, "its elements", lambda: cluster.job_state(array.job).split() == ["RUNNING"] * 2)
            for element in (f"{array.job}_0", f"{array.job}_1"):
                wait_for(60, f"why says that {element} runs", lambda element=element: f"Job {element} has been running" in cluster.dtsubmit(
                    "why", "--runs", cluster.runs, element).stdout)
                cluster.dtsubmit("cancel", "--runs", cluster.runs, element)
            wait_for(60, "their end", lambda: "RUNNING" not in cluster.job_state(array.job))
        elsewhere(cluster)


def pass_on(one, other):
    with contextlib.suppress(OSError):
        while piece := one.recv(65536):
            other.sendall(piece)
    for end in (one, other):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def listening_where_it_speaks(cluster):
    """slurmdbd assumes that a controller is where its messages come from: 127.0.0.1. A private controller only listens at its own address.
    """
    address = (cluster.address(), int(cluster.configuration()["SlurmctldPort"]))
    with socket.create_server(("127.0.0.1", address[1])) as server:
        def serve():
            with contextlib.suppress(OSError):
                while True:
                    ends = server.accept()[0], socket.create_connection(address)
                    for one, other in (ends, ends[::-1]):
                        threading.Thread(target=pass_on, args=(one, other), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown(socket.SHUT_RDWR)


def elsewhere(cluster):
    conf = cluster.configuration()
    settings = (f"{key}={conf[key]}" for key in ("AccountingStorageType", "AccountingStorageHost", "AccountingStoragePort"))
    other = ServedCluster(1, 0, "--name", "other", *(word for setting in settings for word in ("--conf", setting)))
    with other, listening_where_it_speaks(other):
        cluster.add(other)
        cluster.run("sbatch", "--clusters=here", "--nodes=2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600")
        wait_for(60, "no node is free", lambda: "idle" not in cluster.run("sinfo", "--local", "-h", "-o", "%T").stdout)
        for plugin in ("slurm", "slurm-commands"):
            cluster.environment["DTSUBMIT_SCHEDULER"] = plugin
            run = cluster.submit("--nodes", "1", *FOR_EVER)
            wait_for(60, "the ranks", lambda run=run: started(run))
            check(cluster.job_state(run.job) == "REVOKED", f"{plugin}: it runs on the other cluster")
            check("has been running" in cluster.dtsubmit("why", run.path).stdout, "why says that it runs")
            said = cluster.dtsubmit("stop", run.path).stdout
            check("asked job" in said, f"it is asked to stop, and not cancelled: {said}")
            wait_for(60, "its end", run.is_over)
            check(run.status()["attempts"][0]["cause"] == "stopped", "it was stopped")
            wait_for(60, "its end in Slurm", lambda run=run: "ended at" in cluster.dtsubmit("why", run.path).stdout)
            cluster.dtsubmit("requeue", run.path)
            wait_for(90, "the second attempt", lambda run=run: len(started(run)) == 2)
            cluster.dtsubmit("cancel", run.path)
            wait_for(60, "its end", run.is_over)
            check(run.status()["attempts"][1]["cause"] == "cancelled", "it went on, and was cancelled")


if __name__ == "__main__":
    federation()
