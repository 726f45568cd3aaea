// SPDX-License-Identifier: Apache-2.0
#include "core/plan/gpus/gpu_types.hpp"

#include "core/base/text/text.hpp"

#include <fmt/format.h>

#include <cctype>
#include <set>

namespace dts::plan {
namespace {

std::string as_slurm_writes(std::string_view name) {
  std::string written;
  for (const char c : name)
    written += c == ' ' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return written;
}

}  // namespace

bool is_type_of(std::string_view type, std::string_view product) {
  return as_slurm_writes(product).find(as_slurm_writes(type)) != std::string::npos;
}

GpusByType gpus_by_type(const topo::NodeTopology& node, const std::string& type) {
  GpusByType sorted;
  if (type.empty()) return sorted;
  bool is_there = false, may_be_instance = false;
  for (unsigned i = 0; i < node.gpus.size(); ++i) {
    const topo::Gpu& gpu = node.gpus[i];
    if (gpu.model.empty()) continue;
    const bool is_one = is_type_of(type, gpu.model);
    is_there = is_there || is_one;
    may_be_instance = may_be_instance || !gpu.instances.empty();
    if (!is_one && gpu.instances.empty()) sorted.others.push_back(i);
  }
  if (is_there) return sorted;
  sorted.has_own_name = !sorted.others.empty() && !may_be_instance;
  sorted.others.clear();
  return sorted;
}

std::string own_name_warning(const topo::NodeTopology& node, const std::string& type) {
  std::set<std::string> products;
  for (const topo::Gpu& gpu : node.gpus)
    if (!gpu.model.empty()) products.insert(gpu.model);
  return fmt::format(
      "no GPU of the node has `{}` in its product's name ({}): assumed to be a name of the site's "
      "own; "
      "not checked",
      type,
      join({products.begin(), products.end()}, ", "));
}

}  // namespace dts::plan
