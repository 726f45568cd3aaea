#!/usr/bin/env bash
# TensorFlow's MultiWorkerMirroredStrategy on 2 nodes x 1 worker of a private Slurm, and with a single worker.
source "$(dirname "$0")/../common/example.sh"
need_python tensorflow
need_data

cluster_up --nodes 2 --gpus-per-node 1
show dtsubmit --nodes 2 --ntasks-per-node 1 --wait -- "$PYTHON" "$here/train.py"
show dtsubmit logs --ranks all last
said=$(cat runs/*/attempt-1/rank-*.log)
show dtsubmit run --runs alone -- "$PYTHON" "$here/train.py"
alone=$(cat alone/*/attempt-1/rank-0.log)

loss() { sed -n "s/^epoch $2: 64 steps, loss //p" <<<"$1"; }
accuracy() { sed -n 's/^worker .* test accuracy \([0-9.]*\) %/\1/p' <<<"$1"; }
check "2 workers with different addresses, 2 replicas" test "$(sed -n 's/^worker [01] of 2 at \(.*\), 2 replicas$/\1/p' <<<"$said" | sort -u | wc -l)" -eq 2
check "the loss fell from $(loss "$said" 1) to $(loss "$said" 2)" is "$(loss "$said" 2) < $(loss "$said" 1) * 0.8"
check "alone it is $(loss "$alone" 2)" is "($(loss "$said" 2) - $(loss "$alone" 2))^2 < 0.01^2"
check "both workers have the same model" test "$(accuracy "$said" | sort | uniq -c | wc -l)" -eq 1
check "it has learnt: $(accuracy "$said" | sed -n 1p) %" is "$(accuracy "$said" | sed -n 1p) > 70"
