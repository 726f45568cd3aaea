#!/usr/bin/env bash
# parts.sh SOURCE: configures without the parts that can be omitted, and checks what the summary and the errors say.
set -euo pipefail
source=${1:?"usage: parts.sh SOURCE"}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# configure OPTION...: a fresh configuration; its output is in $work/out.
configure() {
  rm -rf "$work/build"
  cmake -S "$source" -B "$work/build" -DBUILD_TESTING=OFF "$@" >"$work/out" 2>&1
}

# says WORDS...: the output of the last configuration holds WORDS, however CMake wrapped them.
says() {
  tr -s ' \n' ' ' <"$work/out" | grep -qF -- "$*" && return
  cat "$work/out"
  echo "FAILED: the output does not say: $*"
  exit 1
}

fails() {
  configure "$@" || return 0
  echo "FAILED: configured with $*"
  exit 1
}

off=(-DDTSUBMIT_TRAINER=OFF -DDTSUBMIT_TOPOLOGY=OFF -DDTSUBMIT_SLURM=OFF -DDTSUBMIT_MAN=OFF)
# pkg-config and MPI are there, but must not be asked.
configure "${off[@]}" -DPKG_CONFIG_EXECUTABLE=/bin/false || { cat "$work/out"; exit 1; }
says "-- trainer off: DTSUBMIT_TRAINER=OFF"
says "-- cuda off: not found: the trainer"
says "-- topology off: DTSUBMIT_TOPOLOGY=OFF, binding by what /sys says"
says "-- slurm off: DTSUBMIT_SLURM=OFF, Slurm through its commands"
says "-- man off: DTSUBMIT_MAN=OFF"
for target in dttrain dtsubmit-slurm; do
  if cmake --build "$work/build" --target help | grep -qE "(^|[ /])$target(:|\$)"; then
    echo "FAILED: there is a target $target"
    exit 1
  fi
done
echo "ok: everything off"

absent=(-DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DSLURM_INCLUDE_DIR= -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON)
configure "${absent[@]}" || { cat "$work/out"; exit 1; }
says "-- trainer off: not found: MPI (Debian: libopenmpi-dev"
says "-- topology off: not found: pkg-config, hwloc 2.7.1 (Debian: pkg-config libhwloc-dev)"
says "-- slurm off: not found: slurm/slurm.h (Debian: libslurm-dev)"
says "-- man on"
echo "ok: what is not found is off"

for part in TRAINER CUDA TOPOLOGY SLURM; do
  fails "${absent[@]}" -DDTSUBMIT_$part=ON
  says "DTSUBMIT_$part=ON, but not found:"
  says "or set DTSUBMIT_$part=OFF"
done
fails "${off[@]}" -DDTSUBMIT_MAN=maybe
says "DTSUBMIT_MAN is 'maybe': set it to AUTO, ON or OFF"
echo "ok: ON with something missing is an error"
