// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/core_time.hpp"

#include "core/base/files/files.hpp"
#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <string>
#include <utility>

namespace dts::train::bench {
namespace {

std::vector<double> numbers_in(const std::string& line) {
  std::vector<double> numbers;
  for (const std::string& word : split(line, ' '))
    if (const auto number = parse_real(word)) numbers.push_back(*number);
  return numbers;
}

}  // namespace

CoreTime core_time() {
  const std::string text = read_file("/proc/thread-self/schedstat").value_or("");
  const std::vector<double> ns = numbers_in(std::string(trim(text)));
  return ns.size() < 2 ? CoreTime() : CoreTime{ns[0] * 1e-9, ns[1] * 1e-9};
}

long preemptions() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_nivcsw : 0;
}

Stolen::Stolen(std::vector<int> cpus) : cpus_(std::move(cpus)), before_(read()) {}

Stolen::Ticks Stolen::read() const {
  constexpr std::size_t k_steal = 7, k_guest = 8;  // the time of guests is included in user time
  Ticks ticks;
  const std::vector<std::string> lines = split(read_file("/proc/stat").value_or(""), '\n');
  for (const int cpu : cpus_) {
    const std::string name = fmt::format("cpu{} ", cpu);
    for (const std::string& line : lines) {
      if (!line.starts_with(name)) continue;
      const std::vector<double> fields = numbers_in(line.substr(name.size()));
      for (std::size_t i = 0; i < fields.size() && i < k_guest; ++i) ticks.all += fields[i];
      if (fields.size() > k_steal) ticks.stolen += fields[k_steal];
    }
  }
  return ticks;
}

double Stolen::share() const {
  const Ticks now = read();
  const double all = now.all - before_.all;
  return all > 0 ? (now.stolen - before_.stolen) / all : 0;
}

}  // namespace dts::train::bench
