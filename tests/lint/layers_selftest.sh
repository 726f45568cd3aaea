#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_layers.sh on small trees: each forbidden include must fail by name, the allowed ones pass.
set -u
check=check_layers.sh
. "$(dirname "$0")/expect.sh"

expect fail core/base/x.cpp '#include "core/spec/job_spec.hpp"'
expect fail core/spec/x.hpp '#include "core/plan/plan.hpp"'
expect fail core/plan/x.cpp '#include "core/topo/hwloc/load.hpp"'
expect fail core/plan/x.cpp '#include "core/sched/scheduler.hpp"'
expect fail core/script/x.cpp '#include "core/run/ledger/ledger.hpp"'
expect fail core/train/x.cpp '#include "core/launch/agent/agent.hpp"'
expect fail core/reliability/x.cpp '#include "core/run/ledger/ledger.hpp"'
expect fail core/launch/agent/x.cpp '#include "cli/app.hpp"'
expect fail core/launch/attempt/x.cpp '#include "core/launch/agent/agent.hpp"'
expect fail core/launch/wire/x.cpp '#include "core/launch/rank/rank.hpp"'
expect fail core/plan/cores/x.cpp '#include "core/plan/plan.hpp"'
expect fail core/base/text/x.cpp '#include "core/base/os/log.hpp"'
expect fail core/topo/x.cpp '#include <hwloc.h>'
expect fail plugins/slurm/x.cpp '#include "core/sched/scheduler.hpp"'
expect fail plugins/slurm_commands/x.cpp '#include "plugins/slurm/failure.hpp"'
expect fail plugins/slurm_shared/x.cpp '#include <slurm/slurm.h>'
expect fail core/new/x.cpp '#include "core/base/text/text.hpp"'
expect fail core/base/x.cpp '#include "text.hpp"'
expect fail core/plan/x.cpp '#include <hwloc.h>'
expect fail core/sched/x.cpp '#include <slurm/slurm.h>'
expect fail core/launch/agent/x.cpp '#include <mpi.h>'
expect fail core/launch/agent/x.cpp '#include <cuda_runtime.h>'
expect fail core/spec/x.cpp '#include <CLI/CLI.hpp>'
expect fail core/spec/x.hpp '#include <nlohmann/json.hpp>'
expect fail core/spec/x.cpp '#include <boost/any.hpp>'
expect fail core/base/x.cpp '#include <doctest/doctest.h>'
expect pass core/plan/x.cpp '#include "core/topo/topology.hpp"'
expect pass core/launch/agent/x.cpp '#include "core/topo/discover.hpp"'
expect pass core/topo/hwloc/x.cpp '#include <hwloc.h>'
expect pass plugins/slurm_shared/x.cpp '#include "core/plugin/dtsubmit_plugin.h"'
expect pass plugins/slurm_commands/x.cpp '#include "core/base/os/process.hpp"'
expect pass plugins/slurm/x.cpp '#include <slurm/slurm.h>'
expect pass core/train/x.cpp '#include <mpi.h>'
expect pass core/spec/x.cpp '#include <nlohmann/json.hpp>'
expect pass core/base/x.cpp '#include <sys/stat.h>'
expect pass core/base/x.cpp '#include <cstdlib>'
expect pass tests/unit/x.cpp '#include "core/launch/agent/agent.hpp"'
echo "$failures failures"
[ "$failures" -eq 0 ]
