#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rewrites the golden files from what the program does now: bless.sh [BUILD_FOLDER]. Read the diff.
# Exit 1: a program is not built or a test fails.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/dev}
cmake --build "$build" --target golden_script golden_binding golden_container golden_manual cli_tests

# A golden file written without one of these would be cut short.
missing=
for program in bin/dtsubmit bin/dttrain bin/cli_tests lib/dtsubmit/dtsubmit-topology; do
  [ -x "$build/$program" ] || missing="$missing $program"
done
if [ -n "$missing" ]; then
  echo "bless.sh: not built in $build:$missing" >&2
  echo "bless.sh: no golden file was changed; build everything first: cmake --build $build" >&2
  exit 1
fi

failed=
for name in script binding container; do
  "$build/bin/golden_$name" "$root/tests/golden/$name" --bless || failed="$failed golden_$name"
done
"$build/bin/golden_manual" "$root/man" --bless || failed="$failed golden_manual"
DTS_BLESS=1 ctest --test-dir "$build" -L cli >/dev/null || failed="$failed cli"
git -C "$root" diff --stat -- tests/golden tests/cli man
if [ -n "$failed" ]; then
  echo "bless.sh: these tests fail and their golden files may be wrong:$failed" >&2
  exit 1
fi
