#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Batch scripts in common styles, run on a private Slurm as they are, and as the job files that `dtsubmit convert` makes from them. Both
must have the same ranks on the same number of nodes, the same cores, GPUs, arguments and environment, and sbatch --test-only must report
the same about both.

torchrun and mpirun are Debian's. accelerate, deepspeed and apptainer are not in Debian 12. They are stand-ins with the same command
line, which start the processes by torchrun, or the program itself."""
import glob
import json
import os
import subprocess
import sys

from checks import check, wait_for
from frameworks_support import PYTHON, TORCHRUN, need
from main_job_support import DTSUBMIT, Cluster

SAY = f"""#!{PYTHON}
import json, os, sys
known = os.environ
def first(*names):
    return next((int(known[name]) for name in names if name in known), 1)  # a batch script without --ntasks has no size
own = {{"rank": first("RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"), "size": first("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS"),
       "local": first("LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"), "slurm_nodes": known["SLURM_NNODES"],
       "gpus": [gpu for gpu in known.get("CUDA_VISIBLE_DEVICES", "").split(",") if gpu], "arguments": sys.argv[1:],
       "index": known.get("SLURM_ARRAY_TASK_ID"), "folder": os.getcwd(), "prefix": known.get("VIRTUAL_ENV"),
       "environment": {{name: value for name, value in known.items() if name.startswith(("NCCL_DEBUG", "MARK_", "OMP_NUM"))}}}}
folder = known["SAY_OUT"] + (f"-{{own['index']}}" if own["index"] else "")
os.makedirs(folder, exist_ok=True)
name = f"{{folder}}/{{own['rank']}}-{{known['SLURMD_NODENAME']}}-{{os.getpid()}}"
own["node"] = known["SLURMD_NODENAME"]
with open(name + ".new", "w") as file:
    json.dump(own, file)
os.rename(name + ".new", name + ".json")
"""

# accelerate launch and deepspeed: options with values, then the program.
LAUNCHER = """#!{python}
import os, sys
words, told = sys.argv[1:], {{}}
if words[0] == "launch":
    words = words[1:]
while words[0].startswith("-"):
    if "=" not in words[0]:
        words[:2] = [words[0] + "=" + words[1]]
    name, value = words.pop(0).lstrip("-").split("=", 1)
    told[name.replace("-", "_")] = value
nodes = int(told.get("num_machines", "1"))
each = int(told["num_processes"]) // nodes if "num_processes" in told else int(told.get("num_gpus", os.environ.get("LAUNCHER_GPUS", "2")))
place = ["--nnodes", str(nodes), "--nproc_per_node", str(each)]
if nodes > 1:
    place += ["--node_rank", told["machine_rank"], "--master_addr", told["main_process_ip"], "--master_port", told["main_process_port"]]
os.execv("{place}/bin/torchrun", ["torchrun", *place, *words])
"""

APPTAINER = """#!/bin/bash
[ "$1" = exec ] || exit 2
shift
while [[ $1 == -* ]]; do [ "$1" = --bind ] && shift; shift; done
shift
exec "$@"
"""

HEAD = "#!/bin/bash\n#SBATCH --time=5\n#SBATCH --mem=100M\n#SBATCH --output=/dev/null\n"

# Each with "PLACE" for the folder; the arguments end in what the shell makes of quotes.
SCRIPTS = {
    "torchrun": """#SBATCH --job-name=tr --nodes=2 --ntasks-per-node=1 --gpus-per-node=2 --cpus-per-task=2
set -e
export NCCL_DEBUG=WARN
GPUS_PER_NODE=2
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29517
LAUNCHER="torchrun --nnodes $SLURM_NNODES --nproc_per_node $GPUS_PER_NODE \\
  --rdzv_backend c10d --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT --rdzv_id 7"
srun bash -c "$LAUNCHER --node_rank \\$SLURM_NODEID PLACE/say.py --lr 0.1 --name 'a b'" 2>&1 | tee PLACE/log
echo "END $(date)"
""",
    "srun": """#SBATCH -N 2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --gres=gpu:2
nodes=( $( scontrol show hostnames $SLURM_JOB_NODELIST ) )
head_node=${nodes[0]}
head_node_ip=$(srun --nodes=1 --ntasks=1 -w "$head_node" hostname --ip-address)
export WORLD_SIZE=$SLURM_NTASKS
export MARK_A="two  words"
RUN_NAME="run-${MARK_A}"
srun --kill-on-bad-exit=1 bash -c "RANK=\\$SLURM_PROCID LOCAL_RANK=\\$SLURM_LOCALID PLACE/say.py --name \\"$RUN_NAME\\" --x=\\$HOME"
""",
    "mpirun": """#SBATCH --nodes=2 --ntasks-per-node=2
export MARK_B=$SLURM_JOB_NUM_NODES
mpirun --allow-run-as-root --oversubscribe -np 4 --map-by ppr:2:node -x MARK_B -x MARK_C=3 PLACE/say.py "it's" '$HOME'
""",
    "accelerate": """#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=2
head_node_ip=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export LAUNCHER="accelerate launch --num_processes $((SLURM_NNODES * 2)) --num_machines $SLURM_NNODES \\
  --main_process_ip $head_node_ip --main_process_port 29519 --machine_rank \\$SLURM_PROCID"
export SCRIPT_ARGS=" --seed 1 --out PLACE "
CMD="$LAUNCHER PLACE/say.py $SCRIPT_ARGS"
srun --wait=60 bash -c "$CMD"
""",
    "deepspeed": """#SBATCH --nodes=1 --ntasks-per-node=1 --gpus-per-node=2 --cpus-per-task=2
HOSTFILE=PLACE/hostfile
scontrol show hostnames $SLURM_JOB_NODELIST > $HOSTFILE
sed -i 's/$/ slots=2/' $HOSTFILE
deepspeed --hostfile $HOSTFILE --num_gpus 2 PLACE/say.py --deepspeed PLACE/ds.json
""",
    "array": """#SBATCH --array=1-2
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=1
LR=$(sed -n "${SLURM_ARRAY_TASK_ID}p" PLACE/rates)
srun PLACE/say.py --lr $LR
""",
    "venv": """#SBATCH --nodes=2 --ntasks=4 --ntasks-per-node=2 --gpus-per-node=2
source PLACE/env/bin/activate
cd PLACE/sub
export OMP_NUM_THREADS=3
srun --cpu-bind=cores PLACE/say.py --model small
""",
    "bound": """#SBATCH --nodes=2 --ntasks-per-node=2 --gpus-per-node=4 --gpus-per-task=2
srun PLACE/say.py --bound
""",
    "apptainer": """#SBATCH --nodes=1 --ntasks=2 --gpus-per-node=2
IMAGE=PLACE/image.sif
srun apptainer exec --nv --bind /tmp $IMAGE PLACE/say.py --in-image
""",
    "plain": """#SBATCH --nodes=1 --cpus-per-task=2 --gpus-per-node=1
module() { export MARK_MODULES="$*"; }
module load cuda
mkdir -p PLACE/made
for i in 1 2 3; do echo $i >> PLACE/made/numbers; done
cat > PLACE/made/config.json <<EOF
{"lr": "$SLURM_NNODES"}
EOF
if [ -f PLACE/made/config.json ]; then CONFIG=PLACE/made/config.json; fi
PLACE/say.py --config $CONFIG "$(cat PLACE/made/config.json)" > PLACE/plain.log
rm -rf PLACE/made
""",
    "sizes": """#SBATCH --nodes=1 --ntasks=4 --cpus-per-task=2
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK MARK_TWICE=$((SLURM_NTASKS * 2))
PLACE/say.py -p $SLURM_NTASKS -t ${SLURM_CPUS_PER_TASK:-8}
""",
    "path": """#SBATCH --nodes=2 --ntasks-per-node=2
export MARK_FOLDER=$(basename PLACE)
TOP=$(dirname PLACE)
srun --kill-on-bad-exit=1 $TOP/$MARK_FOLDER/say.py -b 512M --factor 2
""",
    "options": """#SBATCH --nodes=2 --ntasks-per-node=1
while getopts "r:n:" option; do
  case $option in
    r) RATE=$OPTARG ;;
    n) NAME=$OPTARG ;;
  esac
done
shift $((OPTIND - 1))
srun PLACE/say.py --rate $RATE --name "$NAME" "$@"
""",
    "cleanup": """#SBATCH --nodes=1 --ntasks-per-node=2
WORK=$(mktemp -d PLACE/work.XXXXXX)
finish() {
  rm -rf "$WORK"
}
trap finish EXIT
cd $WORK
echo made > words-$SLURM_JOB_ID
srun PLACE/say.py --folder $(test -d $WORK && echo there)
cp words-* PLACE/sub
""",
    "arrays": """#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=2
GPUS=2
ARGS=(--batch 8
  --note "a 'quoted' \\"note\\"")
if [ -d / ]; then ARGS+=(--extra "$GPUS"); fi
trap 'echo stopped' USR1
srun --output=PLACE/%t.log PLACE/say.py "${ARGS[@]}" -- *.none &
wait
""",
    "branches": """#SBATCH --nodes=2 --ntasks-per-node=2
: "${MARK_EXTRA:=from default}"
if [ ! -z $IMAGE_OF_NOBODY ]; then
  declare -a ARGS=(--container-image $IMAGE_OF_NOBODY)
fi
if [[ $SLURM_JOB_NUM_NODES -gt 1 ]]; then MODE=many; else MODE=one; fi
[ -n "$MODE" ] && MODE="$MODE-nodes"
srun "${ARGS[@]}" PLACE/say.py --mode $MODE --extra "$MARK_EXTRA"
""",
    "computed": """#SBATCH --nodes=2 --ntasks-per-node=1 --gpus-per-node=2
COUNT=$(( $(cat PLACE/rates | wc -l) * 2 ))
export MARK_SUM=$(echo "$COUNT + 1" | tr -d ' ')
read -r -d '' cmd <<EOF
export MARK_INNER=$COUNT && PLACE/say.py --count $COUNT "two  words"
EOF
srun bash -c "${cmd}"
""",
    "loop": """#SBATCH --nodes=2 --ntasks-per-node=2
run() {
  echo "$@"
  "$@"
}
for LR in 0.1 0.2; do
  for SIZE in $(seq 1 2); do
    NAME="run-$LR-$SIZE"
    if [ $SIZE = 2 ]; then NAME+="-big"; fi
    export MARK_TURN=$SIZE
    run srun PLACE/say.py --name $NAME
  done
done
""",
    "times": """#SBATCH --nodes=2 --ntasks-per-node=2
STAMP=$(date +%Y-%m-%dT%H:%M:%S.%N)_$RANDOM
srun PLACE/say.py --out run-$STAMP --seed $RANDOM --at "$(date +%s.%N)"
""",
    "first": """#SBATCH --nodes=2 --ntasks-per-node=2
python3 PLACE/say.py --prepare
srun PLACE/say.py --train
""",
    # The first node's lines are slow: the others have to wait for them, and to get their exit codes.
    "turns": """#SBATCH --nodes=2 --ntasks-per-node=1
WORK=PLACE/sub/turns-$SLURM_JOB_ID
BIN=PLACE/bin
source PLACE/settings.sh
mkdir -p $WORK
slowly $WORK/a && slowly $WORK/b || exit 1
tar cf $WORK/sub.tar PLACE/rates & wait
$BIN/slowly $WORK/c 5
CODE=$?
MADE=$(cat $WORK/a $WORK/b $WORK/c)
srun PLACE/say.py --code $CODE --made $MADE --size $(tar tf $WORK/sub.tar | wc -l)
$BIN/slowly $WORK/c
srun PLACE/say.py --lines $(cat $WORK/c)
""",
    "blanks": """#SBATCH --nodes=<N>
#SBATCH --ntasks-per-node=2
export MARK_CACHE=<cache folder>
srun PLACE/say.py --cache $MARK_CACHE
""",
}


def write(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o755)


def prepare(place):
    for folder in ("bin", "sub", "scripts", "out"):
        os.makedirs(f"{place}/{folder}")
    write(place + "/say.py", SAY)
    write(place + "/bin/torchrun", TORCHRUN)
    for name in ("accelerate", "deepspeed"):
        write(f"{place}/bin/{name}", LAUNCHER.format(python=PYTHON, place=place))
    write(place + "/bin/apptainer", APPTAINER)
    write(place + "/bin/slowly", '#!/bin/sh\nsleep 1\necho done >>"$1"\nexit ${2:-0}\n')
    write(place + "/settings.sh", "export MARK_SET=yes\n")
    write(place + "/rates", "0.1\n0.01\n")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", place + "/env"], check=True)
    for name, text in SCRIPTS.items():
        write(f"{place}/scripts/{name}.sh", HEAD + text.replace("PLACE", place))


def request(cluster, job):
    """The nodes, cores and GPUs of a job according to Slurm."""
    words = dict(word.split("=", 1) for word in cluster.run("scontrol", "show", "job", job).stdout.split() if "=" in word)
    return {"nodes": words["NumNodes"].split("-")[0], "cores": words["NumCPUs"], "gpus": words.get("TresPerNode", "").rsplit(":", 1)[-1], "time": words["TimeLimit"],
            "memory": words.get("MinMemoryNode"), "partition": words["Partition"]}


def said(cluster, name, how, count):
    """The output of each rank, once all have written theirs."""
    pattern = f"{cluster.place}/out/{name}-{how}*/*.json"
    paths = wait_for(90, f"{name}, {how}: {count} ranks", lambda: len(glob.glob(pattern)) >= count and sorted(glob.glob(pattern)))
    ranks = []
    for path in paths:
        with open(path) as file:
            ranks.append(json.load(file))
    return ranks


def told(ranks):
    """What must be equal: each rank's place, arguments and environment, how many GPUs it sees, and those of each node."""
    order = {node: str(at) for at, node in enumerate(sorted({rank["node"] for rank in ranks}))}
    alike = [{**rank, "node": order[rank["node"]], "gpus": len(rank["gpus"])} for rank in ranks]
    gpus = {}
    for rank in ranks:
        gpus.setdefault(order[rank["node"]], set()).update(rank["gpus"])
    return (sorted(alike, key=lambda rank: (rank["index"] or "", rank["rank"], rank["node"], rank["arguments"])), {node: len(found) for node, found in gpus.items()})


ARGUMENTS = {"options": ["-r", "0.1", "-n", "a  b", "more", "*"]}
COUNTS = {"torchrun": 4, "srun": 4, "mpirun": 4, "accelerate": 4, "deepspeed": 2, "array": 2, "venv": 4, "bound": 4, "apptainer": 2, "plain": 1, "arrays": 2, "branches": 4,
          "sizes": 1, "path": 4, "options": 2, "cleanup": 2, "computed": 2, "loop": 16, "times": 4, "first": 5, "turns": 4, "blanks": 4}


def fill_in(path, place):
    """Fills in the placeholders of a script or job file, as a user would."""
    with open(path) as file:
        text = file.read()
    check("<N>" in text and "<cache folder>" in text, f"{path} has its blanks")
    write(path, text.replace("# nodes = ", "nodes = ").replace("<N>", "2").replace("<cache folder>", f"{place}/sub"))


def convert(cluster, name):
    script, job_file = f"{cluster.place}/scripts/{name}.sh", f"{cluster.place}/scripts/{name}.toml"
    done = cluster.dtsubmit("convert", script, "-o", job_file, "--", *ARGUMENTS.get(name, []))
    check("nothing is lost" in done.stderr, f"{name}: converted without a loss\n{done.stderr}")
    if name == "blanks":
        check("blanks must be filled in" in done.stderr, f"{name}: they are counted")
        for path in (script, job_file):
            fill_in(path, cluster.place)
    return script, job_file


def start(cluster, name, script, job_file):
    """Starts both jobs: the script, and the job file made from it."""
    cluster.environment["SAY_OUT"] = f"{cluster.place}/out/{name}-script"
    first = cluster.run("sbatch", "--parsable", script, *ARGUMENTS.get(name, [])).stdout.strip()
    if name == "plain":  # it removes the folder that the other one creates
        said(cluster, name, "script", COUNTS[name])
        wait_for(90, "plain: the script's folder is gone", lambda: not os.path.exists(f"{cluster.place}/made"))
    cluster.environment["SAY_OUT"] = f"{cluster.place}/out/{name}-job"
    return first, cluster.submit(job_file).job


def main():
    need("torch")
    with Cluster("linuxproc", 2, 4, 20, "--cpus-per-node", "8") as cluster:
        place = cluster.place
        prepare(place)
        cluster.environment["PATH"] = f"{place}/bin:" + cluster.environment["PATH"]
        cluster.environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        files = {name: convert(cluster, name) for name in SCRIPTS}
        tests = cluster.dtsubmit("convert", "--test", files["torchrun"][0]).stderr
        check("Slurm sees the same request in both" in tests, "sbatch --test-only says the same: torchrun\n" + tests[-400:])
        jobs = {name: start(cluster, name, *both) for name, both in files.items()}
        for name, (first, second) in jobs.items():
            before, after = (request(cluster, str(job)) for job in (first, second))
            check(before == after, f"{name}: the same request: {before}\n{after}")
        for name in SCRIPTS:
            script, job = (said(cluster, name, how, COUNTS[name]) for how in ("script", "job"))
            for rank in job:  # dtsubmit adds advice, such as OMP_NUM_THREADS, to what the script sets
                rank["environment"] = {key: value for key, value in rank["environment"].items() if key in script[0]["environment"]}
            if name == "mpirun":  # whose ranks of other nodes see the variables of mpirun's own step there
                for rank in script + job:
                    del rank["slurm_nodes"]
            if name == "cleanup":  # a folder of mktemp for each
                for rank in script + job:
                    rank["folder"] = os.path.dirname(rank["folder"])
            if name == "sizes":  # the program itself sees the job's
                for rank in script + job:
                    del rank["size"]
            if name == "first":  # without a launcher, only variables tell a program the job's size
                for rank in script + job:
                    if rank["arguments"] == ["--prepare"]:
                        del rank["slurm_nodes"], rank["size"]
            if name == "times":
                for ranks in script, job:
                    check(len({tuple(rank["arguments"]) for rank in ranks}) == 1, f"times: all ranks have the same: {ranks[0]['arguments']}")
                    for rank in ranks:
                        rank["arguments"] = []
            before, after = told(script), told(job)
            check(before == after, f"{name}: {len(before[0])} ranks with the same place, arguments and environment\n{before}\n{after}")
        wait_for(60, "cleanup: the folders of both jobs are gone", lambda: not glob.glob(f"{place}/work.*"))
        check(len(glob.glob(f"{place}/sub/words-*")) == 2, "cleanup: a tear-down runs in the folder of the set-up")


if __name__ == "__main__":
    main()
