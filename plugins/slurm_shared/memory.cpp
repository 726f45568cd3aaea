// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/memory.hpp"

#include "core/base/text/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <string_view>

namespace slurm_plugin {
namespace {

constexpr std::int64_t k_unlimited = std::int64_t{1} << 40;  // INFINITE64 and the like are beyond

// A partition has one such value, for each CPU or for each node; slurm.conf likewise.
struct Amounts {
  std::int64_t per_node = 0;
  std::int64_t per_cpu = 0;
  bool is_set = false;
};

Amounts amounts_in(const Record& record, const std::string& kind) {
  const std::int64_t per_node = record.number(kind + "MemPerNode");
  const std::int64_t per_cpu = record.number(kind + "MemPerCPU");
  // "MaxMemPerCPU=UNLIMITED" is what a partition says that lifts the site's limit by
  // MaxMemPerCPU=0; one without a value of its own says "MaxMemPerNode=UNLIMITED".
  const bool is_set = per_node > 0 || !record.text(kind + "MemPerCPU").empty();
  return {per_node < k_unlimited ? per_node : 0, per_cpu < k_unlimited ? per_cpu : 0, is_set};
}

Amounts amounts(const Record& partition, const Record& site, const std::string& kind) {
  const Amounts own = amounts_in(partition, kind);
  return own.is_set ? own : amounts_in(site, kind);
}

// "DefCpuPerGPU=2,DefMemPerGPU=500"
std::int64_t job_default(const Record& record, std::string_view name) {
  for (const std::string& item : dts::split(record.text("JobDefaults"), ','))
    if (const auto equals = item.find('=');
        equals != std::string::npos && dts::trim(item.substr(0, equals)) == name)
      return static_cast<std::int64_t>(dts::parse_number(item.substr(equals + 1)).value_or(0));
  return 0;
}

std::int64_t job_default(const Record& partition, const Record& site, std::string_view name) {
  const std::int64_t own = job_default(partition, name);
  return own > 0 ? own : job_default(site, name);
}

// "NONE" in a partition without parameters of its own.
bool is_shared_out(const Record& partition, const Record& site) {
  const std::string own = dts::in_lower_case(partition.text("SelectTypeParameters"));
  const bool has_own = own.starts_with("cr_");
  const std::string all = dts::in_lower_case(site.text("SelectTypeParameters"));
  return (has_own ? own : all).find("memory") != std::string::npos;
}

}  // namespace

void add_memory(nlohmann::json& reply, const Record& partition, const Record& site) {
  const Amounts most = amounts(partition, site, "Max");
  reply["max_memory_mib"] = most.per_node;
  reply["cpus_per_gpu"] = job_default(partition, site, "DefCpuPerGPU");
  if (site.fields().empty()) return;
  const Amounts usual = amounts(partition, site, "Def");
  reply["memory"] = {{"default_mib", usual.per_node},
                     {"default_per_cpu_mib", usual.per_cpu},
                     {"default_per_gpu_mib", job_default(partition, site, "DefMemPerGPU")},
                     {"max_per_cpu_mib", most.per_cpu},
                     {"is_shared_out", is_shared_out(partition, site)}};
}

}  // namespace slurm_plugin
