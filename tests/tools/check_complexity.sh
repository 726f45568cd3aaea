#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check_complexity.sh ROOT BUILD [WHERE]: fails on a function of core, cli or plugins whose cognitive complexity (clang-tidy's
# readability-function-cognitive-complexity; G. A. Campbell, Cognitive Complexity, 2018) is over 25. Takes what BUILD
# compiles, in its batches, or what of that is in a path with WHERE. Tests are exempt: each CHECK counts as a branch.
set -euo pipefail
most=25
cd "$1"
if ! command -v clang-tidy >/dev/null; then
  echo "skipped: no clang-tidy here (apt-get install clang-tidy)"
  exit 77
fi
build=$2
list=$build/complexity.txt
sed -n 's/^ *"file": "\(.*\)",\?$/\1/p' "$build/compile_commands.json" | grep -vE '/tests/|/examples/' |
  grep -F -- "${3:-/}" >"$list" || true
if [ -n "${3:-}" ] && [ ! -s "$list" ]; then
  echo "$build compiles nothing in $3"
  exit
fi
[ -s "$list" ] || { echo "$build/compile_commands.json names no source"; exit 1; }
found=$(xargs -P "$(nproc)" -n 1 clang-tidy -p "$build" --quiet --extra-arg=-w --checks='-*,readability-function-cognitive-complexity' \
  --config="{CheckOptions: [{key: readability-function-cognitive-complexity.Threshold, value: $most}]}" \
  --header-filter='/(core|cli|plugins)/' <"$list" 2>&1 || true)
errors=$(echo "$found" | grep -E ': (fatal )?error: ' || true)
over=$(echo "$found" | grep 'has cognitive complexity of' | sort -u || true)
[ -z "$errors" ] || { echo "$errors"; exit 1; }
[ -z "$over" ] || { echo "$over"; exit 1; }
echo "$(wc -l <"$list") translation units: no function is over $most"
