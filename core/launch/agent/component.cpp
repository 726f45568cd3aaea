// SPDX-License-Identifier: Apache-2.0
#include "core/launch/agent/component.hpp"

#include "core/base/os/environment.hpp"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <string_view>

namespace dts::launch {
namespace {

// slurmd sets it, and the variables below, for the node of the batch script.
constexpr std::string_view k_gpus_of_node = "SLURM_JOB_GPUS";
const std::set<std::string, std::less<>> k_of_first_node{std::string(k_gpus_of_node),
                                                         "SLURM_GPUS_ON_NODE",
                                                         "CUDA_VISIBLE_DEVICES",
                                                         "GPU_DEVICE_ORDINAL",
                                                         "ROCR_VISIBLE_DEVICES",
                                                         "ZE_AFFINITY_MASK"};

struct OfComponent {
  std::string_view name;  // SLURM_JOB_NODELIST
  unsigned component = 0;
};

// Recognises SLURM_JOB_NODELIST_HET_GROUP_1, or its older name SLURM_JOB_NODELIST_PACK_GROUP_1.
std::optional<OfComponent> of_component(std::string_view name) {
  for (const std::string_view mark : {"_HET_GROUP_", "_PACK_GROUP_"}) {
    const std::size_t at = name.rfind(mark);
    if (at == std::string_view::npos) continue;
    const std::string_view digits = name.substr(at + mark.size());
    OfComponent found{name.substr(0, at)};
    const char* end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, found.component);
    if (read.ec == std::errc() && read.ptr == end) return found;
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> environment_of_component(const std::vector<std::string>& environment,
                                                  unsigned component) {
  std::map<std::string, std::string, std::less<>> own;
  std::set<std::string, std::less<>> left_out{"SLURM_HET_SIZE", "SLURM_PACK_SIZE"};
  const bool has_gpus = std::any_of(environment.begin(), environment.end(), [](const auto& entry) {
    return variable_name(entry) == k_gpus_of_node;
  });
  if (component > 0 && has_gpus) left_out.insert(k_of_first_node.begin(), k_of_first_node.end());
  for (const std::string& entry : environment) {
    const std::string_view name = variable_name(entry);
    const auto of = of_component(name);
    if (!of) continue;
    left_out.emplace(name);
    if (of->name == "SLURM_JOB_ID") continue;
    left_out.emplace(of->name);
    if (of->component == component)
      own[std::string(of->name)] = entry.substr(std::min(name.size() + 1, entry.size()));
  }
  std::vector<std::string> result;
  for (const std::string& entry : environment)
    if (left_out.count(variable_name(entry)) == 0) result.push_back(entry);
  for (const auto& [name, value] : own) result.push_back(name + "=" + value);
  return result;
}

}  // namespace dts::launch
