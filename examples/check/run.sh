#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Judges a check that was recorded earlier, or another one: run.sh [CHECK.json]. This one is of a private cluster of four nodes
# on one busy machine (dtsubmit cluster up), where a bit was flipped on purpose in one of ten equal training steps on n2:
#   dtsubmit check --nodes 4 --quick -- --inject weight@2
# report.txt is what it prints, check.html its page.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
dtsubmit=${DTSUBMIT:-dtsubmit}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
code=0
COLUMNS=80 "$dtsubmit" check --from "${1:-$here/check.json}" --baseline none --cluster local --html "$folder/check.html" >"$folder/report.txt" || code=$?
cat "$folder/report.txt"
[ $# -eq 0 ] || exit $code
# The faults that were caused on purpose, and no other.
[ $code -eq 1 ] || { echo "exit code $code"; exit 1; }
cmp "$folder/report.txt" "$here/report.txt" && cmp "$folder/check.html" "$here/check.html"
