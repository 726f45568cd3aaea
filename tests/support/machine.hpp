// SPDX-License-Identifier: Apache-2.0
// Machines that tests run on, described in a few lines of text: tests/data/machines/README.md says
// how. Pure.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::tests {

// A piece of the machine with processors or memory in it.
struct Part {
  enum class Kind { package, die, group, numa, memory, l3, core };

  Kind kind = Kind::core;
  unsigned os = 0;          // of a NUMA node (numa, memory) as the kernel counts, of others in turn
  std::uint64_t bytes = 0;  // of memory, or of the cache
  std::uint64_t cache = 0;  // of the memory-side cache before a NUMA node; 0: none
  std::string word{};       // of a core its kind, of memory hwloc's subtype; may be empty
  std::vector<unsigned> pus{};  // of a core: OS indices of its hardware threads
  std::vector<Part> inside{};
};

// Of a hybrid processor's cores, as Linux and hwloc tell them apart.
struct CoreKind {
  std::string name;
  std::string type{};  // hwloc's CoreType; empty: not said
  std::optional<unsigned> capacity{}, mhz{};
};

// A device as the operating system or a vendor's library names it.
struct OsDevice {
  // hwloc_obj_osdev_type_t
  static constexpr unsigned k_gpu = 1, k_network = 2, k_openfabrics = 3, k_coprocessor = 5;

  std::string name;
  unsigned type = 0;
};

// A host bridge, the port of a bridge or a switch, or a device.
struct PciObject {
  enum class Kind { host, bridge, device };

  Kind kind = Kind::device;
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  unsigned class_id = 0x0604, vendor_id = 0, device_id = 0;
  double gigabytes = 0;  // a second, of its link upwards, as hwloc counts; 0: not known
  unsigned rate = 0;     // of a network adapter's port, Gbit/s; 0: not known
  std::vector<OsDevice> names{};
  std::vector<PciObject> below{};
};

// Where a host bridge hangs: the machine where `kind` is absent.
struct Place {
  std::optional<Part::Kind> kind{};
  unsigned number = 0;  // of NUMA nodes the kernel's, of others in the order of the description
};

struct Host {
  PciObject bridge;
  Place at;
};

// Between GPUs, by the names of their first OS devices.
struct Link {
  std::string a, b;
  unsigned weight = 0;  // MB/s, as hwloc counts
};

struct Machine {
  std::vector<Part> parts;
  std::vector<CoreKind> kinds{};  // the slowest first
  std::vector<Host> hosts{};
  std::vector<unsigned> offline{}, disallowed{};  // OS indices of PUs
  std::vector<std::uint64_t> latencies{};         // between the NUMA nodes with processors, by rows
  std::string link_name{};                        // hwloc's, "NVLinkBandwidth"
  std::vector<Link> links{};
};

// Errc::invalid with every problem, each by `file`:line:column with a caret below its line.
[[nodiscard]] Result<Machine> parse_machine(std::string_view text, const std::string& file);

// What `lstopo --of xml` of hwloc 2 writes on such a machine, as far as anybody reads it.
[[nodiscard]] std::string to_hwloc(const Machine& machine);

}  // namespace dts::tests
