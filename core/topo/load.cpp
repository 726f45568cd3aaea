// SPDX-License-Identifier: Apache-2.0
#include "core/topo/load.hpp"

#include "core/base/files.hpp"
#include "core/base/unique_fd.hpp"
#include "core/topo/json.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <tuple>
#include <type_traits>

namespace dts::topo {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};

using Handle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

struct FreeBitmap {
  void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
};

using Bitmap = std::unique_ptr<std::remove_pointer_t<hwloc_bitmap_t>, FreeBitmap>;

constexpr std::uint64_t k_largest_xml = std::uint64_t{64} << 20;

// Without these, hwloc dlopens OpenCL and asks every X display for GPUs we find by PCI class
// anyway, binds itself to each processor in turn for CPUID, waiting where one is busy, and leaks a
// kilobyte a load in libpciaccess. sysfs says the same.
void skip_slow_plugins() {
  ::setenv("HWLOC_COMPONENTS", "-gl,-opencl,-x86,-pci", 0);
  ::setenv("HWLOC_PLUGINS_BLACKLIST", "hwloc_gl.so,hwloc_opencl.so,hwloc_pci.so", 0);
}

// A topology that will keep only what NodeTopology shows. Disallowed processors stay in, so that a
// device's nearest NUMA node is known even where we may not run on it.
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
                                      HWLOC_OBJ_MISC,
                                      HWLOC_OBJ_OS_DEVICE,
                                      HWLOC_OBJ_BRIDGE})
    hwloc_topology_set_type_filter(raw, type, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_PCI_DEVICE, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return handle;
}

unsigned logical_index(hwloc_obj_t object) {
  return object != nullptr ? object->logical_index : 0;
}

unsigned ancestor_index(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  return logical_index(hwloc_get_ancestor_obj_by_type(topology, type, object));
}

// The NUMA node of the smallest locality that covers `cpus`; the first of several, which is the
// DRAM where a GPU's or a high-bandwidth memory shares the processors. Null where none covers them
// all (a device attached to a package of several nodes).
hwloc_obj_t numa_around(hwloc_topology_t topology, hwloc_const_bitmap_t cpus) {
  hwloc_obj_t best = nullptr;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    if (!hwloc_bitmap_isincluded(cpus, node->cpuset)) continue;
    if (best == nullptr || hwloc_bitmap_weight(node->cpuset) < hwloc_bitmap_weight(best->cpuset))
      best = node;
  }
  return best;
}

// The hardware threads of one core (of one thread where the machine names no cores) within
// `usable`.
std::vector<Core> cores_of(hwloc_topology_t topology, hwloc_const_bitmap_t usable) {
  std::vector<Core> cores;
  hwloc_obj_t previous = nullptr;
  hwloc_obj_t pu = nullptr;
  while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != nullptr) {
    if (!hwloc_bitmap_isset(usable, pu->os_index)) continue;
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
    if (core == nullptr) core = pu;
    if (core != previous) {
      cores.push_back({ancestor_index(topology, HWLOC_OBJ_PACKAGE, core),
                       logical_index(numa_around(topology, core->cpuset)),
                       ancestor_index(topology, HWLOC_OBJ_L3CACHE, core),
                       {}});
      previous = core;
    }
    cores.back().pus.push_back(pu->os_index);
  }
  for (Core& core : cores) std::sort(core.pus.begin(), core.pus.end());
  return cores;
}

// By PCI class (pci-ids.ucw.cz): 0300 VGA, 0302 3D, 0380 other display (AMD Instinct, Intel Max),
// 1200 processing accelerator. Intel's 0300 is the graphics of a desktop processor; vendors not
// listed are the consoles of management controllers.
bool is_gpu(const hwloc_obj_attr_u::hwloc_pcidev_attr_s& device) {
  const unsigned kind = device.class_id;
  switch (device.vendor_id) {
    case 0x10de:
    case 0x1002:
      return kind == 0x0300 || kind == 0x0302 || kind == 0x0380 || kind == 0x1200;
    case 0x8086:
      return kind == 0x0380 || kind == 0x1200;
    default:
      return false;
  }
}

// `object` itself, or what it is in.
hwloc_obj_t enclosing(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t object) {
  return object->type == type ? object : hwloc_get_ancestor_obj_by_type(topology, type, object);
}

// `near`: the smallest part with processors that the GPU hangs from.
void locate(Gpu& gpu, hwloc_topology_t topology, hwloc_obj_t near) {
  if (near == nullptr || near->cpuset == nullptr) return;
  if (const auto* package = enclosing(topology, HWLOC_OBJ_PACKAGE, near))
    gpu.package = package->logical_index;
  if (const auto* cache = enclosing(topology, HWLOC_OBJ_L3CACHE, near))
    gpu.l3 = cache->logical_index;
  if (hwloc_obj_t node = numa_around(topology, near->cpuset)) gpu.numa = node->logical_index;
}

std::vector<Gpu> gpus_of(hwloc_topology_t topology) {
  std::vector<hwloc_obj_t> devices;
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_pcidev(topology, device)) != nullptr)
    if (device->attr != nullptr && is_gpu(device->attr->pcidev)) devices.push_back(device);
  const auto address = [](hwloc_obj_t d) {
    const auto& pci = d->attr->pcidev;
    return std::make_tuple(pci.domain, pci.bus, pci.dev, pci.func);
  };
  std::sort(devices.begin(), devices.end(), [&](hwloc_obj_t a, hwloc_obj_t b) {
    return address(a) < address(b);
  });
  std::vector<Gpu> gpus;
  for (hwloc_obj_t d : devices) {
    const auto& pci = d->attr->pcidev;
    gpus.push_back(
        {fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.domain, pci.bus, pci.dev, pci.func)});
    locate(gpus.back(), topology, hwloc_get_non_io_ancestor_obj(topology, d));
  }
  return gpus;
}

// `bound` narrows the allowed processors further; null: it does not.
Result<NodeTopology> convert(hwloc_topology_t topology, hwloc_const_bitmap_t bound) {
  const Bitmap usable(hwloc_bitmap_dup(hwloc_topology_get_allowed_cpuset(topology)));
  if (!usable) return fail(Errc::internal, "hwloc gave no allowed processors");
  if (bound != nullptr) hwloc_bitmap_and(usable.get(), usable.get(), bound);
  NodeTopology node{cores_of(topology, usable.get()), gpus_of(topology), {}};
  if (node.cores.empty())
    return fail(Errc::invalid, "the topology has no processor that may be used");
  return node;
}

Result<void> load(const Handle& handle, const std::string& what) {
  if (hwloc_topology_load(handle.get()) == 0) return {};
  return fail(Errc::invalid, "hwloc cannot load " + what);
}

Result<NodeTopology> parse_xml(const std::string& text) {
  DTS_ASSIGN(const Handle handle, prepare());
  const auto bytes = static_cast<int>(text.size() + 1);  // hwloc counts the terminating zero
  if (hwloc_topology_set_xmlbuffer(handle.get(), text.c_str(), bytes) != 0)
    return fail(Errc::invalid, "not XML");
  DTS_TRY(load(handle, "it"));
  return convert(handle.get(), nullptr);
}

// hwloc 2.9 crashes on some damaged files (found by mutation, 1 in 600) and prints essays about
// others: it reads them in a child, silent and limited to 10 s, which sends back what it
// understood.
Result<NodeTopology> in_child(const std::function<Result<NodeTopology>()>& read,
                              const std::string& path) {
  const UniqueFd answer(::memfd_create("topology", MFD_CLOEXEC));
  if (!answer.valid()) return fail_errno("cannot make a memory file");
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("cannot start a process to read " + path);
  if (pid == 0) {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_CORE, &none);
    // The caller's handlers are not for this process.
    for (const int number : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
      ::signal(number, SIG_DFL);
    ::alarm(10);
    const int null = ::open("/dev/null", O_WRONLY);
    ::dup2(null, 2);
    const auto node = read();
    const std::string json = node ? to_json(*node) : std::string();
    const auto length = static_cast<ssize_t>(json.size());
    ::_exit(node && ::write(answer.get(), json.data(), json.size()) == length ? 0 : 1);
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) {
    DTS_ASSIGN(const std::string json, read_file(fmt::format("/proc/self/fd/{}", answer.get())));
    return from_json(json);
  }
  return fail(
      Errc::invalid, path + " is not an hwloc topology", "write one with `lstopo --of xml FILE`");
}

}  // namespace

Result<NodeTopology> load_live() {
  skip_slow_plugins();
  DTS_ASSIGN(const Handle handle, prepare());
  DTS_TRY(load(handle, "this machine's topology"));
  const Bitmap bound(hwloc_bitmap_alloc());
  // Fails where HWLOC_XMLFILE shows another machine, whose processors we cannot be bound to.
  const bool known =
      bound && hwloc_get_cpubind(handle.get(), bound.get(), HWLOC_CPUBIND_THREAD) == 0;
  return convert(handle.get(), known ? bound.get() : nullptr);
}

Result<NodeTopology> load_xml(const std::string& path) {
  skip_slow_plugins();
  DTS_ASSIGN(const std::string text, read_file(path, k_largest_xml));
  return in_child([&] { return parse_xml(text); }, path);
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
