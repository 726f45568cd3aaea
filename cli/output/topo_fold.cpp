// SPDX-License-Identifier: Apache-2.0
#include "cli/output/topo_fold.hpp"

#include "core/base/text/alike.hpp"
#include "core/base/text/number_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <tuple>

namespace dts::cli {
namespace {

constexpr std::size_t k_longest_list = 24;  // in a title

bool has_devices(const ScenePackage& package) {
  return !package.devices.empty() || !package.memory.empty() ||
         std::any_of(package.numas.begin(), package.numas.end(), [](const SceneNuma& numa) {
           return !numa.devices.empty();
         });
}

auto shape_of(const SceneCache& cache) {
  return std::tuple(cache.l3.has_value(), cache.kind, cache.cores.size());
}

bool are_alike(const SceneNuma& a, const SceneNuma& b) {
  return a.size == b.size &&
         std::equal(a.caches.begin(),
                    a.caches.end(),
                    b.caches.begin(),
                    b.caches.end(),
                    [](const auto& x, const auto& y) { return shape_of(x) == shape_of(y); });
}

bool are_alike(const ScenePackage& a, const ScenePackage& b) {
  return !has_devices(a) && !has_devices(b) &&
         std::equal(a.numas.begin(),
                    a.numas.end(),
                    b.numas.begin(),
                    b.numas.end(),
                    [](const auto& x, const auto& y) { return are_alike(x, y); });
}

// Brackets around single cores carry no information.
void drop_small_caches(SceneNuma& numa) {
  if (std::any_of(numa.caches.begin(), numa.caches.end(), [](const SceneCache& cache) {
        return cache.cores.size() > 1;
      }))
    return;
  std::vector<SceneCache> caches;
  for (SceneCache& cache : numa.caches) {
    if (caches.empty() || caches.back().kind != cache.kind)
      caches.push_back({std::nullopt, cache.kind, {}});
    std::move(cache.cores.begin(), cache.cores.end(), std::back_inserter(caches.back().cores));
  }
  numa.caches = std::move(caches);
}

// Merges the NUMA nodes of a run of packages into one.
ScenePackage merge(const std::vector<ScenePackage>& packages, std::size_t first, std::size_t end) {
  ScenePackage one;
  SceneNuma all;
  for (std::size_t i = first; i < end; ++i) {
    one.numbers.insert(one.numbers.end(), packages[i].numbers.begin(), packages[i].numbers.end());
    for (const SceneNuma& numa : packages[i].numas) {
      all.numbers.insert(all.numbers.end(), numa.numbers.begin(), numa.numbers.end());
      all.caches.insert(all.caches.end(), numa.caches.begin(), numa.caches.end());
      all.size = numa.size;
    }
  }
  make_set(all.numbers);
  drop_small_caches(all);
  one.numas.push_back(std::move(all));
  return one;
}

}  // namespace

void fold_packages(std::vector<ScenePackage>& packages) {
  if (packages.size() <= k_most_packages) return;
  std::vector<ScenePackage> folded;
  for (std::size_t first = 0, end = 0; first < packages.size(); first = end) {
    while (end < packages.size() && (end == first || are_alike(packages[first], packages[end])))
      ++end;
    folded.push_back(end - first > 1 ? merge(packages, first, end) : packages[first]);
  }
  packages = std::move(folded);
}

std::string title_of(const SceneNuma& numa) {
  const bool several = numa.numbers.size() > 1;
  std::string numbers = fold_numbers(numa.numbers);
  if (numbers.size() > k_longest_list)
    numbers = fmt::format(
        "{} to {} ({} of them)", numa.numbers.front(), numa.numbers.back(), numa.numbers.size());
  return fmt::format("NUMA {}{}{}{}",
                     numbers,
                     numa.size.empty() ? "" : "  ",
                     numa.size,
                     several && !numa.size.empty() ? " each" : "");
}

}  // namespace dts::cli
