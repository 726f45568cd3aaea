// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/show_job.hpp"

#include "plugins/slurm_shared/command.hpp"

#include <utility>

namespace slurm_plugin {

Outcome<std::vector<Record>> show_job(const std::string& job, const std::string& what, Of of) {
  std::vector<std::string> words{"scontrol", "--all", "--details", "show", "job", job};
  if (of == Of::this_cluster)
    words.insert(words.begin() + 1, "--local");
  else
    words.insert(words.begin() + 1, {"--federation", "--sibling"});
  return output_of(std::move(words), what).map([](const std::string& printed) {
    return parse_records(printed);
  });
}

}  // namespace slurm_plugin
