// SPDX-License-Identifier: Apache-2.0
#include "core/plan/binding/locate_gpus.hpp"

#include "core/base/text/alike.hpp"
#include "core/base/text/text.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

namespace dts::plan {
namespace {

constexpr std::string_view k_instance = "MIG-";

// "GPU-...", "MIG-...", or a prefix of one GPU's UUID.
std::optional<unsigned> locate_uuid(std::string_view id, const topo::NodeTopology& node) {
  if (id.starts_with("MIG-GPU-")) id = id.substr(k_instance.size(), id.find('/') - 4);
  if (id.size() <= k_instance.size()) return std::nullopt;  // "GPU-" or "MIG-" alone
  std::optional<unsigned> found;
  for (unsigned i = 0; i < node.gpus.size(); ++i) {
    const topo::Gpu& gpu = node.gpus[i];
    const auto begins = [&](const std::string& uuid) { return uuid.starts_with(id); };
    if (!begins(gpu.uuid) && std::none_of(gpu.instances.begin(), gpu.instances.end(), begins))
      continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

}  // namespace

std::vector<unsigned> locate_gpus(const std::vector<std::string>& ids,
                                  const RankHello& hello,
                                  const topo::NodeTopology& node) {
  std::vector<unsigned> indices;
  std::set<unsigned> taken;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const bool is_instance = ids[i].starts_with(k_instance);  // Slurm then numbers the instances
    std::optional<std::uint64_t> gpu = locate_uuid(ids[i], node);
    if (!gpu && ids.size() == node.gpus.size())
      gpu = parse_number(ids[i]);
    else if (!gpu && !is_instance && hello.gpu_numbers.size() == ids.size())
      gpu = hello.gpu_numbers[i];
    if (!gpu || *gpu >= node.gpus.size()) return {};
    indices.push_back(static_cast<unsigned>(*gpu));
    if (!taken.insert(indices.back()).second && !is_instance) return {};
  }
  return indices;
}

std::vector<std::vector<unsigned>> locate_each(const std::vector<std::vector<std::string>>& ids_of,
                                               const topo::NodeTopology& node) {
  std::vector<std::vector<unsigned>> located(ids_of.size());
  std::set<std::uint64_t> numbers;
  for (std::size_t rank = 0; rank < ids_of.size(); ++rank) {
    for (const std::string& id : ids_of[rank]) {
      std::optional<std::uint64_t> gpu = locate_uuid(id, node);
      if (!gpu && (gpu = parse_number(id))) numbers.insert(*gpu);
      if (gpu && *gpu < node.gpus.size()) located[rank].push_back(static_cast<unsigned>(*gpu));
    }
    make_set(located[rank]);
  }
  std::erase_if(numbers, [&](std::uint64_t number) { return number >= node.gpus.size(); });
  if (!numbers.empty() && numbers.size() != node.gpus.size()) located.assign(ids_of.size(), {});
  return located;
}

}  // namespace dts::plan
