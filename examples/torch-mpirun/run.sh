#!/usr/bin/env bash
# PyTorch DDP under mpirun on 2 nodes x 2 ranks of a private Slurm, requeued during training, compared with
# a single undisturbed process.
source "$(dirname "$0")/../common/example.sh"
need_python torch
need_data
train=$here/train.py

# value TEXT: the number after TEXT in the last line that rank 0 wrote.
value() { dtsubmit logs last | tail -n 1 | sed -n "s/.*$1 \([0-9.]*\).*/\1/p"; }

cluster_up --nodes 2 --gpus-per-node 2
show dtsubmit --nodes 2 --gpus-per-node 2 --launcher mpirun -- "$PYTHON" "$train"
reach_step 40
show dtsubmit requeue last
echo "# while it waits for its nodes: the same training by one process, undisturbed"
export OMP_NUM_THREADS=1  # a second thread does not pay off for such a small model
show dtsubmit run --runs alone -- "$PYTHON" "$train"
alone_loss=$(DTSUBMIT_RUNS=alone value loss) alone_accuracy=$(DTSUBMIT_RUNS=alone value accuracy)

show dtsubmit logs -f last
show dtsubmit status last
status=$(dtsubmit status last --json) loss=$(value loss) accuracy=$(value accuracy)
first=$(sed -n 's/.*"step": 1, "loss": \([0-9]*[.][0-9]\{4\}\).*/\1/p' runs/*/metrics.jsonl)

check "two attempts, no step lost" grep -q '"steps_lost": 0,' <<<"$status"
check "the second went on, and is done" test "$(grep -c '"first_step": [1-9]' <<<"$status") $(grep -c '"done": true' <<<"$status")" = "1 1"
check "the loss fell from $first to $loss" is "$loss < $first / 2"
check "test accuracy is $accuracy %" is "$accuracy > 60"
check "one process: loss $alone_loss, $alone_accuracy %" is "($loss - $alone_loss)^2 < 0.05^2 && ($accuracy - $alone_accuracy)^2 < 2^2"
