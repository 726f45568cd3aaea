#!/usr/bin/env bash
# A loop of one's own, preempted on a private Slurm, comes back and ends with the losses of an undisturbed one.
#   run.sh [ddp|fsdp2|accelerate|lightning|transformers]     [ddp]; skipped if it is not installed
source "$(dirname "$0")/../common/example.sh"
way=${1:-ddp}
case $way in
  ddp) module=torch ;;
  fsdp2) module=torch.distributed.fsdp ;;
  *) module=$way ;;
esac
case $way in
  lightning | transformers) program=("$here/with_$way.py") ;;
  *) program=("$here/train.py" "$way") ;;
esac
need_python torch
"$PYTHON" -c "import $module" 2>/dev/null || skip "$PYTHON has no $module (DTS_FRAMEWORKS_PYTHON names another interpreter)"
if [ "$way" = fsdp2 ]; then
  "$PYTHON" -c 'from torch.distributed.fsdp import fully_shard' 2>/dev/null || skip "the PyTorch of $PYTHON has no fully_shard"
fi

# losses RUNS: step and loss, in the order in which they were computed.
losses() { cat "$work/$1"/*/metrics.jsonl | sed -n 's/.*"event": "step", "attempt": \([0-9]*\), "step": \([0-9]*\), "loss": \([^,}]*\).*/\2 \3/p'; }
# differ: the largest relative difference of the losses of two runs that have the same steps.
differ() { paste <(losses "$1") <(losses "$2") | awk '$1 != $3 || $4 == "" { print 1; exit } { d = ($2 - $4) / $4; if (d < 0) d = -d; if (d > most) most = d } END { printf "%.1e\n", most }' | head -n 1; }

echo "# undisturbed, on this machine"
show dtsubmit run --ntasks-per-node 2 --runs alone -- "$PYTHON" "${program[@]}"

cluster_up --nodes 2 --gpus-per-node 1 --grace 20
export PAUSE=0.1
show dtsubmit --nodes 2 --gpus-per-node 1 --partition low -- "$PYTHON" "${program[@]}"
reach_step 8
show sbatch --partition high --nodes 2 --gpus-per-node 1 --output /dev/null --wrap 'sleep 1'
show dtsubmit logs -f last
status=$(dtsubmit status last --json)

check "preempted, and back by itself" test "$(grep -c '"cause": "preempted"' <<<"$status") $(grep -c '"done": true' <<<"$status")" = "1 1"
check "no step lost" test "$(grep -c '"steps_lost": [1-9]' <<<"$status")" -eq 0
check "it went on, and did not begin anew" test "$(grep -c '"first_step": [1-9]' <<<"$status")" -eq 1
check "40 steps, each once" test "$(losses runs | cut -d ' ' -f 1 | tr '\n' ' ')" = "$(seq -s ' ' 40) "
difference=$(differ runs alone)
check "the losses are those of the undisturbed run (they differ by $difference)" is "$difference < 0.00001"
first=$(losses alone | sed -n '1s/.* //p') last=$(losses alone | sed -n '40s/.* //p')
check "they fell from $first to $last" is "$last < 0.6 * $first"
[ "$way" = fsdp2 ] || exit 0

unset PAUSE
rm -r "$work"/runs/*/checkpoints/step-000000040
echo "# again from where it was preempted, by 3 ranks"
CHECKPOINTS=$(echo "$work"/runs/*/checkpoints) show dtsubmit run --ntasks-per-node 3 --runs three -- "$PYTHON" "${program[@]}"
from=$(losses three | sed -n '1s/ .*//p')
check "3 ranks went on with step $from" test "$from" -gt 8
mkdir -p rest/run
awk -v from="$from" -F '"step": ' '$2 + 0 >= from' alone/*/metrics.jsonl >rest/run/metrics.jsonl
difference=$(differ three rest)
check "their losses are those of 2 ranks (they differ by $difference)" is "$difference < 0.00001"
