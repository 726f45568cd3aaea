# SPDX-License-Identifier: Apache-2.0
"""A machine without libslurm: dtsubmit reaches Slurm through its commands. The library is hidden by a plug-in that needs one with another
name. without_libslurm.py SCRIPT [ARGUMENT...] runs another script on such a machine; without a script, it checks the messages."""
import os
import re
import runpy
import shutil
import sys
import tempfile

from checks import check

DTSUBMIT = os.environ["DTSUBMIT"]


def hide_libslurm(folder):
    """Puts a dtsubmit-slurm.so first in the search path whose library does not exist."""
    built = os.path.dirname(os.path.dirname(os.path.realpath(DTSUBMIT))) + "/lib/dtsubmit/dtsubmit-slurm.so"
    if os.path.exists(built):
        with open(built, "rb") as file:
            code = file.read()
        with open(folder + "/dtsubmit-slurm.so", "wb") as file:
            file.write(re.sub(rb"libslurm\.so\.\d+", lambda name: re.sub(rb"\d", b"9", name.group()), code))
        os.chmod(folder + "/dtsubmit-slurm.so", 0o755)
    os.environ["DTSUBMIT_PLUGIN_PATH"] = folder
    os.environ.pop("DTSUBMIT_SCHEDULER", None)


def what_is_said():
    from main_job_support import Cluster
    with Cluster("linuxproc", 2, 1, 10) as cluster:
        said = cluster.dtsubmit("--version").stdout
        check(re.search(r"^scheduler: Slurm [\d.]+ through its commands \(/.*/scontrol\): ", said, re.M), f"--version: {said}")
        check("libslurm.so.99 is not here" in said or "no plug-in 'slurm'" in said, "it says why")
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "1", "--", "hostname")
        check(run.finish()["done"], "a job ends")
        log = open(f"{run.path}/attempt-1/agent.log").read()
        check(re.search(r"scheduler: Slurm [\d.]+ through its commands", log), f"its log says the same: {log}")
        check("warning" not in [event["event"] for event in run.ledger()], "nobody is warned: nothing is missing")
        refused = cluster.dtsubmit("submit", "--runs", cluster.runs, "--reservation=none", "--", "hostname", code=5).stderr
        check("Requested reservation is invalid" in refused, f"a refusal: {refused}")
        cluster.dtsubmit("submit", "--runs", cluster.runs, "--wait", "--", "sh", "-c", "exit 93", code=93)
        held = cluster.submit("--hold", "--", "hostname")
        why = cluster.dtsubmit("why", held.path).stdout
        check("it is held" in why and f"scontrol release {held.job}" in why, f"why: {why}")
        check(str(held.job) in cluster.dtsubmit("list", "--runs", cluster.runs).stdout, "list")
        cluster.dtsubmit("cancel", held.path)
        check(cluster.job_state(held.job) == "CANCELLED", "a job is cancelled in the queue")


def main():
    folder = tempfile.mkdtemp(prefix="dts-plugins-")
    try:
        hide_libslurm(folder)
        if len(sys.argv) == 1:
            return what_is_said()
        here = os.path.dirname(os.path.abspath(__file__))
        sys.argv = [f"{here}/{sys.argv[1]}.py", *sys.argv[2:]]
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
