#!/usr/bin/env bash
# bare_root.sh RELEASE NAME [PACKAGE,...]: a root file system of that Debian release with the least that Debian has, these packages and a
# plain user, tester, and prints its folder, NAME in DTS_RELEASES, where it is kept. As root, with debootstrap and a network.
set -euo pipefail
release=${1:?"usage: bare_root.sh RELEASE NAME [PACKAGE,...]"}
name=${2:?"usage: bare_root.sh RELEASE NAME [PACKAGE,...]"}
packages=${3:-}
root=$(realpath -m "${DTS_RELEASES:-/var/cache/dtsubmit-releases}/$name")

[ "$(id -u)" -eq 0 ] || { echo "error: a root file system can only be made by root" >&2; exit 1; }
if [ ! -e "$root/ready" ]; then
  command -v debootstrap >/dev/null || { echo "error: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
  # A release that is younger than this debootstrap is made as Debian's unstable is.
  script=/usr/share/debootstrap/scripts/$release
  [ -e "$script" ] || script=/usr/share/debootstrap/scripts/sid
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase ${packages:+"--include=$packages"} "$release" "$root" "${DTS_MIRROR:-http://deb.debian.org/debian}" \
    "$script" >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; echo "error: debootstrap failed, see $root.log" >&2; exit 1; }
  chroot "$root" useradd --create-home --shell /bin/bash tester
  # Indexes of a testing release expire within days; a mirror that is kept still serves them.
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/10-kept-mirror"
  # Whoever loses power makes it anew.
  echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/unsafe-io"
  touch "$root/ready"
fi
# The name servers that this machine uses now.
cmp -s /etc/resolv.conf "$root/etc/resolv.conf" || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
echo "$root"
