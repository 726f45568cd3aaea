// SPDX-License-Identifier: Apache-2.0
#include "core/topo/hwloc/load.hpp"

#include "core/base/files/files.hpp"
#include "core/base/files/own_file.hpp"
#include "core/base/text/text.hpp"
#include "core/topo/discover.hpp"
#include "core/topo/doubts.hpp"
#include "core/topo/hwloc/core_kinds.hpp"
#include "core/topo/hwloc/hwloc_devices.hpp"
#include "core/topo/hwloc/hwloc_nics.hpp"
#include "core/topo/hwloc/hwloc_numas.hpp"
#include "core/topo/hwloc/xml_file.hpp"
#include "core/topo/nvml/nvml.hpp"
#include "core/topo/nvml/nvml_gpus.hpp"

#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <type_traits>

namespace dts::topo {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};

using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

// Part of discover()'s 30 s. NVML takes about a second per GPU unless the driver is kept loaded.
constexpr std::chrono::seconds k_nvml_limit{20};

// Disables plug-ins whose data we get from sysfs: otherwise hwloc dlopens OpenCL and asks every X
// display for GPUs that we find by PCI class anyway, binds itself to each processor in turn for
// CPUID, waiting for busy ones, and leaks a kilobyte per load in libpciaccess.
void skip_slow_plugins() {
  ::setenv("HWLOC_COMPONENTS", "-gl,-opencl,-x86,-pci", 0);
  ::setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so,hwloc_opencl.so,hwloc_pci.so", 0);
}

// A topology that will keep only what NodeTopology needs. Disallowed processors stay in, so that a
// device's nearest NUMA node is known even if we may not run on it.
Result<Handle> prepare() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return fail_errno("hwloc cannot start");
  Handle handle(raw);
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_L1CACHE,
                                      HWLOC_OBJ_L2CACHE,
                                      HWLOC_OBJ_L4CACHE,
                                      HWLOC_OBJ_L5CACHE,
                                      HWLOC_OBJ_L1ICACHE,
                                      HWLOC_OBJ_L2ICACHE,
                                      HWLOC_OBJ_L3ICACHE,
                                      HWLOC_OBJ_MISC})
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_NONE);
  for (const hwloc_obj_type_t type : {HWLOC_OBJ_PCI_DEVICE, HWLOC_OBJ_OS_DEVICE, HWLOC_OBJ_BRIDGE})
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return handle;
}

// The core kind of each hardware thread on hybrid processors, the slowest first. hwloc also
// distinguishes cores that differ only in maximum frequency; here, those are of one kind.
class Kinds {
 public:
  explicit Kinds(hwloc_topology_t topology) {
    std::vector<CoreSort> sorts;
    const int count = hwloc_cpukinds_get_nr(topology, 0);
    for (int i = 0; i < count; ++i) {
      Bitmap cpus(hwloc_bitmap_alloc());
      CoreSort sort;
      unsigned infos = 0;
      hwloc_info_s* info = nullptr;
      if (!cpus ||
          hwloc_cpukinds_get_info(
              topology, static_cast<unsigned>(i), cpus.get(), &sort.efficiency, &infos, &info, 0) !=
              0)
        continue;
      for (unsigned k = 0; k < infos; ++k) {
        if (const std::string name = info[k].name; name == "CoreType")
          sort.type = info[k].value;
        else if (name == "LinuxCapacity")
          sort.capacity = static_cast<unsigned>(std::strtoul(info[k].value, nullptr, 10));
      }
      cpus_.push_back(std::move(cpus));
      sorts.push_back(std::move(sort));
    }
    kinds_ = kinds_of(sorts);
  }

  [[nodiscard]] unsigned of(unsigned pu) const {
    for (std::size_t i = 0; i < cpus_.size(); ++i)
      if (hwloc_bitmap_isset(cpus_[i].get(), pu)) return kinds_[i];
    return 0;
  }

 private:
  std::vector<Bitmap> cpus_;  // by hwloc's kinds
  std::vector<unsigned> kinds_;
};

// Groups the hardware threads in `usable` by core (one thread each if the machine names no cores).
// A core without any usable thread goes to `closed`, with all of its threads.
std::vector<Core> cores_of(hwloc_topology_t topology,
                           const NumaNodes& numas,
                           hwloc_const_bitmap_t usable,
                           std::vector<Core>& closed) {
  const Kinds kinds(topology);
  // Cores outside of all packages are in one more.
  const auto packages =
      static_cast<unsigned>(std::max(0, hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE)));
  std::vector<Core> cores;
  std::vector<std::vector<unsigned>> all;  // hardware threads of each
  hwloc_obj_t previous = nullptr;
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    if (core == nullptr) core = pu;
    if (core != previous) {
      const hwloc_obj_t l3 = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_L3CACHE, core);
      const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, core);
      cores.push_back({package != nullptr ? package->logical_index : packages,
                       numas.around(core->cpuset).value_or(0),
                       l3 != nullptr ? std::optional(l3->logical_index) : std::nullopt,
                       {},
                       kinds.of(pu->os_index)});
      all.emplace_back();
      previous = core;
    }
    all.back().push_back(pu->os_index);
    if (hwloc_bitmap_isset(usable, pu->os_index)) cores.back().pus.push_back(pu->os_index);
  }
  for (std::size_t i = 0; i < cores.size(); ++i) {
    std::sort(cores[i].pus.begin(), cores[i].pus.end());
    if (!cores[i].pus.empty()) continue;
    closed.push_back(cores[i]);
    closed.back().pus = std::move(all[i]);
    std::sort(closed.back().pus.begin(), closed.back().pus.end());
  }
  std::erase_if(cores, [](const Core& core) { return core.pus.empty(); });
  return cores;
}

void mark_those_with_cores(NodeTopology& node) {
  for (const auto* cores : {&node.cores, &node.closed})
    for (const Core& core : *cores)
      if (core.numa < node.numas.size()) node.numas[core.numa].has_cores = true;
}

tl::unexpected<Error> contradictory_number(const char* what, unsigned number, const char* why) {
  return fail(Errc::invalid,
              fmt::format("the topology has a {} with the os_index {}{}", what, number, why),
              k_write_again);
}

// hwloc accepts files whose numbers of processors contradict each other, and then drops some of
// these processors, or counts one as another.
Result<void> check_processors(hwloc_topology_t topology) {
  constexpr const char* k_what = "processor (PU)";
  const Bitmap seen(hwloc_bitmap_alloc());
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
    if (hwloc_bitmap_weight(pu->cpuset) != 1 || hwloc_bitmap_isset(pu->cpuset, pu->os_index) == 0)
      return contradictory_number(k_what, pu->os_index, ", which its cpuset contradicts");
    if (hwloc_bitmap_isset(seen.get(), pu->os_index) != 0)
      return contradictory_number(k_what, pu->os_index, ", as another one has");
    hwloc_bitmap_set(seen.get(), pu->os_index);
  }
  const Bitmap missing(hwloc_bitmap_dup(hwloc_get_root_obj(topology)->cpuset));
  hwloc_bitmap_andnot(missing.get(), missing.get(), seen.get());
  const int first = hwloc_bitmap_first(missing.get());
  if (first < 0) return {};
  return fail(Errc::invalid,
              fmt::format("the topology has no processor (PU) with the os_index {}, which its "
                          "cpuset contains",
                          first),
              k_write_again);
}

// The same for NUMA nodes.
Result<void> check_numas(hwloc_topology_t topology) {
  hwloc_obj_t numa = nullptr;
  while ((numa = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, numa)) != nullptr)
    if (hwloc_bitmap_isset(numa->nodeset, numa->os_index) == 0)
      return contradictory_number("NUMA node", numa->os_index, ", which its nodeset contradicts");
  return {};
}

// `bound` narrows the allowed processors further, unless it is null.
Result<NodeTopology> convert(hwloc_topology_t topology, hwloc_const_bitmap_t bound) {
  const Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  if (!usable) return fail(Errc::internal, "hwloc gave no allowed processors");
  if (bound != nullptr) hwloc_bitmap_and(usable.get(), usable.get(), bound);
  DTS_TRY(check_processors(topology));
  DTS_TRY(check_numas(topology));
  const NumaNodes numas(topology);
  NodeTopology node;
  node.cores = cores_of(topology, numas, usable.get(), node.closed);
  node.gpus = gpus_of(topology, numas);
  node.numas = numas.describe();
  mark_those_with_cores(node);
  node.notes = uncounted_gpus(topology);
  node.nics = nics_of(topology, numas, node.notes);
  node.links = links_of(topology, node.gpus);
  node.doubts = find_doubts(node);
  if (node.cores.empty())
    return fail(Errc::invalid, "the topology has no processor that may be used");
  return node;
}

Result<void> load(const Handle& handle, const std::string& what) {
  if (hwloc_topology_load(handle.get()) == 0) return {};
  return fail(Errc::invalid, "hwloc cannot load " + what);
}

Result<NodeTopology> parse_xml(const std::string& text, const std::string& name, int complaints) {
  DTS_ASSIGN(const Handle handle, prepare());
  const auto bytes = static_cast<int>(text.size() + 1);  // hwloc counts the terminating zero
  if (hwloc_topology_set_xmlbuffer(handle.get(), text.c_str(), bytes) != 0 ||
      hwloc_topology_load(handle.get()) != 0)
    return not_a_topology(name, complaints_in(complaints));
  auto node = convert(handle.get(), nullptr);
  if (!node) return tl::unexpected(std::move(node).error().during(name));
  return node;
}

}  // namespace

Result<NodeTopology> load_live() {
  skip_slow_plugins();
  DTS_ASSIGN(const Handle handle, prepare());
  DTS_TRY(load(handle, "this machine's topology"));
  const Bitmap bound(hwloc_bitmap_alloc());
  // Fails if HWLOC_XMLFILE describes another machine, to whose processors we cannot be bound.
  const bool known =
      bound && hwloc_get_cpubind(handle.get(), bound.get(), HWLOC_CPUBIND_THREAD) == 0;
  DTS_ASSIGN(NodeTopology node, convert(handle.get(), known ? bound.get() : nullptr));
  const bool here = hwloc_topology_is_thissystem(handle.get()) != 0;
  if (!here || !has_nvidia_gpu(handle.get())) return node;
  return add_nvml(std::move(node), Nvml::k_library, k_nvml_limit);
}

Result<NodeTopology> load_xml(const std::string& path) {
  skip_slow_plugins();
  const std::string name = name_of(path);
  DTS_ASSIGN(std::string read,
             path == k_standard_input ? read_open_file(STDIN_FILENO, name, k_largest_topology)
                                      : read_file(path, k_largest_topology));
  DTS_ASSIGN(const std::string text, readable_xml(std::move(read), name));
  return in_child([&](int complaints) { return parse_xml(text, name, complaints); }, name);
}

Result<NodeTopology> load_synthetic(const std::string& text) {
  skip_slow_plugins();
  DTS_ASSIGN(const Handle handle, prepare());
  if (hwloc_topology_set_synthetic(handle.get(), text.c_str()) != 0)
    return fail(Errc::invalid,
                fmt::format("`{}` does not describe a topology", text),
                "write e.g. package:2 numa:1 core:8 pu:2");
  DTS_TRY(load(handle, "`" + text + "`"));
  return convert(handle.get(), nullptr);
}

}  // namespace dts::topo
