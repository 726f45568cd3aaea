// SPDX-License-Identifier: Apache-2.0
// The requests of the #SBATCH lines as numbers. Pure, thread-safe.
#pragma once

#include "core/lint/script/header.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace dts::lint {

// Absent: not requested, or not a plain number ("2-4", a placeholder).
struct Job {
  std::optional<std::uint64_t> nodes, ntasks, ntasks_per_node, cpus_per_task;
  std::optional<std::uint64_t> gpus_per_node, gpus_per_task, ntasks_per_gpu;
  std::optional<std::uint64_t> gpus;                       // --gpus, of the whole job
  std::optional<std::uint64_t> mem_per_node, mem_per_cpu;  // MiB; not 0, all of a node's
  std::optional<std::chrono::seconds> time;                // max(): unlimited
  bool has_gpus = false;
  bool asks_for_no_gpus = false;  // --gpus-per-task=0, --gres=gpu:0
  bool is_exclusive = false;
  bool is_array = false;

  // Ranks that a plain srun starts on each node; nullopt: not known.
  [[nodiscard]] std::optional<std::uint64_t> tasks_on_node() const;

  // True if more than one node is requested, as far as is known.
  [[nodiscard]] bool has_many_nodes() const { return nodes.value_or(1) > 1; }

  [[nodiscard]] bool has_many_tasks() const;
};

// The job of the first component.
[[nodiscard]] Job job_of(const Header& header);

// The number of GPUs in "gpu:a100:4,nvme:1" or "a100:4"; nullopt: none, or not a plain number.
[[nodiscard]] std::optional<std::uint64_t> gpus_in(const std::string& text, bool is_gres);

}  // namespace dts::lint
