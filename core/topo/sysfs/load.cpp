// SPDX-License-Identifier: Apache-2.0
// Implements core/topo/hwloc/load.hpp in builds without hwloc.
#include "core/topo/hwloc/load.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/discover.hpp"
#include "core/topo/doubts.hpp"
#include "core/topo/nvml/nvml.hpp"
#include "core/topo/nvml/nvml_gpus.hpp"
#include "core/topo/sysfs/sysfs.hpp"

#include <chrono>

namespace dts::topo {
namespace {

constexpr std::chrono::seconds k_nvml_limit{20};  // as with hwloc

// The processors that the cgroup and sched_setaffinity(2) allow.
Result<std::vector<unsigned>> allowed_cpus() {
  DTS_ASSIGN(const std::string status, read_file("/proc/self/status"));
  constexpr std::string_view k_allowed = "\nCpus_allowed_list:";
  const std::size_t at = status.find(k_allowed);
  if (at == std::string::npos)
    return fail(Errc::internal, "/proc/self/status has no line Cpus_allowed_list");
  const std::size_t begin = at + k_allowed.size();
  const std::string_view list =
      trim(std::string_view(status).substr(begin, status.find('\n', begin) - begin));
  auto cpus = parse_number_list(list, k_highest_cpu);
  if (!cpus) return fail(Errc::internal, "Cpus_allowed_list is not a list of processors");
  return *std::move(cpus);
}

tl::unexpected<Error> without_hwloc(const std::string& what) {
  return fail(Errc::invalid,
              what + " cannot be read: this dtsubmit was built without hwloc",
              "build it where hwloc 2.7.1 or later is installed, with -DDTSUBMIT_TOPOLOGY=ON");
}

}  // namespace

Result<NodeTopology> load_live() {
  DTS_ASSIGN(const std::vector<unsigned> allowed, allowed_cpus());
  DTS_ASSIGN(NodeTopology node, read_sysfs("/sys/devices/system", allowed));
  if (exists("/sys/module/nvidia")) node = add_nvml(std::move(node), Nvml::k_library, k_nvml_limit);
  node = with_places(std::move(node), "/sys/bus/pci/devices");
  node.doubts = find_doubts(node);
  return node;
}

Result<NodeTopology> load_xml(const std::string& path) {
  return without_hwloc(name_of(path));
}

Result<NodeTopology> load_synthetic(const std::string& text) {
  return without_hwloc("`" + text + "`");
}

}  // namespace dts::topo
