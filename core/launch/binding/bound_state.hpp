// SPDX-License-Identifier: Apache-2.0
// Where a rank, the threads of its program and its memory may be, according to the kernel. A value:
// plain data, as text on the control channel and in binding.json.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// Threads that may run on the same PUs, of all processes of one name.
struct ThreadGroup {
  std::string program;  // their processes' name (comm of proc(5))
  std::string name;     // their own names if these show their origin ("NCCL..."); otherwise empty
  std::vector<unsigned> cpus;  // ascending
  unsigned threads = 0;
  unsigned working = 0;  // those that have used processor time

  bool operator==(const ThreadGroup&) const = default;
};

struct BoundState {
  // The state of the rank's process before the program starts.
  std::vector<unsigned> inherited;  // PUs of the mask that the process was started with, ascending
  std::string inherited_from;       // the variable that requested that mask; empty: none known
  std::vector<unsigned> cpus;       // of the mask read back after binding
  std::vector<unsigned> cgroup;     // of its cpuset; empty: not known
  unsigned allotted = 0;            // PUs that the scheduler gave the job on a node; 0: not known
  plan::MemoryPolicy memory;        // read back
  std::string memory_error;         // why it could not be set; mostly empty
  std::vector<unsigned> memory_nodes;      // that the cpuset allows; empty: not known
  std::optional<unsigned> gpus_visible{};  // of the inherited CUDA_VISIBLE_DEVICES
  std::optional<unsigned> gpus_open{};     // /dev/nvidia<n> that its cgroup allows it to open
  std::string thread_places{};  // which variables bind OpenMP's threads, and why these; empty:
                                // --bind-threads auto was not requested

  // The state of the program and its descendants, some time after they started.
  bool settled = false;
  std::vector<unsigned> cgroup_now;  // `cgroup` at that time
  std::vector<ThreadGroup> threads;
  std::vector<std::string> openmp;  // runtimes that they have loaded: libgomp, libiomp5, libomp
  std::vector<std::string> places;  // "NAME=value" of the environment that places threads
  std::vector<unsigned> pages_on;   // NUMA nodes of a sample of its pages; empty: none was taken

  bool operator==(const BoundState&) const = default;
};

inline constexpr std::size_t k_most_thread_groups = 64;  // in one state; any more are left out

// One line of JSON, and back. Errc::invalid for anything that is not such a line.
[[nodiscard]] std::string to_text(const BoundState& state);
[[nodiscard]] Result<BoundState> parse_bound_state(std::string_view text);

}  // namespace dts::launch
