// SPDX-License-Identifier: Apache-2.0
// Lines behind the programs that a tear-down, which has a shell of its own on each node of a part
// of the job, cannot run as the script does. Pure.
#pragma once

#include "core/convert/parts.hpp"

#include <vector>

namespace dts::convert {

// Withdraws such lines, which keep_needed() has kept, from the tear-down: behind roles those with
// an effect, as each role has a tear-down of its own, and behind any program those that use
// processes of the script's shell or arguments that nobody has given. The way back to the script's
// first folder is written out where it is certain, and lost otherwise. `last`: the last program's
// place. `has_folder`: an option of the script sets its folder.
void settle_tear_down(std::vector<Part>& parts,
                      std::size_t last,
                      bool has_roles,
                      bool has_folder,
                      const Options& options);

}  // namespace dts::convert
