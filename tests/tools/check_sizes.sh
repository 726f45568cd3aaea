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
sources "$1" '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' '*.sh' '*.in' 'CMakeLists.txt' | (cd "$1" && xargs wc -l) | exceptions=$exceptions awk '
BEGIN {
  for (count = split(ENVIRON["exceptions"], lines, "\n"); count > 0; --count)
    if (split(lines[count], words, " ") > 1) excepted[words[1]] = words[2]
}
$2 != "total" {
  most = ($2 in excepted) ? excepted[$2] : $2 ~ /^(core|cli|plugins)\/.*\..pp$|^core\/.*\.h$/ ? 300 : 500
  if ($1 + 0 <= most) next
  printf "%s: %d lines, at most %d: split it by what it is about\n", $2, $1, most
  wrong = 1
}
END { exit wrong }'
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
