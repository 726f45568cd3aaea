#!/usr/bin/env bash
# debian.sh [BUILD]: makes the Debian packages, lets lintian judge them, installs them in a root file system that has nothing of what a
# build needs, uses and removes them there. BUILD: a build folder to pack; without it one is made, with the preset release. As root,
# with debootstrap, lintian and a network. The root file system is kept in DTS_RELEASES.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can change a process's root"; exit 77; }
for program in debootstrap lintian cpack; do
  command -v "$program" >/dev/null || { echo "skipped: no $program (apt-get install debootstrap lintian cmake)"; exit 77; }
done
release=$(. /etc/os-release && echo "$VERSION_CODENAME")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

build=${1:-$source/build/packages}
options=(-DDTSUBMIT_DEBIAN=ON -DDTSUBMIT_TRAINER=ON -DDTSUBMIT_TOPOLOGY=ON -DDTSUBMIT_SLURM=ON -DDTSUBMIT_MAN=ON)
if [ "$#" -gt 0 ]; then
  cmake -S "$source" -B "$build" "${options[@]}" >/dev/null
else
  cmake -S "$source" -B "$build" --preset release "${options[@]}" -DBUILD_TESTING=OFF >/dev/null
  cmake --build "$build" -j "$(nproc)"
fi
# Installing must not build: with a tree of tests that would be all of them.
cmake -DCMAKE_SKIP_INSTALL_ALL_DEPENDENCY=ON "$build" >/dev/null
(cd "$build" && cpack -G DEB -B "$work" >"$work/cpack.log" 2>&1) || { cat "$work/cpack.log"; exit 1; }
for package in dtsubmit dtsubmit-slurm dttrain; do
  file=$(echo "$work/${package}"_*.deb)
  [ -e "$file" ] || { echo "FAILED: no package $package"; exit 1; }
  echo "$(basename "$file"): $(($(stat -c %s "$file") / 1024)) KiB, needs $(dpkg-deb -f "$file" Depends)"
done
lintian --fail-on warning "$work"/*.deb
echo "ok: lintian has no error and no warning"

clean=$("$source/tests/releases/bare_root.sh" "$release" "$release-clean")
# A container's root file system may be without manual pages, which are tested here.
rm -f "$clean/etc/dpkg/dpkg.cfg.d/docker" "$clean/etc/dpkg/dpkg.cfg.d/excludes"
mkdir -p "$clean/packages"
rm -f "$clean"/packages/*
cp "$work"/*.deb "$here/in_clean_root.sh" "$clean/packages/"
"$source/tests/releases/in_root.sh" "$clean" bash /packages/in_clean_root.sh
