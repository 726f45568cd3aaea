# SPDX-License-Identifier: Apache-2.0
# What the cluster tests share. Sourced; needs DTSUBMIT (the program) and a writable TMPDIR.
set -uo pipefail
: "${DTSUBMIT:?the path of the dtsubmit program}"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/dts-XXXXXX")
export XDG_STATE_HOME=$scratch
unset "${!SLURM_@}" "${!SBATCH_@}" 2>/dev/null || true
clusters=$scratch/dtsubmit/clusters

# Every exit, a failed check's included, ends the clusters of this script and nobody else's.
finish() {
  local code=$?
  "$DTSUBMIT" cluster down --all || code=1
  [[ -z ${stranger:-} ]] || kill "$stranger" 2>/dev/null  # it holds our output open
  rm -rf "$scratch"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() {
  echo "FAILED: $*" >&2
  local log
  for log in "$clusters"/*/log/*.log; do
    [[ -e $log ]] && { echo "--- $log"; tail -n 15 "$log"; } >&2
  done
  exit 1
}

test_case() { echo "--- $*"; }

# select_cluster options...: up, and SLURM_CONF of it.
select_cluster() {
  local line
  line=$("$DTSUBMIT" cluster up --with-process $$ "$@") || fail "cluster up $*"
  [[ $(wc -l <<<"$line") == 1 && $line == "export SLURM_CONF="* ]] || fail "up printed: $line"
  eval "$line"
}

# wait_for SECONDS command...: until it succeeds.
wait_for() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.1
  done
}

job_state() { squeue -h -t all -o %T -j "$1"; }
job_is() { [[ $(job_state "$1") == "$2" ]]; }
no_jobs() { [[ -z $(squeue -h) ]]; }

# Neither gone nor a zombie that nobody has buried yet.
lives() { [[ -e /proc/$1/stat && $(sed 's/.*) //' "/proc/$1/stat" 2>/dev/null) != Z* ]]; }

# When it began, in clock ticks since boot (proc(5)): on a busy machine another process soon has the id of one that has ended.
began() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20; }

# Processes that have the cluster's folder in their command line or environment, this script's own apart.
processes_of() {
  local directory
  for directory in /proc/[0-9]*; do
    [[ ${directory#/proc/} == "$$" ]] && continue
    lives "${directory#/proc/}" || continue
    if tr '\0' '\n' 2>/dev/null <"$directory/environ" | grep -qx "DTSUBMIT_CLUSTER=$1" ||
      tr '\0' ' ' 2>/dev/null <"$directory/cmdline" | grep -qF "$1/slurm.conf"; then
      echo "${directory#/proc/}"
    fi
  done
}
