# SPDX-License-Identifier: Apache-2.0
"""Programs in a container whose root file system is not the node's, on a private real Slurm, with Charliecloud:
  container.py preempt    a program that only the image has is preempted, comes back, and has the right result
  container.py train      the trainer, with MPI between two containers, has the same digest as without containers
  container.py limits     --ulimit and --umask apply inside
  container.py missing    what a node lacks is named"""
import glob
import os
import re
import shutil
import subprocess
import sys

from checks import check, skip, wait_for
from main_job_support import DTTRAIN, FEW, Cluster

STEPS, TOKEN, MARKER = 50, "s3cret-of-the-test", "only-in-the-image"
APPLETS = ["sh", "cat", "sleep", "mv", "printf", "dd", "true", "env"]
# The image's /opt/count: adds up its steps, saves at SIGTERM, and continues from there.
PROGRAM = r"""#!/bin/sh
stop=0
trap 'stop=1' TERM
state=$DTSUBMIT_CHECKPOINT_DIR/state-$RANK
step=0 sum=0
[ -f "$state" ] && read step sum < "$state"
echo "attempt $DTSUBMIT_ATTEMPT rank $RANK of $WORLD_SIZE local $LOCAL_RANK marker $(cat /marker) token $TOKEN level $LEVEL from $step in $PWD"
while [ $step -lt STEPS ]; do
  if [ $stop = 1 ]; then
    echo "$step $sum" > "$state.new" && mv "$state.new" "$state"
    echo "saved at $step"
    exit 85
  fi
  step=$((step + 1))
  sum=$((sum + step * (RANK + 1)))
  printf "\\$(printf %o $step)" | dd of="$DTSUBMIT_BEAT" bs=1 conv=notrunc 2> /dev/null
  [ "$RANK" = 0 ] && echo "{\"event\": \"step\", \"attempt\": $DTSUBMIT_ATTEMPT, \"step\": $step}" >> "$DTSUBMIT_RUN_DIR/metrics.jsonl"
  sleep 0.2
done
echo "result $sum"
"""


def make_image(place):
    """Creates a root file system with busybox, the program and a marker."""
    busybox = shutil.which("busybox")
    if not busybox:
        skip("no static busybox here (Debian 12: apt install busybox-static)")
    image = place + "/image"
    for folder in ("bin", "dev", "proc", "sys", "tmp", "etc", "opt"):
        os.makedirs(f"{image}/{folder}")
    shutil.copy(busybox, image + "/bin/busybox")
    for name in APPLETS:
        os.symlink("busybox", f"{image}/bin/{name}")
    for name, text in (("marker", MARKER), ("etc/passwd", ""), ("etc/group", ""), ("opt/count", PROGRAM.replace("STEPS", str(STEPS)))):
        with open(f"{image}/{name}", "w") as file:
            file.write(text)
    os.chmod(image + "/opt/count", 0o755)
    return image


def need_charliecloud(image):
    if not shutil.which("ch-run"):
        skip("no ch-run here (Debian 12: apt install charliecloud-runtime)")
    tried = subprocess.run(["ch-run", image, "--", "/bin/true"], capture_output=True, text=True, env={**os.environ, "USER": "test"})
    if tried.returncode != 0:
        skip(f"ch-run cannot run a container here: {tried.stderr.strip()}")


def log_of(run, attempt, rank):
    with open(f"{run.path}/attempt-{attempt}/rank-{rank}.log") as file:
        return file.read()


def command_lines():
    lines = b""
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as file:
                lines += file.read()
        except OSError:
            pass  # it has ended
    return lines


def beats():
    """The first number of each heartbeat page on this machine."""
    found = []
    for path in glob.glob(f"/dev/shm/dtsubmit-{os.geteuid()}-*/beat-*"):
        with open(path, "rb") as file:
            found.append(int.from_bytes(file.read(8), sys.byteorder))
    return found


def preempted(cluster, image, runtime, *options):
    cluster.environment["TOKEN"] = TOKEN
    run = cluster.submit("--nodes", "2", "--gpus-per-node", "1", "-p", "low", *options, "--container", image, "--container-runtime", runtime,
                         "--container-env", "TOKEN", "--container-env", "LEVEL=7", "--", "/opt/count")
    run.reach_step(8)
    check(max(beats(), default=0) >= 8, f"the program's beats are in its page: {beats()}")
    check(TOKEN.encode() not in command_lines(), "no value of a variable is on a command line")
    cluster.take_nodes(2, 1)
    status = run.finish()
    check(status["done"] and len(status["attempts"]) == 2, f"preempted once and done: {[a['cause'] for a in status['attempts']]}")
    check(status["attempts"][0]["cause"] == "preempted" and status["steps_lost"] == 0, f"0 steps lost of a preempted attempt: {status['attempts'][0]['detail']}")
    for rank in range(2):
        first, second = log_of(run, 1, rank), log_of(run, 2, rank)
        words = f"rank {rank} of 2 local 0 marker {MARKER} token {TOKEN} level 7"
        check(f"attempt 1 {words} from 0 in {cluster.place}\n" in first, f"its variables, the image's root and our folder: {first}")
        saved = int(re.search(r"saved at (\d+)", first).group(1))
        check(f"attempt 2 {words} from {saved} in" in second, f"went on from step {saved}: {second}")
        check(f"result {(rank + 1) * STEPS * (STEPS + 1) // 2}\n" in second, f"the right result: {second}")
    with open(run.path + "/attempt-1/agent.log") as file:
        log = file.read()
    check(f"by {runtime} (" in log, f"the agent's log says that it is by {runtime}")
    check(not run.processes(), f"nothing is left: {run.processes()}")


def preempt():
    with Cluster("linuxproc", nodes=2, gpus=1, grace=20) as cluster:
        image = make_image(cluster.place)
        need_charliecloud(image)
        preempted(cluster, image, "charliecloud", "--launcher", "mpirun")
        preempted(cluster, image, "charliecloud", "--launcher", "srun")


def train():
    """The image has the node's /usr, and so dttrain and MPI's libraries."""
    options = [*FEW, "--steps", "30", "--save-every", "0"]
    with Cluster("linuxproc", nodes=2, gpus=1, grace=20) as cluster:
        image = make_image(cluster.place)
        need_charliecloud(image)
        shutil.rmtree(image + "/bin")
        for name in ("bin", "lib", "lib64"):
            os.symlink("usr/" + name, f"{image}/{name}")
        os.makedirs(image + "/usr")
        expected = cluster.train_alone(*options)
        build = os.path.dirname(os.path.dirname(DTTRAIN))
        run = cluster.submit("--nodes", "2", "--gpus-per-node", "1", "-p", "low", "--container", image, "--mount", "/usr",
                             "--mount", build, "--mount", "/etc", "--", DTTRAIN, *options, "--step-delay", "200")
        run.reach_step(8)
        cluster.take_nodes(2, 1)
        status = run.finish()
        check(status["attempts"][0]["cause"] == "preempted" and status["steps_lost"] == 0, f"0 steps lost of a preempted attempt: {status['attempts'][0]['detail']}")
        check(status["done"] and status["digest"] == expected, f"digest {status['digest']}, without a container {expected}")


def limits():
    with Cluster("linuxproc", nodes=1, gpus=0, grace=20) as cluster:
        image = make_image(cluster.place)
        need_charliecloud(image)
        run = cluster.submit("--nodes", "1", "--ulimit", "nofile=321:654", "--ulimit", "core=0", "--umask", "027", "--container", image,
                             "--", "/bin/sh", "-c", "echo limits $(ulimit -Sn) $(ulimit -Hn) $(ulimit -c) $(umask)")
        check(run.finish()["done"] and "limits 321 654 0 0027" in log_of(run, 1, 0), f"limits and umask inside: {log_of(run, 1, 0)}")


def missing():
    with Cluster("linuxproc", nodes=1, gpus=1, grace=20) as cluster:
        image = make_image(cluster.place)
        for words, named in ((["--container", image, "--container-runtime", "apptainer"], "apptainer is not installed"),
                             (["--container", image + ".sif"], f"no image {image}.sif on this node"),
                             (["--container", image, "--mount", cluster.place + "/none"], f"no {cluster.place}/none on this node")):
            run = cluster.submit("--nodes", "1", *words, "--", "/bin/true")
            status = run.finish()
            detail = run.ledger()[-2]["detail"]
            check(status["attempts"][0]["cause"] == "no_program", f"{words}: ends as no_program")
            check(named in detail and re.search(r"on n\d+:", detail), f"names the node and what it has not: {detail}")


if __name__ == "__main__":
    {"preempt": preempt, "train": train, "limits": limits, "missing": missing}[sys.argv[1]]()
