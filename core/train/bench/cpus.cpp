// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/cpus.hpp"

#include "core/base/files/files.hpp"
#include "core/base/os/cgroup.hpp"
#include "core/base/text/number_list.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <thread>

namespace dts::train::bench {
namespace {

constexpr std::size_t k_set_bytes = CPU_ALLOC_SIZE(k_highest_cpu + 1);

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

CpuSet empty_set() {
  CpuSet set(CPU_ALLOC(k_highest_cpu + 1));
  CPU_ZERO_S(k_set_bytes, set.get());
  return set;
}

std::string line_of(const std::string& path) {
  return std::string(trim(read_file(path).value_or("")));
}

std::vector<unsigned> list_in(const std::string& path) {
  return parse_number_list(line_of(path), k_highest_cpu).value_or(std::vector<unsigned>{});
}

void bind_to(const std::vector<int>& cpus) {
  const CpuSet set = empty_set();
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), k_set_bytes, set.get());
  (void)sched_setaffinity(0, k_set_bytes, set.get());  // if this fails, measurements are less exact
}

// The processors that the calling thread may use.
std::vector<int> allowed_cpus() {
  const CpuSet set = empty_set();
  std::vector<int> cpus;
  if (sched_getaffinity(0, k_set_bytes, set.get()) == 0)
    for (int cpu = 0; cpu <= static_cast<int>(k_highest_cpu); ++cpu)
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), k_set_bytes, set.get())) cpus.push_back(cpu);
  return cpus;
}

std::string cpu_folder(int cpu) {
  return fmt::format("/sys/devices/system/cpu/cpu{}", cpu);
}

double quotient(const std::string& quota, const std::string& period) {
  const auto part = parse_real(quota), whole = parse_real(period);
  return part && whole && *part > 0 && *whole > 0 ? *part / *whole : 0;
}

// The processors that a group may use; 0: unlimited, "max" in version 2 and "-1" in version 1.
double quota_in(const std::string& folder, bool is_unified) {
  if (!is_unified)
    return quotient(line_of(folder + "/cpu.cfs_quota_us"), line_of(folder + "/cpu.cfs_period_us"));
  const std::vector<std::string> both = split(line_of(folder + "/cpu.max"), ' ');
  return both.size() == 2 ? quotient(both.front(), both.back()) : 0;
}

}  // namespace

std::vector<int> own_cores() {
  std::vector<int> cores;
  std::set<std::string> seen;
  for (const int cpu : allowed_cpus()) {
    const std::string siblings = line_of(cpu_folder(cpu) + "/topology/thread_siblings_list");
    if (siblings.empty() || seen.insert(siblings).second) cores.push_back(cpu);
  }
  return cores.empty() ? std::vector<int>{0} : cores;
}

std::string processor_model() {
  const std::string text = read_file("/proc/cpuinfo").value_or("");
  std::string implementer;
  for (const std::string& line : split(text, '\n')) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string_view name = trim(std::string_view(line).substr(0, colon));
    const std::string value(trim(std::string_view(line).substr(colon + 1)));
    if (name == "model name") return value;
    if (name == "CPU implementer") implementer = value;
    if (name == "CPU part") return fmt::format("implementer {} part {}", implementer, value);
  }
  return "unknown";
}

std::vector<NumaCores> by_numa(const std::vector<int>& cores) {
  const std::string folder = "/sys/devices/system/node/";
  std::vector<NumaCores> all;
  for (const unsigned node : list_in(folder + "online")) {
    const std::vector<unsigned> cpus = list_in(fmt::format("{}node{}/cpulist", folder, node));
    NumaCores found{static_cast<int>(node), {}};
    for (const int core : cores)
      if (std::binary_search(cpus.begin(), cpus.end(), static_cast<unsigned>(core)))
        found.cores.push_back(core);
    if (!found.cores.empty()) all.push_back(std::move(found));
  }
  if (all.empty()) all.push_back({0, cores});
  return all;
}

std::size_t largest_cache(const std::vector<int>& cores) {
  std::map<int, std::map<std::string, std::size_t>> bytes;  // by level and set of processors
  for (const int core : cores)
    for (int index = 0; index < 8; ++index) {
      const std::string folder = fmt::format("{}/cache/index{}", cpu_folder(core), index);
      const auto level = parse_number(line_of(folder + "/level"));
      std::string size = line_of(folder + "/size");  // "2048K"
      if (!level || size.empty() || size.back() != 'K') continue;
      size.pop_back();
      bytes[static_cast<int>(*level)][line_of(folder + "/shared_cpu_list")] =
          static_cast<std::size_t>(parse_number(size).value_or(0)) << 10;
    }
  std::size_t sum = 0;
  if (!bytes.empty())
    for (const auto& [sharers, size] : bytes.rbegin()->second) sum += size;
  return sum;
}

double cpu_quota() {
  double least = 0;
  for (const Cgroup& group : parse_cgroups(read_file("/proc/self/cgroup").value_or(""))) {
    if (!group.is_unified() && !group.has("cpu")) continue;
    // Where systemd mounts cgroups (file-hierarchy(7)).
    const std::string root =
        "/sys/fs/cgroup" + (group.is_unified() ? "" : "/" + join(group.controllers, ","));
    for (std::string path = group.path; path.size() > 1; path.resize(path.rfind('/'))) {
      const double quota = quota_in(root + path, group.is_unified());
      if (quota > 0) least = least > 0 ? std::min(least, quota) : quota;
    }
  }
  return least;
}

OnCore::OnCore(int core) : before_(allowed_cpus()) {
  bind_to({core});
}

OnCore::~OnCore() {
  bind_to(before_);
}

bool is_limited() {
  const double quota = cpu_quota();
  return quota > 0 && quota < static_cast<double>(own_cores().size());
}

std::string taken(double others) {
  return fmt::format("other programs had {:.0f} % of the processors' time", others * 100);
}

double on_each(const std::vector<int>& cores, const std::function<CoreTime(std::size_t)>& work) {
  const Stolen hypervisor(cores);
  std::vector<CoreTime> times(cores.size());
  std::vector<std::thread> threads;
  threads.reserve(cores.size());
  for (std::size_t i = 0; i < cores.size(); ++i)
    threads.emplace_back([&, i] {
      bind_to({cores[i]});
      times[i] = work(i);
    });
  for (std::thread& thread : threads) thread.join();
  CoreTime sum;
  for (const CoreTime& time : times) {
    sum.running += time.running;
    sum.waiting += time.waiting;
  }
  // A thread without quota waits, too, but no other program uses its time.
  const double wanted = sum.running + sum.waiting;
  const double waited = wanted > 0 && !is_limited() ? sum.waiting / wanted : 0;
  return 1 - (1 - waited) * (1 - hypervisor.share());
}

}  // namespace dts::train::bench
