// SPDX-License-Identifier: Apache-2.0
#include "core/train/bench/cpus.hpp"
#include "core/train/bench/measures.hpp"
#include "core/train/bench/timing.hpp"
#include "core/train/device/measured_loops.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <optional>

namespace dts::train::bench {
namespace {

// Bytes of each array in one timed window, which takes about a tenth of a millisecond.
constexpr std::size_t k_block = k_mib / 2;

// Memory that the kernel zeroes at the first touch, near the thread that touches it.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : bytes_(bytes),
        at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (at_ != MAP_FAILED) (void)::madvise(at_, bytes, MADV_HUGEPAGE);
  }

  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  ~Pages() {
    if (at_ != MAP_FAILED) ::munmap(at_, bytes_);
  }

  [[nodiscard]] double* data() const {
    return at_ == MAP_FAILED ? nullptr : static_cast<double*>(at_);
  }

 private:
  std::size_t bytes_;
  void* at_;
};

// The time of the calling thread for `passes` blocks of its three arrays of `bytes` each; nullopt
// if there is no memory for them.
std::optional<Timed> triad_time(std::size_t bytes,
                                double seconds,
                                int passes,
                                std::atomic<std::size_t>& waiting) {
  const Pages a(bytes), b(bytes), c(bytes);
  const std::size_t count = bytes / sizeof(double);
  const bool mapped = a.data() != nullptr && b.data() != nullptr && c.data() != nullptr;
  if (mapped) {
    std::fill_n(a.data(), count, 0.0);
    std::fill_n(b.data(), count, 1.0);
    std::fill_n(c.data(), count, 2.0);
  }
  for (--waiting; waiting > 0;) ::usleep(100);  // until all threads have touched theirs
  if (!mapped) return std::nullopt;
  constexpr std::size_t k_step = k_block / sizeof(double);
  std::size_t at = 0;
  return fast_seconds(seconds, 0, [&] {
    for (int pass = 0; pass < passes; ++pass) {
      triad(a.data() + at, b.data() + at, c.data() + at, 3.0, k_step);
      at = at + 2 * k_step <= count ? at + k_step : 0;
    }
  });
}

}  // namespace

void measure_memory(const BenchOptions& options, double seconds, RankFacts& facts) {
  const std::vector<NumaCores> nodes = by_numa(own_cores());
  // Waiting would not halve the bandwidth, because the other cores would use it meanwhile.
  const int passes = options.injection("memory", 0) != nullptr ? 2 : 1;
  const auto free = static_cast<std::size_t>(std::max(0L, ::sysconf(_SC_AVPHYS_PAGES))) *
                    static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  for (const NumaCores& node : nodes) {
    const std::size_t cache = largest_cache(node.cores);
    // Four times the cache, as STREAM requires, unless that needs too much time or memory.
    const std::size_t most = std::min(free / 4, options.quick ? 96 * k_mib : 768 * k_mib);
    const std::size_t wanted = std::clamp(12 * cache, 96 * k_mib, std::max(most, 96 * k_mib));
    const std::size_t each =
        std::max(16 * k_block, wanted / 3 / node.cores.size() / k_block * k_block);
    std::atomic<std::size_t> waiting{node.cores.size()};
    std::vector<std::optional<double>> rates(node.cores.size());
    const double others = on_each(node.cores, [&](std::size_t i) {
      const auto timed =
          triad_time(each, seconds / static_cast<double>(nodes.size()), passes, waiting);
      if (timed) rates[i] = per_second(3.0 * static_cast<double>(k_block), timed->seconds);
      return timed ? timed->spent : CoreTime();
    });
    if (std::count(rates.begin(), rates.end(), std::nullopt) > 0) {
      facts.notes.push_back(fmt::format("no memory to measure that of NUMA node {}", node.numa));
      continue;
    }
    if (std::count(rates.begin(), rates.end(), 0.0) > 0) {
      facts.notes.push_back(fmt::format(
          "the memory bandwidth of NUMA node {} is not known: {}", node.numa, taken(others)));
      continue;
    }
    double sum = 0;
    for (const auto& rate : rates) sum += *rate;
    facts.measures.push_back({"memory", sum, "B/s", node.numa, "", "", others});
    if (!options.quick && 3 * each * node.cores.size() < cache)
      facts.notes.push_back(
          fmt::format("NUMA node {}: memory is measured on {} MiB, less than the cache of {} MiB",
                      node.numa,
                      3 * each * node.cores.size() / k_mib,
                      cache / k_mib));
  }
}

}  // namespace dts::train::bench
