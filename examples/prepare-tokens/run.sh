#!/usr/bin/env bash
# Token files from text, with bytes as tokens, and with a tokenizer of Hugging Face's that is made here.
#   run.sh [tokenizers]     the latter; skipped without that package
source "$(dirname "$0")/../common/example.sh"
text=/usr/share/common-licenses/GPL-3  # of Debian's base-files
command -v dttrain >/dev/null || skip "no dttrain beside dtsubmit"
if [ "${1:-}" = tokenizers ]; then need_python tokenizers; else PYTHON=$(command -v python3) || skip "no python3 here"; fi
prepare=("$PYTHON" "$here/prepare_tokens.py")

# train DATA VOCABULARY RUN: a small GPT-2, a few steps.
train() {
  show dttrain --model "gpt2,vocab_size=$2,n_positions=32,n_embd=32,n_layer=1,n_head=2" --data "$1" --batch 16 --shards 4 --steps 40 \
    --optimizer adamw --lr 0.003 --warmup 0 --run-dir "$work/$3"
}
losses() { sed -n 's/.*"event":"step".*"loss":\([0-9.]*\),.*/\1/p' "$work/$1/metrics.jsonl"; }
# size FILE: of its tokens, of 16 bits each.
size() { echo $((($(stat -c %s "$1") - 1024) / 2)); }

if [ $# -eq 0 ]; then
  show "${prepare[@]}" --tokenizer bytes --output whole --validation 0 "$text"
  train whole/train.bin 256 from-tokens
  train "$text" 256 from-text
  check "40 losses" test "$(losses from-text | wc -l)" -eq 40
  check "the token file trains as the text does" test "$(losses from-tokens)" = "$(losses from-text)"

  printf '{"text": "first \\u00e9"}\n{"text": "seconds!"}\n' >two.jsonl
  show "${prepare[@]}" --tokenizer bytes --output two --validation 0.5 two.jsonl
  "${prepare[@]}" --tokenizer bytes --decode two/train.bin >back
  "${prepare[@]}" --tokenizer bytes --decode two/val.bin >>back
  check "documents come back: $(cat back)" test "$(cat back)" = "first éseconds!"
  check "half of them are for evaluations" test "$(size two/train.bin) $(size two/val.bin)" = "8 8"
  echo '{"txt": 1}' >>two.jsonl
  if "${prepare[@]}" --tokenizer bytes --output bad two.jsonl 2>refused; then exit 1; fi
  check "a bad line is named" grep -q "two.jsonl:3 is not" refused
  exit
fi

# A tokenizer as GPT-2's, with fewer tokens.
"$PYTHON" - "$text" <<'PROGRAM'
import sys
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
tokenizer = Tokenizer(models.BPE())
tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
tokenizer.train([sys.argv[1]], trainers.BpeTrainer(vocab_size=512, special_tokens=["<|endoftext|>"], show_progress=False,
                                                   initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
tokenizer.save("tokenizer.json")
PROGRAM
show "${prepare[@]}" --tokenizer "$work" --output tokens "$text" "$text"
train tokens 512 from-tokens
for name in train val; do "${prepare[@]}" --tokenizer tokenizer.json --decode tokens/$name.bin >>back; done
{ cat "$text"; printf '<|endoftext|>'; cat "$text"; printf '<|endoftext|>'; } >expected
check "both documents come back" cmp back expected
check "$(stat -c %s expected) bytes are $(size tokens/train.bin) + $(size tokens/val.bin) tokens" is "$(size tokens/train.bin) + $(size tokens/val.bin) < 0.6 * $(stat -c %s expected)"
first=$(losses from-tokens | head -n 1) last=$(losses from-tokens | tail -n 1)
check "the loss fell from $first to $last" is "$last < 0.9 * $first"
