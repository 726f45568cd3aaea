#!/usr/bin/env bash
# make_tarball.sh [FOLDER]: makes FOLDER/dtsubmit-VERSION-linux-MACHINE.tar.gz, which runs wherever glibc is 2.28 or later, and prints what
# it needs. It is built in a root file system of an old Debian (DTS_TARBALL_RELEASE, bullseye: the oldest that Debian's mirrors still
# have), which is kept in DTS_RELEASES. As root, with debootstrap and a network.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
to=$(realpath "${1:-.}")
release=${DTS_TARBALL_RELEASE:-bullseye}
mirror=${DTS_MIRROR:-http://deb.debian.org/debian}
root=${DTS_RELEASES:-/var/cache/dtsubmit-releases}/$release-tarball
newest_glibc=2.28
[ "$(id -u)" -eq 0 ] || { echo "error: a root file system can only be made by root" >&2; exit 1; }

if [ ! -e "$root/ready" ]; then
  command -v debootstrap >/dev/null || { echo "error: debootstrap is missing: apt-get install debootstrap" >&2; exit 1; }
  rm -rf "$root"
  mkdir -p "$root"
  debootstrap --variant=minbase --include=ca-certificates "$release" "$root" "$mirror" >"$root.log" 2>&1 ||
    { tail -n 5 "$root.log" >&2; echo "error: debootstrap failed, see $root.log" >&2; exit 1; }
  echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/10-kept-mirror"
  # Header-only libraries may be newer.
  echo "deb $mirror bookworm main" >"$root/etc/apt/sources.list.d/bookworm.list"
  printf 'Package: *\nPin: release n=bookworm\nPin-Priority: 1\n' >"$root/etc/apt/preferences.d/bookworm"
  touch "$root/ready"
fi
cp -L /etc/resolv.conf "$root/etc/resolv.conf"
rm -rf "$root/source"
mkdir -p "$root/source"
(cd "$source" && git ls-files --cached --others --exclude-standard | while IFS= read -r file; do
  if [ -e "$file" ]; then printf '%s\n' "$file"; fi
done | tar --owner=root --group=root -T - -cf -) | tar -C "$root/source" -xf -
"$source/tests/releases/in_root.sh" "$root" bash /source/packaging/portable/build.sh "$newest_glibc"
cp "$root"/out/*.tar.gz "$to/"
ls -l "$to"/dtsubmit-*-linux-*.tar.gz
