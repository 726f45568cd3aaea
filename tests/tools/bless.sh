#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rewrites the golden files from what the program does now: bless.sh [BUILD_FOLDER]. Read the diff.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/dev}
cmake --build "$build" --target golden_script golden_binding golden_container golden_manual
for name in script binding container; do
  "$build/bin/golden_$name" "$root/tests/golden/$name" --bless
done
"$build/bin/golden_manual" "$root/man" --bless
cmake --build "$build" --target cli_tests
DTS_BLESS=1 ctest --test-dir "$build" -L cli >/dev/null || echo "some cli tests fail: run them" >&2
git -C "$root" diff --stat -- tests/golden tests/cli man
