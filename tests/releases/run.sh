#!/usr/bin/env bash
# Builds and tests on each of these releases of Debian, in a root file system of its own, and prints a table of what passed:
#   tests/releases/run.sh [bookworm] [trixie] [forky]     without a name: all three
# The first time a release takes about 5 minutes to make and 15 CPU minutes to build; both are kept (DTS_RELEASES). As root, because only
# root can change a process's root. DTS_STAGES limits it to some stages of tests/releases/stages.sh, e.g. "build contract"; the stage
# packages needs this machine's network: DTS_NETWORK=host DTS_STAGES=packages.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
releases=("$@")
[ "$#" -gt 0 ] || releases=(bookworm trixie forky)
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can change a process's root"; exit 77; }

failed=0
for release in "${releases[@]}"; do
  root=$("$here/make_root.sh" "$release")
  "$here/work_tree.sh" "$root/dtsubmit"
  echo "== $release ($root)"
  DTS_NETWORK=${DTS_NETWORK:-own} "$here/in_root.sh" "$root" bash /dtsubmit/tests/releases/stages.sh ${DTS_STAGES:-} || failed=1
done

# A row a stage, a column a release.
{
  printf 'stage'
  printf '\t%s' "${releases[@]}"
  printf '\n'
  "$here/stages.sh" --list | while read -r stage; do
    printf '%s' "$stage"
    for release in "${releases[@]}"; do
      result=${DTS_RELEASES:-/var/cache/dtsubmit-releases}/$release/results/$stage
      printf '\t%s' "$(cat "$result" 2>/dev/null || echo -)"
    done
    printf '\n'
  done
} | column -t -s "$(printf '\t')"
exit "$failed"
