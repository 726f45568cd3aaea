#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_sizes.sh ROOT: fails on a source file of more than 300 lines (500 for scripts and tests), and on a folder of core
# with more than 25 sources (CONTRIBUTING.md).
set -eu
. "$(dirname "$0")/sources.sh"
most_files=25
# FILE LINES and why it is not split.
exceptions='
core/train/device/kernels_impl.hpp 370 one set of kernels, compiled three times with other vector widths
'
allowed() {
  excepted=$(echo "$exceptions" | awk -v file="$1" '$1 == file { print $2 }')
  case "${excepted:+excepted}$1" in
    excepted*) echo "$excepted" ;;
    core/*.?pp | core/*.h | cli/*.?pp | plugins/*.?pp) echo 300 ;;
    *) echo 500 ;;
  esac
}
sources "$1" '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' '*.sh' '*.in' 'CMakeLists.txt' | (
  cd "$1"
  wrong=0
  while read -r file; do
    lines=$(wc -l <"$file")
    most=$(allowed "$file")
    [ "$lines" -le "$most" ] && continue
    echo "$file: $lines lines, at most $most: split it by what it is about"
    wrong=1
  done
  exit $wrong
)
sources "$1" '*.cpp' '*.hpp' '*.h' | awk -v most="$most_files" '
/^core\// { folder = $0; sub(/\/[^\/]*$/, "", folder); ++files[folder] }
END {
  for (folder in files)
    if (files[folder] > most) {
      printf "%s: %d sources, at most %d: make rooms in it\n", folder, files[folder], most
      wrong = 1
    }
  exit wrong
}'
