// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/show_job.hpp"

#include "plugins/slurm_shared/command.hpp"

namespace slurm_plugin {

Outcome<std::vector<Record>> show_job(const std::string& job, const std::string& what) {
  return output_of({"scontrol", "--all", "--local", "--details", "show", "job", job}, what)
      .map([](const std::string& printed) { return parse_records(printed); });
}

}  // namespace slurm_plugin
