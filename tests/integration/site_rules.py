# SPDX-License-Identifier: Apache-2.0
"""A site whose job_submit or cli_filter plug-in refuses or changes jobs: what it says reaches the user through both plug-ins, and is not taken for a failure
of the controller.
Also what sbatch would do elsewhere, and starts that nobody can foresee."""
import glob
import json

from checks import check, skip, wait_for
from main_job_support import Cluster
from plan import WAYS

RULES = """
function slurm_job_submit(job, partitions, user)
  if job.comment == "no number" then slurm.log_user("name a project with --account") return slurm.ERROR end
  if job.comment == "denied" then slurm.log_user("name a project with --account") return 2002 end
  if job.comment == "change" then job.partition = "high" slurm.log_user("moved to high") end
  return slurm.SUCCESS
end
function slurm_job_modify(job, record, partitions, user) return slurm.SUCCESS end
"""
# What only sbatch runs.
FILTER = """
function slurm_cli_setup_defaults(options, early) return slurm.SUCCESS end
function slurm_cli_pre_submit(options, offset)
  if options["comment"] == "filtered" then slurm.log_error("name a project, please") return slurm.ERROR end
  if options["comment"] == "default" then options["partition"] = "high" end
  return slurm.SUCCESS
end
function slurm_cli_post_submit(offset, job, step) return slurm.SUCCESS end
"""
# A comment, and what the help for its refusal names.
REFUSED = [("no number", "job_submit plug-in"), ("denied", "choose another --partition")]


def main():
    if not glob.glob("/usr/lib/*/slurm*/job_submit_lua.so"):
        skip("no job_submit/lua here")
    with Cluster("linuxproc", 2, 2, 20) as cluster:
        with open(cluster.folder + "/job_submit.lua", "w") as file:
            file.write(RULES)
        cluster.reconfigure("JobSubmitPlugins=lua")
        for way in WAYS:
            cluster.environment["DTSUBMIT_SCHEDULER"] = way
            for comment, named in REFUSED:
                # 5: refused; 4 would be a controller that does not answer.
                said = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "2", "--comment", comment, "--", "true", code=5).stderr
                check("name a project with --account" in said and named in said, f"{way}, {comment}: {said}")
            changed = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "2", "--comment", "change", "--", "true")
            check("moved to high" in changed.stdout + changed.stderr, f"{way}: the user learns of a change: {changed.stderr}")
        endless(cluster)
        filtered(cluster)
        elsewhere(cluster)


def filtered(cluster):
    """A site whose cli_filter plug-in refuses options or gives them, as for sbatch."""
    with open(cluster.folder + "/cli_filter.lua", "w") as file:
        file.write(FILTER)
    cluster.reconfigure("CliFilterPlugins=lua")
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        refused = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "2", "--comment", "filtered", "--", "true", code=5).stderr
        check("name a project, please" in refused, f"{way}, refused by cli_filter: {refused}")
        plan = cluster.dtsubmit("plan", "--nodes", "2", "--comment", "filtered", "--", "true", code=1).stdout
        check("name a project, please" in " ".join(plan.split()), f"{way}: it would never start: {plan}")
        run = cluster.submit("--nodes", "2", "--comment", "default", "--", "true")
        where = cluster.run("squeue", "-h", "-t", "all", "-o", "%P", "-j", str(run.job)).stdout.strip()
        check(where == "high", f"{way}: it has the partition of the site's filter: {where}")



def endless(cluster):
    """Behind a job without a time limit, Slurm guesses a start in a year, and its backfill scheduler gives that job such a limit."""
    job = cluster.run("sbatch", "--parsable", "--nodes=2", "--exclusive", "-o", "/dev/null", "--wrap", "sleep 600").stdout.strip()
    wait_for(30, "it runs", lambda: cluster.job_state(job) == "RUNNING")
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        plan = json.loads(cluster.dtsubmit("plan", "--json", "--nodes", "2", "--time", "5m", "--", "true").stdout)
        start, holders = plan["start"], plan["queue"]["holders"]
        check(start["answer"] == "expected" and start["time"] is None and start["wait_s"] is None, f"{way}: no start is foreseen: {start}")
        check([holder["end_time"] for holder in holders] == [0], f"{way}: it has no limit: {holders}")
        cluster.run("scontrol", "update", "PartitionName=low", "State=DOWN")
        said = cluster.dtsubmit("plan", "--nodes", "2", "--", "true", code=None).stdout
        check("not known: partition low is not up now" in said, f"{way}: nor in a partition that is down: {said}")
        cluster.run("scontrol", "update", "PartitionName=low", "State=UP")
    cluster.run("scancel", job)


def elsewhere(cluster):
    """sbatch would submit to the cluster that SLURM_CLUSTERS names."""
    cluster.environment["SLURM_CLUSTERS"] = "elsewhere"
    for way in WAYS:
        cluster.environment["DTSUBMIT_SCHEDULER"] = way
        said = cluster.dtsubmit("submit", "--runs", cluster.runs, "--nodes", "1", "--", "true", code=5).stderr
        check("SLURM_CLUSTERS=elsewhere asks for another cluster" in said, f"{way}: {said}")


if __name__ == "__main__":
    main()
