// SPDX-License-Identifier: Apache-2.0
// Machines for tests, described in a few lines of text; tests/data/machines/README.md explains the
// format. Pure.
#pragma once

#include "core/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::tests {

// A part of a machine that contains processors or memory.
struct Part {
  enum class Kind { package, die, group, numa, memory, l3, core };

  Kind kind = Kind::core;
  unsigned os = 0;          // the kernel's number for NUMA nodes (numa, memory), otherwise an index
  std::uint64_t bytes = 0;  // size of memory, or of a cache
  std::uint64_t cache = 0;  // size of the memory-side cache of a NUMA node; 0: none
  std::string word{};       // a core's kind, or hwloc's subtype of memory; may be empty
  std::vector<unsigned> pus{};  // OS indices of a core's hardware threads
  std::vector<Part> inside{};
};

// A kind of cores of a hybrid processor, as Linux and hwloc describe it.
struct CoreKind {
  std::string name;
  std::string type{};  // hwloc's CoreType; empty: absent
  std::optional<unsigned> capacity{}, mhz{};
};

// A device with the name that the operating system or a vendor's library gives it.
struct OsDevice {
  // hwloc_obj_osdev_type_t
  static constexpr unsigned k_gpu = 1, k_network = 2, k_openfabrics = 3, k_coprocessor = 5;

  std::string name;
  unsigned type = 0;
};

// A host bridge, a port of a bridge or switch, or a device.
struct PciObject {
  enum class Kind { host, bridge, device };

  Kind kind = Kind::device;
  unsigned domain = 0, bus = 0, device = 0, function = 0;
  unsigned class_id = 0x0604, vendor_id = 0, device_id = 0;
  double gigabytes = 0;  // of its upstream link, per second, as hwloc counts; 0: unknown
  unsigned rate = 0;     // of a network adapter's port, Gbit/s; 0: unknown
  std::vector<OsDevice> names{};
  std::vector<PciObject> below{};
};

// The part to which a host bridge is attached; the machine if `kind` is absent.
struct Place {
  std::optional<Part::Kind> kind{};
  unsigned number = 0;  // the kernel's for NUMA nodes, otherwise an index in the description
};

struct Host {
  PciObject bridge;
  Place at;
};

// A link between GPUs, given by the names of their first OS devices.
struct Link {
  std::string a, b;
  unsigned weight = 0;  // MB/s, as hwloc counts
};

struct Machine {
  std::vector<Part> parts;
  std::vector<CoreKind> kinds{};  // slowest first
  std::vector<Host> hosts{};
  std::vector<unsigned> offline{}, disallowed{};  // OS indices of PUs
  std::vector<std::uint64_t> latencies{};         // between NUMA nodes with processors, row by row
  std::string link_name{};                        // hwloc's, "NVLinkBandwidth"
  std::vector<Link> links{};
};

// Errc::invalid has all problems, each with `file`:line:column and a caret below its line.
[[nodiscard]] Result<Machine> parse_machine(std::string_view text, const std::string& file);

// The output of hwloc 2's `lstopo --of xml` on such a machine, as far as programs read it.
[[nodiscard]] std::string to_hwloc(const Machine& machine);

}  // namespace dts::tests
