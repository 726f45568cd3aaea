// SPDX-License-Identifier: Apache-2.0
#include "tests/support/described.hpp"

#include "core/base/files/files.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <filesystem>

namespace dts::tests {
namespace {

const std::string k_folder = in_source("tests/data/machines/");

void add_ports(const PciObject& object, std::vector<topo::FabricPort>& ports) {
  constexpr unsigned k_infiniband = 0x0207;
  for (const OsDevice& device : object.names)
    if (object.rate > 0 && device.type == OsDevice::k_openfabrics)
      ports.push_back({device.name, 1, object.rate, object.class_id == k_infiniband});
  for (const PciObject& one : object.below) add_ports(one, ports);
}

}  // namespace

std::vector<std::string> machine_names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(k_folder))
    if (entry.path().extension() == ".machine") names.push_back(entry.path().stem());
  std::sort(names.begin(), names.end());
  return names;
}

Result<Machine> read_machine(const std::string& name) {
  const std::string file = name + ".machine";
  DTS_ASSIGN(const std::string text, read_file(k_folder + file));
  return parse_machine(text, file);
}

Result<topo::NodeTopology> load_machine(const Machine& machine) {
  const TemporaryFolder folder;
  const std::string file = folder.file("machine.xml");
  DTS_TRY(write_file(file, to_hwloc(machine)));
  DTS_ASSIGN(topo::NodeTopology node, topo::load_xml(file));
  for (const Host& host : machine.hosts) add_ports(host.bridge, node.fabric);
  std::sort(node.fabric.begin(), node.fabric.end(), [](const auto& a, const auto& b) {
    return std::tuple(a.hca.size(), a.hca, a.port) < std::tuple(b.hca.size(), b.hca, b.port);
  });
  return node;
}

Result<topo::NodeTopology> load_machine(const std::string& name) {
  DTS_ASSIGN(const Machine machine, read_machine(name));
  return load_machine(machine);
}

}  // namespace dts::tests
