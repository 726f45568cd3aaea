#!/usr/bin/env bash
# make_root.sh RELEASE: a root file system of that Debian release (bookworm, trixie, forky, ...) with what building and testing
# need, and prints its folder. It is made once, in two minutes and 2 GB, and kept in DTS_RELEASES. As root.
set -euo pipefail
release=${1:?"usage: make_root.sh RELEASE"}
here=$(cd "$(dirname "$0")" && pwd)
root=$("$here/bare_root.sh" "$release" "$release" ca-certificates)
# What is installed already costs milliseconds.
cp "$here/../tools/install_packages.sh" "$root/root/"
"$here/in_root.sh" "$root" bash /root/install_packages.sh --with-tests >&2
echo "$root"
