#!/usr/bin/env bash
# A script in the style of Horovod, on 2 ranks of this machine.
source "$(dirname "$0")/../common/example.sh"
need_python torch
need_data

show dtsubmit run --ntasks-per-node 2 --ranks all -- "$PYTHON" "$here/train.py"
said=$(cat runs/*/attempt-1/rank-*.log)
ends=$(sed -n 's/.*of all \(.*\)/\1/p' <<<"$said")
own=$(sed -n 's/.*own accuracy \([0-9.]*\) .*/\1/p' <<<"$said" | tr '\n' ' ')
mean=$(sed -n '1s/ .*//p' <<<"$ends")
read -r first second <<<"$own"

check "2 ranks, each with its half of 4096 images" test "$(grep -c '^rank [01] of 2: 2048 images' <<<"$said")" -eq 2
check "both end with the same weights and average" test "$(sort -u <<<"$ends" | wc -l)" -eq 1
check "$mean % is the mean of $first % and $second %" is "($first + $second - 2 * $mean)^2 < 0.03^2 && $first != $second"
check "it has learnt" is "$mean > 75"
