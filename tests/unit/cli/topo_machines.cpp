// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/cli/topo_machines.hpp"

#include "core/plan/binding/binding.hpp"
#include "core/topo/hwloc/load.hpp"
#include "core/topo/restrict.hpp"
#include "tests/support/recorded.hpp"
#include "tests/support/sanitized.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <numeric>
#include <set>

namespace dts::tests {
namespace {

using topo::NodeTopology;

// `gpus` and half as many adapters, dealt over the NUMA nodes.
NodeTopology made(const std::string& description, unsigned gpus) {
  auto node = topo::load_synthetic(description);
  REQUIRE(node);
  const auto numas = static_cast<unsigned>(node->numas.size());
  for (unsigned i = 0; i < gpus; ++i) {
    const unsigned numa = i * numas / gpus;
    topo::Device device{
        fmt::format("0000:{:02x}:00.0", 2 * i + 1), node->numas[numa].package, numa};
    node->gpus.push_back(device);
    if (i % 2 == 1) continue;
    device.name = fmt::format("mlx5_{}", i / 2);
    device.pci = fmt::format("0000:{:02x}:00.0", 2 * i + 2);
    node->nics.push_back(device);
  }
  return *node;
}

cli::TopoReport report_of(const NodeTopology& node,
                          const std::string& machine,
                          const plan::BindRequest& request,
                          const char* policy) {
  auto binding = plan::bind_node(node, request);
  REQUIRE(binding);
  return {machine,
          policy,
          policy,
          node,
          request.gpus,
          *binding,
          {{policy, binding->score}, {"spread", binding->score}}};
}

unsigned check_all(const NodeTopology& node,
                   const std::string& machine,
                   const std::function<void(const cli::TopoReport&)>& check) {
  CAPTURE(machine);
  const auto gpus = static_cast<unsigned>(node.gpus.size());
  plan::BindRequest request;
  request.gpus.resize(gpus);
  std::iota(request.gpus.begin(), request.gpus.end(), 0U);
  unsigned checked = 0;
  for (const unsigned ranks :
       std::set<unsigned>{1, std::max(2U, gpus), static_cast<unsigned>(node.cores.size())}) {
    CAPTURE(ranks);
    request.ranks = ranks;
    request.policy = plan::BindPolicy::automatic;
    check(report_of(node, machine, request, "auto"));
    ++checked;
  }
  request.policy = plan::BindPolicy::none;
  check(report_of(node, machine, request, "none"));
  return checked + 1;
}

}  // namespace

unsigned each_machine(const std::function<void(const cli::TopoReport&)>& check) {
  unsigned checked = 0;
  const std::pair<const char*, unsigned> table[] = {{"core:2 pu:1", 0},
                                                    {"package:2 core:1 pu:1", 1},
                                                    {"package:1 numa:1 core:18 pu:4", 2},
                                                    {"package:2 numa:4 l3:4 core:4 pu:2", 8},
                                                    {"package:4 numa:1 l3:3 core:8 pu:2", 24},
                                                    {"package:8 numa:1 core:28 pu:1", 0},
                                                    {"package:2 numa:1 core:200 pu:1", 8}};
  for (const auto& [description, gpus] : table)
    checked += check_all(made(description, gpus), description, check);
  const std::vector<std::string> files = tests::recorded_files();
  for (std::size_t i = 0; i < files.size(); i += tests::k_sanitized ? 9 : 1) {
    const std::string& file = files[i];
    const auto node = topo::load_xml(file);
    REQUIRE(node);
    checked += check_all(*node, file, check);
  }
  return checked;
}

cli::TopoReport small_machine() {
  NodeTopology node = made("package:2 numa:2 l3:2 core:2 pu:2", 0);
  node.gpus = {{"0000:01:00.0", 0, 0}, {"0000:41:00.0", 1}, {"0000:81:00.0"}};
  node.nics = {{"0000:c1:00.0", 1, 3, {}, {}, "mlx5_0"}};
  node.numas.push_back({4, std::nullopt, std::uint64_t{96} << 30, false});
  std::vector<unsigned> cpus;
  for (unsigned cpu = 0; cpu < 32; ++cpu)
    if (cpu / 2 != 1) cpus.push_back(cpu);
  plan::BindRequest request;
  request.ranks = 2;
  request.gpus = {0, 1};
  return report_of(topo::restrict_to(node, cpus), "small.xml", request, "auto");
}

}  // namespace dts::tests
