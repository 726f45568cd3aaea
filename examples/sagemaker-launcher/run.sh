#!/usr/bin/env bash
# A launcher written for SageMaker, on 2 nodes of a private Slurm: it runs once on each node and starts a worker
# on each of the 2 GPUs. Then a training that fails and must not be restarted.
source "$(dirname "$0")/../common/example.sh"
need_python torch
need_data

cluster_up --nodes 2 --gpus-per-node 2
launch=(dtsubmit --nodes 2 --gpus-per-node 2 --ntasks-per-node 1 --wait)
program=("$PYTHON" "$here/launcher.py" "$here/train.py")

show "${launch[@]}" -- "${program[@]}"
show dtsubmit logs --ranks all last
said=$(dtsubmit logs --ranks all last)
loss=$(sed -n 's/.*step 60  loss //p' <<<"$said")
check "4 workers of one world, each number once" test "$(grep -o 'worker [0-9] of 4 done' <<<"$said" | sort -u | wc -l)" -eq 4
check "host 0 has workers 0 and 1" test "$(sed -n 's/^.0. worker \([0-9]\).*/\1/p' <<<"$said" | sort | tr -d '\n')" = 01
check "the loss fell to $loss" is "$loss > 0 && $loss < 1"

# The loss is not finite: the workers exit with code 93, do not restart. It must reach dtsubmit through torch.distributed.run and the launcher.
code=0
show "${launch[@]}" --job-name diverging -- "${program[@]}" --lr 1e38 || code=$?
check "the job's exit code is the worker's, $code" test $code -eq 93
check "its cause is known, and it is not restarted" grep -q '"cause": "no_restart"' <<<"$(dtsubmit status last --json)"
