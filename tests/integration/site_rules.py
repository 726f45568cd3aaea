# SPDX-License-Identifier: Apache-2.0
"""A site whose job_submit plug-in refuses or changes jobs: what it says reaches the user through both plug-ins, and is not taken for a failure
of the controller."""
import glob

from checks import check, skip
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


if __name__ == "__main__":
    main()
