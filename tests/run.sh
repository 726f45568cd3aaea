#!/usr/bin/env bash
# Builds and passes all tests. On a fresh Debian 12 it installs what is missing first.
#   tests/run.sh            everything
#   tests/run.sh LABEL...   only tests with these ctest labels (unit, contract, golden, cli, integration, lint, fuzz, bench,
#                           faults: every fault on every launcher, for hours; DTS_REPEAT=N does each N times)
set -euo pipefail
cd "$(dirname "$0")/.."
tests/tools/install_packages.sh --with-tests

labels=$(IFS='|'; echo "$*")
jobs=$(nproc)
cmake --preset dev >build-dev.log 2>&1 || { cat build-dev.log; exit 1; }
rm -f build-dev.log
cmake --build --preset dev -j "$jobs"
if [ -n "$labels" ]; then
  exec ctest --test-dir build/dev --output-on-failure -L "^($labels)$" -V -j 1
fi

quick='unit|golden|cli|lint'
ctest --test-dir build/dev --output-on-failure -L "^($quick)$" -j "$jobs"
ctest --test-dir build/dev --output-on-failure -LE "bench|frameworks|faults|$quick" -j 1

# The same unit and command line tests with sanitizers; then every parser, 20 s each.
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$jobs"
ctest --test-dir build/asan --output-on-failure -L '^(unit|cli)$' -j "$jobs"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" --target fuzzers
ctest --test-dir build/fuzz --output-on-failure -L '^fuzz$' -j "$jobs"
