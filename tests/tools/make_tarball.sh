#!/usr/bin/env bash
# make_tarball.sh [FOLDER]: makes FOLDER/dtsubmit-VERSION-linux-MACHINE.tar.gz, which runs wherever glibc is 2.28 or later, and prints what
# it needs. It is built in a root file system of an old Debian (DTS_TARBALL_RELEASE, bullseye: the oldest that Debian's mirrors still
# have), which is kept in DTS_RELEASES. As root, with debootstrap and a network.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
to=$(realpath "${1:-.}")
release=${DTS_TARBALL_RELEASE:-bullseye}
newest_glibc=2.28

root=$("$source/tests/releases/bare_root.sh" "$release" "$release-tarball" ca-certificates)
# Header-only libraries may be newer.
echo "deb ${DTS_MIRROR:-http://deb.debian.org/debian} bookworm main" >"$root/etc/apt/sources.list.d/bookworm.list"
printf 'Package: *\nPin: release n=bookworm\nPin-Priority: 1\n' >"$root/etc/apt/preferences.d/bookworm"
rm -rf "$root/source"
"$source/tests/releases/work_tree.sh" "$root/source"
"$source/tests/releases/in_root.sh" "$root" bash /source/packaging/portable/build.sh "$newest_glibc"
cp "$root"/out/*.tar.gz "$to/"
ls -l "$to"/dtsubmit-*-linux-*.tar.gz
