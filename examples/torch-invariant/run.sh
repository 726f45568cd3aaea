#!/usr/bin/env bash
# The losses of a PyTorch training on 1 and on 4 ranks, and on 2 ranks of a private Slurm that are preempted and go on as 3:
# the same bits.
source "$(dirname "$0")/../common/example.sh"
need_python torch
need_data
train=("$PYTHON" "$here/train.py")

# losses RUNS...: step and bits of each loss in the runs of these folders, in the order of the steps.
losses() { cat $(printf '%s/*/metrics.jsonl ' "$@") | sed -n 's/.*"step": \([0-9]*\), .*"bits": "\(.*\)".*/\1 \2/p' | sort -n; }
weights() { cat "$1"/*/metrics.jsonl | sed -n 's/.*"digest": "\(.*\)".*/\1/p'; }

show dtsubmit run --ntasks-per-node 1 --runs one -- "${train[@]}"
show dtsubmit run --ntasks-per-node 4 --runs four -- "${train[@]}"

cluster_up --nodes 3 --gpus-per-node 1 --grace 10
# All attempts of one run have as many ranks. This one is not requeued: it saves, and another run goes on in its folder.
show dtsubmit --nodes 2 --gpus-per-node 1 --partition low --no-requeue -- "${train[@]}" --pause 0.05
reach_step 15
show sbatch --partition high --nodes 3 --gpus-per-node 1 --output /dev/null --wrap 'sleep 1'
show dtsubmit logs -f last
status=$(dtsubmit status last --json)
check "2 ranks were preempted, and saved" test "$(grep -c '"cause": "preempted"' <<<"$status") $(grep -c '"steps_lost": [1-9]' <<<"$status")" = "1 0"

show dtsubmit --nodes 3 --gpus-per-node 1 --runs three -- "${train[@]}" --checkpoints "$(echo "$work"/runs/*/checkpoints)"
export DTSUBMIT_RUNS=three
show dtsubmit logs -f last
unset DTSUBMIT_RUNS

from=$(sed -n 's/.*"event": "start".* "step": \([0-9]*\),.*/\1/p' three/*/metrics.jsonl)
check "3 ranks went on after step $from" test "$from" -ge 15 -a "$from" -lt 40
check "40 losses of 1 rank" test "$(losses one | wc -l)" -eq 40
check "4 ranks have the same, to the bit" test "$(losses four)" = "$(losses one)"
check "so have 2 ranks, preempted, and then 3" test "$(losses runs three)" = "$(losses one)"
check "and the same weights: $(weights one)" test "$(weights one) $(weights one)" = "$(weights four) $(weights three)"
first=$(sed -n 's/.*"step": 1, "loss": \([0-9.]*\),.*/\1/p' one/*/metrics.jsonl)
last=$(sed -n 's/.*"step": 40, "loss": \([0-9.]*\),.*/\1/p' one/*/metrics.jsonl)
check "the loss fell from $first to $last" is "$last < 0.6 * $first"
