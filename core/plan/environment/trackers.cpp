// SPDX-License-Identifier: Apache-2.0
// The variables that make experiment trackers continue one record over all attempts of a run.
#include "core/base/text/json_text.hpp"
#include "core/plan/plan.hpp"

#include <nlohmann/json.hpp>

namespace dts::plan {
namespace {

// W&B accepts ids of up to 64 bytes. The end of a run's name is what makes it unique.
constexpr std::size_t k_longest_id = 64;
constexpr std::size_t k_longest_rank = 6;  // "-65534"

std::string tracker_id(const std::string& run_name) {
  const std::size_t longest = k_longest_id - k_longest_rank;
  return run_name.size() <= longest ? run_name : run_name.substr(run_name.size() - longest);
}

}  // namespace

Environment tracker_variables(const std::string& run_name,
                              const std::string& job_name,
                              unsigned rank) {
  const std::string id = tracker_id(run_name);
  const nlohmann::ordered_json tags{{"mlflow.runName", job_name}, {"dtsubmit.run", id}};
  return {{"WANDB_RUN_ID", rank == 0 ? id : id + "-" + std::to_string(rank)},
          {"WANDB_RUN_GROUP", id},
          {"WANDB_RESUME", "allow"},
          {"MLFLOW_RUN_CONTEXT", json_line(tags)}};
}

}  // namespace dts::plan
