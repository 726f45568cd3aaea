#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_sizes.sh ROOT: fails on a source file of more than 500 lines (CONTRIBUTING.md).
set -eu
. "$(dirname "$0")/sources.sh"
most=500
sources "$1" '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' '*.sh' '*.in' 'CMakeLists.txt' | (
  cd "$1"
  wrong=0
  while read -r file; do
    lines=$(wc -l <"$file")
    [ "$lines" -le "$most" ] && continue
    echo "$file: $lines lines, at most $most: split it by what it is about"
    wrong=1
  done
  exit $wrong
)
