#!/usr/bin/env bash
# Builds and tests. On a fresh Debian 12 it installs what is missing first.
#   tests/run.sh            before a commit: build; unit, golden, cli, lint and contract tests; the integration tests that walk
#                           through the main job (label walk); the unit tests of what parses, with sanitizers
#   tests/run.sh rest       all unit and cli tests with sanitizers, every parser fuzzed for 20 s, cognitive complexity, the other integration tests
#   tests/run.sh all        both
#   tests/run.sh LABEL...   only tests with these ctest labels (unit, contract, golden, cli, integration, walk, lint, complexity, fuzz,
#                           bench, faults: every fault on every launcher, for hours; DTS_REPEAT=N does each N times;
#                           measures: what measures the machine itself, and needs it alone;
#                           packages: Debian packages and the tarball, made and tried in root file systems of their own;
#                           slow: ResNet-20 trained to the end, for hours, and beside float64; five seeds beside PyTorch; 67 layouts of the trainer)
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
quick='^(unit|golden|cli|lint)$'
walk='^(contract|walk)$'
parsers='^unit_(base|spec|script|sched)$'

# stage NAME COMMAND...: runs it and says how long it took.
stage() {
  local name=$1 start=$SECONDS code=0
  shift
  "$@" || code=$?
  echo "== $name: $((SECONDS - start)) s"
  return "$code"
}

# beside FUNCTION: starts what computes, at a low priority, beside what mostly waits for clusters; `joined` waits for it and
# prints what it said. It is a session of its own, which ends with this script.
beside() {
  setsid tests/run.sh beside "$1" >build/beside.log 2>&1 &
  # shellcheck disable=SC2064  # this one
  trap "kill -- -$! 2>/dev/null || true" EXIT
}

joined() {
  local code=0
  wait $! || code=$?
  trap - EXIT
  cat build/beside.log
  return "$code"
}

tests() {
  local build=$1
  shift
  ctest --test-dir "build/$build" --output-on-failure "$@"
}

# side_by_side BUILD NAME ARGUMENT...: tests beside others. If any fails, the failed ones are listed for `alone`, unless a sanitizer
# has found something, which is an error however busy the processors are.
side_by_side() {
  local build=$1 name=$2
  local log=build/$build/Testing/Temporary
  shift 2
  rm -f "$log/LastTestsFailed.log"
  stage "$name" tests "$build" "$@" && return 0
  ! { [ "$build" = asan ] && grep -qE 'ERROR: [A-Za-z]+Sanitizer|runtime error: ' "$log/LastTest.log"; } || return 1
  cut -d: -f2 "$log/LastTestsFailed.log" >"build/failed-$build"
}

# alone BUILD: once nothing else computes, what failed in side_by_side, if that is little: to be late on two busy processors is no
# error. What fails here, is.
alone() {
  local count
  local failed=build/failed-$1
  [ -e "$failed" ] || return 0
  count=$(wc -l <"$failed")
  echo "== $count failed beside others: $(paste -sd ' ' "$failed")"
  [ "$count" -gt 0 ] && [ "$count" -le 4 ] || return 1
  stage "what failed beside others, alone" tests "$1" -R "^($(paste -sd '|' "$failed"))\$"
}

build() {
  cmake --preset "$1" >"build-$1.log" 2>&1 || { cat "build-$1.log"; exit 1; }
  rm -f "build-$1.log"
  cmake --build --preset "$1" -j "$jobs" "${@:2}"
}

slowest() {
  echo "== the ten slowest tests, in seconds"
  sed '/^---/,$d' build/dev/Testing/Temporary/CTestCostData.txt | sort -k3 -n -r | awk 'NR <= 10 { printf "%8.1f  %s\n", $3, $1 }'
}

sanitized_parsers() {
  stage "build of the parsers' tests with sanitizers" build asan --target unit_base unit_spec unit_script unit_sched
  side_by_side asan "the parsers' tests with sanitizers" -R "$parsers" -j "$jobs"
}

sanitized_rest() {
  stage "build with sanitizers" build asan
  # Each takes 20 s, however busy the processors are: it runs while others compute, three a processor.
  stage "fuzz" tests asan -L '^fuzz$' -j $((3 * jobs))
  side_by_side asan "unit and cli with sanitizers" -L '^(unit|cli)$' -E "$parsers" -j "$jobs"
  # The preset asan has fewer and larger batches, but not the module for GPUs.
  stage "cognitive complexity" tests asan -L complexity
  stage "cognitive complexity of the module for GPUs" tests/tools/check_complexity.sh . build/dev /plugins/cuda/
}

before_a_commit() {
  rm -f build/failed-*
  local code=0
  side_by_side dev "unit, golden, cli and lint" -L "$quick" -j $((2 * jobs))  # half of the time they wait
  alone dev
  rm -f build/failed-*
  beside sanitized_parsers
  side_by_side dev "contract, and the main job" -L "$walk" -j "$jobs"
  joined || code=$?
  alone dev || code=$?
  alone asan || code=$?
  return "$code"
}

rest() {
  local code=0
  rm -f build/failed-*
  beside sanitized_rest
  # Most of their time they wait for a cluster, so there are more of them than cores.
  side_by_side dev "integration" -LE "complexity|bench|frameworks|faults|packages|slow|measures|contract|walk|unit|golden|cli|lint" -j $((2 * jobs + 1))
  joined || code=$?
  alone dev || code=$?
  alone asan || code=$?
  stage "what measures this machine" tests dev -L '^measures$' || code=$?  # while nothing else computes
  return "$code"
}

if [ "${1:-}" = beside ]; then
  # Sessions share the processors as equals, whatever the priorities of their processes (sched(7), autogroup).
  { echo 19 >/proc/self/autogroup; } 2>/dev/null || true
  renice -n 15 $$ >/dev/null
  "$2"
  exit
fi
tests/tools/install_packages.sh --with-tests
stage "build" build dev
case "${*:-}" in
  "") before_a_commit ;;
  rest) rest ;;
  all)
    before_a_commit
    rest
    ;;
  *)
    labels=$(IFS='|'; echo "$*")
    tests dev -L "^($labels)$" -V -j 1
    ;;
esac
slowest
