#!/usr/bin/env bash
# stages.sh [--list | STAGE...]: what tests/releases/run.sh does within a release's root file system. The result of each stage goes to
# /results/STAGE, "ok 12 s" or "FAILED 12 s", and its output to /results/STAGE.log.
set -uo pipefail
stages=(versions build unit contract main_job in_grace drill quickstart quickstart_plain no_libslurm services mpi het)
# Only when asked for by name: in_grace ten times, 20 minutes; README's two commands as root and as a plain user from a copy of the
# sources, 15 minutes each; a build with clang; and Debian packages, installed in a bare root of that release.
more=(in_grace_10 readme readme_plain clang packages)
build=/dtsubmit/build/dev

versions() {
  dpkg-query -W -f '${Package} ${Version}\n' slurmctld libslurm-dev openmpi-bin libhwloc-dev libdnnl-dev g++ cmake
}

build() { cmake -S /dtsubmit -B "$build" --preset dev && cmake --build "$build" -j "$(nproc)"; }

tests() { ctest --test-dir "$build" --output-on-failure --timeout 600 "$@"; }

unit() { tests -L '^(unit|golden|cli)$' -j "$(nproc)"; }

contract() { tests -L '^contract$'; }

main_job() { tests -R '^main_job_(layout|preempt|srun|refusals)_linuxproc$'; }

in_grace() { tests -R '^recovery_in_grace(_mpirun)?$'; }

in_grace_10() { ctest --test-dir "$build" --output-on-failure -R '^recovery_in_grace_10$'; }

no_libslurm() { tests -R '^commands_'; }

services() { tests -R '^(accounting_|recovery_expedite$)'; }

mpi() { tests -R '^mpich_.*(refused|linuxproc)$'; }

het() { tests -R '^het_roles_'; }

drill() { tests -R '^drill_all$'; }

quickstart() { DTSUBMIT_BUILD=$build /dtsubmit/examples/quickstart/run.sh; }

quickstart_plain() { /dtsubmit/tests/plain_user.sh "$build" quickstart; }

# two_commands FOLDER: what README says to type.
two_commands() { (cd "$1" && ./tests/run.sh && ./examples/quickstart/run.sh); }

readme() { two_commands /dtsubmit; }

readme_plain() {
  local clone=/home/tester/dtsubmit
  mkdir -p "$clone" && find "$clone" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} + && tar -C /dtsubmit --exclude=./build -cf - . | tar -C "$clone" -xf - && chown -R tester: "$clone" || return 1
  runuser -u tester -- env HOME=/home/tester bash -c "$(declare -f two_commands); two_commands $clone"
}

clang() {
  CXX=clang++ CC=clang cmake -S /dtsubmit -B /dtsubmit/build/clang --preset dev && cmake --build /dtsubmit/build/clang -j "$(nproc)"
}

packages() {  # util-linux-extra has forky's pivot_root
  apt-get install -y -q --no-install-recommends debootstrap lintian util-linux-extra >/dev/null && /dtsubmit/tests/packages/debian.sh
}

if [ "${1:-}" = --list ]; then
  printf '%s\n' "${stages[@]}" "${more[@]}"
  exit 0
fi
[ "$#" -gt 0 ] && stages=("$@")
mkdir -p /results
failed=0
cd /dtsubmit || exit 1
for stage in "${stages[@]}"; do
  rm -f "/results/$stage"
  start=$SECONDS
  if "$stage" >"/results/$stage.log" 2>&1; then
    word=ok
  else
    word=FAILED
    failed=1
    tail -n 40 "/results/$stage.log"
  fi
  echo "$word $((SECONDS - start)) s" >"/results/$stage"
  printf '%-18s %s\n' "$stage" "$(cat "/results/$stage")"
  [ "$stage $word" = "build FAILED" ] && break
done
exit "$failed"
