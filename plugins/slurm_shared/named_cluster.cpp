// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/named_cluster.hpp"

#include "core/base/text/text.hpp"

#include <utility>

namespace slurm_plugin {
namespace {

// The variable that counts, and its value; both empty if none is set.
std::pair<std::string, std::string> named(const Variable& variable) {
  if (variable("SLURM_JOB_ID") != nullptr) return {};
  for (const char* name : {"SBATCH_CLUSTERS", "SLURM_CLUSTERS"})
    if (const char* value = variable(name); value != nullptr && *value != '\0')
      return {name, value};
  return {};
}

}  // namespace

bool names_clusters(const Variable& variable) {
  return !named(variable).first.empty();
}

Outcome<void> check_named_cluster(const Variable& variable, const std::string& cluster) {
  const auto [name, value] = named(variable);
  if (name.empty() || cluster.empty()) return {};
  for (const std::string& one : dts::split(value, ','))
    if (const std::string word = dts::in_lower_case(dts::trim(one));
        word == "all" || word == dts::in_lower_case(cluster))
      return {};
  return failed("rejected",
                name + "=" + value + " asks for another cluster than this one, " + cluster,
                "set SLURM_CONF to the other cluster's configuration, or unset " + name);
}

}  // namespace slurm_plugin
