// SPDX-License-Identifier: Apache-2.0
// On which nodes of a job a line of the set-up or tear-down is run. Slurm runs a script on the
// first node (sbatch(1)), dtsubmit a set-up on each. Pure.
#pragma once

#include "core/convert/lines/item.hpp"

#include <string>

namespace dts::convert {

enum class RunsOn {
  each,
  first,       // as the script does: its effects are seen by all nodes, or wanted once
  each_unlike  // on each, since it may be needed there, where the script does it on the first alone
};

// For jobs of several nodes.
[[nodiscard]] RunsOn runs_on(const Item& item);

// What an account says of the line, of that and of values that a script computes once; "": nothing
// is worth a word.
[[nodiscard]] std::string note_on(const Item& item, bool has_many_nodes);

// That of a line of the tear-down, with what dtsubmit-environment(7) says of it.
[[nodiscard]] std::string note_on_tear_down(const Item& item, const std::string& note);

}  // namespace dts::convert
