#!/usr/bin/env bash
# What debian.sh does in the clean root file system: install, use, remove, and look for what is left.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive

# Everything that a package may leave behind, but not what apt and dpkg note of every package.
files() {
  find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /run -o -path /tmp -o -path /packages -o -path /var/lib/dpkg \
    -o -path /var/lib/apt -o -path /var/cache -o -path /var/log \) -prune -o -print | sort
}

# From a run that was ended half-way.
apt-get purge -y -q 'dtsubmit*' dttrain >/dev/null 2>&1 || true
apt-get update -q >/dev/null
# What the packages need comes first, so that only their own files differ.
apt-get install -y -q --no-install-recommends man-db >/dev/null 2>&1
depends=$(for file in /packages/*.deb; do dpkg-deb -f "$file" Depends | tr ',' '\n'; done |
  sed 's/(.*)//; s/|.*//; s/ //g' | grep -vx dtsubmit | sort -u)
# shellcheck disable=SC2086  # a list
apt-get install -y -q --no-install-recommends $depends >/dev/null 2>&1
files >/tmp/before

apt-get install -y -q --no-install-recommends /packages/*.deb >/dev/null 2>&1
echo "ok: installed: $(dpkg-query -W -f '${Package} ${Status}; ' dtsubmit dtsubmit-slurm dttrain)"
dtsubmit --version
for page in dtsubmit dtsubmit-jobs dttrain; do
  file=$(man -w "$page")
  man "$page" | grep -q . || { echo "FAILED: man $page shows nothing"; exit 1; }
  echo "ok: man $page: $file"
done
cd /home/tester
as_user() { setpriv --reuid tester --regid tester --init-groups env HOME=/home/tester "$@"; }
as_user dtsubmit --dry-run --nodes 2 --gpus-per-node 8 -- dttrain >/tmp/plan
grep -q '^#SBATCH' /tmp/plan || { cat /tmp/plan; echo "FAILED: the plan is without a batch script"; exit 1; }
echo "ok: plan of a job: $(grep -c . /tmp/plan) lines"
as_user dtsubmit topo >/tmp/topo
head -n 1 /tmp/topo
dttrain --help >/dev/null
echo "ok: dttrain --help"

apt-get purge -y -q dtsubmit dtsubmit-slurm dttrain >/dev/null 2>&1
rm -rf /home/tester/.local /home/tester/.cache
files >/tmp/after
if ! diff /tmp/before /tmp/after; then
  echo "FAILED: files above were left behind or are missing"
  exit 1
fi
echo "ok: removed, nothing left behind"
