#!/usr/bin/env bash
# A named experiment on 2 nodes of a private Slurm: a job of higher priority takes both nodes, and it comes back.
# Then the same name again, with more epochs, and from scratch with -reset.
source "$(dirname "$0")/../common/example.sh"
need_python torch
need_data
train=("$PYTHON" "$here/train.py" -name first)

# wait_for_step N: waits until the experiment's log contains step N.
wait_for_step() {
  local tries
  for tries in $(seq 300); do
    if grep -qs "^step  *$1 " out/first/log.txt; then return; fi
    sleep 0.1
  done
  echo "error: no step $1 within 30 s" >&2
  exit 1
}
last_line() { tail -n 1 out/first/log.txt; }

export OMP_NUM_THREADS=1  # the same order of summation on all machines
cluster_up --nodes 2 --gpus-per-node 1 --grace 10
show "${train[@]}" -tb -reset -pause 0.03 -slurm -slurm_nnodes 2 -slurm_ngpus 1 -slurm_partition low
wait_for_step 40
show sbatch --partition high --nodes 2 --gpus-per-node 1 --output /dev/null --wrap 'sleep 1'
show dtsubmit logs -f last
preempted=$(last_line)
status=$(dtsubmit status last --json) other=$(cat runs/*/attempt-*/rank-1.log)
resumed=$(sed -n 's/^attempt 2: 2 ranks, from step //p' out/first/log.txt)

# From here on, training runs on this machine: the same command without -slurm.
show "${train[@]}" -gpus 0,1 -epochs 4
went_on=$(grep '^attempt' out/first/log.txt | tail -n 1)
show "${train[@]}" -gpus 0,1 -reset
afresh=$(grep '^attempt' out/first/log.txt) undisturbed=$(last_line)

check "preempted, and back by itself" test "$(grep -c '"cause": "preempted"' <<<"$status") $(grep -c '"done": true' <<<"$status")" = "1 1"
check "in spite of -reset it went on, from step $resumed" test "$resumed" -ge 40
check "rank 1 printed nothing" test -z "$other"
check "the next one of that name went on" test "$went_on" = "attempt 1: 2 ranks, from step 120"
check "-reset starts afresh" test "$afresh" = "attempt 1: 2 ranks, from step 0"
check "preempted or not: $undisturbed" test "$preempted" = "$undisturbed"
