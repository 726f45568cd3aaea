#!/usr/bin/env bash
# Builds and passes all tests. On a fresh Debian 12 it installs what is missing first.
#   tests/run.sh            everything
#   tests/run.sh LABEL...   only tests with these ctest labels (unit, contract, golden, cli, integration, lint, fuzz, bench)
set -euo pipefail
cd "$(dirname "$0")/.."
tests/tools/install_packages.sh --with-tests

labels=$(IFS='|'; echo "$*")
jobs=$(nproc)
cmake --preset dev >build-dev.log 2>&1 || { cat build-dev.log; exit 1; }
rm -f build-dev.log
cmake --build --preset dev -j "$jobs"
if [ -n "$labels" ]; then
  exec ctest --test-dir build/dev --output-on-failure -L "$labels"
fi

# Sanitizers and fuzz targets that are known to be clean; the other ones join as they are made so.
asan_targets=(unit_base unit_spec unit_topo unit_plan unit_script)
fuzz_targets=(fuzz_hostlist fuzz_units)
cmake --preset asan >/dev/null
cmake --build --preset asan -j "$jobs" --target "${asan_targets[@]}"
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$jobs" --target "${fuzz_targets[@]}"

ctest --test-dir build/dev --output-on-failure -LE 'bench' -j 1
ctest --test-dir build/asan --output-on-failure -R "^($(IFS='|'; echo "${asan_targets[*]}"))$" -j "$jobs"
ctest --test-dir build/fuzz --output-on-failure -R "^($(IFS='|'; echo "${fuzz_targets[*]}"))$" -j "$jobs"
