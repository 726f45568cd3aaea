#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Wall time of `dtsubmit lint` for 1,000 batch scripts, the whole process, beside ShellCheck's for the same files where
it is installed. The two look for other things; what they share is that they read all of a script.

  lint.py DTSUBMIT [ROUNDS=5]"""
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

SCRIPTS = 1000
GOAL_S = 2
PEER_SHARE = 20  # ShellCheck reads one script in so many

HEAD = """#!/bin/bash
#SBATCH --job-name=train-{number}
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=96
#SBATCH --gres=gpu:8
#SBATCH --time=24:00:00
#SBATCH --output=logs/%x-%j.out
#SBATCH --signal=B:USR1@120

module load cuda
source ~/venv/bin/activate
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29500
GPUS_PER_NODE=8
"""
BLOCK = """
stage_{k}() {{
  local from=$1 to=${{2:-/tmp/$SLURM_JOB_ID}}
  if [[ -d $to && ! -e "$to/done" ]]; then
    while read -r file; do
      cp -- "$from/$file" "$to/" || return 1
    done < <(find "$from" -name "*.{k}.tar" -printf '%P\\n')
  fi
  cat > "$to/config-{k}.json" <<EOF
{{"rank": "$SLURM_NODEID", "nodes": "$SLURM_NNODES", "part": {k}}}
EOF
}}
"""
TAIL = """
LAUNCHER="torchrun --nnodes $SLURM_NNODES --nproc_per_node $GPUS_PER_NODE \\
  --rdzv_backend c10d --rdzv_endpoint $MASTER_ADDR:$MASTER_PORT"
CMD="train.py --data /data --micro-batch-size 4 --lr 6e-5 --train-iters 500000 --save-interval 1000"
srun bash -c "$LAUNCHER --node_rank \\$SLURM_NODEID $CMD" 2>&1 | tee train.log
echo "done"
"""


def write_scripts(folder):
    paths = []
    for number in range(SCRIPTS):
        blocks = "".join(BLOCK.format(k=k) for k in range(number % 12))
        paths.append(os.path.join(folder, f"job-{number}.sh"))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(HEAD.format(number=number) + blocks + TAIL)
    return paths


def timed(words):
    began = time.perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=False)
    return time.perf_counter() - began


def main():
    dtsubmit, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    print(f"machine   {platform.processor() or platform.machine()}, {os.cpu_count()} cores; {rounds} rounds")
    with tempfile.TemporaryDirectory() as folder:
        paths = write_scripts(folder)
        size = sum(os.path.getsize(path) for path in paths)
        ours = statistics.median(timed([dtsubmit, "lint", "--slurm", "22.05", *paths]) for _ in range(rounds))
        print(f"dtsubmit  {SCRIPTS} scripts, {size / 1e6:.1f} MB: median {ours * 1e3:.0f} ms")
        if shutil.which("shellcheck"):
            few = paths[::PEER_SHARE]
            theirs = statistics.median(timed(["shellcheck", *few]) for _ in range(max(1, rounds // 2))) * PEER_SHARE
            print(f"shellcheck {len(few)} of them: {theirs:.1f} s for all, {theirs / ours:.0f} times as long")
        else:
            print("shellcheck is not installed (Debian package shellcheck)")
    sys.exit(ours >= GOAL_S)


if __name__ == "__main__":
    main() if len(sys.argv) > 1 else sys.exit(__doc__)
