// SPDX-License-Identifier: Apache-2.0
// Every node of an allocation with spares measures itself in one srun step, before nodes are
// chosen.
#pragma once

#include "core/launch/health/node_choice.hpp"
#include "core/launch/launcher/own_steps.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

struct CheckStep {
  std::vector<std::string> command;    // see launcher.hpp
  std::string file;                    // receives the step's output, a line for each node
  std::size_t nodes = 1;               // that should answer
  std::size_t enough = 1;              // of them, if the others are late
  std::chrono::milliseconds limit{0};  // after which nodes without an answer are skipped
};

// The answers that came within the limit; the step is over or killed. Once enough nodes have
// answered, the others get twice the time that took, plus 3 s.
[[nodiscard]] Result<std::vector<NodeReport>> run_check_step(const CheckStep& step);

// `dtsubmit measure`: this node's line on standard output.
[[nodiscard]] Result<int> run_measure(const std::string& run_directory,
                                      unsigned attempt,
                                      GpuUse gpus);

}  // namespace dts::launch
