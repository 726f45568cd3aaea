// SPDX-License-Identifier: Apache-2.0
#include "core/launch/launcher/own_steps.hpp"

#include "core/base/text/hostlist.hpp"

#include <fmt/format.h>

namespace dts::launch {

std::vector<std::string> srun_of(std::optional<unsigned> component) {
  if (!component) return {"srun"};
  return {"srun", fmt::format("--het-group={}", *component)};
}

std::vector<std::string> check_command(const std::vector<std::string>& nodes,
                                       GpuUse gpus,
                                       const std::vector<std::string>& measure,
                                       std::optional<unsigned> component) {
  std::vector<std::string> argv = srun_of(component);
  argv.insert(argv.end(),
              {"--overlap",
               "--nodelist=" + fold_hostlist(nodes),
               fmt::format("--nodes={}", nodes.size()),
               fmt::format("--ntasks={}", nodes.size()),
               "--ntasks-per-node=1",
               "--cpus-per-task=1",
               "--mem=0",
               "--mpi=none",
               "--input=none",
               "--kill-on-bad-exit=0",
               "--quiet"});
  if (gpus == GpuUse::none) argv.emplace_back("--gres=none");
  argv.insert(argv.end(), measure.begin(), measure.end());
  return argv;
}

std::vector<std::string> sentinel_command(const std::string& dtsubmit,
                                          std::optional<unsigned> component) {
  std::vector<std::string> argv = srun_of(component);
  argv.insert(argv.end(),
              {"--overlap",
               "--nodes=1",
               "--ntasks=1",
               "--cpus-per-task=1",
               "--mem=0",
               "--gres=none",
               "--mpi=none",
               "--quiet",
               dtsubmit,
               "sentinel"});
  return argv;
}

}  // namespace dts::launch
