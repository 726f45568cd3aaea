// SPDX-License-Identifier: Apache-2.0
#include "core/topo/fabric.hpp"

#include "core/base/files.hpp"
#include "core/base/text.hpp"

#include <algorithm>
#include <optional>
#include <tuple>

namespace dts::topo {
namespace {

// A file of sysfs without its newline; empty where it cannot be read.
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

}  // namespace

std::vector<FabricPort> find_fabric(const std::string& folder) {
  std::vector<FabricPort> found;
  for (const std::string& hca : list_folder(folder)) {
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

}  // namespace dts::topo
