#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_format.sh ROOT: fails where clang-format would change a C++ file. Exit 77: not installed, skipped.
set -eu
. "$(dirname "$0")/sources.sh"
if ! command -v clang-format >/dev/null; then
  echo "skipped: no clang-format (Debian package clang-format)"
  exit 77
fi
cd "$1"
sources . '*.cpp' '*.hpp' | xargs -n 30 -P 4 clang-format --dry-run -Werror
