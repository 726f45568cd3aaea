#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_format.sh ROOT: fails where clang-format would change a C++ file. Exit 77: not installed, or of another release, which lays out
# some lines differently; skipped.
set -eu
. "$(dirname "$0")/sources.sh"
if ! command -v clang-format >/dev/null; then
  echo "skipped: no clang-format (Debian package clang-format)"
  exit 77
fi
case $(clang-format --version) in
  *' version 14.'*) ;;
  *)
    echo "skipped: the sources are formatted by release 14, Debian 12's; this is $(clang-format --version)"
    exit 77
    ;;
esac
cd "$1"
sources . '*.cpp' '*.hpp' | xargs -n 30 -P 4 clang-format --dry-run -Werror
