// SPDX-License-Identifier: Apache-2.0
// The processors and memory that the kernel lets a rank and the threads of its program use. Plain
// data, with a text form for the control channel and binding.json.
#pragma once

#include "core/base/result.hpp"
#include "core/plan/plan.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dts::launch {

// Threads that may run on the same PUs, in all processes of one name.
struct ThreadGroup {
  std::string program;  // name of their processes (comm in proc(5))
  std::string name;     // the threads' name if it shows their origin ("NCCL..."); otherwise empty
  std::vector<unsigned> cpus;  // ascending
  unsigned threads = 0;
  unsigned working = 0;  // how many of them have used processor time

  bool operator==(const ThreadGroup&) const = default;
};

struct BoundState {
  // The state of the rank's process before the program starts.
  std::vector<unsigned> inherited;  // PUs of the mask that the process started with, ascending
  std::string inherited_from;       // the variable that caused this mask; empty: none known
  std::vector<unsigned> cpus;       // PUs of the mask read back after binding
  std::vector<unsigned> cgroup;     // PUs of its cpuset; empty: not known
  unsigned allotted = 0;            // PUs that the scheduler gave the job on a node; 0: not known
  plan::MemoryPolicy memory;        // read back
  std::string memory_error;         // why the policy could not be set; mostly empty
  std::vector<unsigned> memory_nodes;      // allowed by the cpuset; empty: not known
  std::optional<unsigned> gpus_visible{};  // number in the inherited CUDA_VISIBLE_DEVICES
  std::optional<unsigned> gpus_open{};     // number of /dev/nvidia<n> that its cgroup lets it open
  std::string thread_places{};  // which variables bind OpenMP's threads, and why these; empty:
                                // --bind-threads auto was not requested

  // The state of the program and its descendants, some time after they started.
  bool settled = false;
  std::vector<unsigned> cgroup_now;  // `cgroup` at that time
  std::vector<ThreadGroup> threads;
  std::vector<std::string> openmp;  // OpenMP runtimes that they loaded: libgomp, libiomp5, libomp
  std::vector<std::string> places;  // variables that place threads, "NAME=value"
  std::vector<unsigned> pages_on;   // NUMA nodes of sampled pages; empty: none were sampled

  bool operator==(const BoundState&) const = default;
};

inline constexpr std::size_t k_most_thread_groups = 64;  // in one state; further groups are omitted

// to_text() yields one line of JSON; parse_bound_state() yields Errc::invalid for anything else.
[[nodiscard]] std::string to_text(const BoundState& state);
[[nodiscard]] Result<BoundState> parse_bound_state(std::string_view text);

}  // namespace dts::launch
