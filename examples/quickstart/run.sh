#!/usr/bin/env bash
# The main job, end to end, on this machine: a real (private) Slurm of 2 nodes x 8 simulated GPUs, a
# training job of 16 ranks, a preemption by a job of higher priority, the return, and the proof that
# nothing was lost: the weights equal those of an undisturbed run.
#   examples/quickstart/run.sh [--proctrack cgroup]     (cgroup: as root)
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
proctrack=linuxproc
if [ "${1:-}" = --proctrack ]; then proctrack=$2; fi

# DTSUBMIT_BUILD: an existing build folder to use as it is. Otherwise one in build/ is brought up to date, a release's or
# that of tests/run.sh, or a release is built.
build=${DTSUBMIT_BUILD:-}
bring_up_to_date() {
  if [ ! -x "$build/bin/dttrain" ]; then
    cmake -S "$root" --preset release -DBUILD_TESTING=OFF || return 1
  fi
  cmake --build "$build" -j "$(nproc)"
}
if [ -z "$build" ]; then
  "$root/tests/tools/install_packages.sh"
  build=$root/build/release
  if [ ! -x "$build/bin/dttrain" ] && [ -x "$root/build/dev/bin/dttrain" ]; then build=$root/build/dev; fi
  [ -x "$build/bin/dttrain" ] || echo "building (once, some minutes) ..." >&2
  if ! bring_up_to_date >"$root/build.log" 2>&1; then
    cat "$root/build.log"; echo "error: the build failed" >&2; exit 1
  fi
  rm -f "$root/build.log"
fi
PATH=$build/bin:$PATH

name=quickstart-$$
work=$(mktemp -d)
# On a failure the evidence is kept; this trap is replaced once everything has gone well.
trap 'dtsubmit cluster down --name "$name"; echo "everything of this try is kept in $work" >&2' EXIT
cd "$work"

# Prints what the run reports about itself, and exits.
give_up() {
  echo "error: $1" >&2
  dtsubmit why "$run" >&2 || true
  exit 1
}

# No agent will write any more: the job is gone, and was already gone a few seconds ago (a job that is being requeued
# leaves the queue for a moment).
is_over() {
  [ -z "$(squeue -h -j "$job" -t PENDING,RUNNING,SUSPENDED,COMPLETING -o %T 2>/dev/null)" ] || return 1
  sleep 5
  [ -z "$(squeue -h -j "$job" -t PENDING,RUNNING,SUSPENDED,COMPLETING -o %T 2>/dev/null)" ]
}

show() { printf '$ %s\n' "$*"; "$@"; }

printf '$ eval "$(dtsubmit cluster up --nodes 2 --gpus-per-node 8 --grace 20)"\n'
eval "$(dtsubmit cluster up --name "$name" --nodes 2 --gpus-per-node 8 --grace 20 --proctrack "$proctrack")"

# Without a program after `--` the bundled trainer runs; a pause in each step leaves time to preempt it.
show dtsubmit --nodes 2 --gpus-per-node 8 --partition low -- dttrain --step-delay 20

run=$(echo "$work"/runs/dttrain-*)
job=$(dtsubmit status last --json | sed -n 's/.*"job": \([0-9]*\).*/\1/p' | head -n 1)
for ((tries = 0; ; tries++)); do
  if grep -q '"step":40,' "$run/metrics.jsonl" 2>/dev/null; then break; fi
  if ((tries % 10 == 9)) && is_over; then give_up "the run is over before step 40"; fi
  if ((tries > 1500)); then give_up "no step 40 after 5 minutes"; fi
  sleep 0.2
done
printf '# step 40: a job of higher priority takes both nodes\n'
show sbatch --partition high --nodes 2 --gpus-per-node 8 --output /dev/null --wrap 'sleep 2'
show dtsubmit logs -f last
dtsubmit status last --json | grep -q '"done": true' || give_up "the run has ended, and is not done"

printf '# the same training, undisturbed, on 3 ranks of one machine\n'
show dtsubmit run --ntasks-per-node 3 --runs undisturbed

show dtsubmit status last
digest() { dtsubmit status last --json "$@" | sed -n 's/.*"digest": "\(.*\)".*/\1/p' | tail -n 1; }
disturbed=$(digest) undisturbed=$(digest --runs undisturbed)
if [ "$disturbed" = "$undisturbed" ]; then
  echo "undisturbed $undisturbed: equal to the bit"
else
  give_up "the undisturbed run ended with digest $undisturbed"
fi
trap - EXIT
dtsubmit cluster down --name "$name"
rm -rf "$work"
