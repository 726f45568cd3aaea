// SPDX-License-Identifier: Apache-2.0
// The meaning of Slurm's words for nodes. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace slurm_plugin {

// A node's state: its base, in lower case ("idle", "mixed"), and the flags that affect the word for
// it.
struct NodeState {
  std::string base = "unknown";
  bool invalid = false;  // it registered with less than slurm.conf says
  bool drain = false;
  bool maintenance = false;
  bool reserved = false;
  bool completing = false;
  // sinfo's sign of a node that saves power: '~' powered down, '%' powering down, '#' powering up,
  // '!' about to be powered down.
  char power = 0;
  bool silent = false;  // slurmd does not respond
};

// What sinfo would print, in lower case: "idle", "allocated", "draining", "down*", "idle~", ...
[[nodiscard]] std::string node_state_word(const NodeState& state);

// True if a node in that state is down, does not respond ("idle*"), or has been powered down.
[[nodiscard]] bool is_lost(std::string_view state);

// True if a node in that state must first be powered up ("idle~"), or is about to be up ("mixed#").
// It accepts jobs, which wait until it is up.
[[nodiscard]] bool is_powered_down(std::string_view state);

// The same, or if the node accepts no jobs for another reason: drained, failed.
[[nodiscard]] bool is_unavailable(std::string_view state);

// A node's processors, as Slurm reports them.
struct NodeCpus {
  std::uint32_t total = 0;
  std::uint32_t effective = 0;  // CPUEfctv, without reserved ones; 0: a release that has none
  std::uint32_t sockets = 0;
  std::uint32_t cores_per_socket = 0;
};

// Adds the members `cpus`, `reserved_cpus` and `cpus_per_core`: 1 where the site counts cores as
// CPUs.
void add_cpus(nlohmann::json& node, const NodeCpus& cpus);

// The memory that jobs get of a node: without MemSpecLimit, that of the system.
[[nodiscard]] constexpr std::uint64_t memory_for_jobs(std::uint64_t real, std::uint64_t reserved) {
  return real > reserved ? real - reserved : 0;
}

// The GPUs in a node's Gres, "gpu:a100:8(S:0-1),nic:2", by type; those without a type are "".
[[nodiscard]] std::map<std::string, unsigned> gpus_by_type(std::string_view gres);

// Adds the members `gpus`, the sum over all types, and `gpu_types` to a node with that Gres.
void add_gpus(nlohmann::json& node, std::string_view gres);

}  // namespace slurm_plugin
