#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check_layers.sh ROOT: fails on an #include that is no arrow of the design, and on a third-party header
# outside its one folder. The two tables below are the rules.
set -eu
. "$(dirname "$0")/sources.sh"
cd "$1"
sources . '*.cpp' '*.hpp' '*.h' '*.c' '*.cu' | grep -E '^(core|cli|plugins|tests)/' | xargs awk '
BEGIN {
  # From a folder to what it may include, besides itself. A folder below one of these goes by the entry that is
  # longest; a trailing slash allows what is below, too.
  arrows["core/base"] = ""
  arrows["core/base/text"] = "core/base/result.hpp core/base/diagnostics.hpp core/base/hash.hpp core/base/random.hpp"
  arrows["core/base/files"] = arrows["core/base/text"] " core/base/text/"
  arrows["core/base/os"] = arrows["core/base/files"] " core/base/files/"
  arrows["core/base/net"] = arrows["core/base/os"] " core/base/os/"
  arrows["core/spec"] = "core/spec/values/json_values.hpp core/spec/file/ core/base/"
  arrows["core/spec/file"] = "core/spec/ core/base/"
  arrows["core/spec/values"] = "core/spec/ core/base/"
  arrows["core/spec/options"] = "core/spec/ core/base/"
  arrows["core/shell"] = "core/base/"
  arrows["core/lint"] = "core/lint/script/ core/shell/ core/base/"
  arrows["core/lint/script"] = "core/shell/ core/spec/gres.hpp core/base/"
  arrows["core/lint/rules"] = "core/lint/ core/shell/ core/base/"
  arrows["core/convert/words"] = "core/lint/script/ core/shell/ core/base/"
  arrows["core/convert/job"] = "core/lint/script/ core/shell/ core/spec/ core/base/"
  arrows["core/convert/lines"] = "core/plan/torch_variables.hpp core/convert/job/ core/convert/words/ core/lint/ core/shell/ core/base/"
  arrows["core/convert/program"] = "core/convert/lines/ core/convert/job/ core/convert/words/ core/lint/ core/shell/ core/spec/ core/base/"
  arrows["core/convert/known"] = "core/convert/words/ core/lint/script/ core/shell/ core/base/"
  arrows["core/convert/expand"] = "core/convert/known/ core/convert/job/ core/convert/words/ core/lint/script/ core/shell/ core/base/"
  arrows["core/convert"] = "core/convert/ core/lint/ core/shell/ core/plan/ core/spec/ core/topo/topology.hpp core/base/"
  arrows["core/stage"] = "core/spec/stage.hpp core/base/"
  arrows["core/topo"] = "core/base/"
  arrows["core/topo/nvml"] = "core/topo/topology.hpp core/topo/json.hpp core/base/"
  arrows["core/topo/hwloc"] = "core/topo/ core/base/"
  arrows["core/topo/sysfs"] = "core/topo/ core/base/"
  arrows["core/topo/program"] = "core/topo/ core/base/"
  arrows["core/plan/cores"] = "core/spec/bind.hpp core/topo/topology.hpp core/topo/distance.hpp core/base/"
  arrows["core/plan/gpus"] = "core/plan/cores/ " arrows["core/plan/cores"]
  arrows["core/plan"] = "core/spec/ core/topo/topology.hpp core/topo/distance.hpp core/base/"
  arrows["core/plan/binding"] = "core/plan/plan.hpp core/plan/ranks_by_node.hpp core/plan/gpus/ core/plan/cores/ core/topo/restrict.hpp " arrows["core/plan"]
  arrows["core/plan/program"] = "core/spec/ core/base/"
  arrows["core/plan/environment"] = "core/plan/plan.hpp core/plan/thread_places.hpp core/plan/torch_variables.hpp core/plan/program/ core/base/"
  arrows["core/plan/layout"] = "core/plan/ " arrows["core/plan"]
  arrows["core/sched"] = "core/base/"
  arrows["core/script"] = "core/script/template/ core/sched/ core/plan/ core/spec/ core/topo/topology.hpp core/base/"
  arrows["core/sweep"] = "core/plan/ core/spec/ core/topo/topology.hpp core/base/"
  arrows["core/script/template"] = "core/base/"
  arrows["core/plugin"] = "core/sched/ core/base/"
  arrows["core/provenance"] = "core/base/"
  arrows["core/run/directory"] = "core/base/"
  arrows["core/run/event"] = "core/base/"
  arrows["core/run/ledger"] = "core/run/event/ core/run/directory/ core/base/"
  arrows["core/run/index"] = "core/run/ledger/ core/run/event/ core/run/directory/ core/base/"
  arrows["core/run/summary"] = "core/run/ledger/ core/run/event/ core/run/directory/ core/base/"
  arrows["core/cluster/layout"] = "core/base/"
  arrows["core/cluster"] = "core/cluster/layout/ core/base/"
  arrows["core/reliability"] = "core/base/"
  arrows["core/launch/wire"] = "core/spec/container.hpp core/plan/ core/run/directory/ core/base/"
  arrows["core/launch/job"] = "core/launch/wire/ core/sweep/ core/script/ core/plan/ core/run/ core/sched/ core/spec/ core/base/"
  arrows["core/launch/program"] = "core/launch/wire/ core/plan/ core/base/"
  arrows["core/launch/container"] = "core/spec/container.hpp core/spec/container_runtimes.inc core/plan/plan.hpp core/base/"
  arrows["core/launch/launcher/revival"] = "core/base/"
  arrows["core/launch/launcher"] = "core/launch/launcher/revival/ core/spec/launchers.inc core/launch/job/ core/launch/wire/ core/plan/ core/run/directory/ core/base/"
  arrows["core/launch/binding"] = "core/launch/wire/ core/plan/ core/run/directory/ core/base/"
  arrows["core/launch/health"] = "core/launch/launcher/ core/launch/wire/ core/plan/ core/run/ core/topo/ core/base/"
  arrows["core/launch/rank"] = "core/spec/container.hpp core/stage/ core/launch/container/ core/launch/health/ core/launch/binding/ core/launch/program/ core/launch/launcher/ core/launch/job/ core/launch/wire/ core/plan/ core/run/directory/ core/topo/ core/base/"
  arrows["core/launch/attempt/state"] = "core/launch/wire/ core/plan/ core/run/ core/spec/job_spec.hpp core/topo/topology.hpp core/base/"
  arrows["core/launch/attempt/start"] = "core/launch/attempt/state/ core/launch/health/ core/launch/binding/ core/topo/json.hpp core/topo/restrict.hpp " arrows["core/launch/attempt/state"]
  arrows["core/launch/attempt/watch"] = "core/launch/attempt/start/ core/launch/attempt/state/ core/launch/binding/ core/reliability/ " arrows["core/launch/attempt/state"]
  arrows["core/launch/attempt"] = "core/launch/attempt/ " arrows["core/launch/attempt/state"]
  arrows["core/launch/agent/runner"] = "core/launch/attempt/ core/launch/health/ core/launch/program/ core/launch/launcher/ core/launch/job/ core/launch/wire/ core/plan/ core/run/ core/sched/ core/topo/topology.hpp core/base/"
  arrows["core/launch/agent/after"] = "core/sweep/ core/launch/job/ core/plugin/ core/run/ core/sched/ core/spec/ core/plan/ core/base/"
  arrows["core/launch/agent/revive"] = "core/launch/guard/guard_rules.hpp core/launch/job/ core/plugin/ core/run/ core/sched/ core/base/"
  arrows["core/launch/guard"] = "core/launch/attempt/state/exit_code.hpp core/launch/job/stop_way.hpp core/base/"
  arrows["core/launch/agent"] = "core/script/log_link.hpp core/sweep/ core/launch/agent/after/ core/launch/agent/runner/ core/stage/ core/launch/attempt/ core/launch/health/ core/launch/program/ core/launch/launcher/ core/launch/job/ core/launch/wire/ core/plan/ core/run/ core/sched/ core/spec/ core/plugin/ core/topo/ core/base/"
  arrows["core/check"] = "core/base/"
  arrows["core/doctor"] = "core/probe/facts.hpp core/sched/ core/base/"
  arrows["core/probe"] = "core/launch/binding/binding.hpp core/launch/launcher/ssh_launcher.hpp core/launch/job/allocation.hpp core/plugin/ core/sched/ core/base/"
  arrows["core/forecast"] = "core/reliability/ core/sched/ core/plan/ core/spec/ core/topo/topology.hpp core/base/"
  arrows["core/drill"] = "core/launch/ core/cluster/ core/plan/ core/run/ core/sched/ core/plugin/ core/spec/ core/base/"
  arrows["core/train/device"] = "core/base/"
  arrows["core/train/memory"] = "core/base/"
  arrows["core/train/timing"] = "core/base/"
  arrows["core/train/comm"] = "core/train/memory/ core/train/device/ core/base/"
  arrows["core/train/arrays"] = "core/train/update/chunk_grid.hpp core/train/comm/ core/train/memory/ core/base/"
  arrows["core/train/data"] = "core/train/comm/ core/base/"
  arrows["core/train/model"] = "core/train/timing/ core/train/data/ core/train/comm/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/model/attention"] = "core/train/model/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/backend"] = "core/train/arrays/array_exchange.hpp core/train/optim/chunk_update.hpp core/train/model/ " arrows["core/train/model"]
  arrows["core/train/accelerator/kernels"] = "core/train/accelerator/kernels/images/ core/train/accelerator/kernels/products/ core/train/optim/chunk.hpp"
  arrows["core/train/accelerator/kernels/images"] = "core/train/accelerator/kernels/ core/train/accelerator/kernels/products/"
  arrows["core/train/accelerator/kernels/products"] = "core/train/accelerator/kernels/ core/train/accelerator/dttrain_device.h"
  arrows["core/train/accelerator/queue"] = "core/train/accelerator/dttrain_device.h core/train/accelerator/kernels/ core/train/timing/"
  arrows["core/train/accelerator/images"] = "core/train/accelerator/queue/ core/train/accelerator/ core/train/model/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/accelerator/tokens"] = "core/train/accelerator/queue/ core/train/accelerator/ core/train/model/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/accelerator"] = "core/train/accelerator/queue/ core/train/accelerator/exchange/ core/train/accelerator/images/ core/train/accelerator/tokens/ core/train/accelerator/kernels/ core/train/optim/ core/train/backend/ core/train/model/ core/train/comm/ core/train/arrays/ core/train/update/chunk_grid.hpp core/train/device/ core/train/memory/ core/plugin/host.hpp core/base/"
  arrows["core/train/accelerator/exchange"] = "core/train/accelerator/queue/ core/train/accelerator/ core/train/arrays/ core/train/update/chunk_grid.hpp core/train/comm/ core/train/memory/ core/base/"
  arrows["core/train/models"] = "core/train/model/ core/train/data/samples.hpp core/train/device/ core/base/"
  arrows["core/train/optim"] = "core/train/device/ core/base/"
  arrows["core/train/checkpoint"] = "core/train/model/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/update"] = "core/train/arrays/ core/train/checkpoint/state.hpp core/train/optim/ core/train/model/ core/train/comm/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/server"] = "core/train/update/ownership.hpp core/train/model/layout.hpp core/train/comm/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/hub"] = "core/train/checkpoint/ core/train/optim/ core/train/models/ core/train/model/ core/train/data/ core/base/"
  arrows["core/train/telemetry"] = "core/topo/nvml/nvml.hpp core/train/timing/ core/train/checkpoint/ core/base/"
  arrows["core/train/verify"] = "core/train/telemetry/report.hpp core/train/hub/saved_model.hpp core/train/checkpoint/ core/base/"
  arrows["core/train/rehearsal"] = "core/train/timing/ core/train/data/ core/train/comm/ core/train/memory/ core/base/"
  arrows["core/train/options"] = "core/train/accelerator/device_kind.hpp core/train/memory/activation_storage.hpp core/train/rehearsal/ core/train/update/injection.hpp core/train/optim/ core/train/hub/ core/train/models/ core/train/data/ core/train/comm/comm.hpp core/train/device/ core/base/"
  arrows["core/train/loop"] = "core/train/ core/base/"
  arrows["core/train/bench"] = "core/train/backend/ core/train/telemetry/ core/train/checkpoint/ core/train/models/ core/train/model/ core/train/data/ core/train/comm/ core/train/device/ core/train/memory/ core/base/"
  arrows["core/train/bench/gpu"] = "core/train/bench/ core/train/accelerator/ core/train/update/chunk_grid.hpp core/train/optim/ core/train/models/ core/train/model/ core/train/memory/ core/base/"
  arrows["core/train/program"] = "core/train/ core/base/"
  arrows["cli"] = "core/"
  arrows["plugins/slurm_shared"] = "core/plugin/dtsubmit_plugin.h core/base/"
  arrows["plugins/slurm"] = arrows["plugins/slurm_commands"] = "plugins/slurm_shared/ core/base/"
  arrows["plugins/cuda"] = "core/train/accelerator/dttrain_device.h core/train/accelerator/exchange/dttrain_exchange.h core/train/accelerator/kernels/"
  arrows["tests"] = "core/ cli/ plugins/"
  # Third-party headers and the folders they stay in.
  homes["hwloc"] = "core/topo/hwloc/"
  homes["slurm/"] = "plugins/slurm/"
  homes["CLI/"] = "cli/"
  homes["xxhash.h"] = "core/base/"
  homes["doctest/"] = "tests/"
  homes["mpi.h"] = homes["dnnl"] = homes["oneapi/"] = homes["zlib.h"] = "core/train/"
  homes["cu"] = homes["nccl"] = "plugins/cuda/"
  homes["tl/"] = "core/base/ plugins/"
  homes["toml++/"] = "core/spec/file/"
  homes["fmt/"] = homes["nlohmann/"] = "core/ cli/ plugins/ tests/"
}
function bad(why) {
  printf "%s:%d: %s: %s\n", FILENAME, FNR, name, why
  wrong = 1
}
function starts_with_one_of(text, list,   i, n, words) {
  n = split(list, words, " ")
  for (i = 1; i <= n; ++i) if (index(text, words[i]) == 1) return 1
  return 0
}
FNR == 1 {
  file_folder = FILENAME
  sub(/\/[^\/]*$/, "", file_folder)
  folder = file_folder
  while (!(folder in arrows) && folder ~ "/") sub(/\/[^\/]*$/, "", folder)
}
# Of the same folder, not of one below or above.
function is_sibling(name) { return index(name, file_folder "/") == 1 && substr(name, length(file_folder) + 2) !~ "/" }
function is_own(name) { return is_sibling(name) || folder !~ /^core/ && index(name, folder "/") == 1 }
/^[ \t]*#[ \t]*include[ \t]*"/ {
  split($0, quoted, "\""); name = quoted[2]
  if (name !~ "/") {  # made by the build
    if (name !~ /\.inc$/ && name != "version.hpp") bad("include by its full path from the root")
  } else if (!(folder in arrows)) bad(folder " is no folder of the design")
  else if (!is_own(name) && !starts_with_one_of(name, arrows[folder]))
    bad(folder " may include only itself" (arrows[folder] == "" ? "" : " and " arrows[folder]))
}
/^[ \t]*#[ \t]*include[ \t]*</ {
  split($0, angle, /[<>]/); name = angle[2]
  if (name ~ /^nlohmann\/json\.hpp/ && FILENAME !~ /\.cpp$/) bad("costs 2 s wherever a header drags it in: only in .cpp files")
  for (prefix in homes)
    if (index(name, prefix) == 1 && !(prefix == "cu" && name !~ /^(cuda|cublas|cudnn|curand)/)) {
      if (!starts_with_one_of(FILENAME, homes[prefix]) && FILENAME !~ /^tests\//) bad("belongs in " homes[prefix])
      next
    }
  if (name ~ "/" && name !~ /^(sys|linux|netinet|arpa|asm|net|gnu)\//) bad("a third-party header without a home: give it one in check_layers.sh")
}
END { exit wrong }
'
