// SPDX-License-Identifier: Apache-2.0
// Steps that a script starts at the same time, each on a part of a node, as roles that share nodes.
// Pure.
#pragma once

#include "core/convert/roles/cast.hpp"
#include "core/convert/roles/waiting.hpp"

#include <vector>

namespace dts::convert {

// Makes a role of each of the programs at `places` in `parts`, on the first node that has room for
// it. False: they are not such steps, they say too little about what they need, the script prepares
// them once or ends them itself, or the job has no room for all of them at once, so that some would
// wait for others to end.
[[nodiscard]] bool cast_beside(const std::vector<Part>& parts,
                               const std::vector<std::size_t>& places,
                               const lint::Job& job,
                               const Resolver& resolver,
                               const Waiting& waiting,
                               Cast& cast);

// True if those of `items` that are steps in the background need more than a node of the job has,
// so that Slurm lets some wait for others to end: one shell would start them all at once.
[[nodiscard]] bool lacks_room(const std::vector<const Item*>& items,
                              const lint::Job& job,
                              const Resolver& resolver);

}  // namespace dts::convert
