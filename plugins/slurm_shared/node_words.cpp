// SPDX-License-Identifier: Apache-2.0
#include "plugins/slurm_shared/node_words.hpp"

#include "core/base/text/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace slurm_plugin {
namespace {

using nlohmann::json;
using GpusByType = std::map<std::string, unsigned>;

// One entry of a Gres list, without its "(S:...)": "gpu", "gpu:8", "gpu:a100:8", "gpu:a100".
void add_entry(std::string_view entry, GpusByType& gpus) {
  std::vector<std::string> words = dts::split(entry.substr(0, entry.find('(')), ':');
  if (words.front() != "gpu") return;
  const auto number = words.size() > 1 ? dts::parse_number(words.back()) : std::nullopt;
  if (number) words.pop_back();
  gpus[words.size() > 1 ? words[1] : ""] += number ? static_cast<unsigned>(*number) : 1;
}

}  // namespace

std::string node_state_word(const NodeState& state) {
  std::string word = state.base;
  const bool busy = state.base == "allocated" || state.base == "mixed" || state.completing;
  if (state.invalid)
    word = "inval";
  else if (state.drain)
    word = busy ? "draining" : "drained";
  else if (state.maintenance && !busy)
    word = "maint";
  else if (state.reserved && state.base == "idle")
    word = "reserved";
  else if (state.completing)
    word = "completing";
  // A node without power is silent, too, but is no less usable for that.
  if (state.power != 0 && (state.power != '!' || !state.silent))
    word += state.power;
  else if (state.silent)
    word += '*';
  return word;
}

bool is_lost(std::string_view state) {
  return state.find_first_of("*~%") != std::string_view::npos || state.rfind("down", 0) == 0;
}

bool is_powered_down(std::string_view state) {
  return state.find_first_of("~%#!") != std::string_view::npos;
}

bool is_unavailable(std::string_view state) {
  if (is_lost(state) && !is_powered_down(state)) return true;
  for (const std::string_view word : {"down", "drain", "fail", "error", "inval"})
    if (state.rfind(word, 0) == 0) return true;
  return false;
}

GpusByType gpus_by_type(std::string_view gres) {
  GpusByType gpus;
  int depth = 0;
  std::string entry;
  for (const char c : gres) {
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (c == ',' && depth == 0) {
      add_entry(entry, gpus);
      entry.clear();
    } else {
      entry += c;
    }
  }
  add_entry(entry, gpus);
  return gpus;
}

void add_cpus(json& node, const NodeCpus& cpus) {
  const std::uint32_t cores = cpus.sockets * cpus.cores_per_socket;
  const bool knows = cpus.effective > 0 && cpus.effective < cpus.total;
  node["cpus"] = cpus.total;
  node["reserved_cpus"] = knows ? cpus.total - cpus.effective : 0;
  node["cpus_per_core"] = cores == 0 ? 1 : std::max(1U, cpus.total / cores);
}

void add_gpus(json& node, std::string_view gres) {
  unsigned total = 0;
  json types = json::object();
  for (const auto& [type, number] : gpus_by_type(gres)) {
    total += number;
    if (!type.empty()) types[type] = number;
  }
  node["gpus"] = total;
  node["gpu_types"] = std::move(types);
}

}  // namespace slurm_plugin
