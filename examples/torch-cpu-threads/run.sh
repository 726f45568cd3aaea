#!/usr/bin/env bash
# The same training with 1 process and a thread on each core, and with 2 processes that share the cores.
source "$(dirname "$0")/../common/example.sh"
need_python torch
need_data
[ "$(nproc)" -ge 2 ] || skip "one core is nothing to share"

# cores_of RUNS: the cores of all ranks, one per line; a core that two ranks use appears twice.
cores_of() { cat "$1"/*/attempt-1/rank-*.log | sed -n 's/^rank .*: cores \([0-9,]*\),.*/\1/p' | tr ',' '\n'; }
value() { cat "$1"/*/attempt-1/rank-0.log | sed -n "s/.*$2 \([0-9.]*\).*/\1/p"; }

for processes in 1 2; do
  runs=runs$processes
  show dtsubmit run --ntasks-per-node $processes --ranks all --runs $runs -- "$PYTHON" "$here/train.py"
  check "no two of $processes ranks have a core in common" test -z "$(cores_of $runs | sort | uniq -d)"
  unsuitable=$(cat $runs/*/attempt-1/rank-*.log | awk -F'[ ,:]' '/^rank/ { if (split($0, part, "cores |, ") != 3 || split(part[2], core, ",") != part[3] + 0) print }')
  check "as many threads as cores in each" test -z "$unsuitable"
done
cores=$(cores_of runs1 | wc -l)
check "1 rank has $cores cores, 2 ranks $((cores / 2)) each" test "$(cores_of runs2 | wc -l)" -eq $((cores / 2 * 2))
loss1=$(value runs1 loss) loss2=$(value runs2 loss)
check "both losses are the same: $loss1, $loss2" is "$loss1 > 0 && $loss1 < 1.5 && ($loss1 - $loss2)^2 < 0.01^2"
