#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A built tree as a plain user has it: copied below /home, owned by a user made for this, who runs the quickstart and the
# tests. Nothing is built. As root; the user goes again at the end.
#   tests/plain_user.sh BUILD [quickstart | CTEST ARGUMENTS...]     without arguments: the quickstart and a choice of tests
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:?the build folder}" && pwd)
shift
skip() { echo "skipped: $1"; exit 77; }
[ "$(id -u)" -eq 0 ] || skip "only root can make a user; a plain user runs the tests themselves"
[ -z "${build##"$root"/*}" ] || skip "$build is not below $root"
command -v useradd >/dev/null || skip "no useradd here (Debian 12: apt install passwd)"

user=dts-plain-$$
useradd --create-home --home-dir "/home/$user" --shell /bin/bash "$user"
home=/home/$user
clone=$home/dtsubmit
finish() {
  local code=$? process
  for process in /proc/[0-9]*; do
    [ "$(stat -c %U "$process" 2>/dev/null)" = "$user" ] && kill -9 "${process#/proc/}" 2>/dev/null
  done
  userdel --remove "$user" 2>/dev/null || rm -rf "$home"
  exit "$code"
}
trap finish EXIT
trap 'exit 130' INT TERM

as_user() { runuser -u "$user" -- env -i HOME="$home" USER="$user" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin "$@"; }

mkdir -p "$clone"
tar -C "$root" --exclude=./build --exclude=./shared -cf - . | tar -C "$clone" -xf -
mkdir -p "$clone/${build#"$root"/}"
tar -C "$build" --exclude='*.o' --exclude='*.a' -cf - . | tar -C "$clone/${build#"$root"/}" -xf -
chown -R "$user": "$clone"

quickstart() { (cd "$clone" && as_user DTSUBMIT_BUILD="$clone/${build#"$root"/}" ./examples/quickstart/run.sh); }

# Tests know the paths they were built with: there the user finds the copy, and can reach it.
run_tests() {
  local closed=
  for ((i = 1; i <= ${#root}; i++)); do
    [ "${root:i:1}" = / ] || [ "$i" -eq "${#root}" ] || continue
    as_user test -x "${root:0:i}" || { closed=${root:0:i}; break; }
  done
  # shellcheck disable=SC2016
  unshare --mount --propagation private bash -euc '
    if [ -n "$1" ] && [ "$1" != "$2" ]; then mount -t tmpfs -o mode=755 tmpfs "$1"; mkdir -p "$2"; fi
    mount --bind "$3" "$2"
    shift 3
    cd /tmp
    "$@"' bash "$closed" "$root" "$clone" \
    runuser -u "$user" -- env -i HOME="$home" USER="$user" LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin \
    ctest --test-dir "$build" --output-on-failure "${@}"
}

if [ "${1:-}" = quickstart ]; then
  quickstart
elif [ $# -gt 0 ]; then
  run_tests "$@"
else
  quickstart
  run_tests -R '^(unit_(base|run|plugin|cluster)|cli_(run|submit|drill|environment)|segments_two_clusters)$'
fi
