#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_layers.sh on small trees: each forbidden include must fail by name, the allowed ones pass.
set -u
check=$(cd "$(dirname "$0")/../tools" && pwd)/check_layers.sh
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT
failures=0

# expect pass|fail FILE INCLUDE
expect() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree/$(dirname "$2")"
  printf '// SPDX\n#include %s\n' "$3" >"$tree/$2"
  if output=$("$check" "$tree" 2>&1); then got=pass; else got=fail; fi
  if [ "$got" != "$1" ]; then
    echo "$2 with #include $3: expected $1, got $got: $output"
    failures=$((failures + 1))
  elif [ "$got" = fail ] && ! echo "$output" | grep -q "^$2:2: "; then
    echo "$2 with #include $3: the report does not name file and line: $output"
    failures=$((failures + 1))
  fi
}

expect fail core/base/x.cpp '"core/spec/job_spec.hpp"'
expect fail core/spec/x.hpp '"core/plan/plan.hpp"'
expect fail core/plan/x.cpp '"core/topo/load.hpp"'
expect fail core/plan/x.cpp '"core/sched/scheduler.hpp"'
expect fail core/script/x.cpp '"core/run/ledger.hpp"'
expect fail core/train/x.cpp '"core/launch/agent.hpp"'
expect fail core/reliability/x.cpp '"core/run/ledger.hpp"'
expect fail core/launch/x.cpp '"cli/app.hpp"'
expect fail plugins/slurm/x.cpp '"core/base/text.hpp"'
expect fail core/new/x.cpp '"core/base/text.hpp"'
expect fail core/base/x.cpp '"text.hpp"'
expect fail core/plan/x.cpp '<hwloc.h>'
expect fail core/sched/x.cpp '<slurm/slurm.h>'
expect fail core/launch/x.cpp '<mpi.h>'
expect fail core/launch/x.cpp '<cuda_runtime.h>'
expect fail core/spec/x.cpp '<CLI/CLI.hpp>'
expect fail core/spec/x.hpp '<nlohmann/json.hpp>'
expect fail core/spec/x.cpp '<boost/any.hpp>'
expect fail core/base/x.cpp '<doctest/doctest.h>'
expect pass core/plan/x.cpp '"core/topo/topology.hpp"'
expect pass core/launch/x.cpp '"core/topo/load.hpp"'
expect pass core/topo/x.cpp '<hwloc.h>'
expect pass plugins/slurm/x.cpp '"core/plugin/dtsubmit_plugin.h"'
expect pass plugins/slurm/x.cpp '<slurm/slurm.h>'
expect pass core/train/x.cpp '<mpi.h>'
expect pass core/spec/x.cpp '<nlohmann/json.hpp>'
expect pass core/base/x.cpp '<sys/stat.h>'
expect pass core/base/x.cpp '<cstdlib>'
expect pass tests/unit/x.cpp '"core/launch/agent.hpp"'
echo "$failures failures"
[ "$failures" -eq 0 ]
