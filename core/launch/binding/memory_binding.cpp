// SPDX-License-Identifier: Apache-2.0
#include "core/launch/binding/memory_binding.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <set>

namespace dts::launch {
namespace {

using Kind = plan::MemoryPolicy::Kind;

constexpr unsigned k_most_nodes = 1024;  // the kernel's largest MAX_NUMNODES
constexpr unsigned k_word = 8 * sizeof(unsigned long);
constexpr int k_preferred_many = 5;  // MPOL_PREFERRED_MANY, in <linux/mempolicy.h> since 5.15
constexpr std::size_t k_regions = 4;
constexpr std::size_t k_pages = 16;  // sampled in each region

using Mask = std::array<unsigned long, k_most_nodes / k_word>;

Mask mask_of(const std::vector<unsigned>& nodes) {
  Mask mask{};
  for (const unsigned node : nodes)
    if (node < k_most_nodes) mask[node / k_word] |= 1UL << node % k_word;
  return mask;
}

bool set_policy(int mode, const std::vector<unsigned>& nodes) {
  const Mask mask = mask_of(nodes);
  // The kernel expects the number of bits plus one.
  return ::syscall(SYS_set_mempolicy, mode, mask.data(), k_most_nodes + 1) == 0;
}

struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// The largest private regions not backed by a file, "begin-end rw-p 0 00:00 0 [heap]" (proc(5)).
std::vector<Region> anonymous_regions(const std::string& maps) {
  std::vector<Region> regions;
  for (const std::string& line : split(maps, '\n')) {
    const std::size_t blank = line.find(' ');
    if (blank == std::string::npos || line.compare(blank, 6, " rw-p ") != 0) continue;
    if (line.find(" 00:00 0") == std::string::npos) continue;
    char* rest = nullptr;
    const std::uint64_t begin = std::strtoull(line.c_str(), &rest, 16);
    if (*rest != '-') continue;
    regions.push_back({begin, std::strtoull(rest + 1, nullptr, 16)});
  }
  std::sort(regions.begin(), regions.end(), [](const Region& a, const Region& b) {
    return a.end - a.begin > b.end - b.begin;
  });
  if (regions.size() > k_regions) regions.resize(k_regions);
  return regions;
}

}  // namespace

Result<void> bind_memory(const plan::MemoryPolicy& policy) {
  if (policy.kind == Kind::none) return {};
  bool done = false;
  if (policy.kind == Kind::bind)
    done = set_policy(MPOL_BIND, policy.nodes);
  else if (policy.nodes.size() == 1)
    done = set_policy(MPOL_PREFERRED, policy.nodes);
  else
    done = set_policy(k_preferred_many, policy.nodes) ||
           (errno == EINVAL && set_policy(MPOL_PREFERRED, {policy.nodes.front()}));
  if (done) return {};
  return fail_errno(fmt::format("cannot set the memory policy `{}`", plan::to_text(policy)));
}

plan::MemoryPolicy current_memory_policy() {
  int mode = 0;
  Mask mask{};
  if (::syscall(SYS_get_mempolicy, &mode, mask.data(), k_most_nodes + 1, nullptr, 0) != 0)
    return {};
  plan::MemoryPolicy policy;
  for (unsigned node = 0; node < k_most_nodes; ++node)
    if ((mask[node / k_word] >> node % k_word & 1UL) != 0) policy.nodes.push_back(node);
  if (mode == MPOL_BIND) policy.kind = Kind::bind;
  if (mode == MPOL_PREFERRED || mode == k_preferred_many) policy.kind = Kind::prefer;
  return policy.kind == Kind::none || policy.nodes.empty() ? plan::MemoryPolicy{} : policy;
}

std::vector<unsigned> nodes_of_pages(pid_t pid, const std::string& maps) {
  std::vector<std::uint64_t> pages;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  for (const Region& region : anonymous_regions(maps)) {
    const std::uint64_t count = (region.end - region.begin) / page;
    for (std::size_t i = 0; i < std::min<std::uint64_t>(k_pages, count); ++i)
      pages.push_back(region.begin + i * count / std::min<std::uint64_t>(k_pages, count) * page);
  }
  std::vector<int> where(pages.size(), -1);
  // Without target nodes, the call only reports each page's node; negative: not present yet.
  if (pages.empty() ||
      ::syscall(SYS_move_pages, pid, pages.size(), pages.data(), nullptr, where.data(), 0) < 0)
    return {};
  std::set<unsigned> nodes;
  for (const int node : where)
    if (node >= 0) nodes.insert(static_cast<unsigned>(node));
  return {nodes.begin(), nodes.end()};
}

}  // namespace dts::launch
