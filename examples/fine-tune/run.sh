#!/usr/bin/env bash
# A GPT-2 in Hugging Face's form is fine-tuned on a private Slurm: by 2 ranks that are preempted, by 3 that are preempted,
# and by 1 to the end. The result is exported, and computes the same wherever it is loaded.
#   run.sh [transformers]     skipped without that package; otherwise what it computes is compared only if it is there
source "$(dirname "$0")/../common/example.sh"
text=${TEXT:-/usr/share/common-licenses/Apache-2.0}  # of Debian's base-files
[ -r "$text" ] || skip "no $text (TEXT names another text)"
command -v dttrain >/dev/null || skip "no dttrain beside dtsubmit"
if [ "${1:-}" = transformers ] || "${DTS_FRAMEWORKS_PYTHON:-python3}" -c 'import transformers, torch' 2>/dev/null; then
  need_python transformers
fi

# loss RUN: of the last evaluation in a run directory.
loss() { sed -n 's/.*"event": *"evaluate".*"loss": *\([0-9.]*\).*/\1/p' "$1/metrics.jsonl" | tail -n 1; }
digest() { sed -n 's/.*"event": *"done".*"digest": *"\([0-9a-f]*\)".*/\1/p' "$1/metrics.jsonl"; }
# equal A B: the same number, but for rounding.
equal() { is "$1 > 0 && ($1 - $2)^2 <= (0.00001 * $1)^2"; }
# loss_of FOLDER: of a model in Hugging Face's form, computed by dttrain: a step with learning rate 0.
loss_of() {
  rm -rf "$1-loss"
  dttrain --from "$1" --data "$text" --batch 16 --shards 8 --steps 1 --lr 0 --warmup 0 --run-dir "$1-loss" >/dev/null
  loss "$1-loss"
}
# run_of FOLDER: the run directory in it.
run_of() { echo "$work/$1"/dttrain-*; }

if [ "${PYTHON:-}" ]; then
  show "$PYTHON" "$here/make_model.py" base
else
  show dttrain --model gpt2,vocab_size=256,n_positions=64,n_embd=64,n_layer=2,n_head=4 --data "$text" --batch 16 --shards 8 \
    --steps 1 --lr 0 --warmup 0 --checkpoint-dir first
  show dttrain export first base
fi

cluster_up --nodes 3 --gpus-per-node 1 --grace 10
tune=(dttrain --from "$work/base" --data "$text" --batch 16 --shards 8 --steps 120 --optimizer adamw --lr 0.003 --warmup 10)
submit=(dtsubmit --gpus-per-node 1 --partition low --no-requeue)

# preempt RUNS STEP: at that step a job of higher priority needs all nodes.
preempt() {
  reach_step "$2" "$1"
  show sbatch --partition high --nodes 3 --gpus-per-node 1 --output /dev/null --wrap 'sleep 1'
  DTSUBMIT_RUNS=$1 show dtsubmit logs -f last
}

# All attempts of one run have as many ranks. So none is requeued: it saves, and another run goes on in its folder.
show "${submit[@]}" --runs two --nodes 2 -- "${tune[@]}" --step-delay 60
preempt two 15
checkpoints=$(run_of two)/checkpoints
show "${submit[@]}" --runs three --nodes 3 -- "${tune[@]}" --step-delay 60 --checkpoint-dir "$checkpoints"
preempt three 60
show "${submit[@]}" --runs one --nodes 1 -- "${tune[@]}" --checkpoint-dir "$checkpoints"
DTSUBMIT_RUNS=one show dtsubmit logs -f last
show dttrain export "$checkpoints" tuned

echo "# the same, undisturbed, by one process"
show "${tune[@]}" --run-dir alone
before=$(loss_of base) after=$(loss "$(run_of one)") again=$(loss_of tuned)
starts=$(cat {two,three,one}/*/metrics.jsonl | sed -n 's/.*"event": *"start".*"step": *\([0-9]*\).*/\1/p' | tr '\n' ' ')
read -r _ second third <<<"$starts"
check "2 and 3 ranks were preempted" test "$(cat two/*/ledger.jsonl three/*/ledger.jsonl | grep -c '"cause":"preempted"')" -eq 2
check "3 ranks went on after step $second, 1 after step $third" test "$second" -ge 15 -a "$third" -ge 60 -a "$third" -lt 120
check "as if nothing had happened: digest $(digest alone)" test "$(digest "$(run_of one)")" = "$(digest alone)"
check "the loss of text kept aside fell from $before to $after" is "$after < 0.8 * $before"
check "of the exported model it is $again" equal "$after" "$again"
if [ "${PYTHON:-}" ]; then
  theirs=$("$PYTHON" "$here/loss_in_transformers.py" tuned "$text")
  check "and $theirs in transformers" equal "$after" "$theirs"
else
  echo "not tried: loading it in transformers, which no Python here has (DTS_FRAMEWORKS_PYTHON names another one)"
fi
