#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batch scripts that start programs side by side on separate nodes, run on a private Slurm as they are, and as the jobs with roles that
`dtsubmit convert` makes from them: the same programs find each other on the same nodes, and both jobs end by themselves.

`ray` is a stand-in: its head listens, and others connect to it and report where they are."""
import os
import sys

from checks import check, wait_for
from convert import said
from main_job_support import Cluster

RAY = f"""#!{sys.executable}
import json, os, socket, sys, time
what, words = sys.argv[1], sys.argv[2:]
def say(**more):
    folder = os.environ["SAY_OUT"]
    os.makedirs(folder, exist_ok=True)
    name = f"{{folder}}/{{os.environ['SLURMD_NODENAME']}}-{{os.getpid()}}"
    with open(name + ".new", "w") as file:
        json.dump({{"what": what, "node": os.environ["SLURMD_NODENAME"], "mark": os.environ.get("MARK_KEPT"), **more}}, file)
    os.rename(name + ".new", name + ".json")
def ask(address, text):
    host, port = address.rsplit(":", 1)
    while True:
        try:
            with socket.create_connection((host, int(port)), 5) as one:
                one.sendall(text.encode() + b"\\n")
                return one.makefile().readline().strip()
        except OSError:
            time.sleep(0.2)
if what == "head":
    names = set()
    say(arguments=words[1:])
    with socket.create_server(("", int(words[0]))) as server:
        while True:
            one, _ = server.accept()
            with one:
                text = one.makefile().readline().strip()
                if text:
                    names.add(text)
                one.sendall(f"{{len(names)}}\\n".encode())
if what == "worker":
    ask(words[0], os.environ["SLURMD_NODENAME"] + "-" + os.environ.get("SLURM_PROCID", "0"))
    say(arguments=words[1:])
    if "--block" in words:
        time.sleep(600)
if what == "wait":
    while int(ask(words[1], "")) < int(words[0]):
        time.sleep(0.2)
if what == "driver":
    say(arguments=words[1:], workers=ask(words[0] if words[0] != "from-environment" else os.environ["ip_head"], ""))
"""

HEAD = "#!/bin/bash\n#SBATCH --time=5\n#SBATCH --mem=100M\n#SBATCH --output=/dev/null\n"

SCRIPTS = {
    # As in Ray's documentation, with the driver in the batch script.
    "ray": """#SBATCH --nodes=3 --ntasks-per-node=1 --cpus-per-task=2
set -x
nodes=$(scontrol show hostnames "$SLURM_JOB_NODELIST")
nodes_array=($nodes)
head_node=${nodes_array[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)
if [[ "$head_node_ip" == *" "* ]]; then
  IFS=' ' read -ra ADDR <<<"$head_node_ip"
  head_node_ip=${ADDR[0]}
fi
port=$((20000 + SLURM_JOB_ID % 1000))
ip_head=$head_node_ip:$port
export ip_head
echo "Starting HEAD at $head_node"
srun --nodes=1 --ntasks=1 -w "$head_node" ray head $port --block &
sleep 1
worker_num=$((SLURM_JOB_NUM_NODES - 1))
for ((i = 1; i <= worker_num; i++)); do
    node_i=${nodes_array[$i]}
    echo "Starting WORKER $i at $node_i"
    srun --nodes=1 --ntasks=1 -w "$node_i" ray worker "$ip_head" --cpus "$SLURM_CPUS_PER_TASK" --block &
    sleep 1
done
export MARK_KEPT="two  words"
ray wait $worker_num $ip_head
ray driver from-environment --nodes $SLURM_NNODES "$MARK_KEPT"
""",
    # A server on the last node, and ranks that it serves on the others. The first node's line is slow: all roles wait for it.
    "server": """#SBATCH --nodes=3 --ntasks-per-node=2
slowly $SAY_OUT
LINES=$(cat $SAY_OUT/made)
NODES=($(scontrol show hostnames $SLURM_JOB_NODELIST))
TRAINERS=$((SLURM_NNODES - 1))
TRAIN_NODES=$(IFS=,; echo "${NODES[*]:0:$TRAINERS}")
SERVER_NODE=${NODES[-1]}
SERVER_IP=$(srun --nodes=1 --ntasks=1 --nodelist=$SERVER_NODE hostname --ip-address)
PORT=$((30000 + SLURM_JOB_ID % 1000))
srun --nodes=1 --ntasks=1 --nodelist="$SERVER_NODE" ray head $PORT --served --lines $LINES &
SERVER=$!
srun --nodes=$TRAINERS --ntasks=4 --nodelist="$TRAIN_NODES" ray worker $SERVER_IP:$PORT --lr 0.1 --lines $LINES &
wait $!
kill $SERVER
""",
}

SLOWLY = """#!/bin/sh
sleep 2
mkdir -p "$1"
echo line >> "$1/made"
"""

COUNTS = {"ray": 4, "server": 5}


def told(programs):
    """What must be equal: the programs by node, with their arguments and variables."""
    order = {node: at for at, node in enumerate(sorted({program["node"] for program in programs}))}
    return sorted([order[program["node"]], program["what"], program["arguments"], program["mark"], program.get("workers")] for program in programs)


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def main():
    with Cluster("linuxproc", 3, 4, 20, "--cpus-per-node", "8") as cluster:
        place = cluster.place
        os.makedirs(f"{place}/bin")
        write(f"{place}/bin/ray", RAY)
        write(f"{place}/bin/slowly", SLOWLY)
        cluster.environment["PATH"] = f"{place}/bin:" + cluster.environment["PATH"]
        for name, text in SCRIPTS.items():
            script, job_file = f"{place}/{name}.sh", f"{place}/{name}.toml"
            write(script, HEAD + text)
            done = cluster.dtsubmit("convert", script, "-o", job_file)
            check("nothing is lost" in done.stderr, f"{name}: converted without a loss\n{done.stderr}")
            with open(job_file) as file:
                check(file.read().count("[[roles]]") == 2, f"{name}: two roles")
            cluster.environment["SAY_OUT"] = f"{place}/out/{name}-script"
            first = cluster.run("sbatch", "--parsable", script).stdout.strip()
            cluster.environment["SAY_OUT"] = f"{place}/out/{name}-job"
            run = cluster.submit(job_file)
            before, after = (told(said(cluster, name, how, COUNTS[name])) for how in ("script", "job"))
            check(before == after, f"{name}: {len(before)} programs on the same nodes\n{before}\n{after}")
            for job in (first, run.job):
                wait_for(60, f"{name}: job {job} ends", lambda: str(job) not in cluster.run("squeue", "-h", "-o", "%i").stdout.split())
            check("completed" in cluster.dtsubmit("status", str(run.job)).stdout, f"{name}: the run is complete")


if __name__ == "__main__":
    main()
