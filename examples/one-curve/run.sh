#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two tables of books on distributed training, made again: more processes on one machine (1, 2, 4, 8), and a second machine (8 ranks,
# then 16 on two nodes of a private Slurm). Their time falls, and so does their accuracy, since each process adds a batch of its own.
# Here the same batch is shared by more ranks: the time falls as long as there are cores, and every row has the same weights.
#   run.sh          an epoch each, some minutes
#   run.sh quick    on an eighth of the images
source "$(dirname "$0")/../common/example.sh"
need_data
length=(--epochs 1)
[ "${1:-}" != quick ] || length+=(--limit-train 8192)
PATH=$PATH:/usr/sbin command -v slurmctld >/dev/null || skip "no slurmctld here (Debian packages slurmctld slurmd slurm-client)"

# field NAME FILE: its last value in metrics.jsonl.
field() { sed -n "s/.*\"$1\": *\"\\?\\([0-9a-f.]*\\).*/\\1/p" "$2" | tail -n 1; }

# row LAYOUT METRICS: one line of a table, from what the trainer reported; seconds are those of all steps.
row() {
  local seconds
  seconds=$(sed -n 's/.*"event": *"step".*"seconds": *\([0-9.e-]*\).*/\1/p' "$2" | awk '{ sum += $1 } END { printf "%.1f", sum }')
  printf '%-12s %8s %9.2f %%   %s\n' "$1" "$seconds" "$(awk "BEGIN { print 100 * $(field accuracy "$2") }")" "$(field digest "$2")"
}

head_of() { printf '\n%s\n%-12s %8s %11s   %s\n' "$1" ranks seconds accuracy "digest of the weights"; }

# train FOLDER RANKS OPTION...: on this machine, a thread a rank; its row goes to the end of the FOLDER's table.
train() {
  local table=$1 ranks=$2
  shift 2
  dtsubmit run --ntasks-per-node "$ranks" --cpus-per-task 1 --runs "$table/$ranks" -- dttrain --threads 1 "${length[@]}" "$@" >"$work/out" 2>&1 ||
    { cat "$work/out" >&2; exit 1; }
  row "$ranks" "$table/$ranks"/*/metrics.jsonl
}

cores=$(nproc)
head_of "A batch of 128, shared by all ranks of this machine, which has $cores cores"
for ranks in 1 2 4 8; do train shared "$ranks"; done
head_of "A batch of 128 for each rank, as in the books"
for ranks in 1 2 4 8; do train added "$ranks" --batch $((128 * ranks)); done

cluster_up --nodes 2 --gpus-per-node 8 >/dev/null
head_of "The batch of 128 again, on nodes of a private Slurm that share these $cores cores"
for nodes in 1 2; do
  dtsubmit --nodes "$nodes" --gpus-per-node 8 --runs "slurm/$nodes" --wait -- dttrain --threads 1 "${length[@]}" >"$work/out" 2>&1 ||
    { cat "$work/out" >&2; exit 1; }
  row "$((8 * nodes)) ($nodes x 8)" "slurm/$nodes"/*/metrics.jsonl
done

echo
accuracies=$(for file in shared/*/*/metrics.jsonl slurm/*/*/metrics.jsonl; do field accuracy "$file"; done | sort -u)
digests=$(for file in shared/*/*/metrics.jsonl slurm/*/*/metrics.jsonl; do field digest "$file"; done | sort -u)
check "six layouts of one batch, one accuracy" test "$(wc -l <<<"$accuracies")" -eq 1
check "and the same bits: $digests" test "$(wc -l <<<"$digests")" -eq 1
check "a batch that grows with the ranks gives other weights" test "$(field digest added/8/*/metrics.jsonl)" != "$digests"
