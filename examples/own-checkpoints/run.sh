#!/usr/bin/env bash
# A training that only saves every 10 steps, with its framework's own checkpoints, is preempted on a private Slurm and resumes.
#   run.sh transformers|accelerate|deepspeed|composer|lightning|keras|orbax     skipped if it is not installed
source "$(dirname "$0")/../common/example.sh"
way=${1:-transformers} module=${1:-transformers} ranks=2
export PAUSE=0.4
case $way in
  keras) module=tf_keras ranks=1 PAUSE=0.8 ;; # one process on each node; TensorFlow trains on until its grace time is over
  orbax) module=orbax.checkpoint ;;
esac
need_python "$module"

cluster_up --nodes 2 --gpus-per-node 0 --cpus-per-node 4 --grace 10
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1 TF_CPP_MIN_LOG_LEVEL=2 DS_ACCELERATOR=cpu
show dtsubmit --nodes 2 --ntasks-per-node "$ranks" --partition low -- "$PYTHON" "$here/with_$way.py"
reach_step 13
show sbatch --partition high --nodes 2 --exclusive --output /dev/null --wrap 'sleep 1'
show dtsubmit logs -f last
show dtsubmit status last
status=$(dtsubmit status last --json)

# of EVENT ATTEMPT: the steps that it reported, one a line, with their losses.
of() { cat "$work"/runs/*/metrics.jsonl | sed -n "s/.*\"event\": \"$1\", \"attempt\": $2, \"step\": \([0-9]*\)\(, \"loss\": \([^,}]*\)\)\?.*/\1 \3/p"; }
from=$(of start 2 | sed 's/ .*//')
check "preempted, and back by itself" test "$(grep -c '"cause": "preempted"' <<<"$status") $(grep -c '"done": true' <<<"$status")" = "1 1"
check "it resumed from a checkpoint, step $from, and did not begin anew" test "$from" -ge 10
check "then it made the other steps, each once" test "$(of step 2 | cut -d ' ' -f 1 | tr '\n' ' ')" = "$(seq -s ' ' $((from + 1)) 40) "
mean() { awk '{ sum += $2 } END { print sum / NR }'; }
first=$(of step 1 | head -n 5 | mean) last=$(of step 2 | tail -n 5 | mean)
check "the loss fell from $first to $last" is "$last < 0.6 * $first"
