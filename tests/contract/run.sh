#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the contract tests ($1) on a private real Slurm that lives as long as they do.
set -u
tests=$1
for program in slurmctld slurmd sbatch scontrol; do
  if ! PATH=$PATH:/usr/sbin command -v "$program" >/dev/null; then
    echo "skipped: no $program here (Debian 12: apt install slurmctld slurmd slurm-client)"
    exit 77
  fi
done

name=contract-$$
exports=$("$DTSUBMIT" cluster up --with-process $$ --name "$name" --nodes 2 --gpus-per-node 8 --cpus-per-node 16 --sockets 2 --grace 20) || exit 1
trap '"$DTSUBMIT" cluster down --name "$name"' EXIT
eval "$exports"

# Jobs of plain sbatch calls write their output where they were submitted.
folder=$(mktemp -d) || exit 1
trap '"$DTSUBMIT" cluster down --name "$name"; rm -rf "$folder"' EXIT
tests=$(realpath "$tests")
cd "$folder" || exit 1

# The second call ends the controller, so it comes last.
"$tests" --test-case-exclude='controller down*' && "$tests" --test-case='controller down*'
