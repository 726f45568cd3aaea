// SPDX-License-Identifier: Apache-2.0
// What an attempt needs to know about its job.
#pragma once

#include "core/launch/attempt/state/attempt_settings.hpp"
#include "core/launch/job/assignment.hpp"

#include <filesystem>
#include <string>

namespace dts::launch {

// The path of the newest checkpoint that --checkpoints finds; otherwise the name of the one in the
// run directory that shows the most progress. Empty: none.
[[nodiscard]] std::string newest_checkpoint(const Assignment& job);

// True if the program has written checkpoints under names of its own since `attempt` began.
[[nodiscard]] bool has_saved(const Assignment& job, unsigned attempt);

// True if the program has written a checkpoint after `time`, and none is visibly incomplete.
[[nodiscard]] bool has_saved_after(const Assignment& job, std::filesystem::file_time_type time);

// True if the ranks of an attempt saw their own GPUs only, and those of the next may see all of
// their node, see --gpu-view. `used`: the plan of that attempt's settings. Pure.
[[nodiscard]] bool may_show_more_gpus(const Assignment& job, const plan::Plan& used);

// The settings of attempt `number` on all nodes of the allocation, with a token of its own and the
// current time, but without the node's topology and the record of earlier attempts.
[[nodiscard]] AttemptSettings attempt_settings(const Assignment& job, unsigned number);

}  // namespace dts::launch
