// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/binding.hpp"

#include "core/base/text/number_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <memory>

namespace dts::launch {
namespace {

constexpr unsigned k_most_cpus = k_highest_cpu + 1;  // some nodes have more than CPU_SETSIZE, 1024

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};

}  // namespace

Result<void> bind_to(const std::vector<unsigned>& cpus) {
  const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(k_most_cpus));
  const std::size_t size = CPU_ALLOC_SIZE(k_most_cpus);
  CPU_ZERO_S(size, set.get());
  for (const unsigned cpu : cpus)
    if (cpu < k_most_cpus) CPU_SET_S(cpu, size, set.get());
  if (::sched_setaffinity(0, size, set.get()) != 0)
    return fail_errno(fmt::format("cannot bind to cores {}", fmt::join(cpus, ",")));
  return {};
}

std::vector<unsigned> binding_of(pid_t thread) {
  const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(k_most_cpus));
  const std::size_t size = CPU_ALLOC_SIZE(k_most_cpus);
  CPU_ZERO_S(size, set.get());
  std::vector<unsigned> cpus;
  if (::sched_getaffinity(thread, size, set.get()) != 0) return cpus;
  for (unsigned cpu = 0; cpu < k_most_cpus; ++cpu)
    if (CPU_ISSET_S(cpu, size, set.get())) cpus.push_back(cpu);
  return cpus;
}

std::vector<unsigned> current_binding() {
  return binding_of(0);
}

}  // namespace dts::launch
