// SPDX-License-Identifier: Apache-2.0
// What a rank pays for its binding: 128 processes bound, read back and executed, beside as many
// that are only forked and executed; and a memory-bound triad (McCalpin's STREAM) with threads
// where the plan puts them, beside threads that go where the kernel likes.
#include "core/launch/binding/binding.hpp"
#include "core/plan/binding/binding.hpp"
#include "core/topo/hwloc/load.hpp"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <thread>

namespace {

using namespace dts;

constexpr unsigned k_processes = 128;
constexpr std::size_t k_elements = std::size_t{1}
                                   << 24;  // 128 MiB an array, more than any cache here

double seconds(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void run_processes(const std::vector<std::vector<unsigned>>* masks) {
  std::vector<pid_t> children;
  for (unsigned i = 0; i < k_processes; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      if (masks != nullptr) {
        const auto& mask = (*masks)[i];
        if (!launch::bind_to(mask) || launch::current_binding() != mask) ::_exit(1);
      }
      ::execl("/bin/true", "true", nullptr);
      ::_exit(127);
    }
    children.push_back(pid);
  }
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
}

// GB/s of a[i] = b[i] + 3 c[i], three arrays touched by the thread that uses them.
double triad(const std::vector<std::vector<unsigned>>& masks, bool bound) {
  const std::size_t each = k_elements / masks.size();
  std::vector<double> rates(masks.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < masks.size(); ++t)
    threads.emplace_back([&, t] {
      if (bound) (void)launch::bind_to(masks[t]);
      std::vector<double> a(each, 0), b(each, 1), c(each, 2);
      double best = 1e9;
      for (int round = 0; round < 7; ++round)
        best = std::min(best, seconds([&] {
                          for (std::size_t i = 0; i < each; ++i) a[i] = b[i] + 3 * c[i];
                        }));
      rates[t] = a[each / 2] == 7 ? static_cast<double>(3 * sizeof(double) * each) / best / 1e9 : 0;
    });
  double sum = 0;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    threads[t].join();
    sum += rates[t];
  }
  return sum;
}

std::vector<std::vector<unsigned>> masks_of(const topo::NodeTopology& node, unsigned ranks) {
  plan::BindRequest request;
  request.ranks = ranks;
  std::vector<std::vector<unsigned>> masks;
  const auto binding = plan::bind_node(node, request);
  for (const plan::RankBinding& rank : binding->ranks) masks.push_back(rank.cpus);
  return masks;
}

}  // namespace

int main() {
  const auto node = *topo::load_live();
  const auto cores = static_cast<unsigned>(node.cores.size());
  const auto masks = masks_of(node, k_processes);
  std::vector<double> plain, bound, ratios, triads;
  for (int round = 0; round < 11; ++round) {
    plain.push_back(seconds([] { run_processes(nullptr); }));
    bound.push_back(seconds([&] { run_processes(&masks); }));
    ratios.push_back(bound.back() / plain.back());
  }
  fmt::print(
      "{} processes on {} cores: forked and executed {:.1f} ms; bound and read back too {:.1f} ms: "
      "{:.2f}x (goal 1.5)\n",
      k_processes,
      cores,
      1e3 * median(plain),
      1e3 * median(bound),
      median(ratios));
  const auto threads = masks_of(node, cores);
  for (int round = 0; round < 5; ++round)
    triads.push_back(triad(threads, true) / triad(threads, false));
  fmt::print("triad, {} threads: {:.1f} GB/s bound; bound to unbound {:.2f}x\n",
             cores,
             triad(threads, true),
             median(triads));
}
