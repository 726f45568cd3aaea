#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Rewrites the golden files from what the program does now: bless.sh [BUILD_FOLDER]. Read the diff.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
build=${1:-$root/build/dev}
cmake --build "$build" --target golden_script
"$build/bin/golden_script" "$root/tests/golden/script" --bless
git -C "$root" diff --stat -- tests/golden
