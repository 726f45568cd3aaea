#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The life of a cluster as a user without privileges: as nobody where root runs the tests.
set -euo pipefail
if [[ $(id -u) != 0 ]]; then
  echo "SKIPPED: this user has no privileges anyway; the other tests covered it"
  exit 125
fi
home=$(mktemp -d /tmp/dts-plain-XXXXXX)
trap 'rm -rf "$home"' EXIT
# The build folder may be closed to others.
install -m 755 "$DTSUBMIT" "$home/dtsubmit"
install -m 644 "$(dirname "$0")"/cluster_*.bash "$home"
chown -R 65534:65534 "$home"
cd "$home"
setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin HOME="$home" TMPDIR="$home" \
  DTSUBMIT="$home/dtsubmit" bash "$home/cluster_lifecycle.bash" linuxproc
message=$(setpriv --reuid=65534 --regid=65534 --clear-groups env -i PATH=/usr/bin:/bin HOME="$home" \
  "$home/dtsubmit" cluster up --proctrack cgroup 2>&1) && { echo "FAILED: cgroup without root"; exit 1; }
[[ $message == *"needs root"* ]] || { echo "FAILED: $message"; exit 1; }
