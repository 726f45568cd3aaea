// SPDX-License-Identifier: Apache-2.0
// Runtimes that are options of srun. Pure.
#pragma once

#include "core/launch/container/container.hpp"

namespace dts::launch {

// srun up to the options of the container: a step of one task on the rank's node, in the job's own
// resources, bound as the rank is. The options belong to steps, and on the step of the ranks they
// would put `dtsubmit rank` into an image that does not have it; so each rank starts a step of its
// own for its program. srun passes signals on to its task and returns its exit code (srun(1)).
[[nodiscard]] std::vector<std::string> step_of_program(const ContainerOrder& order);

// Such a step goes on where its srun was killed: kills it, and waits until it is gone.
[[nodiscard]] std::vector<std::string> end_of_step(const ContainerOrder& order);

// "SRC:DST[:ro]".
[[nodiscard]] std::vector<std::string> mount_texts(const ContainerOrder& order);

}  // namespace dts::launch
