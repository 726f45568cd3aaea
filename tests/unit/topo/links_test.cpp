// SPDX-License-Identifier: Apache-2.0
// What adapters can carry: as the kernel says of this machine, and as hwloc recorded of others.
#include "core/base/files/files.hpp"
#include "core/topo/fabric.hpp"
#include "core/topo/hwloc/load.hpp"
#include "tests/support/source_dir.hpp"
#include "tests/support/temporary_folder.hpp"

#include <doctest/doctest.h>

namespace dts::topo {
namespace {

// Files of sysfs, each with a line.
class Sysfs {
 public:
  void write(const std::string& file, const std::string& line) {
    const std::string path = folder_.file(file);
    REQUIRE(make_folders(path.substr(0, path.rfind('/'))));
    REQUIRE(write_file(path, line + "\n"));
  }

  void port(const std::string& name,
            const std::string& state,
            const std::string& layer,
            const std::string& rate) {
    const std::string ports = "class/infiniband/" + name + "/ports/1/";
    write(ports + "state", state);
    write(ports + "link_layer", layer);
    write(ports + "rate", rate);
  }

  void pci(const std::string& address, const std::string& speed, const std::string& width) {
    write("bus/pci/devices/" + address + "/current_link_speed", speed);
    write("bus/pci/devices/" + address + "/current_link_width", width);
  }

  [[nodiscard]] const std::string& path() const { return folder_.path; }

 private:
  tests::TemporaryFolder folder_;
};

Nic nic(const std::string& pci, const std::string& name, Network network, unsigned gbps = 0) {
  Nic nic{pci};
  nic.name = name;
  nic.network = network;
  nic.gbps = gbps;
  return nic;
}

}  // namespace

TEST_CASE("this machine: ports, interfaces and PCI links as the kernel shows them") {
  Sysfs sysfs;
  sysfs.port("mlx5_0", "4: ACTIVE", "InfiniBand", "400 Gb/sec (4X NDR)");
  sysfs.pci("0000:01:00.0", "16.0 GT/s PCIe", "16");  // slower than the port
  sysfs.port("mlx5_1", "4: ACTIVE", "Ethernet", "100 Gb/sec (4X EDR)");
  sysfs.pci("0000:02:00.0", "32.0 GT/s PCIe", "16");
  sysfs.port("mlx5_2", "1: DOWN", "InfiniBand", "10 Gb/sec (4X SDR)");
  sysfs.port("efa_0", "4: ACTIVE", "Unspecified", "100 Gb/sec (4X EDR)");
  sysfs.pci("0000:04:00.0", "Unknown", "0");  // of a virtual machine
  sysfs.write("class/net/hsn0/operstate", "up");
  sysfs.write("class/net/hsn0/speed", "200000");
  sysfs.write("class/net/hsn1/operstate", "down");
  sysfs.write("class/net/hsn1/speed", "-1");
  sysfs.pci("0000:07:00.0", "5.0 GT/s PCIe", "4");

  NodeTopology node;
  node.nics = {nic("0000:01:00.0", "mlx5_0", Network::infiniband, 200),
               nic("0000:02:00.0", "mlx5_1", Network::infiniband),
               nic("0000:03:00.0", "mlx5_2", Network::infiniband),
               nic("0000:04:00.0", "efa_0", Network::efa),
               nic("0000:05:00.0", "hsn0", Network::slingshot),
               nic("0000:06:00.0", "hsn1", Network::slingshot, 200),
               nic("0000:07:00.0", "", Network::infiniband)};
  node = with_links(std::move(node), sysfs.path());

  struct {
    Network network;
    Link link;
    unsigned gbps, pci_gbps;
  } const expected[] = {{Network::infiniband, Link::up, 400, 252},
                        {Network::ethernet, Link::up, 100, 504},
                        {Network::infiniband, Link::down, 0, 0},
                        {Network::efa, Link::up, 100, 0},
                        {Network::slingshot, Link::up, 200, 0},
                        {Network::slingshot, Link::down, 200, 0},
                        {Network::infiniband, Link::unknown, 0, 16}};

  for (std::size_t i = 0; i < node.nics.size(); ++i) {
    CAPTURE(i);
    CHECK(node.nics[i].network == expected[i].network);
    CHECK(node.nics[i].link == expected[i].link);
    CHECK(node.nics[i].gbps == expected[i].gbps);
    CHECK(node.nics[i].pci_gbps == expected[i].pci_gbps);
  }
  REQUIRE(node.fabric.size() == 2);
  CHECK(node.fabric[0].gbps == 252);  // what its PCI link lets through
  CHECK(node.fabric[1].gbps == 100);

  sysfs.port("mlx5_3", "4: ACTIVE", "Ethernet", "100 Gb/sec (4X EDR)");
  sysfs.write("class/infiniband/mlx5_3/device/physfn/infiniband/mlx5_1/node_type", "1: CA");
  CHECK(find_fabric(sysfs.path() + "/class/infiniband").size() == 2);
  sysfs.write("class/infiniband/mlx5_3/device/physfn/infiniband/mlx5_9/node_type", "1: CA");

  const NodeTopology same = with_links(node, sysfs.path() + "/none");
  CHECK(same.fabric.empty());
  CHECK(same.nics[0].gbps == 400);  // what the kernel does not say remains
}

TEST_CASE("a recorded machine: PCI links, models, and ports that were down") {
  std::string machine = *read_file(tests::in_source("tests/data/topologies/uneven.xml"));
  const std::string adapter = "[15b3:101b]", openfabrics = "osdev_type=\"3\"";
  REQUIRE(machine.find(adapter) != std::string::npos);
  machine.replace(machine.find(adapter), adapter.size(), "[15b3:1015]");  // ConnectX-4 Lx
  const std::size_t port = machine.rfind(openfabrics);
  const std::size_t end = machine.find("/>", port);
  machine.replace(end, 2, "><info name=\"Port1State\" value=\"1\"/></object>");
  const tests::TemporaryFolder folder;
  REQUIRE(write_file(folder.file("machine.xml"), machine));
  const auto node = load_xml(folder.file("machine.xml"));
  REQUIRE(node);
  REQUIRE(node->nics.size() == 2);
  CHECK(node->nics[0].gbps == 50);
  CHECK(node->nics[0].pci_gbps == 252);
  CHECK(node->nics[0].link == Link::unknown);
  CHECK(node->nics[1].gbps == 200);
  CHECK(node->nics[1].link == Link::down);
  const std::string speed = "31.507692";
  machine.replace(machine.find(speed, machine.find("0000:c1:00.0")), speed.size(), "1e38");
  REQUIRE(write_file(folder.file("machine.xml"), machine));
  CHECK(load_xml(folder.file("machine.xml"))->nics[1].pci_gbps == 0);  // no link is that fast
}

}  // namespace dts::topo
