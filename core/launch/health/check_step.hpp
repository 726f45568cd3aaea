// SPDX-License-Identifier: Apache-2.0
// An srun step in which every node of an allocation with spares measures itself, before nodes are
// chosen.
#pragma once

#include "core/launch/health/node_choice.hpp"
#include "core/launch/launcher/own_steps.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace dts::launch {

struct CheckStep {
  std::vector<std::string> command;    // argv of the step's process, see check_command()
  std::string file;                    // receives the step's output, one line per node
  std::size_t nodes = 1;               // number of nodes that should answer
  std::size_t enough = 1;              // number of answers that suffice if the others are late
  std::chrono::milliseconds limit{0};  // nodes that have not answered by then are skipped
};

// Returns the answers that arrived within the limit; the step has then ended or been killed. Once
// enough nodes have answered, the others get twice the time that this took, plus 3 s.
[[nodiscard]] Result<std::vector<NodeReport>> run_check_step(const CheckStep& step);

// `dtsubmit measure`: prints this node's report to standard output.
[[nodiscard]] Result<int> run_measure(const std::string& run_directory,
                                      unsigned attempt,
                                      GpuUse gpus);

}  // namespace dts::launch
