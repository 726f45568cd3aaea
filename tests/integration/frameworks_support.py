# SPDX-License-Identifier: Apache-2.0
"""A framework's own program as ranks of `dtsubmit run`. Each frameworks_*.py is both the test and, with `rank` as its first argument, the
program that the test starts."""
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from checks import check, skip

DTSUBMIT = os.environ["DTSUBMIT"]
PYTHON = os.environ.get("DTS_FRAMEWORKS_PYTHON", sys.executable)
MARK = "RESULT "
LLVM = glob.glob("/usr/lib/*/libomp.so.5") + glob.glob("/usr/lib/llvm-*/lib/libomp.so.5")  # its OpenMP runtime


# torch 1.13's torchrun does not work with Python 3.11: iterating a Flag no longer yields its member 0, so torchrun's own default of
# --redirects is read as None.
TORCHRUN = f"""#!{PYTHON}
from torch.distributed.elastic.multiprocessing import api
if api.Std.from_str("0") is None:
    api.Std.from_str = classmethod(lambda cls, text: cls(int(text)))
import sys, torch.distributed.run as run
run.Std = api.Std
sys.exit(run.main())
"""


def need(module):
    """The version of `module` for the ranks' interpreter. If it is missing, the test is skipped."""
    code = f"import {module}; print({module}.__version__)"
    found = subprocess.run([PYTHON, "-c", code], capture_output=True, text=True)
    if found.returncode != 0:
        skip(f"{PYTHON} cannot import {module} (DTS_FRAMEWORKS_PYTHON names another interpreter)")
    return found.stdout.strip().split("\n")[-1]


def tell(result):
    """Reports from a rank to run_ranks(), on a line of its own, whatever else is printed."""
    sys.stdout.write(f"\n{MARK}{json.dumps(result)}\n")
    sys.stdout.flush()


def heard(run, each=1):
    """What each rank of the run's first attempt reported, in rank order; `each`: number of processes per log."""
    logs = sorted(glob.glob(run + "/attempt-1/rank-*.log"), key=lambda path: int(path.rsplit("-", 1)[1][:-4]))
    results = []
    for log in logs:
        with open(log, encoding="utf-8", errors="replace") as file:
            told = [line[len(MARK):] for line in file if line.startswith(MARK)]
        if len(told) != each:
            with open(log, encoding="utf-8", errors="replace") as file:
                raise AssertionError(f"{log} holds {len(told)} results:\n{file.read()[-3000:]}")
        results += sorted((json.loads(one) for one in told), key=lambda result: result["rank"]) if each > 1 else [json.loads(told[0])]
    return results


def run_ranks(count, script, *arguments, environment=None, limit=300):
    """What each of `count` ranks of `script` reported."""
    runs = tempfile.mkdtemp(prefix="dts-frameworks-")
    words = [DTSUBMIT, "run", "--ntasks-per-node", str(count), "--runs", runs, "--", PYTHON, script, "rank", *arguments]
    done = subprocess.run(words, capture_output=True, text=True, timeout=limit, env={**os.environ, **(environment or {})})
    try:
        run = glob.glob(runs + "/*")
        if done.returncode != 0:
            logs = "".join(f"--- {path}\n{open(path, errors='replace').read()[-2000:]}\n" for path in glob.glob(runs + "/*/attempt-1/*.log"))
            raise AssertionError(f"{words} exited {done.returncode}\n{done.stderr}{logs}")
        results = heard(run[0])
        check(len(results) == count, f"{count} ranks told their results")
        return results
    finally:
        shutil.rmtree(runs, ignore_errors=True)


def run_nodes(script, *arguments, options=()):
    """The same with one rank on each of two nodes of a private Slurm."""
    from main_job_support import Cluster
    with Cluster("linuxproc", nodes=2, gpus=0, grace=20) as cluster:
        run = cluster.submit("--nodes", "2", *options, "--", PYTHON, os.path.abspath(script), "rank", *arguments)
        check(run.finish()["done"], f"{os.path.basename(script)} on two nodes is done {' '.join(options)}")
        return heard(run.path)
