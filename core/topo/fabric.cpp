// SPDX-License-Identifier: Apache-2.0
#include "core/topo/fabric.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <tuple>

namespace dts::topo {
namespace {

// The contents of a sysfs file without the newline; empty if it cannot be read.
std::string line_of(const std::string& path) {
  const auto text = read_file(path);
  return text ? std::string(trim(*text)) : std::string();
}

// "200 Gb/sec (4X HDR)", "2.5 Gb/sec (1X SDR)": whole gigabits.
unsigned whole_gbps(const std::string& rate) {
  return static_cast<unsigned>(parse_number(rate.substr(0, rate.find_first_of(". "))).value_or(0));
}

std::optional<FabricPort> read_port(const std::string& hca,
                                    const std::string& folder,
                                    const std::string& number) {
  const auto port = parse_number(number);
  const std::string state = line_of(folder + "/state"), layer = line_of(folder + "/link_layer");
  if (!port || state != "4: ACTIVE" || (layer != "InfiniBand" && layer != "Ethernet"))
    return std::nullopt;
  return FabricPort{hca,
                    static_cast<unsigned>(*port),
                    whole_gbps(line_of(folder + "/rate")),
                    layer == "InfiniBand"};
}

// The ports of an adapter, for any network: Amazon's EFA calls its own "Unspecified".
struct Ports {
  bool known = false, active = false, infiniband = false, ethernet = false;
  unsigned gbps = 0;
};

Ports read_ports(const std::string& folder) {
  Ports all;
  for (const std::string& number : list_folder(folder)) {
    const std::string port = folder + "/" + number;
    const std::string state = line_of(port + "/state"), layer = line_of(port + "/link_layer");
    all.known = all.known || !state.empty();
    if (state != "4: ACTIVE") continue;
    all.active = true;
    all.gbps = std::max(all.gbps, whole_gbps(line_of(port + "/rate")));
    all.infiniband = all.infiniband || layer == "InfiniBand";
    all.ethernet = all.ethernet || layer == "Ethernet";
  }
  return all;
}

void read_openfabrics(const Ports& ports, Nic& nic) {
  nic.link = ports.active ? Link::up : Link::down;
  if (ports.gbps > 0) nic.gbps = ports.gbps;
  if (ports.infiniband && nic.network == Network::ethernet) nic.network = Network::infiniband;
  if (ports.ethernet && !ports.infiniband && nic.network == Network::infiniband)
    nic.network = Network::ethernet;
}

// Drivers that do not report the state show "unknown"; the speed of a link that is down is -1 Mb/s.
void read_interface(const std::string& folder, Nic& nic) {
  const std::string state = line_of(folder + "/operstate");
  if (state == "up") nic.link = Link::up;
  if (state == "down" || state == "lowerlayerdown") nic.link = Link::down;
  const auto megabits = parse_number(line_of(folder + "/speed"));
  if (megabits && *megabits >= 1000 && *megabits < 1U << 31)
    nic.gbps = static_cast<unsigned>(*megabits / 1000);
}

// The speed of a link, computed from "16.0 GT/s PCIe" and "16" lanes. Up to 5 GT/s, 8 of 10 bits
// are data (PCI Express Base Specification, 4.2), above that 128 of 130.
unsigned pci_gbps(const std::string& folder) {
  const std::string speed = line_of(folder + "/current_link_speed");
  const auto lanes = parse_number(line_of(folder + "/current_link_width"));
  const double rate = std::strtod(speed.c_str(), nullptr);
  if (!lanes || *lanes == 0 || *lanes > 32 || !(rate > 0) || rate > 1024) return 0;
  const double data = rate * static_cast<double>(*lanes) * (rate <= 5 ? 0.8 : 128.0 / 130);
  return std::max(1U, static_cast<unsigned>(std::lround(data)));
}

}  // namespace

std::vector<FabricPort> find_fabric(const std::string& folder) {
  const std::vector<std::string> hcas = list_folder(folder);
  // A virtual function shares the port of its physical one, if that is here.
  const auto is_virtual = [&](const std::string& hca) {
    const auto real = list_folder(folder + "/" + hca + "/device/physfn/infiniband");
    return std::any_of(real.begin(), real.end(), [&](const std::string& one) {
      return std::find(hcas.begin(), hcas.end(), one) != hcas.end();
    });
  };
  std::vector<FabricPort> found;
  for (const std::string& hca : hcas) {
    if (is_virtual(hca)) continue;
    const std::string ports = folder + "/" + hca + "/ports";
    for (const std::string& number : list_folder(ports))
      if (auto port = read_port(hca, ports + "/" + number, number))
        found.push_back(std::move(*port));
  }
  std::sort(found.begin(), found.end(), [](const FabricPort& a, const FabricPort& b) {
    return std::tuple(a.hca.size(), a.hca, a.port) < std::tuple(b.hca.size(), b.hca, b.port);
  });
  return found;
}

NodeTopology with_links(NodeTopology node, const std::string& sysfs) {
  node.fabric = find_fabric(sysfs + "/class/infiniband");
  for (Nic& nic : node.nics) {
    if (const unsigned pci = pci_gbps(sysfs + "/bus/pci/devices/" + nic.pci); pci > 0)
      nic.pci_gbps = pci;
    if (nic.name.empty()) continue;
    if (const Ports ports = read_ports(sysfs + "/class/infiniband/" + nic.name + "/ports");
        ports.known)
      read_openfabrics(ports, nic);
    else
      read_interface(sysfs + "/class/net/" + nic.name, nic);
    for (FabricPort& port : node.fabric)
      if (port.hca == nic.name && nic.pci_gbps > 0)
        port.gbps = port.gbps == 0 ? nic.pci_gbps : std::min(port.gbps, nic.pci_gbps);
  }
  return node;
}

}  // namespace dts::topo
