// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/read_binding.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/cgroup.hpp"
#include "core/base/os/process_table.hpp"
#include "core/base/text/hostlist.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"
#include "core/launch/binding/binding.hpp"
#include "core/launch/binding/memory_binding.hpp"
#include "core/launch/binding/openmp_runtime.hpp"
#include "core/plan/thread_places.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace dts::launch {
namespace {

constexpr std::size_t k_most_processes = 1024;
constexpr std::size_t k_maps_read = 16;  // processes whose loaded libraries are read
constexpr unsigned k_most_gpus = 64;

// The path and all its parents: a controller may be enabled only for a group that contains ours.
void add_upwards(const std::string& root,
                 std::string path,
                 const char* file,
                 std::vector<std::string>& files) {
  if (path == "/") path.clear();
  while (true) {
    files.push_back(fmt::format("{}{}/{}", root, path, file));
    if (path.empty()) return;
    path.resize(path.rfind('/'));
  }
}

std::vector<unsigned> cgroup_cpus() {
  for (const std::string& file : cpuset_files(read_file("/proc/self/cgroup").value_or("")))
    if (const auto text = read_file(file))
      if (auto cpus = parse_number_list(trim(*text), k_highest_cpu); cpus && !cpus->empty())
        return *std::move(cpus);
  return {};
}

std::vector<unsigned> allowed_memory_nodes() {
  return parse_number_list(proc_field("/proc/self/status", "Mems_allowed_list"), k_highest_cpu)
      .value_or(std::vector<unsigned>());
}

unsigned allotted_by_slurm() {
  const auto counts = expand_counts(getenv_lookup("SLURM_JOB_CPUS_PER_NODE").value_or(""));
  return counts && !counts->empty() ? *std::min_element(counts->begin(), counts->end()) : 0;
}

// Counts NVIDIA's devices. access(2) also fails if a control group forbids a device, and does not
// wake the device.
std::optional<unsigned> openable_gpus() {
  unsigned there = 0, open = 0;
  for (unsigned gpu = 0; gpu < k_most_gpus; ++gpu) {
    const std::string device = fmt::format("/dev/nvidia{}", gpu);
    if (!exists(device)) continue;
    ++there;
    if (::access(device.c_str(), R_OK | W_OK) == 0) ++open;
  }
  return there == 0 ? std::nullopt : std::optional(open);
}

// Gathers the threads of one process at a time into groups.
class Gatherer {
 public:
  // Adds the threads of `pid`, and appends its children to `found`.
  void add(pid_t pid, std::vector<pid_t>& found) {
    // No name if its main thread has ended before the others.
    const std::string program = process_info(pid).value_or(ProcessInfo{}).name;
    for (const std::string& name : list_folder(proc_path(pid, "task"))) {
      const auto id = static_cast<pid_t>(parse_number(name).value_or(0));
      const auto thread = thread_info(pid, id);
      if (!thread) continue;
      std::vector<unsigned> cpus = binding_of(id);
      if (cpus.empty()) continue;  // the thread has just ended
      const bool is_nccl = thread->name.starts_with("NCCL");
      Count& count = groups_[{program, is_nccl ? "NCCL" : "", std::move(cpus)}];
      ++count.threads;
      if (thread->worked > 0) ++count.working;
      const std::vector<pid_t> children = children_of_thread(pid, id);
      found.insert(found.end(), children.begin(), children.end());
    }
  }

  [[nodiscard]] std::vector<ThreadGroup> groups() const {
    std::vector<ThreadGroup> all;
    for (const auto& [key, count] : groups_) {
      if (all.size() == k_most_thread_groups) break;
      const auto& [program, name, cpus] = key;
      all.push_back({program, name, cpus, count.threads, count.working});
    }
    return all;
  }

 private:
  struct Count {
    unsigned threads = 0;
    unsigned working = 0;
  };

  std::map<std::tuple<std::string, std::string, std::vector<unsigned>>, Count> groups_;
};

void add_places(pid_t pid, std::set<std::string>& places) {
  for (const std::string& entry : split(environment_of(pid), '\0'))
    for (const char* name : plan::k_thread_places)
      if (entry.rfind(std::string(name) + "=", 0) == 0) places.insert(entry);
}

std::vector<std::string> to_list(const std::set<std::string>& words) {
  return {words.begin(), words.end()};
}

}  // namespace

std::vector<std::string> cpuset_files(std::string_view proc_cgroup) {
  std::vector<std::string> first, unified;
  for (const Cgroup& cgroup : parse_cgroups(proc_cgroup))
    if (cgroup.has("cpuset"))
      add_upwards("/sys/fs/cgroup/cpuset", cgroup.path, "cpuset.effective_cpus", first);
    else if (cgroup.is_unified())
      add_upwards("/sys/fs/cgroup", cgroup.path, "cpuset.cpus.effective", unified);
  first.insert(first.end(), unified.begin(), unified.end());
  return first;
}

std::string mask_variable(const Lookup& variable) {
  for (const char* name : {"SLURM_CPU_BIND", "SBATCH_CPU_BIND"}) {
    const std::string value = variable(name).value_or("");
    for (const char* way : {"map", "mask", "rank", "core", "thread", "socket", "ldom"})
      if (value.find(way) != std::string::npos) return fmt::format("{}={}", name, value);
  }
  for (const char* name : {"OMPI_MCA_hwloc_base_binding_policy",
                           "OMPI_MCA_rmaps_base_mapping_policy",
                           "PRTE_MCA_hwloc_default_binding_policy"})
    if (const auto value = variable(name); value && !value->empty() && value->find("none") != 0)
      return fmt::format("{}={}", name, *value);
  return {};
}

BoundState read_start_state(std::vector<unsigned> inherited, std::string memory_error) {
  BoundState state;
  state.inherited = std::move(inherited);
  state.inherited_from = mask_variable(getenv_lookup);
  state.cpus = current_binding();
  state.cgroup = cgroup_cpus();
  state.allotted = allotted_by_slurm();
  state.memory = current_memory_policy();
  state.memory_error = std::move(memory_error);
  state.memory_nodes = allowed_memory_nodes();
  if (const auto gpus = getenv_lookup("CUDA_VISIBLE_DEVICES"); gpus && !gpus->empty())
    state.gpus_visible = static_cast<unsigned>(split(*gpus, ',').size());
  state.gpus_open = openable_gpus();
  return state;
}

void read_threads(const std::vector<pid_t>& roots, BoundState& state) {
  Gatherer gatherer;
  std::set<std::string> runtimes, places;
  std::set<unsigned> pages;
  std::vector<pid_t> processes = roots;
  for (std::size_t i = 0; i < std::min(processes.size(), k_most_processes); ++i) {
    const pid_t pid = processes[i];
    gatherer.add(pid, processes);
    if (i >= k_maps_read) continue;
    const std::string maps = read_file(proc_path(pid, "maps")).value_or("");
    for (std::string& runtime : runtimes_in(maps)) runtimes.insert(std::move(runtime));
    add_places(pid, places);
    if (state.memory.kind == plan::MemoryPolicy::Kind::none) continue;
    for (const unsigned node : nodes_of_pages(pid, maps)) pages.insert(node);
  }
  state.settled = true;
  state.cgroup_now = cgroup_cpus();
  state.threads = gatherer.groups();
  state.openmp = to_list(runtimes);
  state.places = to_list(places);
  state.pages_on = {pages.begin(), pages.end()};
}

}  // namespace dts::launch
