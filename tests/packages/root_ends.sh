#!/usr/bin/env bash
# tests/releases/in_root.sh gives the exit code of what it runs, and at a signal ends with everything that runs in it.
set -euo pipefail
in_root=$(cd "$(dirname "$0")" && pwd)/../releases/in_root.sh
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can change a process's root"; exit 77; }
command -v pivot_root >/dev/null || { echo "skipped: no pivot_root(8) here, which in_root.sh needs"; exit 77; }
busybox=$(command -v busybox) || { echo "skipped: no busybox here (Debian 12: apt install busybox-static)"; exit 77; }
unshare --mount --pid --fork true 2>/dev/null || { echo "skipped: no namespaces of one's own here"; exit 77; }
root=$(mktemp -d)
mkdir -p "$root"/{bin,sys,dev,proc,run}
cp "$busybox" "$root/bin/busybox"
for name in env sh sleep umount; do ln -s busybox "$root/bin/$name"; done

fail() { echo "error: $1" >&2; exit 1; }
# Nobody else sleeps that long.
long=$((1000000 + $$))
sleepers() { pgrep -fx "sleep $long" || true; }
trap 'sleepers | xargs -r kill -KILL; rm -rf "$root"' EXIT
# within SECONDS COMMAND...: it succeeds in that time.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ "$SECONDS" -lt "$end" ] || return 1
    sleep 0.1
  done
}
some() { [ -n "$(sleepers)" ]; }
none() { [ -z "$(sleepers)" ]; }

code=0
echo "exit 7" | "$in_root" "$root" sh || code=$?
[ "$code" -eq 7 ] || fail "the exit code is $code instead of 7: is standard input that of the command?"
for signal in TERM INT HUP KILL; do
  # A shell lets what it starts with & ignore SIGINT.
  env --default-signal=INT "$in_root" "$root" sh -c "sleep $long & sleep $long" &
  script=$!
  within 20 some || fail "the command has not started"
  kill -s "$signal" "$script"
  within 20 none || fail "after SIG$signal there are still $(sleepers | xargs)"
  wait "$script" && fail "after SIG$signal the exit code is 0"
done
exit 0
