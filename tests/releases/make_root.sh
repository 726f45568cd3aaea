#!/usr/bin/env bash
# make_root.sh RELEASE: a root file system of that Debian release (bookworm, trixie, forky, ...) with what building and testing
# need, and prints its folder. It is made once, in two minutes and 2 GB, and kept in DTS_RELEASES. As root.
set -euo pipefail
release=${1:?"usage: make_root.sh RELEASE"}
here=$(cd "$(dirname "$0")" && pwd)
mirror=${DTS_MIRROR:-http://deb.debian.org/debian}
root=${DTS_RELEASES:-/var/cache/dtsubmit-releases}/$release

[ "$(id -u)" -eq 0 ] || { echo "error: a root file system can only be made by root" >&2; exit 1; }
if [ ! -e "$root/ready" ]; then
  command -v debootstrap >/dev/null || { echo "error: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
  # A release that is younger than this debootstrap is made as Debian's unstable is.
  script=/usr/share/debootstrap/scripts/$release
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror" "$script" >"$root.log" 2>&1 ||
    { tail -5 "$root.log" >&2; echo "error: debootstrap failed, see $root.log" >&2; exit 1; }
  # A plain user, and name servers that this machine uses.
  chroot "$root" useradd --create-home --shell /bin/bash tester
  cp -L /etc/resolv.conf "$root/etc/resolv.conf"
  # Indexes of a testing release expire within days; a mirror that is kept still serves them.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/10-kept-mirror"
  touch "$root/ready"
fi
# What is installed already costs milliseconds.
cp "$here/../tools/install_packages.sh" "$root/root/"
"$here/in_root.sh" "$root" bash /root/install_packages.sh --with-tests >&2
echo "$root"
