#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_stderr.sh ROOT: fails on words that are written to standard error past tell(), log() and warn() (core/base/os/log.hpp):
# fmt::print, streams and stdio throw, lose words or write them in pieces where it is closed or its disk is full.
set -eu
. "$(dirname "$0")/sources.sh"
cd "$1"
sources . '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' | grep -E '^(core|cli|plugins)/' | xargs awk '
BEGIN {
  allowed["core/base/os/log.cpp"] = 1            # the one place
  allowed["plugins/slurm/library.cpp"] = 1    # an exit handler in a plug-in, which has nothing of ours
}
FILENAME in allowed { next }
{
  code = $0
  gsub(/\\["\\]/, "", code)
  gsub(/"[^"]*"/, "\"\"", code)
  sub(/\/\/.*/, "", code)
}
code ~ /(^|[^A-Za-z0-9_.>])stderr([^A-Za-z0-9_]|$)/ || code ~ /std::(w?cerr|w?clog)/ ||
code ~ /(^|[^A-Za-z0-9_])(perror|psignal) *\(/ || code ~ /(write|printf) *\( *(STDERR_FILENO|2) *,/ {
  printf "%s:%d: writes to standard error directly: use tell(), log() or cli::warn()\n", FILENAME, FNR
  wrong = 1
}
END { exit wrong }
'
