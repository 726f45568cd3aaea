# SPDX-License-Identifier: Apache-2.0
# Sourced by every examples/*/run.sh. A run.sh works in a temporary folder, shuts its cluster down at the end,
# exits with code 77 and the reason if something it needs is missing, and with code 1 if a check fails.
#   DTSUBMIT                the program [dtsubmit in PATH, otherwise the newest in build/]
#   DTS_FRAMEWORKS_PYTHON   interpreter that has the framework [python3 in PATH, otherwise Debian's]
set -euo pipefail
export USE_LIBUV=${USE_LIBUV:-0}  # Debian's PyTorch from 2.6 on asks for libuv, which it is built without
here=$(cd "$(dirname "${BASH_SOURCE[1]}")" && pwd)
work=$(mktemp -d)

finish() {
  local code=$?
  trap - EXIT
  if [ "$code" -ne 0 ] && [ "$code" -ne 77 ]; then
    tail -n 25 "$work"/runs/*/attempt-*/*.log >&2 2>/dev/null || true
  fi
  if [ -d "$work/cluster" ]; then "$DTSUBMIT" cluster down --folder "$work/cluster" || code=1; fi
  rm -rf "$work"
  exit "$code"
}
trap finish EXIT
cd "$work"

skip() { echo "skipped: $*"; exit 77; }

# check WHAT COMMAND...: prints that WHAT holds, or ends the example.
check() {
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else echo "error: not so: $what" >&2; exit 1; fi
}

# is EXPRESSION: compares numbers, e.g. is "$loss < 0.5"; false if a number is missing.
is() { awk "BEGIN { exit !($1) }" </dev/null 2>/dev/null; }

# show COMMAND...: prints the command as a user types it, and its output.
show() { printf '$ %s\n' "$*"; "$@"; }

if [ -z "${DTSUBMIT:-}" ]; then
  DTSUBMIT=$(command -v dtsubmit || ls -t "$here"/../../build/*/bin/dtsubmit 2>/dev/null | sed -n 1p)
  [ -n "$DTSUBMIT" ] || skip "no dtsubmit in PATH or build/ (README.md says how to build it)"
fi
PATH=$(cd "$(dirname "$DTSUBMIT")" && pwd):$PATH
export PYTHONDONTWRITEBYTECODE=1

# need_python MODULE: sets PYTHON to an interpreter that has it.
need_python() {
  for PYTHON in "${DTS_FRAMEWORKS_PYTHON:-python3}" /usr/bin/python3; do
    if "$PYTHON" -c "import importlib.util as u, sys; sys.exit(not (u.find_spec('$1') and u.find_spec('numpy')))" 2>/dev/null; then return; fi
  done
  skip "no Python here has $1 (DTS_FRAMEWORKS_PYTHON names another interpreter)"
}

need_data() {
  [ -d "${FASHION_MNIST:-/usr/share/datasets/fashion-mnist}" ] || skip "no Fashion-MNIST here (Debian package dataset-fashion-mnist)"
}

# cluster_up OPTION...: a private Slurm that lives as long as the example.
cluster_up() {
  PATH=$PATH:/usr/sbin command -v slurmctld >/dev/null || skip "no slurmctld here (Debian packages slurmctld slurmd slurm-client)"
  printf '$ eval "$(dtsubmit cluster up %s)"\n' "$*"
  eval "$(dtsubmit cluster up --folder "$work/cluster" "$@")"
}

# reach_step N [RUNS]: waits until metrics.jsonl of the newest run in that folder [runs] contains step N.
reach_step() {
  local run end=$((SECONDS + 600))
  while [ "$SECONDS" -lt "$end" ]; do
    run=$(ls -td "${2:-runs}"/*/ 2>/dev/null | sed -n 1p)
    if grep -qs "\"step\": *$1," "$run/metrics.jsonl"; then return; fi
    if grep -qs '"event":"decided"' "$run/ledger.jsonl"; then break; fi
    sleep 0.1
  done
  echo "error: the run is over, or 600 s are, before step $1" >&2
  exit 1
}
